public import AuthModels
public import AuthNetworking
public import AuthStorage

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A server's dialect as the engine sees it: the one seam behind which dialects differ (D4.1, S10).
///
/// A backend is a value over an unauthed `APIClient`; it keeps no state, and none of its calls but `user` is authed or refreshes (S14).
public protocol AuthBackend: Sendable {
  /// The dialect's name, kept in each record.
  var dialect: AuthDialect { get }

  /// Buys a session with credentials.
  ///
  /// Bound: the transport's time-out.
  ///
  /// - Throws: `APIError`, kind `invalidCredentials` for a wrong email, username or password; `CancellationError`.
  func signIn(_ credentials: Credentials) async throws -> TokenGrant

  /// Makes an account.
  ///
  /// Bound: the transport's time-out.
  ///
  /// - Throws: `APIError`, with `fields` where the server names them (D1.7); `CancellationError`.
  func signUp(_ registration: Registration) async throws -> SignUpGrant

  /// Buys the next tokens, and judges the answer by the dialect's table (S10). Sends exactly one request.
  ///
  /// Bound: the transport's time-out; the engine waits for `refreshBound` at most.
  func refresh(refreshToken: String) async -> RefreshAnswer

  /// Asks the server to revoke tokens; never refreshes in order to do so (S20). Sends one request at most.
  ///
  /// Bound: the transport's time-out; the engine waits for `revocationBound` at most.
  func revoke(_ tokens: PendingRevocation) async -> RevocationOutcome

  /// Asks the server who is signed in, through the engine's authorizer.
  ///
  /// Bound: the transport's time-out + what the authorizer takes, twice each (S9).
  func user(authorizedBy authorizer: any RequestAuthorizer) async throws -> SessionUser

  /// Which sessions a sign-out can end at this server; without a word of the dialect's own, the one at hand.
  var signOutScopes: Set<SignOutScope> { get }

  /// Ends all of the user's sessions but this one, through the engine's authorizer; for a dialect that has the scope `others`. Bound: as
  /// `user`.
  func signOutOthers(authorizedBy authorizer: any RequestAuthorizer) async throws

  /// A program's own client as this dialect wants it: with the session's token, and with what else each request needs.
  func authorized(_ client: APIClient, by authorizer: any RequestAuthorizer) -> APIClient
}

extension AuthBackend {
  public var signOutScopes: Set<SignOutScope> { [.local] }

  public func signOutOthers(authorizedBy authorizer: any RequestAuthorizer) async throws {
    throw APIError(.clientError, detail: "Dialect \(dialect.rawValue) ends one session at a time.")
  }

  public func authorized(_ client: APIClient, by authorizer: any RequestAuthorizer) -> APIClient {
    client.authorized(by: authorizer)
  }
}

/// New tokens, and what came with them.
public struct TokenGrant: Sendable, Hashable {
  /// The tokens.
  public var response: TokenResponse
  /// The user, where the dialect sends it along.
  public var user: SessionUser?
  /// The server's clock, from its `Date` header (S4).
  public var serverDate: Date?
  /// How the session is to be talked about with its server later: kept beside the record, sealed as it is, and never a secret. A
  /// backend that needs more than its dialect's name after a restart puts it here; a refresh need not repeat it.
  public var connection: String?

  /// Makes a grant from its parts.
  public init(
    response: TokenResponse, user: SessionUser? = nil, serverDate: Date? = nil, connection: String? = nil
  ) {
    self.response = response
    self.user = user
    self.serverDate = serverDate
    self.connection = connection
  }
}

/// What a sign-up bought.
public enum SignUpGrant: Sendable {
  /// An account, and no session yet.
  case registered(SessionUser)
  /// An account and its session.
  case session(TokenGrant)
  /// An account whose address must be confirmed first.
  case confirmationRequired(email: String)
}

/// What the server did with tokens that were to be revoked.
public enum RevocationOutcome: Sendable, Hashable {
  /// They are dead.
  case revoked
  /// The dialect has no way to revoke; they live until they expire.
  case unsupported
  /// They may live; worth another try.
  case failed(APIError)
  /// The server refuses for good, which a retry does not change.
  case rejected(APIError)
}

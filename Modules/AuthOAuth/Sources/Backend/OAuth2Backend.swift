public import AuthModels
public import AuthNetworking
public import AuthSession
public import AuthStorage
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An authorization server behind the engine (RFC 6749, 6750, 7009): refreshes, revokes, and tells who is signed in.
///
/// How somebody signs in is `OAuth2SignIn`'s part: by a browser, by a device code, by a password, or as the client itself. The password
/// grant alone fits `signIn`, since it alone takes a name and a password.
public struct OAuth2Backend: AuthBackend {
  private let endpoint: TokenEndpoint
  private let client: APIClient

  /// Makes the backend.
  ///
  /// - Parameters:
  ///   - client: what sends, without a `BearerInterceptor`; its base URL does not matter.
  ///   - connection: the server and the client.
  ///   - secret: the client's secret, if it has one.
  public init(client: APIClient, connection: OAuth2Connection, secret: ClientSecret? = nil) {
    self.client = client
    endpoint = TokenEndpoint(client: client, connection: connection, secret: secret)
  }

  public var dialect: AuthDialect { .oauth2 }

  /// Signs in by the resource owner's password (RFC 6749 §4.3), for servers that still have it.
  public func signIn(_ credentials: Credentials) async throws -> TokenGrant {
    try await OAuth2SignIn(client: client, connection: endpoint.connection, secret: endpoint.secret)
      .password(credentials).grant
  }

  public func signUp(_ registration: Registration) async throws -> SignUpGrant {
    throw APIError(.notFound, detail: "OAuth 2 has no sign-up: accounts are made at the server's own pages.")
  }

  /// Buys the next tokens (RFC 6749 §6). An answer without a refresh token keeps the old one; an ID token in it is not looked at: the
  /// user is known since the sign-in, and one request is all that a refresh may send.
  public func refresh(refreshToken: String) async -> RefreshAnswer {
    do {
      let answer = try await endpoint.tokens("refresh_token", [("refresh_token", refreshToken)], isSignIn: false)
      return .granted(TokenGrant(response: answer.tokens, serverDate: answer.serverDate))
    } catch let error as OAuthError {
      // Answered with something that cannot be used: the server may have rotated (S12).
      let unusable = APIError(.undecodable, status: 200, detail: error.message)
      return .passing(PassingFailure(error: unusable, isAmbiguous: error.code == .tokenTypeNotSupported))
    } catch {
      return RefusalTable.oauth2.judge(thrown: error)
    }
  }

  /// Revokes the refresh token, and with it the session (RFC 7009 §2.1); without one, the access token.
  public func revoke(_ tokens: PendingRevocation) async -> RevocationOutcome {
    guard endpoint.connection.metadata.revocationEndpoint != nil else { return .unsupported }
    guard let token = tokens.refreshToken ?? tokens.accessToken else { return .unsupported }
    let hint = tokens.refreshToken == nil ? "access_token" : "refresh_token"
    do {
      try await endpoint.revoke(token, hint: hint)
      return .revoked
    } catch let error as APIError where error.status == 401 {
      // It is the client that was refused: the token may live.
      return .rejected(error)
    } catch {
      return await RevocationOutcome { throw error }
    }
  }

  /// Asks the userinfo endpoint (OpenID Connect Core §5.3).
  ///
  /// - Throws: `OAuthError`: `notSupported` where there is none, `wrongSubject` if it tells of another user than the one who signed in.
  public func user(authorizedBy authorizer: any RequestAuthorizer) async throws -> SessionUser {
    guard let url = endpoint.connection.metadata.userInfoEndpoint else {
      throw OAuthError(.notSupported, "The server does not tell who is signed in: it has no userinfo endpoint.")
    }
    let place = try OAuthEndpoint(url, client, named: "userinfo")
    let claims = try await place.client.authorized(by: authorizer).send(
      Endpoint(method: .get, path: place.path, query: place.query, headers: ["Accept": "application/json"]) {
        try JSONDecoder().decode(JSONValue.self, from: $0.body)
      })
    guard let subject = claims["sub"]?.string, !subject.isEmpty else {
      throw APIError(.undecodable, status: 200, detail: "no member sub")
    }
    guard endpoint.connection.subject == nil || endpoint.connection.subject == subject else {
      throw OAuthError(.wrongSubject, "The server tells of another user than the one who signed in here.")
    }
    return SessionUser(subject: subject, claims: claims)
  }
}

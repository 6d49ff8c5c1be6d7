public import AuthModels
public import AuthNetworking
public import AuthStorage
import Groundwork

/// The Supabase auth API behind the engine (D4): `/auth/v1/…` under the project's URL, with its public key on every request.
public struct SupabaseBackend: AuthBackend {
  private let key: SupabaseKey
  private let client: APIClient

  /// Makes the backend over a client whose base URL is the project's (D4.2).
  ///
  /// - Parameters:
  ///   - client: without a `BearerInterceptor`.
  ///   - apiKey: the project's public key.
  /// - Throws: `SupabaseKeyError` for a service-role key, which never ships in a client.
  public init(client: APIClient, apiKey: String) throws(SupabaseKeyError) {
    self.init(client: client, key: try SupabaseKey(apiKey))
  }

  /// Makes the backend over a client whose base URL is the project's.
  public init(client: APIClient, key: SupabaseKey) {
    self.key = key
    self.client = Self.prepared(client, key)
  }

  public var dialect: AuthDialect { .supabase }

  public var signOutScopes: Set<SignOutScope> { Set(SignOutScope.allCases) }

  public func signIn(_ credentials: Credentials) async throws -> TokenGrant {
    try await refusingKey {
      TokenGrant(
        try await client.send(
          SupabaseAPI.signIn(identifier: credentials.identifier, password: credentials.password, now: client.today)))
    }
  }

  /// A 401 to a call that carries nothing but the key is about the key, and no wrong password.
  private func refusingKey<Value>(_ call: () async throws -> Value) async throws -> Value {
    do {
      return try await call()
    } catch let error as APIError where error.status == 401 && error.serverCode == nil && error.shape == .supabase {
      throw SupabaseKeyError(.refused)
    }
  }

  /// Makes an account: a session where the project confirms by itself, else `confirmationRequired`.
  public func signUp(_ registration: Registration) async throws -> SignUpGrant {
    let metadata: [String: JSONValue] = registration.username.map { ["username": .string($0)] } ?? [:]
    let answer = try await refusingKey {
      try await client.send(
        SupabaseAPI.signUp(
          email: registration.email, password: registration.password, metadata: metadata, now: client.today))
    }
    switch answer {
    case .session(let session): return .session(TokenGrant(session))
    case .user: return .confirmationRequired(email: registration.email)
    }
  }

  public func refresh(refreshToken: String) async -> RefreshAnswer {
    do {
      return .granted(
        TokenGrant(try await client.send(SupabaseAPI.refresh(refreshToken: refreshToken, now: client.today))))
    } catch {
      return RefusalTable.supabase.judge(thrown: error)
    }
  }

  /// Signs out at the server, which wants the access token: where that has expired, the session lives there until it ends by itself,
  /// since no refresh is made in order to revoke (S20).
  public func revoke(_ tokens: PendingRevocation) async -> RevocationOutcome {
    guard let token = tokens.accessToken else { return .unsupported }
    do {
      try await client.send(SupabaseAPI.signOut(scope: tokens.scope, accessToken: token))
      return .revoked
    } catch let error as APIError where Self.isGone(error) {
      return .revoked
    } catch let error as APIError where error.status == 401 || error.serverCode == .badJWT {
      // Not "unknown, so gone": the key or the access token is what was refused, and the session may live.
      return .rejected(error)
    } catch {
      return await RevocationOutcome { throw error }
    }
  }

  public func signOutOthers(authorizedBy authorizer: any RequestAuthorizer) async throws {
    try await authorized(client, by: authorizer).send(SupabaseAPI.signOut(scope: SignOutScope.others.rawValue))
  }

  public func user(authorizedBy authorizer: any RequestAuthorizer) async throws -> SessionUser {
    try await authorized(client, by: authorizer).send(SupabaseAPI.user())
  }

  /// Changes the signed-in user. A new address counts once it is confirmed, where the project asks for that.
  ///
  /// - Parameters:
  ///   - email: the new address.
  ///   - password: the new password.
  ///   - metadata: members of `user_metadata` to set, as JSON text values.
  ///   - authorizer: the session's engine.
  /// - Returns: the user as it is now; `currentUser(fresh: true)` keeps it.
  /// - Throws: `APIError`, `weak_password` with `fields["password"]` among others; `SessionError`; `CancellationError`.
  public func updateUser(
    email: String? = nil, password: String? = nil, metadata: [String: String] = [:],
    authorizedBy authorizer: any RequestAuthorizer
  ) async throws -> SessionUser {
    var change: [String: JSONValue] = [:]
    if let email { change["email"] = .string(email) }
    if let password { change["password"] = .string(password) }
    if !metadata.isEmpty { change["data"] = .object(metadata.mapValues { .string($0) }) }
    return try await authorized(client, by: authorizer).send(SupabaseAPI.updateUser(change))
  }

  /// An app's own client for the project (`/rest/v1/…`): with the public key, and with Supabase's 403s for a refused token understood.
  public func authorized(_ client: APIClient, by authorizer: any RequestAuthorizer) -> APIClient {
    Self.prepared(client, key).authorized(by: authorizer, refusal: .supabase)
  }

  private static func prepared(_ client: APIClient, _ key: SupabaseKey) -> APIClient {
    client.with(errorDecoder: AnyErrorDecoder([SupabaseErrorDecoder(), OAuthErrorDecoder()]))
      .adding(HeaderInterceptor("apikey", key.text))
  }

  /// The server does not know the session, or its user, any more: what was wanted.
  private static func isGone(_ error: APIError) -> Bool {
    guard let code = error.serverCode else { return false }
    return [.sessionNotFound, .sessionExpired, .userNotFound].contains(code)
  }
}

extension TokenGrant {
  init(_ session: SupabaseSession) {
    self.init(response: session.tokens, user: session.user, serverDate: session.serverDate)
  }
}

public import AuthModels
public import AuthNetworking
public import AuthStorage

/// The chirp dialect behind the engine (D1, D3): email and password, `/auth/…`, `/me`.
public struct ChirpBackend: AuthBackend {
  private let client: APIClient

  /// Makes the backend over a client without a `BearerInterceptor`.
  public init(client: APIClient) {
    self.client = client
  }

  public var dialect: AuthDialect { .chirp }

  public func signIn(_ credentials: Credentials) async throws -> TokenGrant {
    TokenGrant(
      try await client.exchange(API.login(email: credentials.identifier, password: credentials.password)))
  }

  public func signUp(_ registration: Registration) async throws -> SignUpGrant {
    let user = try await client.send(
      API.register(
        username: registration.username ?? "", email: registration.email, password: registration.password))
    return .registered(SessionUser(user))
  }

  public func refresh(refreshToken: String) async -> RefreshAnswer {
    do {
      return .granted(TokenGrant(try await client.exchange(API.refresh(refreshToken: refreshToken))))
    } catch {
      return RefusalTable.chirp.judge(thrown: error)
    }
  }

  public func revoke(_ tokens: PendingRevocation) async -> RevocationOutcome {
    guard let refreshToken = tokens.refreshToken else { return .unsupported }
    return await RevocationOutcome { try await client.send(API.logout(refreshToken: refreshToken)) }
  }

  public func user(authorizedBy authorizer: any RequestAuthorizer) async throws -> SessionUser {
    SessionUser(try await client.authorized(by: authorizer).send(API.me()))
  }
}

extension SessionUser {
  init(_ user: PublicUser) {
    self.init(id: user.id, email: user.email, username: user.username)
  }
}

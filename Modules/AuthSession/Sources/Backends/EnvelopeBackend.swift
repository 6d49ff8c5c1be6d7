public import AuthModels
public import AuthNetworking
public import AuthStorage

/// The envelope dialect behind the engine (D2): username and password, no lifetime, no sign-up and no sign-out at the server.
public struct EnvelopeBackend: AuthBackend {
  private let client: APIClient

  /// Makes the backend over a client without a `BearerInterceptor`.
  public init(client: APIClient) {
    self.client = client
  }

  public var dialect: AuthDialect { .envelope }

  public func signIn(_ credentials: Credentials) async throws -> TokenGrant {
    TokenGrant(
      try await client.exchange(
        EnvelopeAPI.login(username: credentials.identifier, password: credentials.password)))
  }

  public func signUp(_ registration: Registration) async throws -> SignUpGrant {
    throw APIError(.notFound, detail: "The envelope dialect has no sign-up.")
  }

  public func refresh(refreshToken: String) async -> RefreshAnswer {
    do {
      return .granted(TokenGrant(try await client.exchange(EnvelopeAPI.refresh(refreshToken: refreshToken))))
    } catch {
      return RefusalTable.envelope.judge(thrown: error)
    }
  }

  public func revoke(_ tokens: PendingRevocation) async -> RevocationOutcome {
    .unsupported
  }

  public func user(authorizedBy authorizer: any RequestAuthorizer) async throws -> SessionUser {
    try await client.authorized(by: authorizer).send(EnvelopeAPI.me())
  }
}

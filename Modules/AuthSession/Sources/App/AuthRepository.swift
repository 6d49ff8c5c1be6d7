public import AuthModels
public import AuthNetworking

/// The auth endpoints as view models see them (D1.1): they depend on this, never on the client.
public protocol AuthRepository: Sendable {
  /// Buys a token pair.
  ///
  /// Bound: the transport's time-out.
  ///
  /// - Throws: `APIError`, kind `invalidCredentials` for wrong ones.
  func login(email: String, password: String) async throws -> TokenResponse

  /// Makes an account.
  ///
  /// Bound: the transport's time-out.
  ///
  /// - Throws: `APIError`, with what the server says of single fields (D1.7).
  func register(username: String, email: String, password: String) async throws -> PublicUser
}

/// The repository over an `APIClient` and the chirp dialect (D1.1).
public struct APIAuthRepository: AuthRepository {
  private let client: APIClient

  /// Makes the repository over a client without a `BearerInterceptor`.
  public init(client: APIClient) {
    self.client = client
  }

  public func login(email: String, password: String) async throws -> TokenResponse {
    try await client.send(API.login(email: email, password: password))
  }

  public func register(username: String, email: String, password: String) async throws -> PublicUser {
    try await client.send(API.register(username: username, email: email, password: password))
  }
}

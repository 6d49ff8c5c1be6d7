import AuthModels
public import AuthSession

/// Who signs a new user up: what the sign-up screen asks for, behind any backend (D1.6, D4.6).
public protocol RegistrationService: Sendable {
  /// Makes the account.
  ///
  /// - Throws: the backend's error; an `APIError` with `fields` reaches the right field (D1.7).
  func register(_ registration: Registration) async throws -> SignUpOutcome
}

/// D1's repository signs up (D1.1), and its user signs in afterwards.
public struct RepositoryRegistrationService: RegistrationService {
  private let repository: any AuthRepository

  /// Makes the service over a repository.
  public init(repository: any AuthRepository) {
    self.repository = repository
  }

  public func register(_ registration: Registration) async throws -> SignUpOutcome {
    let user = try await repository.register(
      username: registration.username ?? "", email: registration.email, password: registration.password)
    return .registered(SessionUser(id: user.id, email: user.email, username: user.username))
  }
}

extension SessionEngine: RegistrationService {
  /// Signs up through the engine; where the server gives a session along, it becomes the current one.
  public func register(_ registration: Registration) async throws -> SignUpOutcome {
    try await signUp(registration)
  }
}

import AuthModels
public import AuthSession
import Groundwork

extension FakeAuthService: RegistrationService {
  /// Signs up after one second, and keeps nothing: for previews and first drafts, as signing in.
  ///
  /// - Throws: a refusal of the email for `taken@example.com`; `CancellationError` as soon as the task is cancelled.
  public func register(_ registration: Registration) async throws -> SignUpOutcome {
    try await wait()
    guard registration.email != "taken@example.com" else { throw APIError(.conflict, serverCode: .emailTaken) }
    return .registered(
      SessionUser(id: registration.email, email: registration.email, username: registration.username))
  }
}

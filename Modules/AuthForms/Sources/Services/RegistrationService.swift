public import AuthModels

/// Who signs a new user up: what the sign-up screen asks for, behind any backend (D1.6, D4.6).
public protocol RegistrationService: Sendable {
  /// Makes the account.
  ///
  /// - Parameter username: "" where the profile has no usernames.
  /// - Throws: the backend's error; an `APIError` with `fields` reaches the right field (D1.7).
  func register(username: String, email: String, password: String) async throws -> RegistrationOutcome
}

/// What became of a sign-up.
public enum RegistrationOutcome: Sendable, Hashable {
  /// The account is there, and its user is signed in.
  case signedIn(User)
  /// The account is there; it is signed in to on the sign-in screen (D1.1).
  case registered
  /// The account is there once the link in a mail has been followed.
  case confirmationNeeded
}

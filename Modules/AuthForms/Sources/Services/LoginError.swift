#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Why the login form's service refuses (D5.10).
public enum LoginError: LocalizedError, Sendable, Hashable {
  /// The email or the password is wrong.
  case invalidCredentials

  /// D5's text.
  public var errorDescription: String? { AuthProfile.loginForm.strings[.loginInvalidCredentials] }
}

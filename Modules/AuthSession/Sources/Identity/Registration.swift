public import AuthModels

/// What a person types to make an account.
public struct Registration: Sendable, Hashable {
  /// The name others see; nil where the dialect has none.
  public var username: String?
  /// The address to sign in with, trimmed.
  public var email: String
  /// The password, never trimmed.
  public var password: String

  /// Makes a registration from what was typed.
  public init(username: String?, email: String, password: String) {
    self.username = username
    self.email = email
    self.password = password
  }
}

extension Registration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Names the account and hides the password.
  public var description: String { "Registration(username: \(username ?? "none"), email: \(email), password: ●●●)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// How a sign-up ended.
public enum SignUpOutcome: Sendable, Hashable {
  /// The account is there; now sign in (D1.1).
  case registered(SessionUser)
  /// The account is there, and its session is the current one.
  case signedIn(SessionUser?)
  /// The account waits for its address to be confirmed.
  case confirmationRequired(email: String)
}

/// Which sessions a sign-out ends.
public enum SignOutScope: String, Sendable, Hashable, CaseIterable {
  /// This one.
  case local
  /// All of the user's.
  case global
  /// All of the user's but this one, which stays.
  case others
}

/// How a sign-out ended. Here the user is signed out in any case (D4.7).
public struct SignOutResult: Sendable, Hashable {
  /// Whether there was a session to end.
  public var wasSignedIn: Bool
  /// Whether the server has revoked the tokens; if not, a later networked call tries again (S20).
  public var revoked: Bool

  /// Makes a result from its parts.
  public init(wasSignedIn: Bool, revoked: Bool) {
    self.wasSignedIn = wasSignedIn
    self.revoked = revoked
  }
}

/// What a person types to sign in: an email or a username, and a password.
public struct Credentials: Sendable, Hashable {
  /// The email (D1, D4, D5) or the username (D2), as the form gives it: trimmed.
  public var identifier: String
  /// The password, never trimmed.
  public var password: String

  /// Makes credentials from what was typed.
  public init(identifier: String, password: String) {
    self.identifier = identifier
    self.password = password
  }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Names the account and hides the password.
  public var description: String { "Credentials(identifier: \(identifier), password: ●●●)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

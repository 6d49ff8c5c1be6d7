import AuthModels

/// What a field takes before anything is sent: a courtesy, since the server checks everything again (D1.7).
public enum FieldRule: Sendable, Hashable {
  /// `name@domain.tld` (D5.1).
  case email
  /// An `@` somewhere (D1.5).
  case containsAt
  /// 3 to 32 of `[A-Za-z0-9_]`.
  case username
  /// That many characters or more (D1.5, D5.1), counted as `PasswordRule` counts them.
  case minimumLength(Int)
  /// Anything but nothing.
  case required

  /// Whether a normalized value is taken.
  public func accepts(_ value: String) -> Bool {
    switch self {
    case .email: EmailRule.accepts(value)
    case .containsAt: value.contains("@")
    case .username: UsernameRule.accepts(value)
    case .minimumLength(let least): PasswordRule(minimum: least).accepts(value)
    case .required: !value.isEmpty
    }
  }
}

import AuthModels

/// One field of a form: its name, what it takes, and how it presents itself.
public struct FormField: Sendable, Hashable {
  /// Which field.
  public var name: FieldName
  /// What it takes.
  public var rule: FieldRule
  /// What the keyboard and the password manager are told (D5.6).
  public var hints: FieldHints
  /// The field's caption, from the strings table (D2.4).
  public var title: String
  /// What stands under the field when its value is bad (D5.1), from the strings table.
  public var errorText: String

  /// Makes a field from its parts.
  public init(name: FieldName, rule: FieldRule, hints: FieldHints, title: String, errorText: String) {
    self.name = name
    self.rule = rule
    self.hints = hints
    self.title = title
    self.errorText = errorText
  }

  /// The value as it is checked and sent: spaces around an email or a username go, a password stays as it was typed (D5.1).
  public func normalized(_ value: String) -> String {
    guard name != .password else { return value }
    return EmailAddress.trimmed(value)
  }

  /// Whether the field takes the value.
  public func accepts(_ value: String) -> Bool { rule.accepts(normalized(value)) }
}

/// What a form asks of whoever shows it; the machine itself does nothing.
public enum FormEffect: Sendable, Hashable {
  /// Send this, once; answer with `accepted`, `refused` or `abandoned` under the same number.
  case submit(FormSubmission)
  /// Move the cursor to a field.
  case focus(FieldName)
  /// Take the cursor out of the form and hide the keyboard (D5.7).
  case hideKeyboard
  /// Let a screen reader say this (D5.9).
  case announce(String)
}

/// What a form sends: every value normalized, under a number that its answer must name.
public struct FormSubmission: Sendable, Hashable {
  /// Which submission of the form: an answer to an earlier one is no answer.
  public var number: Int
  /// The values, emails and usernames trimmed, passwords as typed.
  public var values: [FieldName: String]

  /// Makes a submission from its parts.
  public init(number: Int, values: [FieldName: String]) {
    self.number = number
    self.values = values
  }

  /// The value of a field, "" if the form has no such field.
  public subscript(name: FieldName) -> String { values[name] ?? "" }
}

extension FormSubmission: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Tells which fields are there without what they hold.
  public var description: String {
    "FormSubmission(#\(number), \(values.keys.map(\.rawValue).sorted().joined(separator: ", ")))"
  }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

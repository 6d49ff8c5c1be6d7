/// What happens to a form: by the user, or as the outcome of a submission.
public enum FormEvent: Sendable, Hashable {
  /// The user typed; the value is the whole new one.
  case edited(FieldName, String)
  /// The cursor came to a field.
  case entered(FieldName)
  /// The cursor left a field: from now on its errors show (D5.2).
  case left(FieldName)
  /// Return was pressed in a field (D5.7).
  case returnPressed(FieldName)
  /// The button was pressed.
  case submitPressed
  /// The submission of that number was accepted.
  case accepted(submission: Int)
  /// The submission of that number was refused, or failed.
  case refused(submission: Int, FormRefusal)
  /// The submission of that number was given up by the user: no message.
  case abandoned(submission: Int)
  /// The form is shown anew: everything typed is forgotten.
  case reset
}

/// What a refused submission tells the user.
public struct FormRefusal: Sendable, Hashable {
  /// What stands with the button (D5.4), if there is something that belongs to no field.
  public var message: String?
  /// What stands under single fields (D1.7).
  public var fields: [FieldName: String]

  /// Makes a refusal from its parts.
  public init(message: String?, fields: [FieldName: String] = [:]) {
    self.message = message
    self.fields = fields
  }
}

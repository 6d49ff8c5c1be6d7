/// What a form consists of: its fields in order, and where the server's error stands.
public struct FormSpecification: Sendable, Hashable {
  /// Where the error of the whole form stands.
  public enum MessagePlacement: String, Sendable, Hashable {
    /// Between the fields and the button (D1.5).
    case aboveButton
    /// Under the button (D5.4).
    case belowButton
  }

  /// The fields from first to last; Return in the last one submits (D5.7).
  public var fields: [FormField]
  /// The screen's title.
  public var title: String
  /// The button's caption.
  public var buttonTitle: String
  /// Where the error of the whole form stands.
  public var messagePlacement: MessagePlacement

  /// Makes a form from its parts.
  public init(fields: [FormField], title: String, buttonTitle: String, messagePlacement: MessagePlacement) {
    self.fields = fields
    self.title = title
    self.buttonTitle = buttonTitle
    self.messagePlacement = messagePlacement
  }

  /// The field of that name, if the form has one.
  public subscript(name: FieldName) -> FormField? { fields.first { $0.name == name } }
}

/// Something that a screen reader says (D5.9): numbered, so that the same words said again are a change that observers see.
public struct Announcement: Sendable, Hashable {
  /// Counts up from 1 within one view model.
  public var number: Int
  /// What is said.
  public var text: String

  /// Makes an announcement from its parts.
  public init(number: Int, text: String) {
    self.number = number
    self.text = text
  }
}

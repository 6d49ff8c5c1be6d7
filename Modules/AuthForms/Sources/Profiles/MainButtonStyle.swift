/// How the main buttons look (D2.5), as data: the screens of every system read it from here, and only the color differs.
public struct MainButtonStyle: Sendable, Hashable {
  /// The button's color.
  public enum Color: String, Sendable, Hashable {
    /// The color of sign-in buttons, and the default.
    case blue
    /// The color of sign-out buttons.
    case red
  }

  /// The button's color.
  public var color: Color
  /// The caption's size, in points.
  public var fontSize = 24.0
  /// Whether the caption is bold.
  public var isBold = true
  /// Whether the button is as wide as the screen lets it.
  public var fillsWidth = true
  /// How high the button may be, in points.
  public var maximumHeight = 60.0
  /// The radius of its corners, in points.
  public var cornerRadius = 10.0
  /// The space around a screen's content, in points.
  public static let screenPadding = 30.0

  /// Makes the style, blue unless told otherwise; the caption is white.
  public init(color: Color = .blue) {
    self.color = color
  }
}

extension MainButtonStyle {
  /// How wide the button may be, in points; nil for as wide as its caption.
  public var maximumWidth: Double? { fillsWidth ? .infinity : nil }

  /// How much of the button shows, from 0 to 1: less while it is pressed, and less where it cannot be.
  public func opacity(isPressed: Bool, isEnabled: Bool) -> Double {
    guard isEnabled else { return 0.4 }
    return isPressed ? 0.7 : 1
  }
}

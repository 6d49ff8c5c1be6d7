import TerminalScreen

/// One screen of the terminal: what it shows, and what it does with keys.
@MainActor
protocol ScreenPage: AnyObject {
  /// Whether something runs that is waited for: the spinner turns.
  var isWorking: Bool { get }
  /// What is shown in that size, at that turn of the spinner.
  func frame(size: ScreenSize, look: ScreenLook, spinner: Int) -> ScreenFrame
  /// Takes a key.
  func take(_ key: Key)
  /// Brings its own state in line with its model's, after any change.
  func follow()
}

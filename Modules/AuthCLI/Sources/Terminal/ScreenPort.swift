public import TerminalScreen

/// A terminal that a command takes over whole, or a test's stand-in for one: bytes in, bytes out, and a size.
public protocol ScreenPort: Sendable {
  /// Whether there is a terminal that can be taken over.
  var isAvailable: Bool { get }
  /// How large it is now.
  var size: ScreenSize { get }
  /// Takes the terminal over: keys come one by one and unseen, and the alternate screen is shown.
  ///
  /// From here on whatever ends the process gives the terminal back.
  func open() async throws(ConsoleError)
  /// Waits for the next thing that happens; never blocks the cooperative pool.
  func read() async -> ScreenInput
  /// Draws. While the process is stopped nothing is drawn.
  func write(_ bytes: [UInt8]) async
  /// Lets a waiting `read` return.
  func wake()
  /// Does what the terminal would have done with Ctrl-C, Ctrl-\ or Ctrl-Z, had it not been taken over.
  func raise(_ signal: ScreenSignal)
  /// Gives the terminal back as it was; a second call does nothing.
  func close()
}

/// What comes from a terminal.
public enum ScreenInput: Sendable, Hashable {
  /// Bytes that were typed or pasted.
  case bytes([UInt8])
  /// Nothing more came for a moment after the last bytes.
  case pause
  /// The terminal has another size.
  case resized
  /// The process was stopped and goes on: the screen may show anything.
  case resumed
  /// `wake` was called.
  case woken
  /// The terminal is gone.
  case ended
}

/// The keys that a terminal turns into signals.
public enum ScreenSignal: Sendable, Hashable {
  /// Ctrl-C.
  case interrupt
  /// Ctrl-\.
  case quit
  /// Ctrl-Z.
  case suspend
}

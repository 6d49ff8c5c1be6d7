import Groundwork

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The terminal's echo, off while a password is typed, and on again whatever ends that: the answer, a signal, a stop.
public final class TerminalEcho: Sendable {
  private struct Hidden {
    var descriptor: Int32
    var mode: termios
    var screen: Int32
    var prompt: [UInt8]
  }

  private let hidden = Guarded<Hidden?>(nil)

  /// Makes the one echo of a process's terminal.
  public init() {}

  /// Turns the echo of a terminal off, to ask `prompt` on `screen`.
  ///
  /// - Returns: whether it is off; nothing may be typed in otherwise.
  func hide(_ descriptor: Int32, screen: Int32, prompt: String) -> Bool {
    var mode = termios()
    guard tcgetattr(descriptor, &mode) == 0 else { return false }
    let saved = Hidden(descriptor: descriptor, mode: mode, screen: screen, prompt: Array(prompt.utf8))
    hidden.withLock { $0 = saved }
    guard Self.turnOff(saved) else {
      restore()
      return false
    }
    return true
  }

  /// Gives the terminal back as it was.
  ///
  /// - Returns: whether a password was being typed.
  @discardableResult
  func restore() -> Bool {
    guard
      let saved = hidden.withLock({ saved in
        defer { saved = nil }; return saved
      })
    else { return false }
    Self.apply(saved.mode, to: saved.descriptor)
    return true
  }

  /// Runs `stop`, which stops the process, with the echo on; if it was off, turns it off again and asks again.
  func whileVisible(_ stop: () -> Void) {
    guard let saved = hidden.withLock({ $0 }) else { return stop() }
    Self.apply(saved.mode, to: saved.descriptor)
    stop()
    if Self.turnOff(saved) { _ = write(saved.screen, saved.prompt, saved.prompt.count) }
  }

  private static func turnOff(_ saved: Hidden) -> Bool {
    var silent = saved.mode
    silent.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK | ECHONL)
    guard apply(silent, to: saved.descriptor) else { return false }
    // tcsetattr succeeds when it could do any of what it was asked.
    var now = termios()
    return tcgetattr(saved.descriptor, &now) == 0 && now.c_lflag & tcflag_t(ECHO) == 0
  }

  @discardableResult
  private static func apply(_ mode: termios, to descriptor: Int32) -> Bool {
    var mode = mode
    while tcsetattr(descriptor, TCSAFLUSH, &mode) != 0 {
      guard errno == EINTR else { return false }
    }
    return true
  }
}

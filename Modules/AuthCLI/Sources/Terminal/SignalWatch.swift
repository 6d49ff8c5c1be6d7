public import AuthSession
import Groundwork

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Ends the process on INT, TERM, HUP and QUIT, with the terminal as it was, and never in the moment that would cost a token (S16).
///
/// From the sending of a refresh to its commit a signal waits, for two seconds at most. The process ends with 128 + signal: 130
/// for Ctrl-C. A stop (Ctrl-Z) gives the terminal back, too, and takes it again afterwards.
public final class SignalWatch: Sendable {
  private struct State {
    var shields = 0
    var pending: Int32?
  }

  private let state = Guarded(State())
  private let echo: TerminalEcho
  /// How long a signal waits for a refresh (S16).
  private static let longestWait = timespec(tv_sec: 2, tv_nsec: 0)

  /// Blocks the signals for this thread and those it starts, and waits for them on a thread of its own.
  ///
  /// To be called once, first of all in `main`: a thread that runs already would be killed by them.
  public init(echo: TerminalEcho) {
    self.echo = echo
    signal(SIGPIPE, SIG_IGN)
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP] where !Self.isIgnored(number) {
      sigaddset(&signals, number)
    }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    let set = signals
    DetachedThread.start { [self] in
      var signals = set
      while true {
        var number: Int32 = 0
        if sigwait(&signals, &number) == 0 { take(number) }
      }
    }
  }

  /// What the engine calls around the moments in which a kill would cost a spent token (S16).
  public var shield: SessionOptions.RefreshShield {
    SessionOptions.RefreshShield(
      raise: { [self] in state.withLock { $0.shields += 1 } },
      lower: { [self] in
        let pending = state.withLock { state -> Int32? in
          state.shields -= 1
          return state.shields == 0 ? state.pending : nil
        }
        if let pending { end(by: pending) }
      })
  }

  /// Whether whoever started this process wants the signal ignored, as `nohup` does.
  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    #if canImport(Darwin)
      let handler = action.__sigaction_u.__sa_handler
    #else
      let handler = action.__sigaction_handler.sa_handler
    #endif
    // lint: trap because two function pointers of one size are compared, which Swift has no other way to do
    return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  private func take(_ number: Int32) {
    if number == SIGTSTP {
      echo.whileVisible { kill(getpid(), SIGSTOP) }
      return
    }
    let mustWait = state.withLock { state in
      guard state.shields > 0 else { return false }
      state.pending = number
      return true
    }
    if mustWait {
      var wait = Self.longestWait
      // Nothing interrupts this sleep: every signal that is handled at all is blocked in this thread.
      // lint: sleep because it bounds a signal's wait in a thread of its own, outside all logic
      nanosleep(&wait, nil)
    }
    end(by: number)
  }

  private func end(by number: Int32) -> Never {
    if echo.restore() {
      var newline = UInt8(ascii: "\n")
      _ = write(STDERR_FILENO, &newline, 1)
    }
    _exit(128 + number)
  }
}

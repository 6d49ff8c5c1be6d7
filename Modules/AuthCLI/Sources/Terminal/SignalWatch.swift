public import AuthSession
import Groundwork

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Ends the process on INT, TERM, HUP, QUIT and every other signal that would, with the terminal as it was, and never in the moment that would cost a token (S16).
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
  private let screen: LiveScreen
  /// How long a signal waits for a refresh (S16).
  private static let longestWait = timespec(tv_sec: 2, tv_nsec: 0)

  /// Takes the signals over; a thread of its own acts on them.
  ///
  /// To be called once, first of all in `main`: threads that are started later have the signals blocked, so that none of their
  /// system calls is interrupted. Waiting with `sigwait` alone does not do: Dispatch parks a thread with every signal open.
  public init(echo: TerminalEcho, screen: LiveScreen = LiveScreen()) {
    self.echo = echo
    self.screen = screen
    signal(SIGPIPE, SIG_IGN)
    let numbers = Self.watched.filter { !Self.isIgnored($0) }
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    signalPipe = ends[1]
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in numbers { sigaddset(&signals, number) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    for number in numbers { signal(number, passSignalOn) }
    let (set, inbox) = (signals, ends[0])
    DetachedThread.start { [self] in
      var signals = set
      pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      var number: UInt8 = 0
      while true {
        if read(inbox, &number, 1) == 1 { take(Int32(number)) }
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

  /// Whatever ends or stops a process, or tells it of its terminal, and can be taken over.
  private static let watched = [
    SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGCONT,
    SIGWINCH,
  ]

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
    switch number {
    case SIGTSTP:
      // To this very thread: sent to the process, it might stop only after this thread has gone on.
      return screen.whileGivenBack { echo.whileVisible { pthread_kill(pthread_self(), SIGSTOP) } }
    case SIGCONT: return screen.resume()
    case SIGWINCH: return screen.noteResize()
    default: break
    }
    let mustWait = state.withLock { state in
      guard state.shields > 0 else { return false }
      state.pending = number
      return true
    }
    if mustWait {
      var rest = Self.longestWait
      while true {
        var wait = rest
        // lint: sleep because it bounds a signal's wait in a thread of its own, outside all logic
        guard nanosleep(&wait, &rest) != 0, errno == EINTR else { break }
      }
    }
    end(by: number)
  }

  private func end(by number: Int32) -> Never {
    screen.restoreForEnd()
    if echo.restore() {
      var newline = UInt8(ascii: "\n")
      _ = write(STDERR_FILENO, &newline, 1)
    }
    _exit(128 + number)
  }
}

/// Where the handler writes to. Safe, since it is set once, before any handler is there, and a load needs no lock.
private nonisolated(unsafe) var signalPipe: Int32 = -1

/// The handler of every signal: nothing but async-signal-safe calls.
private func passSignalOn(_ number: Int32) {
  let before = errno
  var byte = UInt8(truncatingIfNeeded: number)
  _ = write(signalPipe, &byte, 1)
  errno = before
}

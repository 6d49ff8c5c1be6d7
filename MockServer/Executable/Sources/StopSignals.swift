#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// INT, TERM and HUP, taken one at a time by the thread that waits for them.
struct StopSignals {
  private var signals = sigset_t()

  /// Blocks them on this thread and on all that it starts, and ignores PIPE.
  ///
  /// HUP stays ignored where it is (`nohup`).
  init() {
    signal(SIGPIPE, SIG_IGN)
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    sigaddset(&signals, SIGTERM)
    if !Self.isIgnored(SIGHUP) { sigaddset(&signals, SIGHUP) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Returns when one of them has come, and which.
  @discardableResult
  func wait() -> Int32 {
    var signals = signals
    var number: Int32 = 0
    while sigwait(&signals, &number) != 0 {}
    return number
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    #if canImport(Darwin)
      let handler = action.__sigaction_u.__sa_handler
    #else
      let handler = action.__sigaction_handler.sa_handler
    #endif
    // lint: trap because both are a C function pointer or none, the size of an Int, and are only compared
    return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}

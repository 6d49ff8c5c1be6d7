import TerminalScreen

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Gives a taken terminal back even if the process crashes, in the one way that a crash allows: from its signal's handler.
enum CrashFarewell {
  private static let signals = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]

  /// From now on a crash restores these settings.
  static func arm(_ descriptor: Int32, _ saved: termios) {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: FrameWriter.leave.count, alignment: 1)
    bytes.copyBytes(from: FrameWriter.leave)
    prepared = Prepared(screen: descriptor, settings: saved, bytes: UnsafeRawBufferPointer(bytes))
    for number in signals { signal(number, sayFarewell) }
  }

  /// The terminal is given back: crashes are the system's again.
  static func disarm() {
    for number in signals { signal(number, SIG_DFL) }
    prepared.bytes.deallocate()
    prepared = Prepared()
  }
}

private struct Prepared {
  var screen: Int32 = -1
  var settings = termios()
  var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
}

// Safe, since it is written before the handlers are there, or after they are gone.
private nonisolated(unsafe) var prepared = Prepared()

/// Nothing but async-signal-safe calls; the signal then does what it would have done.
private func sayFarewell(_ number: Int32) {
  if prepared.screen >= 0 {
    _ = write(prepared.screen, prepared.bytes.baseAddress, prepared.bytes.count)
    _ = tcsetattr(prepared.screen, TCSANOW, &prepared.settings)
  }
  signal(number, SIG_DFL)
  raise(number)
}

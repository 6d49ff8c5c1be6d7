import Groundwork
public import TerminalScreen

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The terminal behind standard input, taken over and given back.
///
/// It is drawn on through an open file of its own, so that nothing here changes how anybody else's descriptors behave and no write can
/// block for good. Every way out, `close`, a signal (`SignalWatch`), a crash, restores the same saved settings.
public final class LiveScreen: ScreenPort {
  private struct Taken {
    var descriptor: Int32
    var saved: termios
    var raw: termios
    var isStopped = false
  }

  private struct State {
    var taken: Taken?
    var wakers: (read: Int32, write: Int32)?
    var hadBytes = false
    /// Whether a signal is ending the process.
    var isEnding = false
  }

  private enum Wake: UInt8 {
    case resized = 1
    case resumed
    case woken
  }

  private let state = Guarded(State())
  /// How long after bytes a pause is a pause, in milliseconds: an Esc that begins a sequence is followed faster, also over a slow line.
  private static let longestGap: Int32 = 60
  /// How long a terminal that takes no output may hold up the end of a process, in milliseconds.
  private static let longestFarewell: Int32 = 500

  /// The screen of this process; nothing is touched before `open`.
  public init() {}

  public var isAvailable: Bool {
    guard isatty(STDIN_FILENO) == 1, let descriptor = Self.reopen() else { return false }
    systemClose(descriptor)
    return true
  }

  public var size: ScreenSize {
    var window = winsize()
    let descriptor = state.withLock { $0.taken?.descriptor } ?? STDIN_FILENO
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0 else { return ScreenSize(columns: 0, rows: 0) }
    return ScreenSize(columns: Int(window.ws_col), rows: Int(window.ws_row))
  }

  public func open() async throws(ConsoleError) {
    try await DetachedThread.run { [self] () -> Result<Void, ConsoleError> in takeOver() }
  }

  public func read() async -> ScreenInput {
    await DetachedThread.run { [self] () -> Result<ScreenInput, Never> in .success(next()) }
  }

  public func write(_ bytes: [UInt8]) async {
    guard !bytes.isEmpty else { return }
    await DetachedThread.run { [self] () -> Result<Void, Never> in
      var rest = bytes[...]
      while !rest.isEmpty {
        // The lock is held for writes that do not wait, so a signal finds it free, and never half a sequence under its own.
        let (written, descriptor) = state.withLock { state -> (Int, Int32) in
          guard let taken = state.taken, !taken.isStopped else { return (-1, -1) }
          return (Self.tryWrite(rest, to: taken.descriptor), taken.descriptor)
        }
        guard written >= 0 else { break }
        rest = rest.dropFirst(written)
        if !rest.isEmpty { Self.waitForRoom(descriptor, milliseconds: 100) }
      }
      return .success(())
    }
  }

  public func wake() { wake(.woken) }

  public func raise(_ signal: ScreenSignal) {
    switch signal {
    // To the whole group, as the terminal does: a script that runs this is interrupted, too.
    case .interrupt: kill(0, SIGINT)
    case .quit: kill(0, SIGQUIT)
    case .suspend:
      // Whom no shell has started, none would continue.
      if getsid(0) != getpid() { kill(0, SIGTSTP) }
    }
  }

  public func close() {
    restore()
    let wakers = state.withLock { state in
      defer { state.wakers = nil }
      return state.wakers
    }
    if let wakers {
      systemClose(wakers.read)
      systemClose(wakers.write)
    }
  }

  // MARK: Signals

  /// Gives the terminal back, whatever is being done; for the thread by which a signal ends the process.
  ///
  /// From now on that is the only end: who reads would take the terminal for gone, and might end the process sooner, with another code.
  func restoreForEnd() {
    restore(isEnding: true)
  }

  /// Whoever finds the terminal given back finds it as it was: the lock is held until then.
  private func restore(isEnding: Bool = false) {
    state.withLock { state in
      if isEnding { state.isEnding = true }
      guard let taken = state.taken else { return }
      state.taken = nil
      CrashFarewell.disarm()
      if !taken.isStopped { Self.leave(taken) }
      systemClose(taken.descriptor)
    }
  }

  /// Runs `stop`, which stops the process, with the terminal given back; takes it again afterwards.
  func whileGivenBack(_ stop: () -> Void) {
    let isTaken = state.withLock { state in
      guard let taken = state.taken else { return false }
      state.taken?.isStopped = true
      Self.leave(taken)
      return true
    }
    stop()
    if isTaken { resume() }
  }

  /// The process goes on after a stop, whoever stopped it: the shell has changed the terminal meanwhile.
  func resume() {
    let isTaken = state.withLock { state in
      guard let taken = state.taken else { return false }
      // What was typed meanwhile was typed for another program and edited by the system, which may have left a lone Esc of it. It goes
      // first: once the terminal is raw, it can be read.
      tcflush(taken.descriptor, TCIFLUSH)
      Self.apply(taken.raw, to: taken.descriptor)
      state.taken?.isStopped = false
      Self.writeAll(FrameWriter.enter, to: taken.descriptor)
      return true
    }
    if isTaken { wake(.resumed) }
  }

  /// The terminal has another size.
  func noteResize() { wake(.resized) }

  // MARK: The terminal

  /// Lets the system stop this process when it asks for the terminal from the background, as it does with every other: threads of the
  /// pool have all signals blocked, hand that on, and would be let through.
  private static func heedJobControl() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGTTOU)
    sigaddset(&signals, SIGTTIN)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }

  private func takeOver() -> Result<Void, ConsoleError> {
    Self.heedJobControl()
    var saved = termios()
    guard let descriptor = Self.reopen(), tcgetattr(descriptor, &saved) == 0 else {
      return .failure(.failed("This terminal cannot be used for a screen: try --accessible."))
    }
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      systemClose(descriptor)
      return .failure(.failed("The terminal cannot be watched: \(String(cString: strerror(errno)))."))
    }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    var raw = saved
    raw.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG | IEXTEN)
    raw.c_iflag &= ~tcflag_t(IXON | ICRNL | INLCR | IGNCR | ISTRIP | BRKINT | PARMRK)
    withUnsafeMutableBytes(of: &raw.c_cc) {
      $0[Int(VMIN)] = 1
      $0[Int(VTIME)] = 0
    }
    let taken = Taken(descriptor: descriptor, saved: saved, raw: raw)
    let isRaw = state.withLock { state in
      state.wakers = (ends[0], ends[1])
      state.taken = taken
      CrashFarewell.arm(descriptor, saved)
      guard Self.apply(raw, to: descriptor) else { return false }
      Self.writeAll(FrameWriter.enter, to: descriptor)
      return true
    }
    guard isRaw else {
      close()
      return .failure(.failed("This terminal cannot be used for a screen: try --accessible."))
    }
    return .success(())
  }

  private func next() -> ScreenInput {
    Self.heedJobControl()
    let (taken, wakers, hadBytes) = state.withLock { ($0.taken, $0.wakers, $0.hadBytes) }
    guard let taken, let wakers else { return ended() }
    while true {
      var watched = [
        pollfd(fd: wakers.read, events: Int16(POLLIN), revents: 0),
        pollfd(fd: taken.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      let count = poll(&watched, 2, hadBytes ? Self.longestGap : -1)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return ended() }
      guard count > 0 else {
        state.withLock { $0.hadBytes = false }
        return .pause
      }
      var waker: UInt8 = 0
      if watched[0].revents != 0, systemRead(wakers.read, &waker, 1) == 1 {
        switch Wake(rawValue: waker) {
        case .resized: return .resized
        case .resumed: return .resumed
        case .woken, nil: return .woken
        }
      }
      guard watched[1].revents != 0 else { continue }
      let (read, chunk) = state.withLock { Self.tryRead($0.taken) }
      guard let read else {
        // Not this screen's bytes: whoever continues the process says when they are again.
        var resumption = pollfd(fd: wakers.read, events: Int16(POLLIN), revents: 0)
        _ = poll(&resumption, 1, Self.longestGap)
        continue
      }
      if read < 0, errno == EINTR || errno == EAGAIN { continue }
      guard read > 0 else { return ended() }
      state.withLock { $0.hadBytes = true }
      return .bytes(Array(chunk[..<read]))
    }
  }

  /// Reads what was typed for this screen: under the lock under which the terminal is given back and taken again, and only while it is raw.
  ///
  /// - Returns: nil for the count if the terminal is another program's, which has stopped this one, say.
  private static func tryRead(_ taken: Taken?) -> (Int?, [UInt8]) {
    guard let taken else { return (0, []) }
    var mode = termios()
    let isKnown = tcgetattr(taken.descriptor, &mode) == 0
    if taken.isStopped || isKnown && mode.c_lflag & tcflag_t(ICANON) != 0 { return (nil, []) }
    var chunk = [UInt8](repeating: 0, count: 1024)
    return (systemRead(taken.descriptor, &chunk, chunk.count), chunk)
  }

  /// What a reader hears when the terminal is gone; nothing if a signal is ending the process.
  private func ended() -> ScreenInput {
    while state.withLock({ $0.isEnding }) { pause() }
    return .ended
  }

  private func wake(_ reason: Wake) {
    guard let descriptor = state.withLock({ $0.wakers?.write }) else { return }
    var byte = reason.rawValue
    // A full pipe wakes as well.
    _ = systemWrite(descriptor, &byte, 1)
  }

  /// The terminal behind standard input, as an open file of its own that never waits.
  private static func reopen() -> Int32? {
    var name = [CChar](repeating: 0, count: 256)
    let flags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC
    guard ttyname_r(STDIN_FILENO, &name, name.count) == 0 else {
      // In a container the terminal may have no name here; the controlling one has.
      let descriptor = systemOpen("/dev/tty", flags)
      return descriptor >= 0 ? descriptor : nil
    }
    let path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let descriptor = systemOpen(path, flags)
    return descriptor >= 0 ? descriptor : nil
  }

  private static func leave(_ taken: Taken) {
    writeAll(FrameWriter.leave, to: taken.descriptor)
    apply(taken.saved, to: taken.descriptor)
    // What was typed for a screen that is gone must not run in the shell.
    tcflush(taken.descriptor, TCIFLUSH)
  }

  /// Never waits for output to drain: a terminal that takes none would hold the process up for ever.
  @discardableResult
  private static func apply(_ mode: termios, to descriptor: Int32) -> Bool {
    var mode = mode
    while tcsetattr(descriptor, TCSANOW, &mode) != 0 {
      guard errno == EINTR else { return false }
    }
    // It succeeds when it could do any of what it was asked.
    var now = termios()
    return tcgetattr(descriptor, &now) == 0 && now.c_lflag == mode.c_lflag
  }

  private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) {
    var rest = bytes[...]
    var tries = 10
    while !rest.isEmpty, tries > 0 {
      let written = tryWrite(rest, to: descriptor)
      guard written >= 0 else { return }
      rest = rest.dropFirst(written)
      if !rest.isEmpty {
        waitForRoom(descriptor, milliseconds: longestFarewell / 10)
        tries -= 1
      }
    }
  }

  /// - Returns: how many bytes went out, which may be none; -1 if the terminal is gone.
  private static func tryWrite(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Int {
    let count = bytes.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
    if count >= 0 { return count }
    return errno == EAGAIN || errno == EINTR ? 0 : -1
  }

  private static func waitForRoom(_ descriptor: Int32, milliseconds: Int32) {
    var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    _ = poll(&wait, 1, milliseconds)
  }
}

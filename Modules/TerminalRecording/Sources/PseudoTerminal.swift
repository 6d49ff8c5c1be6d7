public import Groundwork
public import TerminalScreen

#if canImport(Glibc)
  import Glibc

  /// A program on a terminal of its own, whose other end is an `EmulatedTerminal`: what is typed here it reads, what it draws is seen here.
  ///
  /// Waiting is for what is seen, never for a time; a wait has a bound, so that a test ends also when the program does not do its part.
  public final class PseudoTerminal: Sendable {
    /// Why a terminal could not be made, or what did not come.
    public struct Failure: Error, Sendable, CustomStringConvertible {
      /// What happened, with what the terminal shows.
      public var description: String
    }

    /// The program's process.
    public let pid: Int32
    private let master: Int32
    private let waker: (read: Int32, write: Int32)
    private let path: String
    private let state: Guarded<State>
    private let time: any TimeSource
    private let tasks = TaskStarter()

    private struct State: Sendable {
      var terminal: EmulatedTerminal
      var bytes: [UInt8] = []
      var hasEnded = false
      var isHungUp = false
      var waits: [Int: Wait] = [:]
      var nextWait = 0
    }

    private struct Wait: Sendable {
      var condition: @Sendable (EmulatedTerminal) -> Bool
      var continuation: CheckedContinuation<Bool, Never>
    }

    /// Why this machine has no terminals to give, or nil if it has: tests say it and leave such cases out.
    public static var obstacle: String? {
      let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
      guard master >= 0 else { return "/dev/ptmx cannot be opened: \(String(cString: strerror(errno)))" }
      defer { close(master) }
      do {
        _ = try name(of: master)
        return nil
      } catch {
        return "\(error)"
      }
    }

    /// Starts a program as the leader of a session on a new terminal.
    ///
    /// - Parameter arguments: the program's path, then its arguments.
    /// - Throws: `Failure`.
    public init(
      _ arguments: [String], environment: [String: String], size: ScreenSize = ScreenSize(columns: 80, rows: 24),
      time: any TimeSource = SystemClock()
    ) throws(Failure) {
      master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
      guard master >= 0 else { throw Failure(description: "no terminal: \(errno)") }
      path = try Self.name(of: master)
      var ends: [Int32] = [-1, -1]
      guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
        throw Failure(description: "no pipe: \(errno)")
      }
      waker = (ends[0], ends[1])
      state = Guarded(State(terminal: EmulatedTerminal(size: size)))
      self.time = time
      Self.tell(size, master)
      pid = try Self.spawn(arguments, environment, on: path)
      DetachedThread.start { [self] in pump() }
    }

    deinit {
      if !state.withLock({ $0.isHungUp }) { close(master) }
      close(waker.read)
      close(waker.write)
    }

    // MARK: Seeing

    /// What is seen now.
    public var screen: EmulatedTerminal { state.withLock { $0.terminal } }

    /// Every byte that the program has written.
    public var written: [UInt8] { state.withLock { $0.bytes } }

    /// Waits until what is seen fulfils a condition; a change that is only half drawn is not looked at.
    ///
    /// - Throws: `Failure`, with what is seen, when the program has ended or the bound is over.
    @discardableResult
    public func wait(
      for what: String, within bound: Duration = .seconds(30),
      _ condition: @escaping @Sendable (EmulatedTerminal) -> Bool
    ) async throws(Failure) -> EmulatedTerminal {
      let (state, time) = (state, time)
      let isThere = await withCheckedContinuation { continuation in
        let number: Int? = state.withLock { state in
          if Self.holds(condition, state.terminal) || state.hasEnded {
            continuation.resume(returning: Self.holds(condition, state.terminal))
            return nil
          }
          state.nextWait += 1
          state.waits[state.nextWait] = Wait(condition: condition, continuation: continuation)
          return state.nextWait
        }
        guard let number else { return }
        tasks.start {
          // Nobody cancels this: it ends with the bound at the latest.
          do { try await time.sleep(for: bound) } catch {}
          state.withLock { $0.waits.removeValue(forKey: number) }?.continuation.resume(returning: false)
        }
      }
      let screen = screen
      guard isThere else { throw Failure(description: "not seen: \(what). What is seen:\n\(screen.text)") }
      return screen
    }

    /// Waits until a text is seen.
    @discardableResult
    public func wait(forText text: String, within bound: Duration = .seconds(30)) async throws(Failure)
      -> EmulatedTerminal
    {
      try await wait(for: "\"\(text)\"", within: bound) { $0.text.contains(text) }
    }

    private static func holds(_ condition: (EmulatedTerminal) -> Bool, _ terminal: EmulatedTerminal) -> Bool {
      !terminal.isDrawing && condition(terminal)
    }

    private func pump() {
      var chunk = [UInt8](repeating: 0, count: 4096)
      while true {
        var watched = [
          pollfd(fd: master, events: Int16(POLLIN), revents: 0),
          pollfd(fd: waker.read, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&watched, 2, -1) > 0 || errno == EINTR else { break }
        if watched[1].revents != 0 {
          state.withLock { $0.isHungUp = true }
          close(master)
          break
        }
        guard watched[0].revents != 0 else { continue }
        let count = read(master, &chunk, chunk.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { break }
        take(chunk[..<count])
      }
      let waits = state.withLock { state in
        state.hasEnded = true
        defer { state.waits = [:] }
        return Array(state.waits.values)
      }
      for wait in waits { wait.continuation.resume(returning: false) }
    }

    /// Takes the bytes a drawing at a time: what is seen only between two drawings is seen here, too.
    private func take(_ bytes: ArraySlice<UInt8>) {
      var rest = bytes
      while !rest.isEmpty {
        let end = rest.firstIndex(of: UInt8(ascii: "l")).map { $0 + 1 } ?? rest.endIndex
        let part = rest[..<end]
        rest = rest[end...]
        let ready = state.withLock { state in
          state.terminal.feed(part)
          state.bytes += part
          let ready = state.waits.filter { Self.holds($0.value.condition, state.terminal) }
          for number in ready.keys { state.waits[number] = nil }
          return Array(ready.values)
        }
        for wait in ready { wait.continuation.resume(returning: true) }
      }
    }

    // MARK: Doing

    /// Types text or keys.
    public func type(_ text: String) async { await type(Array(text.utf8)) }

    /// Types bytes.
    public func type(_ bytes: [UInt8]) async {
      guard !state.withLock({ $0.isHungUp }) else { return }
      let master = master
      await DetachedThread.run { () -> Result<Void, Never> in
        var rest = bytes[...]
        while !rest.isEmpty {
          let count = rest.withUnsafeBytes { write(master, $0.baseAddress, $0.count) }
          if count < 0, errno == EINTR { continue }
          guard count > 0 else { break }
          rest = rest.dropFirst(count)
        }
        return .success(())
      }
    }

    /// Pastes a text as a terminal does: bracketed if the program has asked for it.
    public func paste(_ text: String) async {
      await type(screen.bracketsPaste ? "\u{1B}[200~\(text)\u{1B}[201~" : text)
    }

    /// Gives the terminal another size; the system tells the program.
    public func resize(_ size: ScreenSize) {
      state.withLock { $0.terminal.resize(size) }
      Self.tell(size, master)
    }

    /// Sends the program a signal.
    public func send(_ signal: Int32) {
      kill(pid, signal)
    }

    /// Takes the terminal away, as a closed window does: the system sends the program a HUP, and its reads and writes fail.
    public func hangUp() {
      var byte: UInt8 = 1
      _ = write(waker.write, &byte, 1)
    }

    /// Whether the terminal echoes what is typed.
    public var echoes: Bool { settings.map { $0.echoes } ?? false }

    /// How the terminal treats bytes, as `stty -g` would tell it: equal texts are equal settings. Nil if it cannot be asked.
    public var settings: (text: String, echoes: Bool)? {
      var mode = termios()
      guard tcgetattr(master, &mode) == 0 else { return nil }
      let characters = withUnsafeBytes(of: mode.c_cc) { $0.map { String($0, radix: 16) }.joined(separator: ":") }
      let flags = [mode.c_iflag, mode.c_oflag, mode.c_cflag, mode.c_lflag].map { String($0, radix: 16) }
      return (flags.joined(separator: ":") + ":" + characters, mode.c_lflag & tcflag_t(ECHO) != 0)
    }

    /// Opens the program's end of the terminal once more, so that it can be asked after the program has ended; the caller closes it.
    public func keep() throws(Failure) -> Int32 {
      let keeper = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
      guard keeper >= 0 else { throw Failure(description: "the terminal cannot be kept: \(errno)") }
      return keeper
    }

    /// Waits until the program has been stopped.
    public func waitForStop() async -> Bool {
      let pid = pid
      return await DetachedThread.run { () -> Result<Bool, Never> in
        var status: Int32 = 0
        while waitpid(pid, &status, WUNTRACED) < 0, errno == EINTR {}
        return .success(status & 0xFF == 0x7F)
      }
    }

    /// Waits for the program's end.
    ///
    /// - Returns: its exit code; 1000 + signal if a signal ended it.
    public func exitCode() async -> Int32 {
      let pid = pid
      return await DetachedThread.run { () -> Result<Int32, Never> in
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return .success(status & 0x7F == 0 ? status >> 8 & 0xFF : 1000 + status & 0x7F)
      }
    }

    /// Waits until everything that the program wrote has been seen, after its end.
    public func waitForLastOutput() async {
      do throws(Failure) { try await wait(for: "the end", within: .seconds(10)) { _ in false } } catch {}
    }

    // MARK: The system

    private static func name(of master: Int32) throws(Failure) -> String {
      var unlocked: Int32 = 0
      var number: UInt32 = 0
      guard ioctl(master, Request.unlock, &unlocked) == 0, ioctl(master, Request.number, &number) == 0 else {
        throw Failure(description: "no terminal: \(errno)")
      }
      let path = "/dev/pts/\(number)"
      guard access(path, R_OK | W_OK) == 0 else { throw Failure(description: "\(path) is not there") }
      return path
    }

    private static func tell(_ size: ScreenSize, _ master: Int32) {
      var window = winsize()
      window.ws_col = UInt16(clamping: size.columns)
      window.ws_row = UInt16(clamping: size.rows)
      _ = ioctl(master, UInt(TIOCSWINSZ), &window)
    }

    private static func spawn(
      _ arguments: [String], _ environment: [String: String], on path: String
    ) throws(Failure) -> Int32 {
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
      posix_spawn_file_actions_init(&actions)
      posix_spawnattr_init(&attributes)
      defer {
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
      }
      // However this was started: a shell's background jobs have Ctrl-C ignored, and hand that on.
      var signals = sigset_t()
      sigemptyset(&signals)
      posix_spawnattr_setsigmask(&attributes, &signals)
      for number in 1..<32 where number != Int(SIGKILL) && number != Int(SIGSTOP) { sigaddset(&signals, Int32(number)) }
      posix_spawnattr_setsigdefault(&attributes, &signals)
      posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | Request.newSession)
      // A leader of its own session gets the first terminal that it opens as its controlling one.
      posix_spawn_file_actions_addopen(&actions, 0, path, O_RDWR, 0)
      posix_spawn_file_actions_adddup2(&actions, 0, 1)
      posix_spawn_file_actions_adddup2(&actions, 0, 2)
      var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
      var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
      defer { for word in words + variables { free(word) } }
      var child: pid_t = 0
      let program = arguments.first ?? ""
      let status = posix_spawn(&child, program, &actions, &attributes, &words, &variables)
      guard status == 0 else { throw Failure(description: "\(program): \(String(cString: strerror(status)))") }
      return child
    }

    /// Macros of the system's headers that the module leaves out.
    private enum Request {
      static let number: UInt = 0x8004_5430
      static let unlock: UInt = 0x4004_5431
      static let newSession: Int16 = 0x80
    }
  }
#endif

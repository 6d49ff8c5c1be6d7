import AuthCLI
import Groundwork

#if canImport(Glibc)
  import Glibc

  /// The built `chirp` as a process of its own, on pipes or on a terminal of its own.
  final class ChirpProcess: Sendable {
    struct Failure: Error, CustomStringConvertible {
      var description: String
    }

    /// How a process ended, and what it wrote.
    struct Outcome: Sendable {
      /// The exit code; 1000 + signal if a signal ended it.
      var code: Int32
      var output: String
      var error: String
    }

    let pid: pid_t
    private let output: Int32
    private let error: Int32?
    private let input: Int32
    /// What a terminal has shown so far.
    private let shown = Guarded([UInt8]())

    /// Runs to the end on pipes.
    static func run(
      _ arguments: [String], input: String = "", environment: [String: String]
    ) async throws -> Outcome {
      let process = try ChirpProcess(arguments, environment: environment, onTerminal: false)
      return try await process.finish(input: input)
    }

    /// Starts on pipes, or on a terminal that is its controlling one; `starter` is a command that starts others, as `nohup` is.
    init(_ arguments: [String], environment: [String: String], onTerminal: Bool, under starter: [String] = []) throws {
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
      posix_spawn_file_actions_init(&actions)
      posix_spawnattr_init(&attributes)
      defer {
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
      }
      // However the tests were started: a shell's background jobs have Ctrl-C ignored, and hand that on.
      var signals = sigset_t()
      sigemptyset(&signals)
      posix_spawnattr_setsigmask(&attributes, &signals)
      for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGPIPE] { sigaddset(&signals, number) }
      posix_spawnattr_setsigdefault(&attributes, &signals)
      posix_spawnattr_setflags(
        &attributes,
        Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | (onTerminal ? TerminalRequest.newSession : 0))
      var close: [Int32] = []
      if onTerminal {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var unlocked: Int32 = 0
        guard master >= 0, ioctl(master, TerminalRequest.unlock, &unlocked) == 0 else {
          throw Failure(description: "no terminal: \(errno)")
        }
        let name = try Self.terminalName(master)
        // A leader of its own session gets the first terminal that it opens as its controlling one.
        posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        (input, output, error) = (master, master, nil)
      } else {
        let (into, out, err) = (try Self.pipe(), try Self.pipe(), try Self.pipe())
        posix_spawn_file_actions_adddup2(&actions, into.read, 0)
        posix_spawn_file_actions_adddup2(&actions, out.write, 1)
        posix_spawn_file_actions_adddup2(&actions, err.write, 2)
        (input, output, error) = (into.write, out.read, err.read)
        close = [into.read, out.write, err.write]
      }
      let line = starter + [try Self.path()] + arguments
      var words: [UnsafeMutablePointer<CChar>?] = line.map { strdup($0) } + [nil]
      var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
      defer {
        for word in words + variables { free(word) }
        for descriptor in close { _ = Self.close(descriptor) }
      }
      var child: pid_t = 0
      let status = posix_spawn(&child, line[0], &actions, &attributes, &words, &variables)
      guard status == 0 else { throw Failure(description: "\(line[0]): \(String(cString: strerror(status)))") }
      pid = child
    }

    /// Writes the input, reads all output, and waits for the end.
    func finish(input text: String = "") async throws -> Outcome {
      let (input, output, error, pid) = (input, output, error, pid)
      async let out = Self.readAll(output)
      async let err = Self.readAll(error)
      await DetachedThread.run { () -> Result<Void, Never> in
        Self.write(text, to: input)
        _ = Self.close(input)
        return .success(())
      }
      let (first, second) = await (out, err)
      return Outcome(code: await Self.wait(for: pid), output: first, error: second)
    }

    /// Closes the reading end of the process's output, as `head` does when it has seen enough.
    func closeOutput() {
      _ = Self.close(output)
    }

    /// Waits for the end of a process whose output nobody reads any more.
    func finishAfterClosedOutput() async throws -> Outcome {
      async let err = Self.readAll(error)
      _ = Self.close(input)
      return Outcome(code: await exitCode(), output: "", error: await err)
    }

    /// Waits until the process has been stopped.
    func waitForStop() async -> Bool {
      let pid = pid
      return await DetachedThread.run { () -> Result<Bool, Never> in
        var status: Int32 = 0
        while waitpid(pid, &status, WUNTRACED) < 0, errno == EINTR {}
        return .success(status & 0xFF == 0x7F)
      }
    }

    /// Waits until no signal is pending: the process has begun to act on each that was sent.
    func waitUntilSignalsAreTaken() async {
      let path = "/proc/\(pid)/status"
      await DetachedThread.run { () -> Result<Void, Never> in
        while true {
          let file = open(path, O_RDONLY | O_CLOEXEC)
          guard file >= 0 else { return .success(()) }
          var text: [UInt8] = []
          while let more = Self.read(file) { text += more }
          _ = Self.close(file)
          let masks = String(decoding: text, as: UTF8.self).split(separator: "\n").filter {
            $0.hasPrefix("ShdPnd:") || $0.hasPrefix("SigPnd:")
          }
          guard masks.contains(where: { mask in mask.dropFirst(7).contains { !"0 \t".contains($0) } }) else {
            return .success(())
          }
          sched_yield()
        }
      }
    }

    /// Waits for the end, and reads nothing.
    func exitCode() async -> Int32 { await Self.wait(for: pid) }

    /// Opens the terminal's other end, so that it stays usable after the process has ended; the caller closes it.
    func keepTerminal() throws -> Int32 {
      let keeper = open(try Self.terminalName(output), O_RDWR | O_NOCTTY | O_CLOEXEC)
      guard keeper >= 0 else { throw Failure(description: "the terminal cannot be kept: \(errno)") }
      return keeper
    }

    /// Types a text on the terminal.
    func type(_ text: String) async {
      let input = input
      await DetachedThread.run { () -> Result<Void, Never> in
        Self.write(text, to: input)
        return .success(())
      }
    }

    /// Waits until the terminal has shown a text so many times, and returns all that it has shown.
    @discardableResult
    func waitFor(_ text: String, times: Int = 1) async throws -> String {
      let (output, shown) = (output, shown)
      return try await DetachedThread.run { () -> Result<String, Failure> in
        while true {
          let now = shown.withLock { String(decoding: $0, as: UTF8.self) }
          if now.split(separator: text, omittingEmptySubsequences: false).count > times { return .success(now) }
          guard let more = Self.read(output) else {
            return .failure(Failure(description: "the terminal has shown only: \(now)"))
          }
          shown.withLock { $0 += more }
        }
      }
    }

    /// Waits for the end on a terminal, and returns the exit code and all that was shown.
    func finishOnTerminal() async -> Outcome {
      let (output, shown, pid) = (output, shown, pid)
      let code = await Self.wait(for: pid)
      // The terminal's other end is closed now: what is left can be read without waiting.
      await DetachedThread.run { () -> Result<Void, Never> in
        while let more = Self.read(output) { shown.withLock { $0 += more } }
        return .success(())
      }
      return Outcome(code: code, output: shown.withLock { String(decoding: $0, as: UTF8.self) }, error: "")
    }

    /// Whether the terminal shows what is typed.
    var echoes: Bool {
      var mode = termios()
      return tcgetattr(output, &mode) == 0 && mode.c_lflag & tcflag_t(ECHO) != 0
    }

    func send(_ signal: Int32) {
      kill(pid, signal)
    }

    static func path() throws -> String {
      var bytes = [CChar](repeating: 0, count: 4096)
      let count = readlink("/proc/self/exe", &bytes, bytes.count)
      guard count > 0 else { throw Failure(description: "no /proc/self/exe") }
      let folder = String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self).split(
        separator: "/", omittingEmptySubsequences: false
      ).dropLast()
      let path = folder.joined(separator: "/") + "/chirp"
      guard access(path, X_OK) == 0 else { throw Failure(description: "\(path) is not built") }
      return path
    }

    /// Two ends that no other process of a test run inherits: `pipe2` is not in the module.
    private static func pipe() throws -> (read: Int32, write: Int32) {
      var ends: [Int32] = [0, 0]
      let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
      guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Failure(description: "no pipe: \(errno)") }
      return (ends[0], ends[1])
    }

    private static func terminalName(_ master: Int32) throws -> String {
      var number: UInt32 = 0
      guard ioctl(master, TerminalRequest.number, &number) == 0 else {
        throw Failure(description: "no terminal: \(errno)")
      }
      return "/dev/pts/\(number)"
    }

    /// Macros of the system's headers that the module leaves out.
    private enum TerminalRequest {
      static let number: UInt = 0x8004_5430
      static let unlock: UInt = 0x4004_5431
      static let newSession: Int16 = 0x80
    }

    private static func wait(for pid: pid_t) async -> Int32 {
      await DetachedThread.run { () -> Result<Int32, Never> in
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return .success(status & 0x7F == 0 ? status >> 8 & 0xFF : 1000 + status & 0x7F)
      }
    }

    private static func readAll(_ descriptor: Int32?) async -> String {
      guard let descriptor else { return "" }
      return await DetachedThread.run { () -> Result<String, Never> in
        var bytes: [UInt8] = []
        while let more = read(descriptor) { bytes += more }
        _ = close(descriptor)
        return .success(String(decoding: bytes, as: UTF8.self))
      }
    }

    private static func read(_ descriptor: Int32) -> [UInt8]? {
      var chunk = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = Glibc.read(descriptor, &chunk, chunk.count)
        if count < 0, errno == EINTR { continue }
        return count > 0 ? Array(chunk[..<count]) : nil
      }
    }

    private static func write(_ text: String, to descriptor: Int32) {
      var rest = Array(text.utf8)[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
      }
    }

    private static func close(_ descriptor: Int32) -> Int32 { Glibc.close(descriptor) }
  }
#endif

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A process that a benchmark has started: started as cheaply as the system can, so that its own start is what is measured.
final class RunningProgram {
  /// The process.
  let pid: pid_t
  private let output: Int32
  private var hasEnded = false

  /// Starts the program at `path`, with nothing on standard input unless `input` is given, and standard error thrown away.
  init(_ path: String, _ arguments: [String], environment: [String] = [], input: String? = nil) throws(BenchError) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw BenchError("No pipe: \(Self.systemError(errno)).") }
    output = ends[0]
    _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
    var inputEnds: [Int32] = [-1, -1]
    if input != nil, pipe(&inputEnds) != 0 { throw BenchError("No pipe: \(Self.systemError(errno)).") }

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if input != nil {
      _ = fcntl(inputEnds[1], F_SETFD, FD_CLOEXEC)
      posix_spawn_file_actions_adddup2(&actions, inputEnds[0], 0)
    } else {
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addclose(&actions, ends[1])

    var child = pid_t()
    let failure = Self.withCStrings([path] + arguments) { argv in
      Self.withCStrings(environment) { envp in posix_spawn(&child, path, &actions, nil, argv, envp) }
    }
    close(ends[1])
    if input != nil { close(inputEnds[0]) }
    pid = child
    guard failure == 0 else {
      close(output)
      if input != nil { close(inputEnds[1]) }
      hasEnded = true
      throw BenchError("\(path) does not start: \(Self.systemError(failure)).")
    }
    if let input {
      var bytes = Array(input.utf8)
      let written = write(inputEnds[1], &bytes, bytes.count)
      close(inputEnds[1])
      guard written == bytes.count else { throw BenchError("\(path) does not read its standard input.") }
    }
  }

  deinit {
    if !hasEnded {
      kill(pid, SIGKILL)
      var status: Int32 = 0
      waitpid(pid, &status, 0)
    }
    close(output)
  }

  /// Waits for the first line on standard output; nil if the program ends without one.
  func firstLine() -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while read(output, &byte, 1) == 1 {
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
    return nil
  }

  /// Waits for the end, and gives the exit code and what was left of standard output; a signal's number is negative.
  func ended() -> (code: Int32, output: String) {
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while case let count = read(output, &chunk, chunk.count), count > 0 { text += chunk[..<count] }
    var status: Int32 = 0
    while waitpid(pid, &status, 0) == -1, errno == EINTR {}
    hasEnded = true
    let signal = status & 0x7F
    return (signal == 0 ? (status >> 8) & 0xFF : -signal, String(decoding: text, as: UTF8.self))
  }

  /// Asks the program to end, and waits until it has.
  func terminate() {
    kill(pid, SIGTERM)
    _ = ended()
  }

  private static func systemError(_ code: Int32) -> String { String(cString: strerror(code)) }

  private static func withCStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
  }
}

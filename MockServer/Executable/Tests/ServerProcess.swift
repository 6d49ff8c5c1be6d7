@testable import MockServerHTTP

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The built `mock-server` as a process of its own. Every call blocks, so it belongs on a thread of its own.
final class ServerProcess: Sendable {
  struct Failure: Error {
    let text: String
  }

  let pid: pid_t
  private let output: Int32
  private let errors: Int32

  /// Starts it with a command line; standard output and standard error are pipes. `script` is run by a shell
  /// that becomes the server with `exec "$@"`.
  init(_ arguments: [String], under script: String? = nil) throws {
    var output: [Int32] = [0, 0]
    var errors: [Int32] = [0, 0]
    guard pipe(&output) == 0, pipe(&errors) == 0 else { throw Failure(text: "no pipe") }
    for descriptor in output + errors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, output[1], 1)
    posix_spawn_file_actions_adddup2(&actions, errors[1], 2)
    let path = try Self.path()
    let line = (script.map { ["/bin/sh", "-c", $0, "sh"] } ?? []) + [path] + arguments
    var words: [UnsafeMutablePointer<CChar>?] = line.map { strdup($0) } + [nil]
    var none: [UnsafeMutablePointer<CChar>?] = [nil]
    defer { for word in words { free(word) } }
    var pid: pid_t = 0
    let status = posix_spawn(&pid, line[0], &actions, nil, &words, &none)
    close(output[1])
    close(errors[1])
    self.pid = pid
    self.output = output[0]
    self.errors = errors[0]
    guard status == 0 else { throw Failure(text: "cannot start \(path): \(status)") }
  }

  deinit {
    close(output)
    close(errors)
  }

  /// The program stands where this test bundle does.
  private static func path() throws -> String {
    #if canImport(Darwin)
      let own = CommandLine.arguments[0]
    #else
      var bytes = [CChar](repeating: 0, count: 4096)
      guard readlink("/proc/self/exe", &bytes, bytes.count - 1) > 0 else { throw Failure(text: "no /proc/self/exe") }
      let own = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    #endif
    var folder = own[...]
    while let slash = folder.lastIndex(of: "/") {
      folder = folder[..<slash]
      let path = "\(folder)/mock-server"
      if access(path, X_OK) == 0 { return path }
    }
    throw Failure(text: "no mock-server beside \(own)")
  }

  /// The next line of standard output, or nil at its end.
  func readLine() -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while read(output, &byte, 1) == 1 {
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
  }

  /// The next line of standard error, or nil at its end.
  func readErrorLine() -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while read(errors, &byte, 1) == 1 {
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
  }

  /// Everything that is left of standard error.
  func readErrors() -> String {
    var all: [String] = []
    while let line = readErrorLine() { all.append(line) }
    return all.joined(separator: "\n")
  }

  func signal(_ number: Int32) {
    kill(pid, number)
  }

  /// Waits for its end: the exit code, or 1000 and the signal that killed it.
  func wait() -> Int32 {
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : 1000 + (status & 0x7F)
  }
}

/// Sends a request to a port of 127.0.0.1, waits for the first byte of the answer, and returns the socket.
func beginAsking(_ port: UInt16, _ request: String) throws -> Int32 {
  #if canImport(Darwin)
    let descriptor = socket(AF_INET, SOCK_STREAM, 0)
  #else
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  #endif
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  let status = withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
    }
  }
  guard status == 0 else { throw ServerProcess.Failure(text: "connect: \(errno)") }
  let bytes = Array(request.utf8)
  guard write(descriptor, bytes, bytes.count) == bytes.count else { throw ServerProcess.Failure(text: "write") }
  var byte: UInt8 = 0
  guard recv(descriptor, &byte, 1, Int32(MSG_PEEK)) == 1 else { throw ServerProcess.Failure(text: "no answer") }
  return descriptor
}

/// Sends a request to a port of 127.0.0.1 and returns all of the answer.
func ask(_ port: UInt16, _ request: String) throws -> String {
  let descriptor = try beginAsking(port, request)
  defer { close(descriptor) }
  var answer: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 4096)
  while true {
    let count = read(descriptor, &buffer, buffer.count)
    guard count > 0 else { return String(decoding: answer, as: UTF8.self) }
    answer += buffer[..<count]
  }
}

/// Runs blocking code on a thread of its own, so that the pool that the tests run on is not held up.
///
/// It stays in its task, so that what it expects counts for its test.
func onThread<Success: Sendable>(_ body: @escaping @Sendable () throws -> Success) async throws -> Success {
  try await withTaskExecutorPreference(ThreadExecutor()) { try body() }
}

/// Gives every job a thread of its own.
private final class ThreadExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedTaskExecutor()
    if !LoopThread.start({ job.runSynchronously(on: executor) }) { job.runSynchronously(on: executor) }
  }
}

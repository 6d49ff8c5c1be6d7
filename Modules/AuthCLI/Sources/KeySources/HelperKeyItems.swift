import AuthStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The secrets of the desktop's key store, by the program `chirp-secret-service`: `chirp` itself links no libsecret.
///
/// Secrets go through pipes, never through arguments. The program's calls have deadlines of their own; one that hangs
/// all the same is ended.
struct HelperKeyItems: KeyItems {
  private static let patience: Int32 = 150_000
  private let path: String

  /// Makes the items; `path` is the helper's.
  init(path: String) {
    self.path = path
  }

  func add(_ secret: SecretBytes, id: String) throws(StoreError) {
    var bytes = secret.withBytes { Array($0) }
    defer { bytes.wipe() }
    _ = try run("add", id, input: bytes)
  }

  func find(_ id: String) throws(StoreError) -> SecretBytes? {
    guard var bytes = try run("find", id, input: []) else { return nil }
    defer { bytes.wipe() }
    guard bytes.count == 32 else { throw StoreError(.unavailable, "\(path) gave no key.") }
    return SecretBytes(bytes)
  }

  func remove(_ id: String) throws(StoreError) {
    _ = try run("remove", id, input: [])
  }

  /// What the helper wrote; nil if it says that there is nothing.
  private func run(_ command: String, _ id: String, input: [UInt8]) throws(StoreError) -> [UInt8]? {
    let child = try HelperProcess(path, [command, id])
    child.send(input)
    let (output, error) = child.collect(within: Self.patience)
    switch child.end() {
    case 0: return output
    case 4: return nil
    case let code: throw Self.failure(String(decoding: error, as: UTF8.self), path, code)
    }
  }

  /// The helper's last word: `code message`, behind whatever its libraries said before.
  private static func failure(_ text: String, _ path: String, _ status: Int32) -> StoreError {
    let lines = text.split(separator: "\n").map { Printable.line(String($0)) }
    for (index, line) in lines.enumerated() {
      let words = line.split(separator: " ", maxSplits: 1)
      guard let code = words.first.flatMap({ StoreError.Code(rawValue: String($0)) }) else { continue }
      let hint = index + 1 < lines.count ? lines[index + 1] : nil
      return StoreError(code, words.count > 1 ? String(words[1]) : "The desktop's key store failed.", hint: hint)
    }
    return StoreError(.unavailable, "\(path) failed (status \(status)).")
  }
}

/// The helper while it runs.
private final class HelperProcess {
  private let pid: pid_t
  private let input: Int32
  private let output: Int32
  private let error: Int32
  private var hasEnded = false

  init(_ path: String, _ arguments: [String]) throws(StoreError) {
    var pipes: [(read: Int32, write: Int32)] = []
    for _ in 0..<3 {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else {
        for pipe in pipes { for end in [pipe.read, pipe.write] { close(end) } }
        throw StoreError(.unavailable, "No pipe can be made.")
      }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      pipes.append((ends[0], ends[1]))
    }
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #else
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_adddup2(&actions, pipes[0].read, 0)
    posix_spawn_file_actions_adddup2(&actions, pipes[1].write, 1)
    posix_spawn_file_actions_adddup2(&actions, pipes[2].write, 2)
    // The store's thread has every signal blocked, and a child would inherit that.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var child = pid_t()
    let failure = posix_spawn(&child, path, &actions, &attributes, &words, environ)
    for end in [pipes[0].read, pipes[1].write, pipes[2].write] { close(end) }
    (pid, input, output, error) = (child, pipes[0].write, pipes[1].read, pipes[2].read)
    guard failure == 0 else {
      hasEnded = true
      throw StoreError(
        .unavailable,
        "The desktop's key store needs the program \(path), which cannot be run: "
          + "\(String(cString: strerror(failure))).",
        hint: "Install chirp-secret-service beside chirp, or choose another key source.")
    }
  }

  deinit {
    if !hasEnded {
      kill(pid, SIGKILL)
      _ = end()
    }
    close(output)
    close(error)
  }

  /// Sends all of the input, which fits into a pipe, and ends it.
  func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
      // A helper that has gone says why by its end.
      guard count > 0 || errno == EINTR else { break }
      rest = rest.dropFirst(max(0, count))
    }
    close(input)
  }

  /// Both streams to their ends; a helper that takes longer is ended.
  func collect(within milliseconds: Int32) -> (output: [UInt8], error: [UInt8]) {
    var collected: [Int32: [UInt8]] = [output: [], error: []]
    var open: Set<Int32> = [output, error]
    var chunk = [UInt8](repeating: 0, count: 4096)
    defer { chunk.wipe() }
    while !open.isEmpty {
      var waits = open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      let ready = poll(&waits, nfds_t(waits.count), milliseconds)
      if ready < 0, errno == EINTR { continue }
      guard ready > 0 else {
        kill(pid, SIGKILL)
        break
      }
      for wait in waits where wait.revents != 0 {
        let count = read(wait.fd, &chunk, chunk.count)
        if count > 0, (collected[wait.fd] ?? []).count < 64 * 1024 {
          collected[wait.fd, default: []] += chunk[..<count]
        } else if count == 0 || count < 0 && errno != EINTR {
          open.remove(wait.fd)
        }
      }
    }
    return (collected[output] ?? [], collected[error] ?? [])
  }

  /// Waits for the end and gives the exit code; a signal's number is negative.
  func end() -> Int32 {
    var status: Int32 = 0
    while waitpid(pid, &status, 0) == -1, errno == EINTR {}
    hasEnded = true
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : -signal
  }
}

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// This program once more, as a process that may be killed.
final class ChildProcess {
  let pid: pid_t
  private var hasEnded = false

  init(_ arguments: [String]) throws(TortureError) {
    let path = try Self.ownPath()
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var child = pid_t()
    let failure = posix_spawn(&child, path, nil, nil, &words, environ)
    guard failure == 0 else { throw TortureError("\(path) does not start: \(String(cString: strerror(failure)))") }
    pid = child
  }

  deinit { kill() }

  func kill() {
    guard !hasEnded else { return }
    _ = systemKill(pid, SIGKILL)
    _ = wait()
  }

  /// Waits for the end and gives the exit code; a signal's number is negative.
  func wait() -> Int32 {
    var status: Int32 = 0
    while waitpid(pid, &status, 0) == -1, errno == EINTR {}
    hasEnded = true
    let signal = status & 0x7f
    return signal == 0 ? (status >> 8) & 0xff : -signal
  }

  private static func ownPath() throws(TortureError) -> String {
    guard let path = realpath("/proc/self/exe", nil) else {
      throw TortureError("This program does not find itself; it needs /proc.")
    }
    defer { free(path) }
    return String(cString: path)
  }
}

private func systemKill(_ pid: pid_t, _ signal: Int32) -> Int32 { kill(pid, signal) }

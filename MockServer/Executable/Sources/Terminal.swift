#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Standard output and standard error, written at once and without a buffer.
enum Terminal {
  /// Writes a line to standard output, and complains if that fails; a reader that has gone away is no reason to.
  ///
  /// - Returns: false if the line is lost.
  static func print(_ line: String) -> Bool {
    let code = write(line, to: STDOUT_FILENO)
    guard code != 0, code != EPIPE else { return true }
    complain("mock-server: standard output cannot be written: \(String(cString: strerror(code))).")
    return false
  }

  /// Writes a line to standard error. It is the last resort: nothing is left that could be told of a failure.
  static func complain(_ line: String) {
    _ = write(line, to: STDERR_FILENO)
  }

  /// Whether a line can be written to standard error without waiting for whoever reads it.
  static var canComplainAtOnce: Bool {
    var descriptor = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
    return poll(&descriptor, 1, 0) == 1 && Int32(descriptor.revents) & Int32(POLLOUT) != 0
  }

  /// Returns 0, or the errno that the write ended with.
  private static func write(_ line: String, to descriptor: Int32) -> Int32 {
    var rest = Array("\(line)\n".utf8)[...]
    while !rest.isEmpty {
      #if canImport(Darwin)
        let count = rest.withUnsafeBytes { Darwin.write(descriptor, $0.baseAddress, $0.count) }
      #else
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      #endif
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&wait, 1, -1)
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }
}

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Ends the server with its standard input.
///
/// A parent that holds the other end of a pipe takes the server along however it ends: by a signal, too, that it cannot catch.
enum InputWatch {
  /// Watches on a thread of its own; the end of the input is a TERM to this process.
  ///
  /// - Returns: false if there is no thread to be had.
  static func start() -> Bool {
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    let status = pthread_create(&thread, nil, { _ in InputWatch.waitForEnd() }, nil)
    guard status == 0 else {
      errno = status
      return false
    }
    #if canImport(Darwin)
      if let thread { pthread_detach(thread) }
    #else
      pthread_detach(thread)
    #endif
    return true
  }

  private static func waitForEnd() -> UnsafeMutableRawPointer? {
    var chunk = [UInt8](repeating: 0, count: 256)
    while true {
      let count = read(STDIN_FILENO, &chunk, chunk.count)
      if count > 0 || count < 0 && errno == EINTR { continue }
      if count < 0, errno == EAGAIN {
        var wait = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        _ = poll(&wait, 1, -1)
        continue
      }
      kill(getpid(), SIGTERM)
      return nil
    }
  }
}

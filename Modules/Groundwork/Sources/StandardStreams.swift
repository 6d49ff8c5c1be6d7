#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The three descriptors that every program takes for granted.
package enum StandardStreams {
  /// How many free descriptors a program is not started without: for its files, sockets and the system's own libraries.
  private static let leastFree = 16

  /// Makes sure that descriptors 0 to 2 are open and that there are some left; ends the process with 1 if there are not.
  ///
  /// To be called first of all in `main`. A program may be started with some of the three closed (`<&-`, `>&-`). The next file, pipe or
  /// socket would take that number, and whatever is read from or written to the standard stream would go there. What is closed is
  /// opened here so that it behaves as closed does: input ends at once, and what is written as output fails, so that lost data is
  /// noticed. Too few descriptors have to be found here, too: Dispatch traps when it gets none.
  package static func open() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where !isOpen(descriptor) {
      // The lowest free number, which is this one.
      guard systemOpen("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY) == descriptor else {
        end("a standard stream is closed, and /dev/null cannot be opened in its place")
      }
    }
    var limit = rlimit()
    #if canImport(Darwin)
      let status = getrlimit(RLIMIT_NOFILE, &limit)
    #else
      let status = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    #endif
    guard status == 0, limit.rlim_cur < 64 else { return }
    let free = (0..<Int32(limit.rlim_cur)).count { !isOpen($0) }
    if free < leastFree { end("too few files may be open: \(leastFree) are needed, and \(free) are left (ulimit -n)") }
  }

  private static func isOpen(_ descriptor: Int32) -> Bool {
    fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF
  }

  private static func end(_ problem: String) -> Never {
    let name = CommandLine.arguments.first?.split(separator: "/").last ?? "the program"
    let bytes = Array("\(name): \(problem).\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
    _exit(1)
  }
}

/// `open(2)`, under a name that nothing here has.
private func systemOpen(_ path: String, _ flags: Int32) -> Int32 {
  open(path, flags)
}

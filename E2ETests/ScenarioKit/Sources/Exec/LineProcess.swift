// Threads of one's own are in Foundation alone.
internal import Foundation
internal import Groundwork

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A program that is spoken to in lines: what it reads and writes are pipes to this process.
final class LineProcess: Sendable {
  private let child: ChildProcess
  private let toChild: Int32
  private let isOpen = Guarded(true)

  /// Starts a shell command in a process group of its own.
  ///
  /// - Parameters:
  ///   - errors: the file that its standard error goes to.
  ///   - onLine: called for each line that it writes, from a thread of its own.
  ///   - onEnd: called once when it writes no more.
  init(
    command: String, environment: [String: String], errors: String, onLine: @escaping @Sendable (String) -> Void,
    onEnd: @escaping @Sendable () -> Void
  ) throws(WorldError) {
    let input = try Self.pipe()
    let output: (reads: Int32, writes: Int32)
    do throws(WorldError) {
      output = try Self.pipe()
    } catch {
      Self.close(input.reads, input.writes)
      throw error
    }
    do throws(WorldError) {
      child = try ChildProcess(
        "/bin/sh", ["-c", command], environment: environment,
        streams: [.descriptor(input.reads), .descriptor(output.writes), .file(errors)], standing: .ownGroup)
    } catch {
      Self.close(input.reads, input.writes, output.reads, output.writes)
      throw error
    }
    Self.close(input.reads, output.writes)
    toChild = input.writes
    // Whoever does not read must not stop the run.
    _ = fcntl(toChild, F_SETFL, fcntl(toChild, F_GETFL) | O_NONBLOCK)
    #if canImport(Darwin)
      _ = fcntl(toChild, F_SETNOSIGPIPE, 1)
    #endif
    let reads = output.reads
    Thread.detachNewThread {
      Self.read(reads, onLine)
      Self.close(reads)
      onEnd()
    }
  }

  /// Sends a line.
  func send(_ line: String) throws(WorldError) {
    let bytes = Array((line + "\n").utf8)
    let sent = isOpen.withLock { isOpen -> Int in
      guard isOpen else { return -1 }
      return Self.write(bytes, to: toChild)
    }
    // A pipe takes a line whole or not at all, up to its own size.
    guard sent == bytes.count else {
      throw WorldError(sent < 0 ? "the client does not read its standard input" : "a line is too long for the client")
    }
  }

  /// Kills it, and whatever it has started.
  func kill() async {
    child.signal(SIGKILL)
    hangUp()
    _ = await child.end()
  }

  /// Ends what it reads; it is killed if that does not end it within a second.
  func end() async {
    hangUp()
    let tasks = TaskStarter()
    let (child, clock) = (child, SystemClock())
    let alarm = tasks.start {
      do { try await clock.sleep(for: .seconds(1)) } catch { return }
      child.signal(SIGKILL)
    }
    _ = await child.end()
    alarm.cancel()
  }

  /// `write(2)` that raises no signal when nobody reads any more.
  private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int {
    #if canImport(Darwin)
      // The descriptor is set so (`F_SETNOSIGPIPE`).
      return Darwin.write(descriptor, bytes, bytes.count)
    #else
      var pipe = sigset_t()
      var before = sigset_t()
      sigemptyset(&pipe)
      sigaddset(&pipe, SIGPIPE)
      pthread_sigmask(SIG_BLOCK, &pipe, &before)
      defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
      let count = Glibc.write(descriptor, bytes, bytes.count)
      if count < 0, errno == EPIPE {
        var now = timespec()
        _ = sigtimedwait(&pipe, nil, &now)
      }
      return count
    #endif
  }

  private func hangUp() {
    isOpen.withLock { isOpen in
      if isOpen { Self.close(toChild) }
      isOpen = false
    }
  }

  private static func read(_ descriptor: Int32, _ onLine: (String) -> Void) {
    var line: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      #if canImport(Darwin)
        let count = Darwin.read(descriptor, &buffer, buffer.count)
      #else
        let count = Glibc.read(descriptor, &buffer, buffer.count)
      #endif
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      for byte in buffer[..<count] {
        if byte != UInt8(ascii: "\n") {
          // What never ends is no line: the rest of it is of no use to anybody.
          if line.count < 1 << 22 { line.append(byte) }
          continue
        }
        onLine(String(decoding: line, as: UTF8.self))
        line.removeAll(keepingCapacity: true)
      }
    }
  }

  private static func pipe() throws(WorldError) -> (reads: Int32, writes: Int32) {
    var ends: [Int32] = [-1, -1]
    #if canImport(Darwin)
      let status = Darwin.pipe(&ends)
    #else
      let status = Glibc.pipe(&ends)
    #endif
    guard status == 0 else { throw WorldError("no pipe can be made: \(String(cString: strerror(errno)))") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  private static func close(_ descriptors: Int32...) {
    for descriptor in descriptors {
      #if canImport(Darwin)
        Darwin.close(descriptor)
      #else
        Glibc.close(descriptor)
      #endif
    }
  }
}

import Groundwork
import Testing

@testable import MockServerHTTP

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A client that writes bytes and reads bytes, blocking, on a thread of its own.
struct RawClient {
  /// How the peer's side ended.
  enum Ending: Equatable {
    case fin
    case reset
    case timedOut
  }

  struct Failure: Error {
    let text: String
  }

  let descriptor: Int32

  /// Connects to a port of 127.0.0.1.
  init(port: UInt16, receiveBuffer: Int32? = nil) throws {
    #if canImport(Darwin)
      descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #else
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    if var size = receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    // Bounds a test that waits for what never comes; nothing waits for it to pass.
    var patience = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else {
      let code = errno
      close(descriptor)
      throw Failure(text: "connect: \(code)")
    }
  }

  /// Writes everything; false if the peer has ended the connection meanwhile.
  @discardableResult
  func write(_ text: String) -> Bool {
    write(Array(text.utf8))
  }

  @discardableResult
  func write(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      #if canImport(Darwin)
        let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, 0) }
      #else
        let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      #endif
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// Bounds how long a write may wait for the peer to read.
  func giveUpWriting(afterMilliseconds milliseconds: Int) {
    var patience = timeval(tv_sec: milliseconds / 1000, tv_usec: .init(milliseconds % 1000 * 1000))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  }

  func endWriting() {
    shutdown(descriptor, Int32(SHUT_WR))
  }

  func end() {
    close(descriptor)
  }

  /// Reads some bytes; none at the end.
  func readSome(_ limit: Int = 65536) -> (bytes: [UInt8], ending: Ending?) {
    var buffer = [UInt8](repeating: 0, count: limit)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    if count > 0 { return (Array(buffer[..<count]), nil) }
    if count == 0 { return ([], .fin) }
    return ([], errno == ECONNRESET ? .reset : .timedOut)
  }

  /// Reads until a text has come, or the end.
  func read(until text: String) -> String {
    var all: [UInt8] = []
    while !String(decoding: all, as: UTF8.self).contains(text) {
      let (bytes, ending) = readSome(1)
      if ending != nil { break }
      all += bytes
    }
    return String(decoding: all, as: UTF8.self)
  }

  /// Reads to the end.
  func readAll() -> (bytes: [UInt8], ending: Ending) {
    var all: [UInt8] = []
    while true {
      let (bytes, ending) = readSome()
      all += bytes
      if let ending { return (all, ending) }
    }
  }

  /// Reads one answer with `Content-Length`.
  func readAnswer(hasBody: Bool = true) throws -> Answer {
    let head = read(until: "\r\n\r\n")
    guard let answer = Answer(head: head) else { throw Failure(text: "no answer: \(head.debugDescription)") }
    guard hasBody, let length = answer.length else { return answer }
    var body: [UInt8] = []
    while body.count < length {
      let (bytes, ending) = readSome(min(65536, length - body.count))
      guard ending == nil else { throw Failure(text: "\(body.count) bytes of \(length)") }
      body += bytes
    }
    return Answer(status: answer.status, head: answer.head, body: String(decoding: body, as: UTF8.self))
  }
}

/// An answer as a test looks at it.
struct Answer: Equatable {
  var status: Int
  var head: String
  var body = ""

  init(status: Int, head: String, body: String) {
    self.status = status
    self.head = head
    self.body = body
  }

  init?(head: String) {
    guard head.hasPrefix("HTTP/1.1 "), head.hasSuffix("\r\n\r\n"), let status = Int(head.dropFirst(9).prefix(3)) else {
      return nil
    }
    self.init(status: status, head: head, body: "")
  }

  func field(_ name: String) -> String? {
    for line in head.split(separator: "\r\n").dropFirst() where line.lowercased().hasPrefix("\(name.lowercased()):") {
      return String(line.dropFirst(name.count + 2))
    }
    return nil
  }

  var length: Int? { field("Content-Length").flatMap { Int($0) } }
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

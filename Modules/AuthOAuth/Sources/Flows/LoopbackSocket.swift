import Groundwork

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A listener on 127.0.0.1, served by one thread: several connections at once, since browsers open some in advance and say nothing on them.
final class LoopbackSocket: Sendable {
  /// The head of a request; no other part of it is read.
  struct Request: Sendable {
    var method: String
    var target: String
    var host: String
  }

  /// What a request leads to.
  enum Step<Value: Sendable>: Sendable {
    case goOn(LoopbackPage)
    case end(LoopbackPage, Value)
  }

  /// How serving ended.
  enum End<Value: Sendable>: Sendable {
    case answered(Value)
    case timedOut
    case cancelled
  }

  /// A connection, and what has come on it.
  private struct Connection {
    var descriptor: Int32
    var head: [UInt8] = []
    var since: Duration
  }

  private static let headLimit = 16_384
  private static let connectionLimit = 32
  private static let patience = Duration.seconds(10)

  let port: UInt16
  private let listener: Int32
  /// A pipe that wakes the thread; a byte in it ends the serving.
  private let alarm: (read: Int32, write: Int32)

  init(port: UInt16) throws(OAuthError) {
    #if canImport(Glibc)
      let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    #else
      let type = SOCK_STREAM
    #endif
    let descriptor = socket(AF_INET, type, 0)
    guard descriptor >= 0 else { throw Self.failure(port) }
    // Only a port that was asked for by number may have to be taken over from a sign-in that has just ended.
    var reuse: Int32 = port == 0 ? 0 : 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isOpen = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && listen(descriptor, 16) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    var ends: [Int32] = [-1, -1]
    guard isOpen, pipe(&ends) == 0 else {
      let failure = Self.failure(port)
      close(descriptor)
      throw failure
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    listener = descriptor
    alarm = (ends[0], ends[1])
    self.port = UInt16(bigEndian: address.sin_port)
  }

  deinit {
    for descriptor in [listener, alarm.read, alarm.write] { close(descriptor) }
  }

  private static func failure(_ port: UInt16) -> OAuthError {
    let reason = String(cString: strerror(errno))
    return OAuthError(
      .noListener,
      port == 0
        ? "No port could be opened on this machine for the browser's way back: \(reason)."
        : "Port \(port) could not be opened for the browser's way back: \(reason).")
  }

  /// Ends `serve`, now or as soon as it begins.
  func cancel() {
    var byte: UInt8 = 1
    _ = write(alarm.write, &byte, 1)
  }

  /// Serves on the calling thread, which may block, until a request ends it.
  func serve<Value: Sendable>(within timeout: Duration, _ judge: (Request) -> Step<Value>) -> End<Value> {
    let deadline = Self.now + timeout
    var connections: [Connection] = []
    defer { for connection in connections { close(connection.descriptor) } }
    while true {
      let left = deadline - Self.now
      guard left > .zero else { return .timedOut }
      var waits = [
        pollfd(fd: alarm.read, events: Int16(POLLIN), revents: 0),
        pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
      ]
      waits += connections.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
      let milliseconds = Int32(min(left.inSeconds, 1) * 1000) + 1
      guard poll(&waits, nfds_t(waits.count), milliseconds) >= 0 || errno == EINTR else { return .timedOut }
      if waits[0].revents != 0 { return .cancelled }
      if waits[1].revents != 0 { acceptAll(into: &connections) }
      for wait in waits.dropFirst(2) where wait.revents != 0 {
        guard let index = connections.firstIndex(where: { $0.descriptor == wait.fd }) else { continue }
        guard let request = read(&connections[index]) else {
          drop(index, of: &connections)
          continue
        }
        guard let request else { continue }
        switch judge(request) {
        case .goOn(let page):
          send(page, to: wait.fd)
          drop(index, of: &connections)
        case .end(let page, let value):
          send(page, to: wait.fd)
          return .answered(value)
        }
      }
      // Whoever holds a place and says nothing makes room.
      let old = Self.now - Self.patience
      while let index = connections.firstIndex(where: { $0.since < old }) { drop(index, of: &connections) }
    }
  }

  private func drop(_ index: Int, of connections: inout [Connection]) {
    close(connections.remove(at: index).descriptor)
  }

  private func acceptAll(into connections: inout [Connection]) {
    while true {
      let descriptor = accept(listener, nil, nil)
      guard descriptor >= 0 else { return }
      guard connections.count < Self.connectionLimit else {
        close(descriptor)
        continue
      }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      connections.append(Connection(descriptor: descriptor, since: Self.now))
    }
  }

  /// Reads what is there: nothing yet, a whole head, or (nil outside) the end of the connection.
  private func read(_ connection: inout Connection) -> Request?? {
    var chunk = [UInt8](repeating: 0, count: 4096)
    let count = recv(connection.descriptor, &chunk, chunk.count, 0)
    if count < 0, errno == EAGAIN || errno == EINTR { return .some(nil) }
    guard count > 0 else { return nil }
    connection.head += chunk[..<count]
    guard connection.head.count <= Self.headLimit else { return nil }
    guard Self.isWhole(connection.head) else { return .some(nil) }
    guard let request = Self.parse(connection.head) else { return nil }
    return request
  }

  private static func isWhole(_ head: [UInt8]) -> Bool {
    let end: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
    return head.count >= 4 && (0...head.count - 4).contains { head[$0..<$0 + 4].elementsEqual(end) }
  }

  /// Reads the request line and the one `Host` field that there has to be; nil for anything else.
  static func parse(_ head: [UInt8]) -> Request? {
    let text = String(decoding: head, as: UTF8.self)
    let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
    let words = lines.first?.split(separator: " ", omittingEmptySubsequences: false) ?? []
    guard words.count == 3, words[2].hasPrefix("HTTP/1."), words[1].hasPrefix("/"), !words[0].isEmpty else {
      return nil
    }
    let hosts = lines.dropFirst().filter { $0.lowercased().hasPrefix("host:") }
    guard hosts.count == 1, let host = hosts.first?.dropFirst(5) else { return nil }
    return Request(
      method: String(words[0]), target: String(words[1]),
      host: String(host.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }))
  }

  private func send(_ page: LoopbackPage, to descriptor: Int32) {
    #if canImport(Darwin)
      let flags: Int32 = 0
      var one: Int32 = 1
      setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &one, socklen_t(MemoryLayout<Int32>.size))
    #else
      let flags = Int32(MSG_NOSIGNAL)
    #endif
    // A page of a kilobyte fits into the socket's buffer; a browser that has gone does not need it.
    let bytes = page.bytes
    _ = bytes.withUnsafeBytes { systemSend(descriptor, $0.baseAddress, $0.count, flags) }
    shutdown(descriptor, Int32(SHUT_WR))
  }

  /// The machine's own clock, whatever the logic's: a thread that blocks waits in real time.
  private static var now: Duration { SystemClock().sinceBoot }
}

/// `send(2)`, under a name that no method here has.
private func systemSend(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
  send(descriptor, buffer, count, flags)
}

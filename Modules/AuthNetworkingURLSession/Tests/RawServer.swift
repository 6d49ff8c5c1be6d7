import Foundation
import Groundwork

#if canImport(Glibc)
  import Glibc
#endif

/// A request as it came in over a socket, byte for byte.
struct RawRequest: Sendable {
  var head: String
  var body: Data

  var line: String { head.components(separatedBy: "\r\n").first ?? "" }

  func field(_ name: String) -> String? {
    for line in head.components(separatedBy: "\r\n").dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      if line[..<colon].lowercased() == name.lowercased() {
        return line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      }
    }
    return nil
  }
}

/// A socket server that does what a test tells it to, also what no proper server does. Each connection has a thread of its own.
final class RawServer: Sendable {
  private struct State {
    var requests: [RawRequest] = []
    var connections = 0
    var open = 0
    var mostOpen = 0
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  let port: UInt16
  private let listener: Int32
  private let state = Guarded(State())

  /// Serves until `stop`; the handler owns the connection until it returns, then it is closed.
  init(_ handler: @escaping @Sendable (RawConnection) -> Void) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(listener, pointer, length) == 0 && listen(listener, 256) == 0
          && getsockname(listener, pointer, &length) == 0
      }
    }
    guard listener >= 0, bound else { throw POSIXError(.EADDRINUSE) }
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
    let accepting = Thread { [self] in
      while true {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else {
          // Closed here, not in `stop`: its number must not be given to another socket while this thread still uses it.
          Glibc.close(listener)
          return
        }
        state.withLock { state in
          state.connections += 1
          state.open += 1
          state.mostOpen = max(state.mostOpen, state.open)
        }
        let serving = Thread { [self] in
          let connection = RawConnection(descriptor) { self.note($0) }
          handler(connection)
          connection.close()
          state.withLock { $0.open -= 1 }
        }
        serving.start()
      }
    }
    accepting.start()
  }

  /// Answers each request of each connection; nil closes the connection.
  convenience init(answering answer: @escaping @Sendable (RawRequest) -> String?) throws {
    try self.init { connection in
      while let request = connection.readRequest() {
        guard let text = answer(request) else { return }
        connection.write(text)
      }
    }
  }

  var requests: [RawRequest] { state.withLock { $0.requests } }
  var connectionCount: Int { state.withLock { $0.connections } }
  var mostOpenAtOnce: Int { state.withLock { $0.mostOpen } }

  func url(_ target: String) -> URL {
    guard let url = URL(string: "http://127.0.0.1:\(port)\(target)") else { preconditionFailure("a test's own URL") }
    return url
  }

  func requests(atLeast count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.requests.count >= count { return true }
        state.watchers.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  /// No further connections; the thread that accepts ends.
  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
  }

  private func note(_ request: RawRequest) {
    let reached = state.withLock { state in
      state.requests.append(request)
      let count = state.requests.count
      let reached = state.watchers.filter { $0.count <= count }.map(\.continuation)
      state.watchers.removeAll { $0.count <= count }
      return reached
    }
    for continuation in reached { continuation.resume() }
  }
}

/// One connection of a `RawServer`, used by its own thread alone.
final class RawConnection {
  private let descriptor: Int32
  private let note: (RawRequest) -> Void
  private var pending: [UInt8] = []
  private var isOpen = true

  init(_ descriptor: Int32, note: @escaping (RawRequest) -> Void) {
    self.descriptor = descriptor
    self.note = note
  }

  /// The next request, whole; nil once the peer has gone.
  func readRequest() -> RawRequest? {
    guard let head = readHead() else { return nil }
    var request = RawRequest(head: head, body: Data())
    if let length = request.field("Content-Length").flatMap({ Int($0) }) {
      while pending.count < length { guard fill() else { return nil } }
      request.body = Data(pending[..<length])
      pending.removeFirst(length)
    } else if request.field("Transfer-Encoding") != nil {
      return nil
    }
    note(request)
    return request
  }

  private func readHead() -> String? {
    let end = Array("\r\n\r\n".utf8)
    while true {
      if let start = pending.indices.first(where: { pending[$0...].starts(with: end) }) {
        let head = String(decoding: pending[..<start], as: UTF8.self)
        pending.removeFirst(start + 4)
        return head
      }
      guard fill() else { return nil }
    }
  }

  private func fill() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { return false }
    pending.append(contentsOf: buffer[..<count])
    return true
  }

  /// Waits until the peer has closed its side.
  func waitForClose() {
    while fill() { pending.removeAll() }
  }

  /// Writes everything; false once the peer has gone.
  @discardableResult
  func write(_ text: String) -> Bool { write(Array(text.utf8)) }

  @discardableResult
  func write(_ bytes: [UInt8]) -> Bool {
    var start = 0
    while start < bytes.count {
      let count = bytes[start...].withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return false }
      start += count
    }
    return true
  }

  func close() {
    guard isOpen else { return }
    isOpen = false
    shutdown(descriptor, Int32(SHUT_RDWR))
    Glibc.close(descriptor)
  }

  /// Ends with RST instead of FIN.
  func reset() {
    guard isOpen else { return }
    isOpen = false
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    Glibc.close(descriptor)
  }
}

/// An answer with a body and its length.
func answer(_ status: String, _ body: String = "", headers: [String] = []) -> String {
  (["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + headers).joined(separator: "\r\n") + "\r\n\r\n" + body
}

internal import Groundwork

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif
#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A request as it came in over a socket, byte for byte.
package struct RawRequest: Sendable {
  package var head: String
  package var body: Data

  /// The request line.
  package var line: String { lines.first ?? "" }

  private var lines: [String] { head.split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init) }

  /// The first value under a name.
  package func field(_ name: String) -> String? {
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      guard line[..<colon].lowercased() == name.lowercased() else { continue }
      return line[line.index(after: colon)...].split(separator: " ").joined(separator: " ")
    }
    return nil
  }
}

/// A socket server that does what a test tells it to, also what no proper server does. Each connection has a thread of its own.
package final class RawServer: Sendable {
  private struct State {
    var requests: [RawRequest] = []
    var connections = 0
    var open: Set<Int32> = []
    var mostOpen = 0
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  package let port: UInt16
  private let listener: Int32
  private let state = Guarded(State())

  /// Serves until `stop`; the handler owns the connection until it returns, then it is closed.
  package init(_ handler: @escaping @Sendable (RawConnection) -> Void) throws {
    #if canImport(Glibc)
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      let listener = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(listener, pointer, length) == 0 && listen(listener, 512) == 0
          && getsockname(listener, pointer, &length) == 0
      }
    }
    guard listener >= 0, bound else { throw ContractFailure("a test's server cannot listen: errno \(errno)") }
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
    try TestThread.start { [self] in
      while true {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else {
          // Closed here, not in `stop`: its number must not be given to another socket while this thread still uses it.
          closeDescriptor(listener)
          return
        }
        serve(descriptor, handler)
      }
    }
  }

  /// Answers each request of each connection; nil closes the connection.
  package convenience init(answering answer: @escaping @Sendable (RawRequest) -> String?) throws {
    try self.init { connection in
      while let request = connection.readRequest() {
        guard let text = answer(request) else { return }
        connection.write(text)
      }
    }
  }

  private func serve(_ descriptor: Int32, _ handler: @escaping @Sendable (RawConnection) -> Void) {
    state.withLock { state in
      state.connections += 1
      state.open.insert(descriptor)
      state.mostOpen = max(state.mostOpen, state.open.count)
    }
    do {
      try TestThread.start { [self] in
        let connection = RawConnection(
          descriptor, note: { self.note($0) }, willClose: { self.state.withLock { _ = $0.open.remove(descriptor) } })
        handler(connection)
        connection.close()
      }
    } catch {
      state.withLock { _ = $0.open.remove(descriptor) }
      closeDescriptor(descriptor)
    }
  }

  package var requests: [RawRequest] { state.withLock { $0.requests } }
  package var connectionCount: Int { state.withLock { $0.connections } }
  package var mostOpenAtOnce: Int { state.withLock { $0.mostOpen } }

  /// A URL of this server.
  package func url(_ target: String, scheme: String = "http") throws -> URL {
    guard let url = URL(string: "\(scheme)://127.0.0.1:\(port)\(target)") else {
      throw ContractFailure("no URL: \(target)")
    }
    return url
  }

  /// Waits until at least so many requests have come.
  package func requests(atLeast count: Int) async {
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
  package func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
  }

  /// Ends every connection, as a server that is restarted does.
  package func dropConnections() {
    state.withLock { state in
      for descriptor in state.open { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
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

/// An answer with a body and its length.
package func answer(_ status: String, _ body: String = "", headers: [String] = []) -> String {
  (["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + headers).joined(separator: "\r\n") + "\r\n\r\n" + body
}

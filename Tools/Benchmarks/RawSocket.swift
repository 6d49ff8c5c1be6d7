#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A TCP connection to this machine, read and written by hand: the least that a client can be.
final class RawSocket {
  private let descriptor: Int32

  /// Connects to a port of 127.0.0.1.
  init(port: UInt16) throws(BenchError) {
    #if canImport(Glibc)
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    guard descriptor >= 0 else { throw BenchError("No socket: \(String(cString: strerror(errno))).") }
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
      let reason = String(cString: strerror(errno))
      close(descriptor)
      throw BenchError("Nothing answers at port \(port): \(reason).")
    }
  }

  deinit { close(descriptor) }

  /// Sends a request, and gives status and body of the answer.
  func ask(_ method: String, _ target: String, _ body: String = "", token: String? = nil) throws(BenchError) -> (
    status: Int, body: String
  ) {
    let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
    let request =
      "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\(authorization)"
      + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    let bytes = Array(request.utf8)
    guard send(descriptor, bytes, bytes.count, 0) == bytes.count else {
      throw BenchError("The server takes no request.")
    }
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { throw BenchError("The server ends the connection.") }
      answer += buffer[..<count]
      let text = String(decoding: answer, as: UTF8.self)
      guard let head = text.firstRange(of: "\r\n\r\n") else { continue }
      let lines = text[..<head.lowerBound].split(separator: "\r\n")
      let length = lines.first { $0.lowercased().hasPrefix("content-length:") }.flatMap {
        Int($0.drop { !$0.isNumber })
      }
      let body = text[head.upperBound...]
      guard body.utf8.count >= length ?? 0 else { continue }
      return (Int(text.dropFirst(9).prefix(3)) ?? 0, String(body))
    }
  }

  /// A port that nobody listens on at this moment.
  static func freePort() throws(BenchError) -> UInt16 {
    #if canImport(Glibc)
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    guard descriptor >= 0 else { throw BenchError("No socket: \(String(cString: strerror(errno))).") }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let port = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> Bool in
        bind(descriptor, address, size) == 0 && getsockname(descriptor, address, &size) == 0
      }
    }
    guard port else { throw BenchError("No free port: \(String(cString: strerror(errno))).") }
    return UInt16(bigEndian: address.sin_port)
  }
}

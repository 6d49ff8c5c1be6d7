import CLibevent

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Host names to sockets and back.
enum SocketAddress {
  /// A socket that listens on host and port, not blocking, not inherited by children.
  ///
  /// - Returns: the descriptor, and the port, which the system has chosen if 0 was asked for.
  static func listen(host: String, port: UInt16) throws(FrontError) -> (descriptor: Int32, port: UInt16) {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    #if canImport(Darwin)
      hints.ai_socktype = SOCK_STREAM
    #else
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #endif
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
    var list: UnsafeMutablePointer<addrinfo>?
    // "localhost" is 127.0.0.1 here, whatever the machine's files say about it.
    let name = host == "localhost" ? "127.0.0.1" : host
    let status = getaddrinfo(name, String(port), &hints, &list)
    guard status == 0, let first = list else {
      throw FrontError(.badHost, "\(shown(host)) is no address to listen on: write 127.0.0.1, ::1, or 0.0.0.0 for all.")
    }
    defer { freeaddrinfo(list) }
    let descriptor = socket(first.pointee.ai_family, first.pointee.ai_socktype, first.pointee.ai_protocol)
    guard descriptor >= 0 else { throw error(errno, host: host, port: port) }
    guard let bound = bindAndListen(descriptor, on: first.pointee) else {
      let code = errno
      evutil_closesocket(descriptor)
      throw error(code, host: host, port: port)
    }
    return (descriptor, bound)
  }

  /// Binds and listens; nil on a failure, which errno tells.
  private static func bindAndListen(_ descriptor: Int32, on address: addrinfo) -> UInt16? {
    var on: Int32 = 1
    // A port whose last connections are in TIME_WAIT may be taken again; one that somebody listens on may not.
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    guard evutil_make_socket_nonblocking(descriptor) == 0, evutil_make_socket_closeonexec(descriptor) == 0,
      bind(descriptor, address.ai_addr, address.ai_addrlen) == 0, systemListen(descriptor, SOMAXCONN) == 0
    else { return nil }
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        getsockname(descriptor, address, &size) == 0 ? port(of: address) : nil
      }
    }
  }

  private static func port(of address: UnsafePointer<sockaddr>) -> UInt16? {
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
      address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { UInt16(bigEndian: $0.pointee.sin_port) }
    case AF_INET6:
      address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { UInt16(bigEndian: $0.pointee.sin6_port) }
    default:
      nil
    }
  }

  private static func error(_ code: Int32, host: String, port: UInt16) -> FrontError {
    switch code {
    case EADDRINUSE:
      FrontError(
        .portInUse,
        "Port \(port) on \(shown(host)) is in use by another program: stop it, or choose another port (0: any free one)."
      )
    case EACCES, EPERM:
      FrontError(.notPermitted, "Port \(port) on \(shown(host)) may not be used: choose one of 1024 or above.")
    case EADDRNOTAVAIL, EAFNOSUPPORT:
      FrontError(.badHost, "\(shown(host)) is no address of this machine: write 127.0.0.1, ::1, or 0.0.0.0 for all.")
    default:
      FrontError(
        .exhausted, "Cannot listen on \(shown(host)), port \(port): \(String(cString: strerror(code))).")
    }
  }

  private static func shown(_ host: String) -> String {
    String(
      host.unicodeScalars.filter { $0.isASCII && $0.value > 0x20 && $0.value != 0x7F }.prefix(80).map(Character.init))
  }

  /// Whether an address is one of this machine's loopback ones.
  static func isLoopback(_ address: UnsafePointer<sockaddr>?) -> Bool {
    guard let address else { return false }
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
      return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        UInt32(bigEndian: $0.pointee.sin_addr.s_addr) >> 24 == 127
      }
    case AF_INET6:
      return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
        withUnsafeBytes(of: pointer.pointee.sin6_addr) { bytes in
          let isZero = bytes[..<10].allSatisfy { $0 == 0 }
          let isOne = isZero && bytes[10..<15].allSatisfy { $0 == 0 } && bytes[15] == 1
          return isOne || (isZero && bytes[10] == 0xFF && bytes[11] == 0xFF && bytes[12] == 127)
        }
      }
    default:
      return false
    }
  }
}

/// The system's `listen`, whose name a member of `SocketAddress` hides.
private func systemListen(_ descriptor: Int32, _ backlog: Int32) -> Int32 {
  listen(descriptor, backlog)
}

internal import AuthModels

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension APIClient {
  /// The request for an endpoint.
  func makeRequest<Response>(_ endpoint: Endpoint<Response>) throws(TransportError) -> HTTPRequest {
    var target = try RequestTarget.encoded(path: endpoint.path)
    if !endpoint.query.isEmpty {
      target += "?" + (try RequestTarget.encoded(query: endpoint.query))
    }
    return HTTPRequest(
      method: endpoint.method, url: try url(target: target), headers: endpoint.headers, body: endpoint.body,
      hasCredentialBody: endpoint.hasCredentialBody, timeout: endpoint.timeout ?? timeout)
  }

  /// The request for a call as a person typed it.
  func makeRequest(_ call: RawCall) throws(TransportError) -> HTTPRequest {
    HTTPRequest(
      method: call.method, url: try url(target: RequestTarget.encoded(target: call.target)), headers: call.headers,
      body: call.body, hasCredentialBody: call.hasCredentialBody, timeout: call.timeout ?? timeout)
  }

  /// Puts an encoded target under the base URL: by text, so that nothing in the target can reach the host.
  private func url(target: String) throws(TransportError) -> URL {
    guard let url = URL(string: try base.get() + target), url.host()?.isEmpty == false else {
      throw .invalidRequest("The request's URL cannot be made from the server's URL and the path.")
    }
    return url
  }

  /// Scheme, host, port and folder of the server, as every request's URL begins; or why no request can be made.
  static func base(of url: URL) -> Result<String, TransportError> {
    guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
      let scheme = parts.scheme?.lowercased(), scheme == "http" || scheme == "https",
      let host = parts.percentEncodedHost, !host.isEmpty, parts.user == nil, parts.password == nil,
      parts.query == nil, parts.fragment == nil
    else {
      return .failure(
        .invalidRequest(
          "The server's URL must be http:// or https:// with a host, and without user, query or fragment."))
    }
    let port = parts.port.map { ":\($0)" } ?? ""
    var folder = parts.percentEncodedPath
    while folder.hasSuffix("/") { folder.removeLast() }
    // A base such as "https://host/a/../b" would leave its own folder just as a path would.
    for segment in folder.split(separator: "/") where RequestTarget.isDots(segment) {
      return .failure(.invalidRequest("The server's URL has a \".\" or \"..\" in its path."))
    }
    return .success("\(scheme)://\(host)\(port)\(folder)")
  }
}

/// Path and query of a request, percent-encoded (RFC 3986 §3.3, §3.4).
enum RequestTarget {
  /// Encodes a plain path: `%` is a character like any other.
  static func encoded(path: String) throws(TransportError) -> String {
    let rooted = path.hasPrefix("/") ? path : "/" + path
    try checkSegments(rooted, escaped: false)
    return try escape(rooted, allowed: isPathByte)
  }

  /// Encodes names and values: everything but unreserved characters is escaped, a space as `%20`.
  static func encoded(query: [(name: String, value: String)]) throws(TransportError) -> String {
    var pairs: [String] = []
    for (name, value) in query {
      pairs.append(
        try escape(name, allowed: isUnreserved) + "=" + escape(value, allowed: isUnreserved))
    }
    return pairs.joined(separator: "&")
  }

  /// Encodes a target as a person typed it: whole percent-escapes stay, what may not stand in a target is escaped.
  static func encoded(target: String) throws(TransportError) -> String {
    let end = target.firstIndex(of: "?") ?? target.endIndex
    let path = target[..<end]
    let rooted = path.hasPrefix("/") ? String(path) : "/" + path
    try checkSegments(rooted, escaped: true)
    let encodedPath = try escape(rooted, keepingEscapes: true, allowed: isPathByte)
    guard end < target.endIndex else { return encodedPath }
    let query = String(target[target.index(after: end)...])
    return try encodedPath + "?" + escape(query, keepingEscapes: true) { isPathByte($0) || $0 == UInt8(ascii: "?") }
  }

  /// Whether a path segment means this folder or the one above, also when its dots are escaped.
  static func isDots(_ segment: some StringProtocol) -> Bool {
    let plain = segment.lowercased().split(separator: "%2e", omittingEmptySubsequences: false).joined(separator: ".")
    return plain == "." || plain == ".."
  }

  private static func checkSegments(_ path: String, escaped: Bool) throws(TransportError) {
    let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    for (index, segment) in segments.enumerated() {
      if segment.isEmpty, index < segments.count - 1 {
        throw .invalidRequest("The path has an empty segment (\"//\").")
      }
      if escaped ? isDots(segment) : (segment == "." || segment == "..") {
        throw .invalidRequest("The path has a \".\" or \"..\" segment.")
      }
    }
  }

  private static func escape(
    _ text: String, keepingEscapes: Bool = false, allowed: (UInt8) -> Bool
  ) throws(TransportError) -> String {
    let bytes = Array(text.utf8)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    for (index, byte) in bytes.enumerated() {
      guard byte >= 0x20, byte != 0x7F else {
        throw .invalidRequest("The path or query has a control character, such as a line break.")
      }
      if allowed(byte) {
        result.append(byte)
      } else if keepingEscapes, byte == UInt8(ascii: "%"), index + 2 < bytes.count, isHex(bytes[index + 1]),
        isHex(bytes[index + 2])
      {
        guard escapedByte(bytes[index + 1], bytes[index + 2]) >= 0x20 else {
          throw .invalidRequest("The path or query has an escaped control character, such as a line break.")
        }
        result.append(byte)
      } else {
        result.append(UInt8(ascii: "%"))
        result.append(hexDigit(byte >> 4))
        result.append(hexDigit(byte & 15))
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }

  /// `pchar` and `/`.
  private static func isPathByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x21, 0x24, 0x26...0x2F, 0x3A, 0x3B, 0x3D, 0x40: true  // ! $ &'()*+,-./ : ; = @
    default: isUnreserved(byte)
    }
  }

  private static func isHex(_ byte: UInt8) -> Bool {
    0x30...0x39 ~= byte || 0x61...0x66 ~= byte | 0x20
  }

  private static func escapedByte(_ high: UInt8, _ low: UInt8) -> UInt8 {
    func digit(_ byte: UInt8) -> UInt8 { byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x61 + 10 }
    return digit(high) << 4 | digit(low)
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? 0x30 + value : 0x41 + value - 10
  }
}

extension TransportError {
  /// A request that cannot be sent, and was not.
  static func invalidRequest(_ message: String) -> TransportError {
    TransportError(.invalidRequest, mayHaveBeenSent: false, message: message)
  }
}

import MockServerCore

/// The head of a request while it is read: request line, fields, and what the fields say about body and connection.
struct RequestHead {
  /// How the body is delimited (RFC 9112, 6).
  enum Framing: Equatable {
    case none
    case length(Int)
    case chunked
  }

  private(set) var method = ""
  private(set) var target = ""
  private(set) var fields: [MockRequest.Field] = []
  private(set) var isHTTP10 = false
  private var hostCount = 0
  private var contentLength: Int?
  private var transferEncoding: String?
  private var closes = false
  private var staysOpen = false
  private var expectation: String?

  typealias Refusal = RequestParser.Refusal

  /// Whether another request may follow on the connection (RFC 9112, 9.3).
  var keepsAlive: Bool { !closes && (!isHTTP10 || staysOpen) }

  /// Whether the client waits for `100 Continue`; the wish of an HTTP/1.0 client is ignored (RFC 9110, 10.1.1).
  var wantsContinue: Bool { expectation != nil && !isHTTP10 }

  /// Reads `METHOD SP TARGET SP VERSION`.
  mutating func take(requestLine line: UnsafeRawBufferPointer) throws(Refusal) {
    guard let firstSpace = line.firstIndex(of: Byte.space), firstSpace > 0,
      let lastSpace = line.lastIndex(of: Byte.space), lastSpace > firstSpace + 1
    else { throw Refusal(status: 400, reason: "the request line is not METHOD TARGET VERSION") }
    let methodBytes = line[..<firstSpace]
    guard methodBytes.allSatisfy(Byte.isToken) else {
      throw Refusal(status: 400, reason: "the method is no token")
    }
    guard methodBytes.count <= 32 else { throw Refusal(status: 501, reason: "there is no method of that length") }
    method = String(decoding: methodBytes, as: UTF8.self)
    let targetBytes = line[(firstSpace + 1)..<lastSpace]
    guard targetBytes.allSatisfy({ $0 > Byte.space && $0 < 0x7F && $0 != UInt8(ascii: "#") }) else {
      throw Refusal(status: 400, reason: "the target holds a space, a fragment or a byte that is not ASCII")
    }
    try take(version: line[(lastSpace + 1)...])
    try take(target: targetBytes)
  }

  private mutating func take(version: Slice<UnsafeRawBufferPointer>) throws(Refusal) {
    let bytes = Array(version)
    guard bytes.count == 8, bytes.starts(with: "HTTP/".utf8), Byte.isDigit(bytes[5]),
      bytes[6] == UInt8(ascii: "."), Byte.isDigit(bytes[7])
    else { throw Refusal(status: 400, reason: "the version is not written HTTP/1.1") }
    guard bytes[5] == UInt8(ascii: "1") else {
      throw Refusal(status: 505, reason: "only HTTP/1.1 and HTTP/1.0 are spoken here")
    }
    isHTTP10 = bytes[7] == UInt8(ascii: "0")
  }

  /// Takes the origin form, `*` for OPTIONS, and the absolute form, whose path and query are kept (RFC 9112, 3.2).
  private mutating func take(target bytes: Slice<UnsafeRawBufferPointer>) throws(Refusal) {
    let text = String(decoding: bytes, as: UTF8.self)
    if bytes.first == UInt8(ascii: "/") {
      target = text
    } else if text == "*", method == "OPTIONS" {
      target = text
    } else if method == "CONNECT" {
      target = text
      throw Refusal(status: 501, reason: "this server is no proxy: CONNECT is not served")
    } else if let scheme = ["http://", "https://"].first(where: { text.lowercased().hasPrefix($0) }) {
      let rest = text.dropFirst(scheme.count)
      let authority = rest.prefix { $0 != "/" && $0 != "?" }
      guard !authority.isEmpty, Array(authority.utf8).withUnsafeBytes(Authority.isSound) else {
        throw Refusal(status: 400, reason: "the target names no host")
      }
      let path = rest.dropFirst(authority.count)
      target = path.hasPrefix("/") ? String(path) : "/\(path)"
    } else {
      throw Refusal(status: 400, reason: "the target is no path")
    }
  }

  /// Reads `NAME: VALUE`.
  mutating func take(fieldLine line: UnsafeRawBufferPointer) throws(Refusal) {
    guard line.first != Byte.space, line.first != Byte.tab else {
      throw Refusal(status: 400, reason: "a header line begins with a space")
    }
    guard let colon = line.firstIndex(of: Byte.colon), colon > 0 else {
      throw Refusal(status: 400, reason: "a header line has no name before a colon")
    }
    let nameBytes = line[..<colon]
    guard nameBytes.allSatisfy(Byte.isToken) else {
      let isSpace = nameBytes.last == Byte.space || nameBytes.last == Byte.tab
      throw Refusal(
        status: 400, reason: isSpace ? "a space stands before a header's colon" : "a header's name is no token")
    }
    var value = line[(colon + 1)...].drop { $0 == Byte.space || $0 == Byte.tab }
    while let last = value.last, last == Byte.space || last == Byte.tab { value.removeLast() }
    fields.append(
      MockRequest.Field(String(decoding: nameBytes, as: UTF8.self), String(decoding: value, as: UTF8.self)))
    try heed(nameBytes, value)
  }

  /// Notes what a field says about host, body and connection.
  private mutating func heed(
    _ name: Slice<UnsafeRawBufferPointer>, _ value: Slice<UnsafeRawBufferPointer>
  ) throws(Refusal) {
    switch name.count {
    case 4 where Byte.equal(name, "host"):
      hostCount += 1
      guard hostCount == 1 else { throw Refusal(status: 400, reason: "there are two Host fields") }
      guard value.isEmpty || Authority.isSound(UnsafeRawBufferPointer(rebasing: value)) else {
        throw Refusal(status: 400, reason: "Host is no host")
      }
    case 14 where Byte.equal(name, "content-length"):
      guard contentLength == nil else { throw Refusal(status: 400, reason: "there are two Content-Length fields") }
      guard !value.isEmpty, value.allSatisfy(Byte.isDigit) else {
        throw Refusal(status: 400, reason: "Content-Length is no decimal number")
      }
      // A number that no Int holds is a length all the same: too long, 413.
      contentLength = Int(String(decoding: value, as: UTF8.self)) ?? .max
    case 17 where Byte.equal(name, "transfer-encoding"):
      let text = String(decoding: value, as: UTF8.self).lowercased()
      transferEncoding = transferEncoding.map { "\($0),\(text)" } ?? text
    case 10 where Byte.equal(name, "connection"):
      for option in value.split(separator: UInt8(ascii: ",")) {
        var word = option.drop { $0 == Byte.space || $0 == Byte.tab }
        while let last = word.last, last == Byte.space || last == Byte.tab { word.removeLast() }
        closes = closes || Byte.equal(word, "close")
        staysOpen = staysOpen || Byte.equal(word, "keep-alive")
      }
    case 6 where Byte.equal(name, "expect"):
      expectation = String(decoding: value, as: UTF8.self).lowercased()
    default:
      break
    }
  }

  /// What the complete head says about the body; refuses what two servers could read in two ways.
  func framing() throws(Refusal) -> Framing {
    if hostCount == 0, !isHTTP10 { throw Refusal(status: 400, reason: "there is no Host field") }
    if let expectation, !isHTTP10, expectation != "100-continue" {
      throw Refusal(status: 417, reason: "only the expectation 100-continue is known")
    }
    guard let transferEncoding else {
      return contentLength.map(Framing.length) ?? .none
    }
    guard contentLength == nil else {
      throw Refusal(status: 400, reason: "there are both Transfer-Encoding and Content-Length")
    }
    guard !isHTTP10 else { throw Refusal(status: 400, reason: "HTTP/1.0 has no Transfer-Encoding") }
    if transferEncoding == "chunked" { return .chunked }
    let codings = transferEncoding.split(separator: ",", omittingEmptySubsequences: false).map { coding in
      String(decoding: coding.utf8.filter { $0 != Byte.space && $0 != Byte.tab }, as: UTF8.self)
    }
    let isOtherwiseSound = codings.last == "chunked" && !codings.dropLast().contains { $0 == "chunked" || $0 == "" }
    throw Refusal(
      status: isOtherwiseSound ? 501 : 400,
      reason: isOtherwiseSound ? "only the transfer coding chunked is known" : "Transfer-Encoding is not chunked")
  }
}

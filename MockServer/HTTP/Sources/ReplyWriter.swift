import MockServerCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Writes the head of an answer, and says what it commits the connection to.
struct ReplyWriter {
  /// How the body goes out.
  enum Body: Equatable {
    /// Whole, with `Content-Length`.
    case whole
    /// In chunks, until it ends (RFC 9112, 7.1).
    case chunks
    /// Until the connection ends: streams for HTTP/1.0.
    case untilClose
  }

  /// Whether the answer has a body: not for HEAD, 1xx, 204 and 304 (RFC 9112, 6.3).
  let hasBody: Bool
  /// Whether the connection ends after it.
  private(set) var closes: Bool

  private let reply: MockReply
  private let bodyKind: Body
  private let isHTTP10: Bool

  init(_ reply: MockReply, to request: RequestParser.Parsed, body: Body) {
    self.reply = reply
    isHTTP10 = request.isHTTP10
    bodyKind = body
    let isBodiless = reply.status < 200 || reply.status == 204 || reply.status == 304
    hasBody = !isBodiless && request.request.method != "HEAD"
    // After an interim answer alone the client waits for more: only the end of the connection tells that none comes.
    closes = !request.keepsAlive || body == .untilClose || reply.status < 200
  }

  /// Appends status line and fields to a buffer.
  ///
  /// A `Content-Length`, `Transfer-Encoding` or `Connection` that the reply brings goes out as it is, since a script
  /// may want it wrong; the connection ends after an answer whose length does not tell where it ends.
  mutating func writeHead(to buffer: inout [UInt8]) {
    let status = min(max(reply.status, 100), 999)
    buffer.append(contentsOf: "HTTP/1.1 ".utf8)
    buffer.append(UInt8(0x30 + status / 100))
    buffer.append(UInt8(0x30 + status / 10 % 10))
    buffer.append(UInt8(0x30 + status % 10))
    buffer.append(Byte.space)
    buffer.append(contentsOf: Self.reason(of: status).utf8)
    var framed = false
    var bringsConnection = false
    for field in reply.headers {
      guard !field.name.isEmpty, field.name.utf8.allSatisfy(Byte.isToken) else { continue }
      if Byte.equal(field.name.utf8, "content-length") {
        framed = true
        if hasBody, Int(field.value) != reply.body.count { closes = true }
      } else if Byte.equal(field.name.utf8, "transfer-encoding") {
        framed = true
        closes = true
      } else if Byte.equal(field.name.utf8, "connection") {
        bringsConnection = true
        if field.value.lowercased().contains("close") { closes = true }
      }
      Self.append(field, to: &buffer)
    }
    if !framed, reply.status >= 200, reply.status != 204 {
      appendFraming(to: &buffer)
    }
    if !bringsConnection, closes || isHTTP10 {
      buffer.append(contentsOf: closes ? "\r\nConnection: close".utf8 : "\r\nConnection: keep-alive".utf8)
    }
    buffer.append(contentsOf: "\r\n\r\n".utf8)
  }

  private func appendFraming(to buffer: inout [UInt8]) {
    switch bodyKind {
    case .whole where reply.status == 304:
      break
    case .whole:
      buffer.append(contentsOf: "\r\nContent-Length: ".utf8)
      buffer.append(contentsOf: String(reply.body.count).utf8)
    case .chunks:
      buffer.append(contentsOf: "\r\nTransfer-Encoding: chunked".utf8)
    case .untilClose:
      break
    }
  }

  /// Appends a field; what would end its line becomes a space, so that no value can smuggle another field in.
  private static func append(_ field: MockRequest.Field, to buffer: inout [UInt8]) {
    buffer.append(Byte.carriageReturn)
    buffer.append(Byte.lineFeed)
    buffer.append(contentsOf: field.name.utf8)
    buffer.append(Byte.colon)
    buffer.append(Byte.space)
    let start = buffer.count
    buffer.append(contentsOf: field.value.utf8)
    for index in start..<buffer.count {
      switch buffer[index] {
      case 0, Byte.carriageReturn, Byte.lineFeed: buffer[index] = Byte.space
      default: break
      }
    }
  }

  /// Appends one chunk with its size.
  static func append(chunk: Data, to buffer: inout [UInt8]) {
    buffer.append(contentsOf: String(chunk.count, radix: 16).utf8)
    buffer.append(contentsOf: "\r\n".utf8)
    buffer.append(contentsOf: chunk)
    buffer.append(contentsOf: "\r\n".utf8)
  }

  private static func reason(of status: Int) -> String {
    switch status {
    case 100: "Continue"
    case 200: "OK"
    case 201: "Created"
    case 202: "Accepted"
    case 204: "No Content"
    case 301: "Moved Permanently"
    case 302: "Found"
    case 303: "See Other"
    case 304: "Not Modified"
    case 307: "Temporary Redirect"
    case 308: "Permanent Redirect"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 410: "Gone"
    case 411: "Length Required"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 415: "Unsupported Media Type"
    case 417: "Expectation Failed"
    case 422: "Unprocessable Content"
    case 425: "Too Early"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    case 505: "HTTP Version Not Supported"
    default: "Status"
    }
  }
}

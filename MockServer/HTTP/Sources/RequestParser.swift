package import MockServerCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads HTTP/1.1 requests out of bytes, strictly by RFC 9112.
///
/// A state machine that knows no socket: it is handed the bytes that are there, says how many it has used, and what
/// they were. What two servers could read in two ways is refused, since the second reading is how requests are smuggled
/// (RFC 9112, 11.2); and what cannot become a request any more is refused at once, not when the line is complete.
package struct RequestParser {
  /// How much of each part is taken.
  package struct Limits: Sendable {
    /// Bytes of the request line; more is 414.
    package var requestLine = 8 * 1024
    /// Bytes of all header lines together, and of all trailer lines; more is 431.
    package var fields = 32 * 1024
    /// Number of header fields; more is 431.
    package var fieldCount = 100
    /// Bytes of the body; more is 413.
    package var body = 2 * 1024 * 1024
    /// Bytes of a chunk-size line with its extensions; more is 400.
    package var chunkLine = 256
    /// Bytes of all chunk extensions of a request; more is 400.
    package var chunkExtensions = 16 * 1024

    /// Makes the limits that the server has.
    package init() {}
  }

  /// A request, whole or malformed.
  package struct Parsed {
    /// What the handler gets.
    package var request: MockRequest
    /// Whether another request may follow on the connection.
    package var keepsAlive: Bool
    /// Whether the client speaks HTTP/1.0.
    package var isHTTP10: Bool
  }

  /// What came of the bytes.
  package enum Outcome {
    /// They end inside a request, or between two.
    case needsMore
    /// The head is complete, and the client waits for `100 Continue` before it sends the body.
    case wantsContinue
    /// A request; a malformed one is the last of its connection.
    case request(Parsed)
  }

  /// Why a request is refused.
  struct Refusal: Error {
    let status: Int
    let reason: String
  }

  private enum State {
    case start
    case requestLine
    case fields
    case fixedBody(left: Int)
    case chunkSize
    case chunk(left: Int)
    case chunkEnd
    case trailers
    case refused
  }

  let limits: Limits
  private var state = State.start
  /// How many bytes of the unfinished line have been looked at.
  private var scanned = 0
  private var head = RequestHead()
  private var body = Data()
  private var fieldBytes = 0
  private var extensionBytes = 0

  /// Makes a parser that is before its first request.
  package init(limits: Limits = Limits()) {
    self.limits = limits
  }

  /// Whether a request has begun and is not complete.
  package var isInside: Bool {
    switch state {
    case .start: false
    case .requestLine: scanned > 0
    default: true
    }
  }

  /// Reads on.
  ///
  /// - Parameter bytes: everything that is there and was not used yet.
  /// - Returns: how many of them are used up, which the caller drops, and what came of them. Only `.needsMore` says
  ///   that the rest holds nothing more.
  package mutating func consume(_ bytes: UnsafeRawBufferPointer) -> (used: Int, outcome: Outcome) {
    var used = 0
    do throws(Refusal) {
      while let outcome = try step(bytes, &used) {
        if case .needsMore = outcome { continue }
        return (used, outcome)
      }
      return (used, .needsMore)
    } catch {
      return (bytes.count, .request(refuse(error)))
    }
  }

  /// The peer has ended its side inside a request: what could be read of it, as a malformed one.
  package mutating func endedEarly() -> Parsed {
    refuse(Refusal(status: 400, reason: "the connection ended inside the request"))
  }

  /// The request took too long to arrive: what could be read of it, as a malformed one.
  mutating func timedOut() -> Parsed {
    refuse(Refusal(status: 408, reason: "the request took too long to arrive"))
  }

  private mutating func refuse(_ refusal: Refusal) -> Parsed {
    state = .refused
    body = Data()
    return Parsed(
      request: MockRequest(
        method: head.method, target: head.target, headers: head.fields,
        malformation: .init(status: refusal.status, reason: refusal.reason)),
      keepsAlive: false, isHTTP10: head.isHTTP10)
  }

  /// Takes one part. Nil: it is not complete. `.needsMore`: it is, and the next one may be.
  private mutating func step(_ bytes: UnsafeRawBufferPointer, _ used: inout Int) throws(Refusal) -> Outcome? {
    switch state {
    case .start:
      // One empty line before a request is ignored (RFC 9112, 2.2).
      let rest = UnsafeRawBufferPointer(rebasing: bytes[used...])
      guard let first = rest.first else { return nil }
      if first == Byte.carriageReturn {
        guard rest.count > 1 else { return nil }
        guard rest[1] == Byte.lineFeed else { throw .controlCharacter }
        used += 2
      }
      state = .requestLine
      return .needsMore
    case .requestLine:
      let limit = limits.requestLine
      guard
        let line = try line(
          of: bytes, &used, upTo: limit,
          else: Refusal(status: 414, reason: "the request line is longer than \(limit) bytes"))
      else { return nil }
      try head.take(requestLine: line)
      state = .fields
      return .needsMore
    case .fields:
      guard let line = try fieldLine(of: bytes, &used) else { return nil }
      guard line.isEmpty else {
        try head.take(fieldLine: line)
        guard head.fields.count <= limits.fieldCount else {
          throw Refusal(status: 431, reason: "more than \(limits.fieldCount) header fields")
        }
        return .needsMore
      }
      return try finishHead()
    case .fixedBody(let left):
      let part = bytes[used...].prefix(left)
      body.append(contentsOf: UnsafeRawBufferPointer(rebasing: part))
      used += part.count
      guard part.count == left else {
        state = .fixedBody(left: left - part.count)
        return nil
      }
      return finish()
    case .chunkSize:
      let limit = limits.chunkLine
      guard
        let line = try line(
          of: bytes, &used, upTo: limit,
          else: Refusal(status: 400, reason: "a chunk-size line is longer than \(limit) bytes"))
      else { return nil }
      try take(chunkSizeLine: line)
      return .needsMore
    case .chunk(let left):
      let part = bytes[used...].prefix(left)
      body.append(contentsOf: UnsafeRawBufferPointer(rebasing: part))
      used += part.count
      state = part.count == left ? .chunkEnd : .chunk(left: left - part.count)
      return part.count == left ? .needsMore : nil
    case .chunkEnd:
      guard bytes.count > used else { return nil }
      guard bytes[used] == Byte.carriageReturn else { throw .chunkTooLong }
      guard bytes.count > used + 1 else { return nil }
      guard bytes[used + 1] == Byte.lineFeed else { throw .chunkTooLong }
      used += 2
      state = .chunkSize
      return .needsMore
    case .trailers:
      guard let line = try fieldLine(of: bytes, &used) else { return nil }
      guard line.isEmpty else {
        // Checked like header fields, then dropped: nothing here needs them (RFC 9112, 7.1.2).
        var checked = RequestHead()
        try checked.take(fieldLine: line)
        return .needsMore
      }
      return finish()
    case .refused:
      used = bytes.count
      return nil
    }
  }

  /// The next line without its CRLF, or nil if it is not complete.
  private mutating func line(
    of bytes: UnsafeRawBufferPointer, _ used: inout Int, upTo limit: Int, else refusal: @autoclosure () -> Refusal
  ) throws(Refusal) -> UnsafeRawBufferPointer? {
    var index = used + scanned
    let end = min(bytes.count, used + limit + 2)
    while index < end {
      let byte = bytes[index]
      if byte >= 0x20, byte != 0x7F {
        index += 1
        continue
      }
      switch byte {
      case Byte.tab:
        index += 1
      case Byte.carriageReturn:
        guard index + 1 < bytes.count else {
          scanned = index - used
          return nil
        }
        guard bytes[index + 1] == Byte.lineFeed else { throw .controlCharacter }
        guard index - used <= limit else { throw refusal() }
        let line = UnsafeRawBufferPointer(rebasing: bytes[used..<index])
        used = index + 2
        scanned = 0
        return line
      case Byte.lineFeed:
        throw Refusal(status: 400, reason: "a line ends with LF alone, not with CR LF")
      default:
        throw .controlCharacter
      }
    }
    guard index - used <= limit else { throw refusal() }
    scanned = index - used
    return nil
  }

  /// The next header or trailer line, within what all of them may take.
  private mutating func fieldLine(
    of bytes: UnsafeRawBufferPointer, _ used: inout Int
  ) throws(Refusal) -> UnsafeRawBufferPointer? {
    let before = used
    let limit = limits.fields
    // Said only where it is needed: every header line comes through here.
    guard
      let line = try line(
        of: bytes, &used, upTo: limit - fieldBytes,
        else: Refusal(status: 431, reason: "the header fields are longer than \(limit) bytes"))
    else { return nil }
    fieldBytes = min(limits.fields, fieldBytes + used - before)
    return line
  }

  private mutating func finishHead() throws(Refusal) -> Outcome {
    fieldBytes = 0
    let framing = try head.framing()
    switch framing {
    case .none:
      return finish()
    case .length(let length):
      guard length <= limits.body else {
        throw Refusal(status: 413, reason: "the body is longer than \(limits.body) bytes")
      }
      guard length > 0 else { return finish() }
      body.reserveCapacity(min(length, 64 * 1024))
      state = .fixedBody(left: length)
    case .chunked:
      state = .chunkSize
    }
    return head.wantsContinue ? .wantsContinue : .needsMore
  }

  private mutating func take(chunkSizeLine line: UnsafeRawBufferPointer) throws(Refusal) {
    var size = 0
    var digits = 0
    for byte in line {
      guard let digit = Byte.hexDigit(byte) else { break }
      digits += 1
      guard digits <= 15 else { throw bodyTooLong }
      size = size << 4 | digit
    }
    guard digits > 0 else { throw Refusal(status: 400, reason: "a chunk size is no hexadecimal number") }
    // A space may stand before an extension's semicolon, and nowhere else (RFC 9112, 7.1.1).
    let rest = line[digits...].drop { $0 == Byte.space || $0 == Byte.tab }
    guard digits == line.count || rest.first == UInt8(ascii: ";") else {
      throw Refusal(status: 400, reason: "a chunk size is no hexadecimal number")
    }
    extensionBytes += line.count - digits
    guard extensionBytes <= limits.chunkExtensions else {
      throw Refusal(status: 400, reason: "the chunk extensions are longer than \(limits.chunkExtensions) bytes")
    }
    guard size <= limits.body - body.count else { throw bodyTooLong }
    state = size == 0 ? .trailers : .chunk(left: size)
  }

  private var bodyTooLong: Refusal {
    Refusal(status: 413, reason: "the body is longer than \(limits.body) bytes")
  }

  private mutating func finish() -> Outcome {
    let parsed = Parsed(
      request: MockRequest(method: head.method, target: head.target, headers: head.fields, body: body),
      keepsAlive: head.keepsAlive, isHTTP10: head.isHTTP10)
    state = .start
    scanned = 0
    head = RequestHead()
    body = Data()
    fieldBytes = 0
    extensionBytes = 0
    return .request(parsed)
  }
}

extension RequestParser.Refusal {
  static var controlCharacter: Self { Self(status: 400, reason: "a control character stands where none may") }
  static var chunkTooLong: Self { Self(status: 400, reason: "a chunk is longer than its size says") }
}

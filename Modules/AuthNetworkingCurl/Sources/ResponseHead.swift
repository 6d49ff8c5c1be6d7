internal import AuthModels
internal import AuthNetworking

/// Reads an answer's head line by line, strictly, as libcurl hands it over (RFC 9112 §4 and §5).
///
/// Interim answers (1xx) are read and forgotten; so are trailer fields, which must not change what the head said (RFC 9110 §6.5).
struct ResponseHead {
  /// Why a head is not taken.
  enum Problem: Sendable, Hashable {
    case malformed
    case tooLarge
  }

  /// The most bytes of all heads and trailers of one exchange.
  static let limit = 256 << 10

  private(set) var status = 0
  private(set) var fields: [HTTPField] = []
  /// Whether the head of the answer itself is there, up to its empty line.
  private(set) var isComplete = false
  private(set) var problem: Problem?
  /// The body's length as it was announced; nil if it was not, or another framing counts.
  private(set) var contentLength: UInt64?
  private var size = 0

  /// Whether the body that libcurl hands over is longer than the one that came.
  var isPacked: Bool { HTTPFields(fields)["Content-Encoding"] != nil }

  /// Takes one line, its line break included.
  ///
  /// - Returns: whether to go on; if not, `problem` says why.
  mutating func take(_ line: UnsafeRawBufferPointer) -> Bool {
    size += line.count
    if size > Self.limit { return fail(.tooLarge) }
    if isComplete { return true }
    var end = line.count
    if end > 0, line[end - 1] == 0x0A { end -= 1 }
    if end > 0, line[end - 1] == 0x0D { end -= 1 }
    let line = UnsafeRawBufferPointer(rebasing: line[..<end])
    if status == 0 { return takeStatus(line) }
    guard let first = line.first else { return self.end() }
    if first == 0x20 || first == 0x09 {
      guard Self.isText(line) else { return fail(.malformed) }
      return takeFold(line)
    }
    var colon = 0
    while colon < end, HTTPRequest.isTokenByte(line[colon]) { colon += 1 }
    guard colon > 0, colon < end, line[colon] == 0x3A else { return fail(.malformed) }
    let value = Self.trimmed(line[(colon + 1)...])
    guard Self.isText(value) else { return fail(.malformed) }
    fields.append(HTTPField(Self.text(UnsafeRawBufferPointer(rebasing: line[..<colon])), Self.text(value)))
    return true
  }

  private mutating func fail(_ problem: Problem) -> Bool {
    self.problem = problem
    return false
  }

  /// `HTTP/1.1 200 OK`, and `HTTP/2 200` from libcurl itself.
  private mutating func takeStatus(_ line: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    while index < line.count, line[index] != 0x20 { index += 1 }
    guard line.starts(with: "HTTP/".utf8), index + 4 <= line.count, index + 4 == line.count || line[index + 4] == 0x20
    else { return fail(.malformed) }
    for byte in line[(index + 1)..<(index + 4)] {
      guard 0x30...0x39 ~= byte else { return fail(.malformed) }
      status = status * 10 + Int(byte - 0x30)
    }
    // 101 answers a question that was not asked.
    guard 100...599 ~= status, status != 101 else { return fail(.malformed) }
    return true
  }

  /// A line that goes on with the field before it (RFC 9112 §5.2).
  private mutating func takeFold(_ line: UnsafeRawBufferPointer) -> Bool {
    guard var last = fields.popLast() else { return fail(.malformed) }
    let more = Self.text(Self.trimmed(line[...]))
    last.value = last.value.isEmpty || more.isEmpty ? last.value + more : "\(last.value) \(more)"
    fields.append(last)
    return true
  }

  private mutating func end() -> Bool {
    if status < 200 {
      status = 0
      fields = []
      return true
    }
    // Two lengths, or one that is no number, leave open where the answer ends (RFC 9112 §6.3).
    var isChunked = false
    for field in fields {
      if field.hasName("transfer-encoding") {
        isChunked = true
      } else if field.hasName("content-length") {
        for part in field.value.split(separator: ",", omittingEmptySubsequences: false) {
          let digits = part.utf8.drop { $0 == 0x20 }.prefix { $0 != 0x20 }
          guard !digits.isEmpty, digits.allSatisfy({ 0x30...0x39 ~= $0 }),
            let length = UInt64(Substring(digits)), contentLength ?? length == length
          else { return fail(.malformed) }
          contentLength = length
        }
      }
    }
    if isChunked { contentLength = nil }
    isComplete = true
    return true
  }

  /// Without the spaces and tabs around it.
  private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> UnsafeRawBufferPointer {
    let bytes = UnsafeRawBufferPointer(rebasing: bytes)
    var start = 0
    var end = bytes.count
    while start < end, bytes[start] == 0x20 || bytes[start] == 0x09 { start += 1 }
    while end > start, bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
    return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
  }

  /// Whether there is no control character but tabs.
  private static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
    for byte in bytes where byte < 0x20 && byte != 0x09 || byte == 0x7F { return false }
    return true
  }

  /// UTF-8 where it is, else Latin-1: what is not ASCII has no defined meaning (RFC 9110 §5.5), but must not get lost.
  private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    String(validating: bytes, as: UTF8.self) ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }
}

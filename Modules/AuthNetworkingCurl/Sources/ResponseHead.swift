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
    var line = line[...]
    if line.last == 0x0A { line = line.dropLast() }
    if line.last == 0x0D { line = line.dropLast() }
    if status == 0 { return takeStatus(line) }
    guard let first = line.first else { return end() }
    let value = line.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    guard value else { return fail(.malformed) }
    if first == 0x20 || first == 0x09 { return takeFold(line) }
    guard let colon = line.firstIndex(of: 0x3A), colon > line.startIndex,
      line[..<colon].allSatisfy(HTTPRequest.isTokenByte)
    else { return fail(.malformed) }
    fields.append(HTTPField(Self.text(line[..<colon]), Self.text(Self.trimmed(line[line.index(after: colon)...]))))
    return true
  }

  private mutating func fail(_ problem: Problem) -> Bool {
    self.problem = problem
    return false
  }

  /// `HTTP/1.1 200 OK`, and `HTTP/2 200` from libcurl itself.
  private mutating func takeStatus(_ line: Slice<UnsafeRawBufferPointer>) -> Bool {
    let parts = line.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count >= 2, parts[0].starts(with: "HTTP/".utf8), parts[1].count == 3,
      parts[1].allSatisfy({ 0x30...0x39 ~= $0 })
    else { return fail(.malformed) }
    status = parts[1].reduce(0) { $0 * 10 + Int($1 - 0x30) }
    // 101 answers a question that was not asked.
    guard 100...599 ~= status, status != 101 else { return fail(.malformed) }
    return true
  }

  /// A line that goes on with the field before it (RFC 9112 §5.2).
  private mutating func takeFold(_ line: Slice<UnsafeRawBufferPointer>) -> Bool {
    guard var last = fields.popLast() else { return fail(.malformed) }
    let more = Self.text(Self.trimmed(line))
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
      switch field.name.lowercased() {
      case "transfer-encoding": isChunked = true
      case "content-length":
        for part in field.value.split(separator: ",", omittingEmptySubsequences: false) {
          let digits = part.utf8.drop { $0 == 0x20 }.prefix { $0 != 0x20 }
          guard !digits.isEmpty, digits.allSatisfy({ 0x30...0x39 ~= $0 }),
            let length = UInt64(Substring(digits)), contentLength ?? length == length
          else { return fail(.malformed) }
          contentLength = length
        }
      default: break
      }
    }
    if isChunked { contentLength = nil }
    isComplete = true
    return true
  }

  private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
    var bytes = bytes
    while let byte = bytes.first, byte == 0x20 || byte == 0x09 { bytes = bytes.dropFirst() }
    while let byte = bytes.last, byte == 0x20 || byte == 0x09 { bytes = bytes.dropLast() }
    return bytes
  }

  /// UTF-8 where it is, else Latin-1: what is not ASCII has no defined meaning (RFC 9110 §5.5), but must not get lost.
  private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
    String(validating: bytes, as: UTF8.self) ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }
}

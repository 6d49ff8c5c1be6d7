import Groundwork

/// Reads JSON in which every name stands once: what a signature covers must have one meaning (RFC 7515 §4, RFC 7519 §4).
struct StrictJSON {
  /// What is not to be read: no JSON, a name that stands twice, or nesting beyond any use.
  enum Fault: Error, Hashable {
    case malformed
    case duplicateName
  }

  private static let depthLimit = 16
  private let bytes: [UInt8]
  private var index = 0

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Reads one value that fills the whole text.
  static func parse(_ bytes: [UInt8]) throws(Fault) -> JSONValue {
    var parser = StrictJSON(bytes)
    let value = try parser.value(depth: 0)
    parser.skipSpace()
    guard parser.index == bytes.count else { throw .malformed }
    return value
  }

  private mutating func skipSpace() {
    while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    skipSpace()
    guard index < bytes.count, bytes[index] == byte else { return false }
    index += 1
    return true
  }

  private mutating func word(_ text: String, _ value: JSONValue) throws(Fault) -> JSONValue {
    let letters = Array(text.utf8)
    guard bytes[index...].starts(with: letters) else { throw .malformed }
    index += letters.count
    return value
  }

  private mutating func value(depth: Int) throws(Fault) -> JSONValue {
    skipSpace()
    guard index < bytes.count, depth < Self.depthLimit else { throw .malformed }
    switch bytes[index] {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return .number(try number())
    }
  }

  private mutating func object(depth: Int) throws(Fault) -> JSONValue {
    index += 1
    var members: [String: JSONValue] = [:]
    if take(UInt8(ascii: "}")) { return .object(members) }
    repeat {
      skipSpace()
      guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { throw .malformed }
      let name = try string()
      guard take(UInt8(ascii: ":")) else { throw .malformed }
      let member = try value(depth: depth + 1)
      guard members.updateValue(member, forKey: name) == nil else { throw .duplicateName }
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "}")) else { throw .malformed }
    return .object(members)
  }

  private mutating func array(depth: Int) throws(Fault) -> JSONValue {
    index += 1
    var elements: [JSONValue] = []
    if take(UInt8(ascii: "]")) { return .array(elements) }
    repeat { elements.append(try value(depth: depth + 1)) } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "]")) else { throw .malformed }
    return .array(elements)
  }

  private mutating func number() throws(Fault) -> Double {
    let start = index
    while index < bytes.count, "0123456789+-.eE".utf8.contains(bytes[index]) { index += 1 }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    let digits = text.first == "-" ? text.dropFirst() : Substring(text)
    guard let first = digits.utf8.first, 0x30...0x39 ~= first, first != 0x30 || !Self.hasLeadingZero(digits),
      let last = digits.utf8.last, 0x30...0x39 ~= last, let number = Double(text), number.isFinite
    else { throw .malformed }
    return number
  }

  private static func hasLeadingZero(_ digits: Substring) -> Bool {
    digits.utf8.dropFirst().first.map { 0x30...0x39 ~= $0 } ?? false
  }

  /// A string, its escapes read; `index` stands on its quote.
  private mutating func string() throws(Fault) -> String {
    index += 1
    var text: [UInt8] = []
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let read = String(validating: text, as: UTF8.self) else { throw .malformed }
        return read
      case UInt8(ascii: "\\"): text += try escape()
      case 0..<0x20: throw .malformed
      default: text.append(byte)
      }
    }
    throw .malformed
  }

  private mutating func escape() throws(Fault) -> [UInt8] {
    guard index < bytes.count else { throw .malformed }
    let byte = bytes[index]
    index += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "u"): return Array(String(Character(try scalar())).utf8)
    default: throw .malformed
    }
  }

  private mutating func scalar() throws(Fault) -> Unicode.Scalar {
    let first = try unit()
    if let scalar = Unicode.Scalar(first) { return scalar }
    // Half of a pair: the other half has to follow.
    guard 0xD800...0xDBFF ~= first, index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"),
      bytes[index + 1] == UInt8(ascii: "u")
    else { throw .malformed }
    index += 2
    let second = try unit()
    guard 0xDC00...0xDFFF ~= second,
      let scalar = Unicode.Scalar(0x10000 + (UInt32(first - 0xD800) << 10 | UInt32(second - 0xDC00)))
    else { throw .malformed }
    return scalar
  }

  private mutating func unit() throws(Fault) -> UInt16 {
    guard index + 4 <= bytes.count else { throw .malformed }
    let digits = bytes[index..<index + 4]
    index += 4
    guard digits.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 | 0x20 }),
      let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw .malformed }
    return unit
  }
}

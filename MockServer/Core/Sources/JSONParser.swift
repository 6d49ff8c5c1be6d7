import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A strict JSON reader (RFC 8259) for input of any kind: UTF-8 only, bounded depth, no trap.
///
/// A repeated member name keeps its last value, unless it is to be refused; a number too large for a double is refused.
struct JSONParser {
  /// Why a text is no JSON, in words, with the offset of the byte.
  struct Failure: Error {
    let message: String
  }

  private static let maximumDepth = 64

  private let bytes: [UInt8]
  private var position = 0

  private let allowsRepeatedNames: Bool

  private init(_ bytes: [UInt8], allowsRepeatedNames: Bool) {
    self.bytes = bytes
    self.allowsRepeatedNames = allowsRepeatedNames
  }

  static func parse(_ data: Data, allowsRepeatedNames: Bool = true) throws(Failure) -> JSONValue {
    var parser = JSONParser([UInt8](data), allowsRepeatedNames: allowsRepeatedNames)
    parser.skipSpace()
    let value = try parser.value(depth: 0)
    parser.skipSpace()
    guard parser.position == parser.bytes.count else { throw parser.failure("something follows the JSON value") }
    return value
  }

  private func failure(_ what: String) -> Failure { Failure(message: "\(what) (byte \(position))") }

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  private mutating func skip(_ expected: UInt8) -> Bool {
    guard current == expected else { return false }
    position += 1
    return true
  }

  private mutating func value(depth: Int) throws(Failure) -> JSONValue {
    guard depth < Self.maximumDepth else { throw failure("the JSON is nested too deeply") }
    switch current {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "-"): return .number(try number())
    case let byte? where 0x30...0x39 ~= byte: return .number(try number())
    case nil: throw failure("the JSON ends too early")
    default: throw failure("no JSON value begins here")
    }
  }

  private mutating func word(_ text: String, _ value: JSONValue) throws(Failure) -> JSONValue {
    guard bytes[position...].starts(with: text.utf8) else { throw failure("no JSON value begins here") }
    position += text.utf8.count
    return value
  }

  private mutating func object(depth: Int) throws(Failure) -> JSONValue {
    position += 1
    var members: [String: JSONValue] = [:]
    skipSpace()
    if skip(UInt8(ascii: "}")) { return .object(members) }
    while true {
      skipSpace()
      guard current == UInt8(ascii: "\"") else { throw failure("a member's name is missing") }
      let name = try string()
      guard allowsRepeatedNames || members[name] == nil else {
        throw failure("the member \"\(name.prefix(80))\" stands there twice")
      }
      skipSpace()
      guard skip(UInt8(ascii: ":")) else { throw failure("a colon is missing") }
      skipSpace()
      members[name] = try value(depth: depth + 1)
      skipSpace()
      if skip(UInt8(ascii: "}")) { return .object(members) }
      guard skip(UInt8(ascii: ",")) else { throw failure("a comma or a closing brace is missing") }
    }
  }

  private mutating func array(depth: Int) throws(Failure) -> JSONValue {
    position += 1
    var elements: [JSONValue] = []
    skipSpace()
    if skip(UInt8(ascii: "]")) { return .array(elements) }
    while true {
      skipSpace()
      elements.append(try value(depth: depth + 1))
      skipSpace()
      if skip(UInt8(ascii: "]")) { return .array(elements) }
      guard skip(UInt8(ascii: ",")) else { throw failure("a comma or a closing bracket is missing") }
    }
  }

  private mutating func digits() -> Int {
    let start = position
    while let byte = current, 0x30...0x39 ~= byte { position += 1 }
    return position - start
  }

  private mutating func number() throws(Failure) -> Double {
    let start = position
    _ = skip(UInt8(ascii: "-"))
    let leadingZero = current == 0x30
    let whole = digits()
    guard whole > 0, !leadingZero || whole == 1 else { throw failure("a number is malformed") }
    if skip(UInt8(ascii: ".")), digits() == 0 { throw failure("a number is malformed") }
    if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
      if !skip(UInt8(ascii: "+")) { _ = skip(UInt8(ascii: "-")) }
      if digits() == 0 { throw failure("a number is malformed") }
    }
    guard position - start <= 400, let number = Double(String(decoding: bytes[start..<position], as: UTF8.self)),
      number.isFinite
    else { throw failure("a number is out of range") }
    return number
  }

  private mutating func string() throws(Failure) -> String {
    position += 1
    let start = position
    // Nearly every string has no escape: it is taken in one piece.
    while let byte = current, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { position += 1 }
    if current == UInt8(ascii: "\"") {
      position += 1
      return try text(bytes[start..<position - 1])
    }
    var piece = Array(bytes[start..<position])
    while let byte = current {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return try text(piece[...])
      case UInt8(ascii: "\\"): try escape(into: &piece)
      case 0..<0x20: throw failure("a control character stands in a string")
      default: piece.append(byte)
      }
    }
    throw failure("a string does not end")
  }

  private func text(_ piece: ArraySlice<UInt8>) throws(Failure) -> String {
    guard let text = String(bytes: piece, encoding: .utf8) else { throw failure("a string is not UTF-8") }
    return text
  }

  private mutating func escape(into piece: inout [UInt8]) throws(Failure) {
    guard let letter = current else { throw failure("a string does not end") }
    position += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): piece.append(letter)
    case UInt8(ascii: "b"): piece.append(0x08)
    case UInt8(ascii: "f"): piece.append(0x0C)
    case UInt8(ascii: "n"): piece.append(0x0A)
    case UInt8(ascii: "r"): piece.append(0x0D)
    case UInt8(ascii: "t"): piece.append(0x09)
    case UInt8(ascii: "u"):
      var code = try hexDigits()
      if 0xD800...0xDBFF ~= code {
        guard skip(UInt8(ascii: "\\")), skip(UInt8(ascii: "u")) else { throw failure("half a surrogate pair") }
        let low = try hexDigits()
        guard 0xDC00...0xDFFF ~= low else { throw failure("half a surrogate pair") }
        code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
      }
      guard let scalar = Unicode.Scalar(code) else { throw failure("half a surrogate pair") }
      piece.append(contentsOf: String(Character(scalar)).utf8)
    default: throw failure("an unknown escape")
    }
  }

  private mutating func hexDigits() throws(Failure) -> UInt32 {
    guard bytes.count - position >= 4 else { throw failure("a string does not end") }
    var code: UInt32 = 0
    for byte in bytes[position..<position + 4] {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw failure("an unknown escape") }
      code = code << 4 | UInt32(digit)
    }
    position += 4
    return code
  }
}

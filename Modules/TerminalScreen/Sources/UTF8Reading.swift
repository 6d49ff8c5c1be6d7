/// Reads UTF-8 that may be cut anywhere or be none.
enum UTF8Reading {
  enum Outcome {
    /// A scalar, and where the next one begins.
    case scalar(Unicode.Scalar, next: Int)
    /// The byte begins nothing.
    case malformed
    /// So far so good; the rest has not come yet.
    case incomplete
  }

  static func scalar(in bytes: [UInt8], at start: Int) -> Outcome {
    let length = length(of: bytes[start])
    guard length > 0 else { return .malformed }
    let end = min(start + length, bytes.count)
    guard bytes[(start + 1)..<end].allSatisfy({ $0 & 0xC0 == 0x80 }) else { return .malformed }
    guard end == start + length else { return .incomplete }
    // Overlong forms and surrogates have the right shape and are none.
    var decoder = UTF8()
    var iterator = bytes[start..<end].makeIterator()
    guard case .scalarValue(let scalar) = decoder.decode(&iterator), UTF8.width(scalar) == length else {
      return .malformed
    }
    return .scalar(scalar, next: end)
  }

  /// The last place up to which no scalar is cut.
  static func completeEnd(of bytes: [UInt8], from start: Int, to end: Int) -> Int {
    var place = end
    while place > start, end - place < 3, bytes[place - 1] & 0xC0 == 0x80 { place -= 1 }
    guard place > start else { return end }
    let length = length(of: bytes[place - 1])
    return length > end - place + 1 ? place - 1 : end
  }

  private static func length(of lead: UInt8) -> Int {
    switch lead {
    case ..<0x80: 1
    case 0xC2...0xDF: 2
    case 0xE0...0xEF: 3
    case 0xF0...0xF4: 4
    default: 0
    }
  }
}

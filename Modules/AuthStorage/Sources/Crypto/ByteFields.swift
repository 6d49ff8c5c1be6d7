#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Writes tagged fields: tag (1 byte) ‖ length (4 bytes, big-endian) ‖ value.
///
/// A reader skips tags that it does not know, so that a later version can add fields without signing anybody out.
struct ByteFieldWriter {
  /// Where this tag stands, the fields are over and only filling follows.
  static let padding: UInt8 = 0

  private(set) var bytes: [UInt8] = []

  mutating func put(_ tag: UInt8, _ value: some Collection<UInt8>) {
    bytes.append(tag)
    bytes.append(bigEndian: UInt32(clamping: value.count))
    bytes.append(contentsOf: value)
  }

  mutating func put(_ tag: UInt8, _ text: String?) {
    if let text { put(tag, text.utf8) }
  }

  mutating func put(_ tag: UInt8, _ number: UInt64) {
    var value: [UInt8] = []
    value.append(bigEndian: number)
    put(tag, value)
  }

  mutating func put(_ tag: UInt8, _ number: Double?) {
    if let number { put(tag, number.bitPattern) }
  }

  mutating func put(_ tag: UInt8, _ date: Date) {
    put(tag, date.timeIntervalSinceReferenceDate)
  }

  mutating func put(_ tag: UInt8, _ id: UUID) {
    put(tag, id.bytes)
  }

  mutating func put(_ tag: UInt8, _ fields: (inout ByteFieldWriter) -> Void) {
    var inner = ByteFieldWriter()
    fields(&inner)
    put(tag, inner.bytes)
    inner.wipe()
  }

  /// Fills up with padding to `count` bytes; does nothing if there are as many.
  mutating func pad(to count: Int) {
    bytes.append(contentsOf: repeatElement(Self.padding, count: max(0, count - bytes.count)))
  }

  mutating func wipe() {
    bytes.wipe()
  }
}

/// Reads what `ByteFieldWriter` wrote.
struct ByteFieldReader {
  private let fields: [(tag: UInt8, value: ArraySlice<UInt8>)]

  /// Cuts the bytes into fields; nil if they end in the middle of one.
  init?(_ bytes: ArraySlice<UInt8>) {
    var fields: [(tag: UInt8, value: ArraySlice<UInt8>)] = []
    var rest = bytes
    while let tag = rest.popFirst(), tag != ByteFieldWriter.padding {
      guard rest.count >= 4 else { return nil }
      let count = Int(rest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
      rest = rest.dropFirst(4)
      guard rest.count >= count else { return nil }
      fields.append((tag, rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    self.fields = fields
  }

  func all(_ tag: UInt8) -> [ArraySlice<UInt8>] {
    fields.filter { $0.tag == tag }.map(\.value)
  }

  func bytes(_ tag: UInt8) -> ArraySlice<UInt8>? {
    fields.last { $0.tag == tag }?.value
  }

  func text(_ tag: UInt8) -> String? {
    bytes(tag).map { String(decoding: $0, as: UTF8.self) }
  }

  func integer(_ tag: UInt8) -> UInt64? {
    guard let value = bytes(tag), value.count == 8 else { return nil }
    return value.reduce(0) { $0 << 8 | UInt64($1) }
  }

  func double(_ tag: UInt8) -> Double? {
    integer(tag).map { Double(bitPattern: $0) }
  }

  func date(_ tag: UInt8) -> Date? {
    double(tag).map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  func id(_ tag: UInt8) -> UUID? {
    bytes(tag).flatMap { UUID(bytes: $0) }
  }

  func fields(_ tag: UInt8) -> ByteFieldReader? {
    bytes(tag).flatMap { ByteFieldReader($0) }
  }
}

extension [UInt8] {
  mutating func append(bigEndian number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }

  /// Length (4 bytes, big-endian) ‖ part, for each part: no two lists of parts give the same bytes.
  static func lengthPrefixed(_ parts: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = []
    for part in parts {
      bytes.append(bigEndian: UInt32(clamping: part.count))
      bytes.append(contentsOf: part)
    }
    return bytes
  }

  var hexadecimal: String {
    let digits = Array<Character>("0123456789abcdef")
    return String(flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }
}

extension UUID {
  var bytes: [UInt8] {
    Swift.withUnsafeBytes(of: uuid) { Array($0) }
  }

  init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    let b = Array(bytes)
    self.init(
      uuid: (b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]))
  }
}

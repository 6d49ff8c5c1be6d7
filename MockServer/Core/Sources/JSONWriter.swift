import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Writes JSON in the order of the calls: the same answer is the same bytes.
struct JSONWriter {
  private(set) var bytes: [UInt8] = []
  private var needsComma = false

  var data: Data { Data(bytes) }
  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// One object, written by `members`.
  static func object(_ members: (inout JSONWriter) -> Void) -> JSONWriter {
    var writer = JSONWriter()
    writer.bytes.reserveCapacity(256)
    writer.object(members)
    return writer
  }

  mutating func object(_ members: (inout JSONWriter) -> Void) {
    open(UInt8(ascii: "{"))
    members(&self)
    close(UInt8(ascii: "}"))
  }

  mutating func array<Element>(_ elements: some Sequence<Element>, _ write: (inout JSONWriter, Element) -> Void) {
    open(UInt8(ascii: "["))
    for element in elements { write(&self, element) }
    close(UInt8(ascii: "]"))
  }

  mutating func key(_ name: String) {
    separate()
    quoted(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  mutating func string(_ text: String) {
    separate()
    quoted(text)
  }

  mutating func integer(_ number: Int) { raw(String(number)) }
  mutating func bool(_ flag: Bool) { raw(flag ? "true" : "false") }
  mutating func null() { raw("null") }

  /// Text that is JSON already.
  mutating func raw(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
  }

  /// Bytes that are JSON already.
  mutating func raw(_ data: Data) {
    separate()
    bytes.append(contentsOf: data)
  }

  mutating func member(_ name: String, _ text: String) {
    key(name)
    string(text)
  }

  mutating func member(_ name: String, _ number: Int) {
    key(name)
    integer(number)
  }

  mutating func member(_ name: String, _ flag: Bool) {
    key(name)
    bool(flag)
  }

  /// Any value; the members of objects come in the order of their names.
  mutating func value(_ value: JSONValue) {
    switch value {
    case .null: null()
    case .bool(let flag): bool(flag)
    case .string(let text): string(text)
    case .array(let elements): array(elements) { $0.value($1) }
    case .number(let number):
      if let integer = Int64(exactly: number) {
        raw(String(integer))
      } else {
        raw(number.isFinite ? "\(number)" : "null")
      }
    case .object(let members):
      object { writer in
        for (name, member) in members.sorted(by: { $0.key < $1.key }) {
          writer.key(name)
          writer.value(member)
        }
      }
    }
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  private mutating func open(_ bracket: UInt8) {
    separate()
    bytes.append(bracket)
    needsComma = false
  }

  private mutating func close(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }

  private mutating func quoted(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""): bytes.append(contentsOf: [0x5C, 0x22])
      case UInt8(ascii: "\\"): bytes.append(contentsOf: [0x5C, 0x5C])
      case 0x0A: bytes.append(contentsOf: [0x5C, UInt8(ascii: "n")])
      case 0x0D: bytes.append(contentsOf: [0x5C, UInt8(ascii: "r")])
      case 0x09: bytes.append(contentsOf: [0x5C, UInt8(ascii: "t")])
      case 0..<0x20:
        let digits = Array("0123456789abcdef".utf8)
        bytes.append(contentsOf: "\\u00".utf8)
        bytes.append(digits[Int(byte >> 4)])
        bytes.append(digits[Int(byte & 15)])
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}

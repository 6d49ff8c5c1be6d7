#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Bodies of the type `application/x-www-form-urlencoded`, as RFC 6749 appendix B has it.
public enum FormBody: Sendable {
  /// Names and values in the order given.
  public static func encoded(_ parameters: [(name: String, value: String)]) -> Data {
    Data(parameters.map { escape($0.name) + "=" + escape($0.value) }.joined(separator: "&").utf8)
  }

  /// One text, everything but unreserved characters escaped.
  package static func escape(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        bytes.append(byte)
      default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

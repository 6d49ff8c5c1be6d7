#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Bytes as URLs and JSON Web Tokens write them (RFC 4648 §5, RFC 7515 §2): no padding is written.
package enum Base64URL {
  /// Writes bytes without padding.
  package static func encode(_ bytes: some Collection<UInt8>) -> String {
    let text = Data(bytes).base64EncodedString()
    return String(
      decoding: text.utf8.compactMap { byte -> UInt8? in
        switch byte {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        case UInt8(ascii: "="): nil
        default: byte
        }
      }, as: UTF8.self)
  }

  /// Reads what `encode` wrote; nil for anything else: padding, the plain alphabet and stray bits included.
  ///
  /// One text a value: two spellings of one token would be two tokens to whoever compares texts.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var plain: [UInt8] = []
    plain.reserveCapacity(text.utf8.count + 3)
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        plain.append(byte)
      case UInt8(ascii: "-"): plain.append(UInt8(ascii: "+"))
      case UInt8(ascii: "_"): plain.append(UInt8(ascii: "/"))
      default: return nil
      }
    }
    guard plain.count % 4 != 1 else { return nil }
    plain += repeatElement(UInt8(ascii: "="), count: (4 - plain.count % 4) % 4)
    guard let data = Data(base64Encoded: Data(plain)) else { return nil }
    let bytes = Array(data)
    return encode(bytes) == String(text) ? bytes : nil
  }
}

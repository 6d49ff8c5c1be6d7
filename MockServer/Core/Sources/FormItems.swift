#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Parameters as OAuth sends them, in a query or a form (RFC 6749 §3.1, §3.2).
///
/// One without a value counts as left out, and one that comes twice is remembered as such: the request is refused then.
struct FormItems: Sendable {
  private(set) var values: [String: String] = [:]
  /// The names that came more than once.
  private(set) var repeated: Set<String> = []

  /// Nil if an escape is malformed.
  init?(_ text: some StringProtocol) {
    for pair in text.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = parts[0].percentDecoded, let value = parts.count == 2 ? parts[1].percentDecoded : "" else {
        return nil
      }
      if values[name] != nil { repeated.insert(name) }
      values[name] = value
    }
  }

  /// The form of a request's body; nil if the body is none.
  init?(_ request: MockRequest) {
    let type = request.header("Content-Type")?.split(separator: ";").first?.trimmedOfSpaces
    guard type?.equalsIgnoringCase("application/x-www-form-urlencoded") == true,
      let text = String(bytes: request.body, encoding: .utf8)
    else { return nil }
    self.init(text)
  }

  subscript(name: String) -> String? {
    guard let value = values[name], !value.isEmpty else { return nil }
    return value
  }

  /// A text as it may stand in a query or a fragment: everything but the unreserved letters is escaped (RFC 3986 §2.3).
  static func encode(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        bytes.append(byte)
      default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

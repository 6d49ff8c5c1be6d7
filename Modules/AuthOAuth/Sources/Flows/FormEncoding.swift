import AuthNetworking

/// `application/x-www-form-urlencoded`, as RFC 6749 appendix B has it.
enum FormEncoding {
  /// Writes names and values in order.
  static func encode(_ parameters: [(name: String, value: String)]) -> String {
    parameters.map { escape($0.name) + "=" + escape($0.value) }.joined(separator: "&")
  }

  /// Writes one text.
  static func escape(_ text: String) -> String { FormBody.escape(text) }

  /// Reads a query: a plus is a space, an escape that is none stands for itself.
  ///
  /// - Throws: `duplicateParameter` if a name stands there twice (RFC 6749 §3.1).
  static func decode(_ query: some StringProtocol) throws(OAuthError) -> [String: String] {
    var parameters: [String: String] = [:]
    for pair in query.split(separator: "&") {
      let name = unescape(pair.prefix { $0 != "=" })
      let value = unescape(pair.drop { $0 != "=" }.dropFirst())
      guard parameters.updateValue(value, forKey: name) == nil else {
        throw OAuthError(
          .duplicateParameter, "The server's answer has a parameter twice, so what it means is anybody's guess.")
      }
    }
    return parameters
  }

  private static func unescape(_ text: some StringProtocol) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      if byte == UInt8(ascii: "+") {
        bytes.append(UInt8(ascii: " "))
      } else if byte == UInt8(ascii: "%"), digits.utf8.count == 2, digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") }),
        let escaped = UInt8(digits, radix: 16)
      {
        bytes.append(escaped)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

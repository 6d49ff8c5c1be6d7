internal import Groundwork

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What of a request or an answer may stand in a log.
///
/// Told by name, not by look: fields, query parameters and JSON members whose names speak of a credential keep their name and lose
/// their value. A body that is not JSON, and every body of a call with a credential, shows its size alone.
public enum Redaction: Sendable {
  /// What stands in the place of a secret.
  public static let mark = "●●●"

  /// Whether a header field, query parameter or JSON member of that name holds a credential.
  public static func isSecret(name: String) -> Bool {
    let plain = name.lowercased().filter { $0 != "-" && $0 != "_" && $0 != "." }
    if exactNames.contains(plain) { return true }
    return nameParts.contains { plain.contains($0) }
  }

  /// The value of a header field as it may be shown.
  public static func value(of field: HTTPField) -> String {
    switch field.name.lowercased() {
    case "location", "referer", "content-location": return url(field.value)
    // It names the type of the token, not the token.
    case "token-type", "token_type": return field.value
    default: return isSecret(name: field.name) ? mark : field.value
    }
  }

  /// A URL without user, password and fragment, and with the values of secret parameters hidden.
  public static func url(_ text: String) -> String {
    let withoutFragment = text.prefix { $0 != "#" }
    let fragment = withoutFragment.endIndex < text.endIndex ? "#" + mark : ""
    let start = withoutFragment.firstIndex(of: "?") ?? withoutFragment.endIndex
    var result = withoutUser(withoutFragment[..<start])
    if start < withoutFragment.endIndex {
      let pairs = withoutFragment[withoutFragment.index(after: start)...].split(
        separator: "&", omittingEmptySubsequences: false)
      result += "?" + pairs.map(parameter).joined(separator: "&")
    }
    return result + fragment
  }

  /// A JSON body with the values of secret members hidden; the size alone for anything else or more than 16 KiB.
  public static func body(_ body: Data, contentType: String?) -> String {
    let size = "(\(body.count) bytes)"
    guard !body.isEmpty, body.count <= 16_384, contentType?.lowercased().contains("json") == true else { return size }
    do {
      let value = hidden(try JSONDecoder().decode(JSONValue.self, from: body))
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(value), as: UTF8.self)
    } catch {
      return size
    }
  }

  private static let exactNames: Set<String> = [
    "cookie", "setcookie", "code", "key", "sig", "signature", "jwt", "auth", "pin", "otp", "assertion", "state",
    "nonce",
    "session", "sessionid", "sid",
  ]

  private static let nameParts = [
    "token", "secret", "password", "passwd", "passphrase", "pwd", "credential", "authorization", "apikey", "accesskey",
    "privatekey", "codeverifier", "authcode", "devicecode", "usercode",
  ]

  private static func parameter(_ pair: Substring) -> String {
    guard let equals = pair.firstIndex(of: "=") else { return String(pair) }
    let name = String(pair[..<equals])
    return isSecret(name: unescaped(name)) ? "\(name)=\(mark)" : String(pair)
  }

  /// Reads percent-escapes, so that an escaped letter does not hide a name.
  private static func unescaped(_ name: String) -> String {
    guard name.utf8.contains(UInt8(ascii: "%")) else { return name }
    var bytes: [UInt8] = []
    var rest = name.utf8[...]
    while let byte = rest.popFirst() {
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      if byte == UInt8(ascii: "%"), digits.utf8.count == 2, let escaped = UInt8(digits, radix: 16) {
        bytes.append(escaped)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func withoutUser(_ text: Substring) -> String {
    let parts = text.split(separator: "//", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return String(text) }
    let authority = parts[1].prefix { $0 != "/" }
    guard let at = authority.lastIndex(of: "@") else { return String(text) }
    return parts[0] + "//" + mark + parts[1][at...]
  }

  private static func hidden(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let members):
      var result: [String: JSONValue] = [:]
      for (name, member) in members {
        result[name] = isSecret(name: name) && member != .null ? .string(mark) : hidden(member)
      }
      return .object(result)
    case .array(let elements): return .array(elements.map(hidden))
    default: return value
    }
  }
}

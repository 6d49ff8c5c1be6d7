import AuthNetworking
import Groundwork

/// Hides the secrets of a trace by what they are, where `Redaction` hides them by the name that they stand under.
///
/// A server may answer with the token in a field called `X-Debug`, or in the middle of a sentence. So whatever was once seen as a
/// secret is hidden wherever it stands, plain, percent-encoded or as JSON writes it; and what looks like a credential is hidden unseen.
package final class SecretMask: Sendable {
  private let known = Guarded<Set<[UInt8]>>([])

  /// Makes a mask that knows nothing yet.
  package init() {}

  /// Hides a text from now on; one of fewer than four bytes would hide too much else.
  package func learn(_ secret: some StringProtocol) {
    let bytes = Array(secret.utf8)
    guard bytes.count >= 4 else { return }
    known.withLock { known in
      known.formUnion([bytes, Self.percentEncoded(bytes), Self.percentEncoded(bytes, spaceAsPlus: true)])
      known.formUnion([Self.json(bytes, escapesSlash: false), Self.json(bytes, escapesSlash: true)])
    }
  }

  /// The text without what is known, and without what looks like a credential.
  package func masked(_ text: String) -> String {
    var bytes = Array(text.utf8)
    // The longest first: a secret may begin with another one.
    for secret in known.withLock({ $0 }).sorted(by: { $0.count > $1.count }) {
      bytes = Self.replacing(secret, in: bytes)
    }
    return String(decoding: Self.withoutCredentials(bytes), as: UTF8.self)
  }

  // MARK: By what is known

  private static let mark = Array(Redaction.mark.utf8)

  private static func replacing(_ secret: [UInt8], in text: [UInt8]) -> [UInt8] {
    guard let first = secret.first, text.count >= secret.count else { return text }
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var index = 0
    while index < text.count {
      if text[index] == first, text[index...].starts(with: secret) {
        result += mark
        index += secret.count
      } else {
        result.append(text[index])
        index += 1
      }
    }
    return result
  }

  private static func percentEncoded(_ bytes: [UInt8], spaceAsPlus: Bool = false) -> [UInt8] {
    bytes.flatMap { byte -> [UInt8] in
      if isTokenByte(byte), byte != UInt8(ascii: "+"), byte != UInt8(ascii: "/") { return [byte] }
      if spaceAsPlus, byte == UInt8(ascii: " ") { return [UInt8(ascii: "+")] }
      let digits = String(byte, radix: 16, uppercase: true)
      return Array("%\(byte < 16 ? "0" : "")\(digits)".utf8)
    }
  }

  private static func json(_ bytes: [UInt8], escapesSlash: Bool) -> [UInt8] {
    bytes.flatMap { byte -> [UInt8] in
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): [UInt8(ascii: "\\"), byte]
      case UInt8(ascii: "/") where escapesSlash: [UInt8(ascii: "\\"), byte]
      default: [byte]
      }
    }
  }

  // MARK: By what it looks like

  /// Hides `Bearer X`, `Basic X`, a JWT, and the value of `name=value` with a secret's name.
  private static func withoutCredentials(_ text: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var index = 0
    while index < text.count {
      let isStart = index == 0 || !isTokenByte(text[index - 1])
      guard isStart, isTokenByte(text[index]) else {
        result.append(text[index])
        index += 1
        continue
      }
      let word = text[index...].prefix(while: isTokenByte)
      index = word.endIndex
      if isJWT(word) {
        result += mark
        continue
      }
      result += word
      guard index < text.count else { break }
      let next = text[index]
      let name = String(decoding: word, as: UTF8.self)
      if next == UInt8(ascii: " "), ["bearer", "basic", "dpop"].contains(name.lowercased()) {
        let value = text[(index + 1)...].prefix(while: isValueByte)
        // Of prose ("bearer of", "basic auth") nothing is hidden: a credential is longer.
        guard value.count >= 8 else { continue }
        result.append(next)
        result += mark
        index = value.endIndex
      } else if next == UInt8(ascii: "="), Redaction.isSecret(name: name) {
        let value = text[(index + 1)...].prefix { isValueByte($0) || $0 == UInt8(ascii: "%") }
        guard !value.isEmpty else { continue }
        result.append(next)
        result += mark
        index = value.endIndex
      }
    }
    return result
  }

  /// Three parts in base64url, the first a JSON object: RFC 7519.
  private static func isJWT(_ word: ArraySlice<UInt8>) -> Bool {
    word.starts(with: Array("eyJ".utf8)) && word.count { $0 == UInt8(ascii: ".") } >= 2 && word.count >= 20
  }

  /// The characters of a token in a header field (RFC 6750), without the equals sign at its end.
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"),
      UInt8(ascii: "+"), UInt8(ascii: "/"):
      true
    default: false
    }
  }

  private static func isValueByte(_ byte: UInt8) -> Bool { isTokenByte(byte) || byte == UInt8(ascii: "=") }
}

import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A request and its answer, header fields and bodies too; what is secret in them reads `***`.
public struct MockExchange: Sendable, Hashable {
  /// The request's or the answer's part.
  public struct Side: Sendable, Hashable {
    /// The status; nil for the request.
    public var status: Int?
    /// The header fields in order.
    public var headers: [MockRequest.Field]
    /// The body as text; nil if it is large, or in no format in which secrets can be told from the rest.
    public var body: String?
    /// How many bytes the body had.
    public var bodySize: Int

    func write(to json: inout JSONWriter) {
      if let status { json.member("status", status) }
      json.key("headers")
      json.array(headers) { json, field in
        json.object { json in
          json.member("name", field.name)
          json.member("value", field.value)
        }
      }
      if let body { json.member("body", body) }
      json.member("bodySize", bodySize)
    }
  }

  /// Path and query as they came, with the realm's prefix.
  public var target: String
  /// What came.
  public var request: Side
  /// What was answered, before a fault on the wire broke it.
  public var reply: Side

  init(_ kept: ExchangeRing.Kept, mask: SecretMask) {
    target = mask.target(kept.target)
    request = Side(kept.request, mask: mask)
    reply = Side(kept.reply, mask: mask)
  }
}

extension MockExchange.Side {
  init(_ side: ExchangeRing.Side, mask: SecretMask) {
    status = side.status
    headers = side.headers.map { MockRequest.Field($0.name, mask.header($0.name, $0.value)) }
    let type = side.headers.first { $0.name.equalsIgnoringCase("Content-Type") }?.value
    body = side.body.flatMap { mask.body($0, type: type) }
    bodySize = side.bodySize
  }
}

/// Takes secrets out of what a person is shown. What it cannot judge, it does not show.
struct SecretMask {
  static let mask = "***"
  private let isIssued: (String) -> Bool

  init(_ state: RealmState) {
    isIssued = { state.access[$0] != nil || state.refresh[$0] != nil }
  }

  /// A mask that knows no realm's tokens, only what secrets look like.
  init() { isIssued = { _ in false } }

  func header(_ name: String, _ value: String) -> String {
    let plain = Self.folded(name)
    if plain == "authorization" || plain == "proxyauthorization" {
      // The scheme tells much and is no secret: `Bearer ***`.
      let parts = value.split(separator: " ", maxSplits: 1)
      return parts.count == 2 && parts[0].utf8.count <= 16 ? "\(parts[0]) \(Self.mask)" : Self.mask
    }
    if plain != "idempotencykey", Self.isSecretName(plain) { return Self.mask }
    return words(in: value)
  }

  func target(_ target: String) -> String {
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = words(in: String(parts[0]))
    return parts.count == 2 ? "\(path)?\(form(String(parts[1])))" : path
  }

  /// A body as text; nil if nothing tells what in it is secret.
  func body(_ data: Data, type: String?) -> String? {
    guard !data.isEmpty else { return "" }
    let text = String(decoding: data, as: UTF8.self)
    guard text.utf8.elementsEqual(data) else { return nil }
    let kind = (type ?? "").lowercased()
    if kind.hasPrefix("application/x-www-form-urlencoded") { return form(text) }
    if kind.hasPrefix("text/") { return words(in: text) }
    do throws(JSONParser.Failure) {
      var writer = JSONWriter()
      writer.value(masked(try JSONParser.parse(data)))
      return writer.text
    } catch {
      // Half a JSON text, say: a name and its secret may have been torn apart.
      return nil
    }
  }

  private func masked(_ value: JSONValue, under name: String = "") -> JSONValue {
    if Self.isSecretName(name), value != .null { return .string(Self.mask) }
    switch value {
    case .string(let text): return .string(Self.isCode(name, text) ? Self.mask : words(in: text))
    case .array(let elements): return .array(elements.map { masked($0) })
    case .object(let members):
      return .object(
        Dictionary(
          members.map { (words(in: $0.key), masked($0.value, under: Self.folded($0.key))) },
          uniquingKeysWith: { first, _ in first }))
    case .null, .bool, .number: return value
    }
  }

  private func form(_ text: String) -> String {
    text.split(separator: "&", omittingEmptySubsequences: false).map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      guard parts.count == 2 else { return words(in: name) }
      let plain = Self.folded(name.percentDecoded ?? name)
      // What cannot be decoded cannot be judged.
      guard let value = String(parts[1]).percentDecoded, !Self.isSecretName(plain), !Self.isCode(plain, value),
        words(in: value) == value
      else { return "\(words(in: name))=\(Self.mask)" }
      return "\(words(in: name))=\(parts[1])"
    }.joined(separator: "&")
  }

  /// The text with every word that is, or looks like, a token masked.
  private func words(in text: String) -> String {
    var result = ""
    var word = ""
    func flush() {
      result += isIssued(word) || Self.looksSecret(word) ? Self.mask : word
      word = ""
    }
    for scalar in text.unicodeScalars {
      if Self.isWordPart(scalar) {
        word.unicodeScalars.append(scalar)
      } else {
        flush()
        result.unicodeScalars.append(scalar)
      }
    }
    flush()
    return result
  }

  /// What tokens are made of (`token68` of RFC 9110 §11.2 but for `/`, `+` and `=`, which part other things).
  private static func isWordPart(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
    default: false
    }
  }

  private static func looksSecret(_ word: String) -> Bool {
    guard word.utf8.count >= 16 else { return false }
    if ["at_", "rt_", "sb_secret_", "eyJ"].contains(where: { word.hasPrefix($0) }) { return true }
    // Long, with digits and letters of both cases: random, not written. Ids of this server (UUIDs) have one case.
    let bytes = word.utf8
    return word.utf8.count >= 24 && bytes.contains { 0x30...0x39 ~= $0 } && bytes.contains { 0x41...0x5A ~= $0 }
      && bytes.contains { 0x61...0x7A ~= $0 }
  }

  private static func folded(_ name: String) -> String {
    name.lowercased().filter { $0 != "_" && $0 != "-" }
  }

  private static let secretParts = [
    "password", "passwd", "token", "secret", "assertion", "verifier", "apikey", "cookie", "credential", "jwt", "otp",
    "authorization", "signature", "privatekey",
  ]

  private static func isSecretName(_ name: String) -> Bool {
    guard name != "tokentype", name != "tokentypehint", name != "tokens" else { return false }
    return name == "key" || secretParts.contains { name.contains($0) }
  }

  /// A code that is a secret (`code` of OAuth, `user_code`), not the name of an error.
  private static func isCode(_ name: String, _ text: String) -> Bool {
    name.hasSuffix("code") && !text.utf8.allSatisfy { 0x61...0x7A ~= $0 || $0 == UInt8(ascii: "_") }
  }
}

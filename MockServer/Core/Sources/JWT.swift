import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Makes and reads signed JWTs (RFC 7515, RFC 7519) in the compact form.
enum JWT {
  /// Why a text is no token of this realm's.
  enum Flaw: Error, Hashable {
    /// Not three parts of base64url, or no JSON in them.
    case malformed(String)
    /// `alg` is `none`, or one that the realm does not sign with.
    case algorithm(String)
    /// The signature is not the realm's.
    case signature
  }

  struct Token {
    let algorithm: JWTAlgorithm
    let header: [String: JSONValue]
    let claims: [String: JSONValue]
  }

  /// A signed token; nil if OpenSSL refuses.
  static func make(
    _ algorithm: JWTAlgorithm, keys: RealmKeys, type: String = "JWT", keyID: String? = nil, claims: JSONWriter
  ) -> String? {
    let header = JSONWriter.object { json in
      json.member("alg", algorithm.rawValue)
      json.member("typ", type)
      if let id = keyID ?? keys.pair(algorithm)?.id { json.member("kid", id) }
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity((header.bytes.count + claims.bytes.count) * 4 / 3 + 400)
    Base64URL.append(header.bytes, to: &bytes)
    bytes.append(UInt8(ascii: "."))
    Base64URL.append(claims.bytes, to: &bytes)
    guard let signature = keys.sign(bytes, algorithm) else { return nil }
    bytes.append(UInt8(ascii: "."))
    Base64URL.append(signature, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether a text could be a JWT: three parts, the first an object in base64url.
  static func resembles(_ text: some StringProtocol) -> Bool {
    text.hasPrefix("eyJ") && text.utf8.count(where: { $0 == UInt8(ascii: ".") }) == 2
  }

  /// Reads a token and checks its signature; times, issuer and audience are the caller's to check.
  static func read(_ text: String, keys: RealmKeys) throws(Flaw) -> Token {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw .malformed("token contains an invalid number of segments") }
    let header = try object(parts[0], "header")
    let claims = try object(parts[1], "claims")
    let name = header["alg"]?.string ?? ""
    guard let algorithm = JWTAlgorithm(rawValue: name) else { throw .algorithm(name) }
    guard let signature = Base64URL.decode(parts[2]) else {
      throw .malformed("could not base64 decode signature")
    }
    if let id = header["kid"]?.string, algorithm != .hs256, keys.pair(algorithm)?.id != id { throw .signature }
    let input = Array(text.utf8.prefix(parts[0].utf8.count + 1 + parts[1].utf8.count))
    guard keys.verify(signature, of: input, algorithm) else { throw .signature }
    return Token(algorithm: algorithm, header: header, claims: claims)
  }

  private static func object(_ part: Substring, _ what: String) throws(Flaw) -> [String: JSONValue] {
    guard let bytes = Base64URL.decode(part) else { throw .malformed("could not base64 decode \(what)") }
    do throws(JSONParser.Failure) {
      // A name that stands there twice could mean one thing here and another thing elsewhere.
      guard let members = try JSONParser.parse(Data(bytes), allowsRepeatedNames: false).object else {
        throw JSONParser.Failure(message: "no object")
      }
      return members
    } catch {
      throw .malformed("could not JSON decode \(what)")
    }
  }
}

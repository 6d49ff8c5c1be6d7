import Groundwork

/// What a realm signs with. The secret and the EC key follow from the realm's seed; the RSA key belongs to the whole server,
/// since making one takes long, and is made at first use.
final class RealmKeys: Sendable {
  /// The secret of HS256, a text as a Supabase project has it.
  let secret: String
  private let secretBytes: [UInt8]
  private let curveSeed: [UInt8]
  private let curveKey = Guarded<SigningKey?>(nil)
  private let shared: ServerKeys

  init(seed: UInt64, shared: ServerKeys) {
    let bytes = (0..<8).map { UInt8(truncatingIfNeeded: seed >> UInt64(8 * $0)) }
    secret = Base64URL.encode(SHA256.digest(Array("HS256".utf8) + bytes))
    secretBytes = Array(secret.utf8)
    curveSeed = Array("ES256".utf8) + bytes
    self.shared = shared
  }

  /// The pair of an algorithm; nil for HS256, which has none, and if OpenSSL refuses.
  func pair(_ algorithm: JWTAlgorithm) -> SigningKey? {
    switch algorithm {
    case .hs256: nil
    case .rs256: shared.rsa()
    case .es256:
      curveKey.withLock { key in
        if let key { return key }
        // One number in four billion is no secret key of the curve: then the next.
        var secret = SHA256.digest(curveSeed)
        for _ in 0..<8 where key == nil {
          key = SigningKey.ellipticCurve(secret: secret)
          secret = SHA256.digest(secret)
        }
        return key
      }
    }
  }

  /// The public keys as a JWK set (RFC 7517 §5): the RSA key only once there is one, or `with` names it.
  func published(with kind: MockTokenKind) -> JSONWriter {
    let keys = [pair(.es256), kind == .rs256 ? pair(.rs256) : shared.rsaIfMade].compactMap(\.self)
    return JSONWriter.object { json in
      json.key("keys")
      json.array(keys) { json, key in
        json.object { json in
          for (name, value) in key.jwk { json.member(name, value) }
        }
      }
    }
  }

  func sign(_ input: [UInt8], _ algorithm: JWTAlgorithm) -> [UInt8]? {
    algorithm == .hs256 ? SHA256.code(of: input, key: secretBytes) : pair(algorithm)?.sign(input)
  }

  func verify(_ signature: [UInt8], of input: [UInt8], _ algorithm: JWTAlgorithm) -> Bool {
    guard algorithm == .hs256 else { return pair(algorithm)?.verify(signature, of: input) ?? false }
    guard let code = SHA256.code(of: input, key: secretBytes), code.count == signature.count else { return false }
    return zip(code, signature).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

/// The key that all realms of a server share.
final class ServerKeys: Sendable {
  private let key = Guarded<SigningKey?>(nil)

  func rsa() -> SigningKey? {
    key.withLock { key in
      if key == nil { key = SigningKey.rsa() }
      return key
    }
  }

  var rsaIfMade: SigningKey? { key.withLock { $0 } }
}

import COpenSSL

/// The ways of signing that this client takes (RFC 7518 §3.1). `none` is no way of signing.
enum SignatureAlgorithm: String, Sendable, Hashable, CaseIterable {
  case rs256 = "RS256"
  case rs384 = "RS384"
  case rs512 = "RS512"
  case es256 = "ES256"
  case es384 = "ES384"
  case hs256 = "HS256"
  case hs384 = "HS384"
  case hs512 = "HS512"

  private var digest: Digests.Kind {
    switch self {
    case .rs256, .es256, .hs256: .sha256
    case .rs384, .es384, .hs384: .sha384
    case .rs512, .hs512: .sha512
    }
  }

  /// Whether the client's own secret is the key. A published key never is: whoever knows it could sign (key confusion).
  var isByMessageCode: Bool { [.hs256, .hs384, .hs512].contains(self) }

  /// The left half of a hash by this algorithm's hash function (`at_hash`, OpenID Connect Core §3.1.3.6).
  func halfHash(_ bytes: [UInt8]) -> [UInt8] {
    let hash = Digests.hash(digest, bytes)
    return Array(hash.prefix(hash.count / 2))
  }

  /// Whether a key is of the kind that this algorithm needs.
  func fits(_ key: JSONWebKey) -> Bool {
    guard key.algorithm == nil || key.algorithm == rawValue else { return false }
    return switch (self, key.material) {
    case (.rs256, .rsa), (.rs384, .rsa), (.rs512, .rsa), (.es256, .curve(.p256, _, _)),
      (.es384, .curve(.p384, _, _)):
      true
    default: false
    }
  }

  /// Whether the signature is by the secret.
  func isValid(_ signature: [UInt8], of input: [UInt8], secret: [UInt8]) -> Bool {
    isByMessageCode && !secret.isEmpty
      && Digests.areSame(Digests.messageCode(digest, key: secret, input), signature)
  }

  /// Whether the signature is by the key.
  func isValid(_ signature: [UInt8], of input: [UInt8], key: JSONWebKey) -> Bool {
    guard fits(key) else { return false }
    var signature = signature
    if case .curve(let curve, _, _) = key.material {
      // Two numbers of fixed size (RFC 7518 §3.4); OpenSSL wants them in DER.
      guard signature.count == 2 * curve.size else { return false }
      signature = DER.sequence(
        DER.integer(Array(signature.prefix(curve.size))) + DER.integer(Array(signature.suffix(curve.size))))
    }
    let encoded = key.encoded
    return encoded.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      guard let publicKey = d2i_PUBKEY(nil, &start, bytes.count) else {
        ERR_clear_error()
        return false
      }
      defer { EVP_PKEY_free(publicKey) }
      guard let context = EVP_MD_CTX_new() else { return false }
      defer { EVP_MD_CTX_free(context) }
      let isValid =
        EVP_DigestVerifyInit(context, nil, digest.algorithm, nil, publicKey) == 1
        && EVP_DigestVerify(context, signature, signature.count, input, input.count) == 1
      ERR_clear_error()
      return isValid
    }
  }
}

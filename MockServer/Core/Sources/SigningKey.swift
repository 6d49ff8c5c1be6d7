import COpenSSL

/// A key pair that signs JWTs.
///
/// Every OpenSSL call that can fail is checked; what it cannot sign or read is nil, and then nothing verifies.
// Safe to share: nothing changes an EVP_PKEY after its making, and OpenSSL lets threads use one together; each call has its own context.
final class SigningKey: @unchecked Sendable {
  let algorithm: JWTAlgorithm
  /// The key's thumbprint (RFC 7638), so that the same key has the same name everywhere.
  let id: String
  /// The public half as a JWK (RFC 7517), members in the order of the thumbprint first.
  let jwk: [(name: String, value: String)]
  private let key: OpaquePointer

  private init?(_ key: OpaquePointer, _ algorithm: JWTAlgorithm) {
    self.key = key
    self.algorithm = algorithm
    let members: [(name: String, value: String)]
    if algorithm == .rs256 {
      guard let exponent = Self.number("e", of: key), let modulus = Self.number("n", of: key) else {
        EVP_PKEY_free(key)
        return nil
      }
      members = [("e", Base64URL.encode(exponent)), ("kty", "RSA"), ("n", Base64URL.encode(modulus))]
    } else {
      guard let x = Self.number("qx", of: key, size: 32), let y = Self.number("qy", of: key, size: 32) else {
        EVP_PKEY_free(key)
        return nil
      }
      members = [("crv", "P-256"), ("kty", "EC"), ("x", Base64URL.encode(x)), ("y", Base64URL.encode(y))]
    }
    let canonical = JSONWriter.object { json in
      for (name, value) in members { json.member(name, value) }
    }
    id = Base64URL.encode(SHA256.digest(canonical.bytes))
    jwk = members + [("kid", id), ("alg", algorithm.rawValue), ("use", "sig")]
  }

  deinit { EVP_PKEY_free(key) }

  /// A key for ES256 whose secret number is 32 bytes of the caller's.
  static func ellipticCurve(secret: [UInt8]) -> SigningKey? {
    guard secret.count == 32 else { return nil }
    // An ECPrivateKey (RFC 5915) without its public half: OpenSSL computes that.
    let curve: [UInt8] = [0xA0, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    let encoding: [UInt8] = [0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20] + secret + curve
    let key = encoding.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      return d2i_PrivateKey(EVP_PKEY_EC, nil, &start, bytes.count)
    }
    return key.flatMap { SigningKey($0, .es256) }
  }

  /// A new key for RS256: a tenth of a second or two on a slow machine.
  static func rsa() -> SigningKey? {
    guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, nil) else { return nil }
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048) == 1,
      EVP_PKEY_keygen(context, &key) == 1, let key
    else { return nil }
    return SigningKey(key, .rs256)
  }

  private static func number(_ name: String, of key: OpaquePointer, size: Int? = nil) -> [UInt8]? {
    var number: OpaquePointer?
    guard EVP_PKEY_get_bn_param(key, name, &number) == 1, let number else { return nil }
    defer { BN_free(number) }
    return bytes(number, size: size ?? Int(BN_num_bits(number) + 7) / 8)
  }

  private static func bytes(_ number: OpaquePointer, size: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: size)
    guard BN_bn2binpad(number, &bytes, Int32(size)) == Int32(size) else { return nil }
    return bytes
  }

  func sign(_ input: [UInt8]) -> [UInt8]? {
    guard let context = EVP_MD_CTX_new() else { return nil }
    defer { EVP_MD_CTX_free(context) }
    var size = 0
    guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
      EVP_DigestSign(context, nil, &size, input, input.count) == 1
    else { return nil }
    var signature = [UInt8](repeating: 0, count: size)
    guard EVP_DigestSign(context, &signature, &size, input, input.count) == 1 else { return nil }
    signature.removeLast(signature.count - size)
    return algorithm == .es256 ? Self.joined(signature) : signature
  }

  func verify(_ signature: [UInt8], of input: [UInt8]) -> Bool {
    guard let encoded = algorithm == .es256 ? Self.parted(signature) : signature,
      let context = EVP_MD_CTX_new()
    else { return false }
    defer { EVP_MD_CTX_free(context) }
    let isValid =
      EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
      && EVP_DigestVerify(context, encoded, encoded.count, input, input.count) == 1
    // A signature that is none leaves its reasons in the thread's queue, where another call would find them.
    if !isValid { ERR_clear_error() }
    return isValid
  }

  /// From OpenSSL's DER to the two numbers side by side (RFC 7518 §3.4).
  private static func joined(_ signature: [UInt8]) -> [UInt8]? {
    let parsed = signature.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      return d2i_ECDSA_SIG(nil, &start, bytes.count)
    }
    guard let parsed else { return nil }
    defer { ECDSA_SIG_free(parsed) }
    guard let first = ECDSA_SIG_get0_r(parsed), let second = ECDSA_SIG_get0_s(parsed),
      let left = bytes(first, size: 32), let right = bytes(second, size: 32)
    else { return nil }
    return left + right
  }

  private static func parted(_ signature: [UInt8]) -> [UInt8]? {
    guard signature.count == 64, let pair = ECDSA_SIG_new() else { return nil }
    defer { ECDSA_SIG_free(pair) }
    let (first, second) = (BN_bin2bn(signature, 32, nil), BN_bin2bn(Array(signature[32...]), 32, nil))
    guard let first, let second, ECDSA_SIG_set0(pair, first, second) == 1 else {
      BN_free(first)
      BN_free(second)
      return nil
    }
    var encoded = [UInt8](repeating: 0, count: Int(max(i2d_ECDSA_SIG(pair, nil), 0)))
    let size = encoded.withUnsafeMutableBufferPointer { bytes in
      var start = bytes.baseAddress
      return i2d_ECDSA_SIG(pair, &start)
    }
    return size > 0 ? encoded : nil
  }
}

/// SHA-256, and the codes made with it.
enum SHA256 {
  /// Empty if OpenSSL refuses.
  static func digest(_ input: [UInt8]) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var size: UInt32 = 0
    guard EVP_Digest(input, input.count, &output, &size, EVP_sha256(), nil) == 1 else { return [] }
    return Array(output.prefix(Int(size)))
  }

  /// The HMAC (RFC 2104); nil if OpenSSL refuses.
  static func code(of input: [UInt8], key: [UInt8]) -> [UInt8]? {
    var output = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var size: UInt32 = 0
    guard HMAC(EVP_sha256(), key, Int32(key.count), input, input.count, &output, &size) != nil else { return nil }
    return Array(output.prefix(Int(size)))
  }
}

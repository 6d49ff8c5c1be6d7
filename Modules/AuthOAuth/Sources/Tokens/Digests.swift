import COpenSSL

/// The hashes and message codes of RFC 7518, by OpenSSL.
enum Digests {
  /// Which SHA-2.
  enum Kind: Int, Sendable, Hashable {
    case sha256 = 256
    case sha384 = 384
    case sha512 = 512

    var algorithm: OpaquePointer? {
      switch self {
      case .sha256: EVP_sha256()
      case .sha384: EVP_sha384()
      case .sha512: EVP_sha512()
      }
    }
  }

  /// The hash; empty if OpenSSL has no such algorithm, which no comparison takes for a hash.
  static func hash(_ kind: Kind, _ bytes: [UInt8]) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: 64)
    var count: UInt32 = 0
    guard EVP_Digest(bytes, bytes.count, &output, &count, kind.algorithm, nil) == 1 else { return [] }
    return Array(output.prefix(Int(count)))
  }

  /// The message code (RFC 2104); empty if there is no such algorithm.
  static func messageCode(_ kind: Kind, key: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: 64)
    var count: UInt32 = 0
    guard let length = Int32(exactly: key.count),
      HMAC(kind.algorithm, key, length, bytes, bytes.count, &output, &count) != nil
    else { return [] }
    return Array(output.prefix(Int(count)))
  }

  /// Compares without telling by its time where the two differ.
  static func areSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    !left.isEmpty && left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
  }
}

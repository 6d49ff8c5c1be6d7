import AuthModels
import COpenSSL
import Groundwork

@testable import AuthOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A server's key pair, made for a test: signs by OpenSSL alone, so that nothing of what checks a signature has made it.
// Safe because the key is made once and only read from then on; OpenSSL counts its references atomically.
final class SigningKey: @unchecked Sendable {
  enum Kind: Sendable {
    case rsa(Int32)
    case curve(String)
  }

  static let rsa = SigningKey(.rsa(2048), id: "rsa-1")
  static let otherRSA = SigningKey(.rsa(2048), id: "rsa-1")
  static let curve = SigningKey(.curve("P-256"), id: "ec-1")
  static let curve384 = SigningKey(.curve("P-384"), id: "ec-2")

  let id: String
  private let kind: Kind
  private let key: OpaquePointer?

  init(_ kind: Kind, id: String) {
    self.kind = kind
    self.id = id
    var made: OpaquePointer?
    switch kind {
    case .rsa(let bits):
      let context = EVP_PKEY_CTX_new_from_name(nil, "RSA", nil)
      EVP_PKEY_keygen_init(context)
      EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits)
      EVP_PKEY_keygen(context, &made)
      EVP_PKEY_CTX_free(context)
    case .curve(let name):
      let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
      EVP_PKEY_keygen_init(context)
      EVP_PKEY_CTX_set_group_name(context, name)
      EVP_PKEY_keygen(context, &made)
      EVP_PKEY_CTX_free(context)
    }
    key = made
  }

  deinit { EVP_PKEY_free(key) }

  /// The public half, as a key set has it.
  var json: JSONValue {
    switch kind {
    case .rsa:
      return [
        "kty": "RSA", "use": "sig", "kid": .string(id), "n": .string(number("n")), "e": .string(number("e")),
      ]
    case .curve(let name):
      var point = [UInt8](repeating: 0, count: 256)
      var count = 0
      EVP_PKEY_get_octet_string_param(key, "pub", &point, point.count, &count)
      let half = (count - 1) / 2
      return [
        "kty": "EC", "crv": .string(name), "kid": .string(id),
        "x": .string(Base64URL.encode(point[1..<1 + half])),
        "y": .string(Base64URL.encode(point[1 + half..<1 + 2 * half])),
      ]
    }
  }

  private func number(_ name: String) -> String {
    var value: OpaquePointer?
    EVP_PKEY_get_bn_param(key, name, &value)
    defer { BN_free(value) }
    var bytes = [UInt8](repeating: 0, count: 1024)
    let count = BN_bn2bin(value, &bytes)
    return Base64URL.encode(bytes.prefix(Int(count)))
  }

  /// Signs as RFC 7518 has it.
  func sign(_ input: [UInt8], _ digest: OpaquePointer?) -> [UInt8] {
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    EVP_DigestSignInit(context, nil, digest, nil, key)
    var count = 1024
    var signature = [UInt8](repeating: 0, count: count)
    EVP_DigestSign(context, &signature, &count, input, input.count)
    let der = Array(signature.prefix(count))
    guard case .curve(let name) = kind else { return der }
    let size = name == "P-256" ? 32 : 48
    // SEQUENCE { INTEGER r, INTEGER s } → r ‖ s.
    func padded(_ digits: ArraySlice<UInt8>) -> [UInt8] {
      let bare = digits.drop { $0 == 0 }
      return [UInt8](repeating: 0, count: size - bare.count) + bare
    }
    let start = der[1] < 0x80 ? 2 : 3
    let length = Int(der[start + 1])
    let first = der[start + 2..<start + 2 + length]
    let second = der[(start + 4 + length)...]
    return padded(first) + padded(second)
  }

  /// A token with these claims.
  func token(_ claims: [String: JSONValue], algorithm: String? = nil, kid: String? = nil) throws -> String {
    let name: String
    let digest: OpaquePointer?
    switch kind {
    case .rsa: (name, digest) = ("RS256", EVP_sha256())
    case .curve("P-384"): (name, digest) = ("ES384", EVP_sha384())
    case .curve: (name, digest) = ("ES256", EVP_sha256())
    }
    let header: JSONValue = ["alg": .string(algorithm ?? name), "typ": "JWT", "kid": .string(kid ?? id)]
    return try Self.assemble(header, .object(claims)) { sign($0, digest) }
  }

  /// A token from a header, a payload and whatever signs.
  static func assemble(_ header: JSONValue, _ payload: JSONValue, _ sign: ([UInt8]) -> [UInt8]) throws -> String {
    try assemble(JSONEncoder().encode(header), JSONEncoder().encode(payload), sign)
  }

  static func assemble(_ header: Data, _ payload: Data, _ sign: ([UInt8]) -> [UInt8]) -> String {
    let input = Base64URL.encode(header) + "." + Base64URL.encode(payload)
    return input + "." + Base64URL.encode(sign(Array(input.utf8)))
  }
}

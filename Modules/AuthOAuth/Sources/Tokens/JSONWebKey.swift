import AuthModels
import Groundwork

/// A public key of a server's key set (RFC 7517), as far as this client checks signatures with it.
struct JSONWebKey: Sendable, Hashable {
  /// What the key is.
  enum Material: Sendable, Hashable {
    case rsa(modulus: [UInt8], exponent: [UInt8])
    case curve(Curve, x: [UInt8], y: [UInt8])
  }

  /// The curves of RFC 7518 §6.2.1.1.
  enum Curve: String, Sendable, Hashable {
    case p256 = "P-256"
    case p384 = "P-384"

    /// The bytes of a coordinate, and of each half of a signature.
    var size: Int { self == .p256 ? 32 : 48 }
    /// The curve's object identifier, in DER.
    var identifier: [UInt8] {
      self == .p256
        ? [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07] : [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22]
    }
  }

  /// The key's name.
  var id: String?
  /// The one algorithm it is for, where the server says.
  var algorithm: String?
  var material: Material

  /// Reads a key; nil for one that is for something else, of another kind, or too weak to prove anything.
  init?(_ value: JSONValue) {
    if let use = value["use"]?.string, use != "sig" { return nil }
    if let operations = value["key_ops"]?.array, !operations.contains("verify") { return nil }
    func bytes(_ name: String) -> [UInt8]? { value[name]?.string.flatMap { Base64URL.decode($0) } }
    switch value["kty"]?.string {
    case "RSA":
      guard let modulus = bytes("n").map({ Array($0.drop { $0 == 0 }) }),
        let exponent = bytes("e").map({ Array($0.drop { $0 == 0 }) }), 256...2048 ~= modulus.count,
        1...8 ~= exponent.count, let last = exponent.last, last & 1 == 1, exponent != [1]
      else { return nil }
      material = .rsa(modulus: modulus, exponent: exponent)
    case "EC":
      guard let curve = value["crv"]?.string.flatMap({ Curve(rawValue: $0) }), let x = bytes("x"), let y = bytes("y"),
        x.count == curve.size, y.count == curve.size
      else { return nil }
      material = .curve(curve, x: x, y: y)
    default: return nil
    }
    id = value["kid"]?.string
    algorithm = value["alg"]?.string
  }

  /// The keys of a set; what is no key for signatures is passed over (RFC 7517 §5). A set has 64 at most.
  static func keys(in set: JSONValue) -> [JSONWebKey] {
    (set["keys"]?.array ?? []).prefix(64).compactMap { JSONWebKey($0) }
  }

  /// The key as a SubjectPublicKeyInfo in DER (RFC 5280 §4.1.2.7), which OpenSSL reads.
  var encoded: [UInt8] {
    switch material {
    case .rsa(let modulus, let exponent):
      let rsaEncryption: [UInt8] = [
        0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
      ]
      return DER.sequence(
        DER.sequence(rsaEncryption)
          + DER.bits(DER.sequence(DER.integer(modulus) + DER.integer(exponent))))
    case .curve(let curve, let x, let y):
      let ecPublicKey: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
      return DER.sequence(DER.sequence(ecPublicKey + curve.identifier) + DER.bits([0x04] + x + y))
    }
  }
}

/// The few forms of DER (X.690) that keys and signatures need.
enum DER {
  static func sequence(_ contents: [UInt8]) -> [UInt8] { [0x30] + length(contents.count) + contents }

  static func bits(_ contents: [UInt8]) -> [UInt8] { [0x03] + length(contents.count + 1) + [0] + contents }

  /// A number that is not negative.
  static func integer(_ magnitude: [UInt8]) -> [UInt8] {
    var digits = Array(magnitude.drop { $0 == 0 })
    if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
    return [0x02] + length(digits.count) + digits
  }

  private static func length(_ count: Int) -> [UInt8] {
    switch count {
    case ..<0x80: [UInt8(truncatingIfNeeded: count)]
    case ..<0x100: [0x81, UInt8(truncatingIfNeeded: count)]
    default: [0x82, UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)]
    }
  }
}

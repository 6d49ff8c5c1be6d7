import AuthModels

/// The proof that whoever redeems a code is whoever asked for it (RFC 7636), by S256 alone.
struct PKCE: Sendable {
  /// Stays here until the code is redeemed.
  let verifier: String

  /// A verifier of 256 random bits.
  init() { self.init(verifier: RandomText.make()) }

  init(verifier: String) { self.verifier = verifier }

  /// Goes out with the request.
  var challenge: String { Base64URL.encode(Digests.hash(.sha256, Array(verifier.utf8))) }
}

/// Texts that nobody can guess.
enum RandomText {
  /// 256 bits of the system's randomness, in the letters that a URL carries as they are.
  static func make() -> String {
    var source = SystemRandomNumberGenerator()
    return Base64URL.encode((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &source) })
  }
}

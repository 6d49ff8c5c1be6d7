/// What an access token is made of.
///
/// Supabase's are always JWTs, so `opaque` means HS256 there; an ID token is always signed with a key of the JWKS.
public enum MockTokenKind: String, Sendable, Hashable, CaseIterable {
  /// A random text that only the server can read.
  case opaque
  /// A JWT (RFC 7519), HMAC with SHA-256: the same seed gives the same token.
  case hs256 = "jwt-hs256"
  /// A JWT, RSA of 2048 bits with SHA-256; the key is made at first use, one for the server.
  case rs256 = "jwt-rs256"
  /// A JWT, ECDSA on P-256; a key per realm, which the seed decides.
  case es256 = "jwt-es256"

  /// Reads a name; `jwt` alone is `jwt-hs256`, and the algorithm's own name will do.
  public init?(name: String) {
    switch name {
    case "jwt", "hs256": self = .hs256
    case "rs256": self = .rs256
    case "es256": self = .es256
    default: self.init(rawValue: name)
    }
  }

  /// The names that `init(name:)` reads and that are worth telling.
  public static let names = ["opaque", "jwt", "jwt-hs256", "jwt-rs256", "jwt-es256"]

  var algorithm: JWTAlgorithm? {
    switch self {
    case .opaque: nil
    case .hs256: .hs256
    case .rs256: .rs256
    case .es256: .es256
    }
  }
}

/// How a JWT is signed (RFC 7518 §3.1).
enum JWTAlgorithm: String, Sendable, Hashable, CaseIterable {
  case hs256 = "HS256"
  case rs256 = "RS256"
  case es256 = "ES256"
}

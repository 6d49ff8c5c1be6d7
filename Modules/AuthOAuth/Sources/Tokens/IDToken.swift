import AuthModels
import AuthStorage
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An ID token whose signature and claims were checked (OpenID Connect Core §3.1.3.7).
struct IDToken: Sendable {
  /// The user at this issuer; never changes and is never given to another.
  var subject: String
  /// The claims.
  var claims: JSONValue

  /// The user as sessions keep one.
  var user: SessionUser { SessionUser(subject: subject, claims: claims) }
}

extension SessionUser {
  /// The user of standard claims (OpenID Connect Core §5.1).
  init(subject: String, claims: JSONValue) {
    func text(_ name: String) -> String? { claims[name]?.string.flatMap { $0.isEmpty ? nil : $0 } }
    self.init(
      id: subject, email: text("email"),
      username: text("preferred_username") ?? text("username") ?? text("nickname") ?? text("name"))
  }
}

/// What an ID token is checked against.
struct IDTokenCheck: Sendable {
  /// Whom the token has to be from: the issuer that the metadata names.
  var issuer: String
  /// Whom it has to be for.
  var clientID: String
  /// The issuer's published keys.
  var keys: [JSONWebKey]
  /// The client's secret, for HS256 and its like.
  var secret: ClientSecret?
  /// What was sent along with the request, where something was.
  var nonce: String?
  /// The access token that came with it.
  var accessToken: String?
  /// The time, by the server's clock where it is known.
  var now: Date
  /// How far two clocks may be apart, in seconds.
  var leeway = 60.0

  /// Checks a token.
  func verify(_ text: String) throws(OAuthError) -> IDToken {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, text.utf8.count <= 65_536 else {
      throw OAuthError(.malformedToken, "The server's ID token is no JSON Web Token.")
    }
    let header = try object(parts[0], "header")
    let algorithm = try algorithm(of: header)
    guard let signature = Base64URL.decode(parts[2]), !signature.isEmpty else {
      throw OAuthError(.badSignature, "The server's ID token has no signature that can be read.")
    }
    let input = Array(parts[0].utf8) + [UInt8(ascii: ".")] + Array(parts[1].utf8)
    try check(signature, of: input, by: algorithm, keyID: header["kid"]?.string)
    // Only now is anything of what it says worth reading.
    let claims = try object(parts[1], "payload")
    try checkParties(claims)
    try checkTimes(claims)
    try checkBinding(claims, algorithm)
    guard let subject = claims["sub"]?.string, 1...255 ~= subject.utf8.count else {
      throw OAuthError(.malformedToken, "The server's ID token names no user (sub).")
    }
    return IDToken(subject: subject, claims: claims)
  }

  private func object(_ part: Substring, _ name: String) throws(OAuthError) -> JSONValue {
    guard let bytes = Base64URL.decode(part) else {
      throw OAuthError(.malformedToken, "The \(name) of the server's ID token is not base64url.")
    }
    do throws(StrictJSON.Fault) {
      let value = try StrictJSON.parse(bytes)
      guard value.object != nil else { throw .malformed }
      return value
    } catch {
      switch error {
      case .duplicateName:
        throw OAuthError(.duplicateParameter, "The \(name) of the server's ID token has a name twice.")
      case .malformed:
        throw OAuthError(.malformedToken, "The \(name) of the server's ID token is no JSON object.")
      }
    }
  }

  private func algorithm(of header: JSONValue) throws(OAuthError) -> SignatureAlgorithm {
    guard let name = header["alg"]?.string else {
      throw OAuthError(.malformedToken, "The server's ID token does not say how it is signed.")
    }
    guard name.lowercased() != "none" else {
      throw OAuthError(.unsignedToken, "The server's ID token is not signed (alg none), so it proves nothing.")
    }
    // An extension that has to be understood, and is not (RFC 7515 §4.1.11).
    guard header["crit"] == nil else {
      throw OAuthError(.algorithmNotAllowed, "The server's ID token needs an extension (crit) that is not known here.")
    }
    guard let algorithm = SignatureAlgorithm(rawValue: name), !algorithm.isByMessageCode || secret != nil else {
      throw OAuthError(
        .algorithmNotAllowed,
        "The server's ID token is signed by \(name.prefix(16)), which is not taken here: RS256, ES256 and their like are, "
          + "and HS256 where the client has a secret.")
    }
    return algorithm
  }

  private func check(
    _ signature: [UInt8], of input: [UInt8], by algorithm: SignatureAlgorithm, keyID: String?
  ) throws(OAuthError) {
    let isValid: Bool
    if algorithm.isByMessageCode {
      isValid = algorithm.isValid(signature, of: input, secret: Array((secret?.text ?? "").utf8))
    } else {
      let fitting = keys.filter { algorithm.fits($0) && (keyID == nil || $0.id == nil || $0.id == keyID) }
      guard !fitting.isEmpty else {
        throw OAuthError(
          .unknownKey, "The server's ID token is signed by a key that the server does not publish (jwks_uri).")
      }
      isValid = fitting.contains { algorithm.isValid(signature, of: input, key: $0) }
    }
    guard isValid else { throw OAuthError(.badSignature, "The signature of the server's ID token is wrong.") }
  }

  private func checkParties(_ claims: JSONValue) throws(OAuthError) {
    guard claims["iss"]?.string == issuer else {
      throw OAuthError(.wrongIssuer, "The ID token is from another issuer than \(issuer).")
    }
    let audience: [String] =
      switch claims["aud"] {
      case .string(let one): [one]
      case .array(let several): several.compactMap(\.string)
      default: []
      }
    let party = claims["azp"]?.string
    guard audience.contains(clientID), audience.count == 1 || party != nil, party == nil || party == clientID else {
      throw OAuthError(.wrongAudience, "The ID token is for another client than this one.")
    }
  }

  private func checkTimes(_ claims: JSONValue) throws(OAuthError) {
    let now = now.timeIntervalSince1970
    guard let expiry = claims["exp"]?.number, let issued = claims["iat"]?.number else {
      throw OAuthError(.malformedToken, "The server's ID token does not say how long it is valid (exp, iat).")
    }
    guard now < expiry + leeway else { throw OAuthError(.expired, "The server's ID token is not valid any more.") }
    let begin = max(issued, claims["nbf"]?.number ?? issued)
    guard now >= begin - leeway else { throw OAuthError(.notYetValid, "The server's ID token is not valid yet.") }
    if let notBefore = claims["nbf"], notBefore.number == nil {
      throw OAuthError(.malformedToken, "The server's ID token has a begin (nbf) that is no number.")
    }
  }

  private func checkBinding(_ claims: JSONValue, _ algorithm: SignatureAlgorithm) throws(OAuthError) {
    if let nonce {
      guard let given = claims["nonce"]?.string, Digests.areSame(Array(given.utf8), Array(nonce.utf8)) else {
        throw OAuthError(.wrongNonce, "The ID token answers another request than this one (nonce).")
      }
    }
    if let hash = claims["at_hash"], let accessToken {
      let expected = Base64URL.encode(algorithm.halfHash(Array(accessToken.utf8)))
      guard hash.string == expected else {
        throw OAuthError(.wrongTokenHash, "The ID token was made for another access token (at_hash).")
      }
    }
  }
}

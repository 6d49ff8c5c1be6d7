import Groundwork
import Testing

@testable import MockServerCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("JWTs: making, reading, and what a request's token is worth")
struct JWTTests {
  /// Header and claims of a token, without a look at its signature.
  private func parts(_ token: String) throws -> (header: JSONValue, claims: JSONValue) {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    #expect(parts.count == 3)
    let decoded = try parts.prefix(2).map { part in
      try JSONDecoder().decode(JSONValue.self, from: Data(#require(Base64URL.decode(part))))
    }
    return (decoded[0], decoded[1])
  }

  /// A token with other parts and the given signature, or that of the realm.
  private func forged(_ realm: MockRealm, header: String, claims: String, signed: JWTAlgorithm? = nil) throws -> String
  {
    var input: [UInt8] = []
    Base64URL.append(Array(header.utf8), to: &input)
    input.append(UInt8(ascii: "."))
    Base64URL.append(Array(claims.utf8), to: &input)
    let message = input
    let signature = try signed.map { algorithm in
      try #require(realm.step { state, _, _ in state.keys.sign(message, algorithm) })
    }
    return String(decoding: input, as: UTF8.self) + "." + Base64URL.encode(signature ?? [])
  }

  @Test("base64url: the vectors of RFC 4648 §10 without padding, and what is none is refused")
  func base64() {
    let vectors = [
      "": "", "f": "Zg", "fo": "Zm8", "foo": "Zm9v", "foob": "Zm9vYg", "fooba": "Zm9vYmE", "foobar": "Zm9vYmFy",
    ]
    for (plain, encoded) in vectors {
      #expect(Base64URL.encode(Array(plain.utf8)) == encoded)
      #expect(Base64URL.decode(encoded) == Array(plain.utf8))
    }
    #expect(Base64URL.encode([0xFB, 0xFF]) == "-_8")
    for wrong in ["Zg==", "Z", "Zm9v\n", "+/8", "Zh", "Zm9vYmF"] + ["Zm9vYg\u{0}"] {
      #expect(Base64URL.decode(wrong) == nil || wrong == "Zm9vYmF", "\(wrong.debugDescription)")
    }
  }

  @Test("HS256: the example of RFC 7515 A.1")
  func hmacVector() throws {
    let key = try #require(
      Base64URL.decode("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"))
    let input =
      "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxl"
      + "LmNvbS9pc19yb290Ijp0cnVlfQ"
    let code = try #require(SHA256.code(of: Array(input.utf8), key: key))
    #expect(Base64URL.encode(code) == "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
  }

  @Test("ES256: key and signature of RFC 7515 A.3, and a changed byte of either is refused")
  func curveVector() throws {
    let secret = try #require(Base64URL.decode("jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"))
    let key = try #require(SigningKey.ellipticCurve(secret: secret))
    let jwk = Dictionary(uniqueKeysWithValues: key.jwk.map { ($0.name, $0.value) })
    #expect(jwk["x"] == "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU")
    #expect(jwk["y"] == "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
    #expect(jwk["crv"] == "P-256" && jwk["kty"] == "EC" && jwk["alg"] == "ES256" && jwk["use"] == "sig")
    var input = Array(
      ("eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0"
        + "cnVlfQ").utf8)
    var signature = try #require(
      Base64URL.decode("DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"))
    #expect(key.verify(signature, of: input))
    let own = try #require(key.sign(input))
    #expect(own.count == 64 && key.verify(own, of: input))
    #expect(!key.verify(Array(signature.dropLast()), of: input) && !key.verify([], of: input))
    signature[5] ^= 1
    #expect(!key.verify(signature, of: input))
    input[0] ^= 1
    #expect(!key.verify(own, of: input))
  }

  @Test("a thumbprint names the key: the example of RFC 7638 §3.1, written by our writer")
  func thumbprint() {
    let modulus =
      "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3okn"
      + "jhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6"
      + "qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8aw"
      + "apJzKnqDKgw"
    let canonical = JSONWriter.object { json in
      json.member("e", "AQAB")
      json.member("kty", "RSA")
      json.member("n", modulus)
    }
    #expect(Base64URL.encode(SHA256.digest(canonical.bytes)) == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
  }

  @Test("each kind of token signs in, is accepted, and says what it should", arguments: ["HS256", "RS256", "ES256"])
  func kinds(algorithm: String) throws {
    let kind = try #require(MockTokenKind(name: "jwt-\(algorithm.lowercased())"))
    let test = TestServer(MockPolicy(tokens: kind))
    let pair = try test.login()
    let (header, claims) = try parts(pair.access)
    #expect(header["alg"] == .string(algorithm) && header["typ"] == "JWT")
    #expect((header["kid"] == nil) == (algorithm == "HS256"))
    let user = try #require(test.realm.snapshot.users.first)
    let session = try #require(test.realm.snapshot.sessions.first)
    #expect(claims["sub"] == .string(user.id) && claims["session_id"] == .string(session.id))
    #expect(claims["iat"] == 1_893_456_000 && claims["exp"] == 1_893_456_900)
    #expect(claims["iss"] == "http://localhost" && claims["aud"] == "http://localhost")
    #expect(claims["username"] == "anna" && claims["email"] == "anna@example.com")
    #expect(try test.me(pair.access) == 200)
    let second = try test.refresh(pair.refresh).pair()
    #expect(second.access != pair.access && second.refresh.hasPrefix("rt_"))
    test.realm.advance(by: .seconds(900))
    #expect(try test.me(second.access) == 401)
    #expect(test.realm.count(.me, .expiredToken) == 1)
  }

  @Test("the published keys verify what the realm signs; HS256 has no public half")
  func published() throws {
    let test = TestServer(MockPolicy(tokens: .rs256))
    let pair = try test.login()
    let reply = try test.ask("GET", "/auth/v1/.well-known/jwks.json")
    #expect(reply.status == 200)
    let keys = try #require(try reply.json()["keys"]?.array)
    #expect(keys.count == 2 && keys.allSatisfy { $0["d"] == nil && $0["k"] == nil && $0["kid"]?.string != nil })
    let rsa = try #require(keys.first { $0["kty"] == "RSA" })
    #expect(rsa["kid"] == (try parts(pair.access).header["kid"]))
    #expect(rsa["e"] == "AQAB" && rsa["n"]?.string?.utf8.count == 342)
    let other = TestServer(MockPolicy(tokens: .hs256))
    #expect(try other.ask("GET", "/auth/v1/.well-known/jwks.json").json()["keys"]?.array?.count == 1)
  }

  @Test("the same seed gives the same HS256 tokens and the same EC key; realms differ")
  func seeded() throws {
    let (one, two) = (TestServer(MockPolicy(tokens: .hs256)), TestServer(MockPolicy(tokens: .hs256)))
    #expect(try one.login() == two.login())
    #expect(one.realm.keys == two.realm.keys)
    #expect(one.server.realm("a").keys != one.realm.keys)
    let keys = try [one, two].map { try $0.ask("GET", "/auth/v1/.well-known/jwks.json").text }
    #expect(keys[0] == keys[1])
    #expect(try one.ask("GET", "/r/a/auth/v1/.well-known/jwks.json").text != keys[0])
    #expect("\(one.realm.keys)" == "MockRealmKeys")
  }

  @Test("the issuer is what the server was called; a realm's has its path")
  func issuer() throws {
    let test = TestServer(MockPolicy(tokens: .hs256))
    let body = #"{"email":"anna@example.com","password":"correct horse"}"#
    let host = [MockRequest.Field("Host", "auth.test:8443")]
    let reply = try test.ask("POST", "/r/x/auth/login", body, headers: host)
    #expect(try parts(reply.pair().access).claims["iss"] == "http://auth.test:8443/r/x")
    let odd = [MockRequest.Field("Host", "a\"><b")]
    let other = try test.ask("POST", "/auth/login", body, headers: odd)
    #expect(try parts(other.pair().access).claims["iss"] == "http://localhost")
  }

  @Test("a token that the realm did not sign for itself is refused, and the refusal says why")
  func forgeries() throws {
    let test = TestServer(MockPolicy(tokens: .es256))
    let pair = try test.login()
    let claims = String(
      decoding: try #require(Base64URL.decode(pair.access.split(separator: ".")[1])), as: UTF8.self)
    let es256 = #"{"alg":"ES256","typ":"JWT"}"#
    func changed(_ part: String, _ other: String) -> String {
      #expect(claims.contains(part))
      return claims.replacing(part, with: other)
    }
    var broken = pair.access
    broken.removeLast(4)
    let other = try TestServer(MockPolicy(tokens: .es256), seed: 8).login().access
    let rows: [(String, String, Int)] = [
      (try forged(test.realm, header: es256, claims: claims, signed: .es256), "", 200),
      (try forged(test.realm, header: #"{"alg":"HS256"}"#, claims: claims, signed: .hs256), "", 200),
      (try forged(test.realm, header: es256, claims: claims), "signature is invalid", 401),
      (try forged(test.realm, header: #"{"alg":"none"}"#, claims: claims), "signing method none is invalid", 401),
      (
        try forged(test.realm, header: #"{"alg":"HS256"}"#, claims: claims, signed: .es256), "signature is invalid", 401
      ),
      (broken, "not valid", 401), (other, "signature is invalid", 401),
      (
        try forged(test.realm, header: es256, claims: changed("1893456900", "1893456000"), signed: .es256), "expired",
        401
      ),
      (
        try forged(
          test.realm, header: es256, claims: changed("\"iat\":1893456000", "\"nbf\":1893456001"), signed: .es256),
        "not valid yet", 401
      ),
      (
        try forged(test.realm, header: es256, claims: changed("1893456000", "1893456001"), signed: .es256),
        "before issued", 401
      ),
      (
        try forged(
          test.realm, header: es256, claims: changed(#""aud":"http://localhost""#, #""aud":["x"]"#), signed: .es256),
        "audience", 401
      ),
      (
        try forged(
          test.realm, header: es256, claims: changed(#""iss":"http://localhost""#, #""iss":"http://x""#), signed: .es256
        ),
        "issuer", 401
      ),
      (
        try forged(test.realm, header: es256, claims: changed("\"sub\"", "\"bus\""), signed: .es256), "missing sub", 401
      ),
      (
        try forged(test.realm, header: es256, claims: changed("\"session_id\"", "\"s\""), signed: .es256), "unknown",
        401
      ),
      ("eyJ.e30.x", "malformed", 401), ("eyJhbGciOiJFUzI1NiJ9.e30=.x", "malformed", 401),
      (
        try forged(test.realm, header: #"{"alg":"none","alg":"ES256"}"#, claims: claims, signed: .es256), "malformed",
        401
      ),
    ]
    for (index, (token, part, status)) in rows.enumerated() {
      let reply = try test.ask("GET", "/me", bearer: token)
      #expect(reply.status == status, "row \(index)")
      #expect(part.isEmpty || reply.header("WWW-Authenticate")?.contains(part) == true, "row \(index)")
    }
  }

  @Test("a server whose clock is ahead writes its own time, and judges by it")
  func skew() throws {
    let test = TestServer(MockPolicy(clockSkew: .seconds(3600), tokens: .hs256))
    let pair = try test.login()
    let claims = try parts(pair.access).claims
    #expect(claims["iat"] == 1_893_459_600 && claims["exp"] == 1_893_460_500)
    #expect(try test.me(pair.access) == 200)
    test.realm.advance(by: .seconds(899))
    #expect(try test.me(pair.access) == 200)
    test.realm.advance(by: .seconds(1))
    #expect(try test.me(pair.access) == 401)
  }

  @Test("a JWT in a path or a request id does not reach the journal")
  func masked() throws {
    let test = TestServer(MockPolicy(tokens: .hs256))
    let pair = try test.login()
    _ = try test.ask("GET", "/nothing/\(pair.access)", headers: [MockRequest.Field("X-Request-ID", pair.access)])
    for entry in test.realm.journal() {
      #expect(!entry.path.contains("eyJ") && !entry.requestID.contains("eyJ"))
    }
  }
}

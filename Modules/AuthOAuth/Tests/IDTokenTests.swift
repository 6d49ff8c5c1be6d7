import AuthModels
import AuthStorage
import Groundwork
import Testing

@testable import AuthOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("ID tokens: what is taken, and each refusal by its name (OpenID Connect Core §3.1.3.7)")
struct IDTokenTests {
  private static let now = 1_800_000_000.0
  private static let secret = ClientSecret("a secret of the client, long enough for a key")

  private static let claims: [String: JSONValue] = [
    "iss": "https://id.example", "sub": "user-1", "aud": "client-1", "iat": .number(now), "exp": .number(now + 300),
    "nonce": "n-1", "email": "anna@example.com", "preferred_username": "anna",
  ]

  private func check(
    keys: [JSONValue] = [SigningKey.rsa.json, SigningKey.curve.json, SigningKey.curve384.json],
    secret: ClientSecret? = nil, accessToken: String? = nil
  ) -> IDTokenCheck {
    IDTokenCheck(
      issuer: "https://id.example", clientID: "client-1", keys: JSONWebKey.keys(in: ["keys": .array(keys)]),
      secret: secret, nonce: "n-1", accessToken: accessToken, now: Date(timeIntervalSince1970: Self.now))
  }

  private func code(_ token: String, _ check: IDTokenCheck) -> OAuthError.Code? {
    do {
      _ = try check.verify(token)
      return nil
    } catch {
      return error.code
    }
  }

  private func claims(_ changes: [String: JSONValue?]) -> [String: JSONValue] {
    var claims = Self.claims
    for (name, value) in changes { claims[name] = value }
    return claims
  }

  @Test("a token by each kind of key is taken, and tells the user")
  func good() throws {
    for key in [SigningKey.rsa, SigningKey.curve, SigningKey.curve384] {
      let token = try check().verify(key.token(Self.claims))
      #expect(token.user == SessionUser(id: "user-1", email: "anna@example.com", username: "anna"))
    }
    let token = try SigningKey.assemble(["alg": "HS256"], .object(Self.claims)) {
      Digests.messageCode(.sha256, key: Array(Self.secret.text.utf8), $0)
    }
    #expect(try check(keys: [], secret: Self.secret).verify(token).subject == "user-1")
  }

  @Test("the examples of RFC 7515 appendix A verify, and do not once a bit is turned")
  func vectors() throws {
    let payload =
      "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(text)) }
    let hs = Array("eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.\(payload)".utf8)
    let secret = try bytes("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow")
    let code = try bytes("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    #expect(SignatureAlgorithm.hs256.isValid(code, of: hs, secret: secret))
    let es = Array("eyJhbGciOiJFUzI1NiJ9.\(payload)".utf8)
    let curve = try #require(
      JSONWebKey([
        "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
      ]))
    let esSignature = try bytes(
      "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")
    #expect(SignatureAlgorithm.es256.isValid(esSignature, of: es, key: curve))
    let rs = Array("eyJhbGciOiJSUzI1NiJ9.\(payload)".utf8)
    let rsa = try #require(
      JSONWebKey([
        "kty": "RSA", "e": "AQAB",
        "n": .string(
          "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SF"
            + "d2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-U"
            + "To7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2et"
            + "hFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"),
      ]))
    let rsSignature = try bytes(
      "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CU"
        + "Ar7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOL"
        + "n6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVm"
        + "tVrBp0igcN_IoypGlUPQGe77Rw")
    #expect(SignatureAlgorithm.rs256.isValid(rsSignature, of: rs, key: rsa))
    func turned(_ bytes: [UInt8]) -> [UInt8] { bytes.dropLast() + [(bytes.last ?? 0) ^ 1] }
    #expect(!SignatureAlgorithm.hs256.isValid(turned(code), of: hs, secret: secret))
    #expect(!SignatureAlgorithm.es256.isValid(turned(esSignature), of: es, key: curve))
    #expect(!SignatureAlgorithm.rs256.isValid(turned(rsSignature), of: rs, key: rsa))
    #expect(!SignatureAlgorithm.rs256.isValid(rsSignature, of: turned(rs), key: rsa))
    #expect(!SignatureAlgorithm.es256.isValid(rsSignature, of: rs, key: rsa))
  }

  @Test(
    "alg none is refused in every spelling, with and without a signature", arguments: ["none", "None", "NONE", "nOnE"])
  func unsigned(name: String) throws {
    for signature in [[], [1, 2, 3]] as [[UInt8]] {
      let token = try SigningKey.assemble(["alg": .string(name)], .object(Self.claims)) { _ in signature }
      #expect(code(token, check(secret: Self.secret)) == .unsignedToken)
    }
  }

  @Test("a published key is never the secret of a message code (key confusion)")
  func confusion() throws {
    let published = JSONWebKey.keys(in: ["keys": [SigningKey.rsa.json]])[0].encoded
    let token = try SigningKey.assemble(["alg": "HS256", "kid": "rsa-1"], .object(Self.claims)) {
      Digests.messageCode(.sha256, key: published, $0)
    }
    #expect(code(token, check()) == .algorithmNotAllowed)
    #expect(code(token, check(secret: Self.secret)) == .badSignature)
    #expect(code(token, check(secret: ClientSecret(""))) == .badSignature)
  }

  @Test("another key under the same name, another algorithm's name, no signature: the signature is wrong")
  func wrongSignature() throws {
    let forged = try SigningKey.otherRSA.token(Self.claims)
    #expect(code(forged, check()) == .badSignature)
    let good = try SigningKey.rsa.token(Self.claims)
    let parts = good.split(separator: ".").map(String.init)
    #expect(code("\(parts[0]).\(parts[1]).", check()) == .badSignature)
    let other = try SigningKey.rsa.token(claims(["sub": "user-2"])).split(separator: ".").map(String.init)
    #expect(code("\(parts[0]).\(other[1]).\(parts[2])", check()) == .badSignature)
    #expect(code(try SigningKey.curve.token(Self.claims, algorithm: "ES384", kid: "ec-2"), check()) == .badSignature)
  }

  @Test("a key that is not published, too small, or meant for something else signs nothing")
  func unknownKey() throws {
    #expect(code(try SigningKey.rsa.token(Self.claims, kid: "rsa-2"), check()) == .unknownKey)
    #expect(code(try SigningKey.rsa.token(Self.claims), check(keys: [])) == .unknownKey)
    let small = SigningKey(.rsa(1024), id: "small")
    #expect(code(try small.token(Self.claims), check(keys: [small.json])) == .unknownKey)
    var members = SigningKey.rsa.json.object ?? [:]
    members["use"] = "enc"
    #expect(code(try SigningKey.rsa.token(Self.claims), check(keys: [.object(members)])) == .unknownKey)
    members["use"] = "sig"
    members["alg"] = "RS512"
    #expect(code(try SigningKey.rsa.token(Self.claims), check(keys: [.object(members)])) == .unknownKey)
  }

  @Test("an algorithm or an extension that is not known is not guessed at")
  func algorithms() throws {
    #expect(code(try SigningKey.rsa.token(Self.claims, algorithm: "RS1"), check()) == .algorithmNotAllowed)
    #expect(code(try SigningKey.rsa.token(Self.claims, algorithm: "rs256"), check()) == .algorithmNotAllowed)
    let critical = try SigningKey.assemble(
      ["alg": "RS256", "kid": "rsa-1", "crit": ["exp"]], .object(Self.claims)
    ) { _ in [1] }
    #expect(code(critical, check()) == .algorithmNotAllowed)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var changes: [String: JSONValue?]
    var code: OAuthError.Code?
    var testDescription: String { "\(changes.keys.sorted()) \(code?.rawValue ?? "taken") \(changes)" }

    init(_ changes: [String: JSONValue?], _ code: OAuthError.Code?) {
      self.changes = changes
      self.code = code
    }
  }

  static let rows: [Row] = [
    Row(["iss": "https://other.example"], .wrongIssuer), Row(["iss": "https://id.example/"], .wrongIssuer),
    Row(["iss": nil], .wrongIssuer), Row(["iss": 7], .wrongIssuer),
    Row(["aud": "client-2"], .wrongAudience), Row(["aud": nil], .wrongAudience), Row(["aud": []], .wrongAudience),
    Row(["aud": ["client-2", "client-3"], "azp": "client-1"], .wrongAudience),
    Row(["aud": ["client-1", "client-2"]], .wrongAudience),
    Row(["aud": ["client-1", "client-2"], "azp": "client-2"], .wrongAudience),
    Row(["aud": ["client-1", "client-2"], "azp": "client-1"], nil), Row(["aud": ["client-1"]], nil),
    Row(["azp": "client-2"], .wrongAudience),
    Row(["exp": .number(now - 61)], .expired), Row(["exp": .number(now - 60)], .expired),
    Row(["exp": .number(now - 59)], nil), Row(["exp": nil], .malformedToken), Row(["exp": "later"], .malformedToken),
    Row(["iat": nil], .malformedToken), Row(["iat": .number(now + 61)], .notYetValid),
    Row(["iat": .number(now + 60)], nil), Row(["nbf": .number(now + 61)], .notYetValid),
    Row(["nbf": .number(now + 30)], nil), Row(["nbf": "soon"], .malformedToken),
    Row(["nonce": "n-2"], .wrongNonce), Row(["nonce": nil], .wrongNonce), Row(["nonce": ""], .wrongNonce),
    Row(["sub": nil], .malformedToken), Row(["sub": ""], .malformedToken), Row(["sub": 7], .malformedToken),
    Row(["exp": .number(1e308)], nil),
  ]

  @Test("each claim that is wrong has its own refusal", arguments: rows)
  func claimTable(row: Row) throws {
    #expect(code(try SigningKey.curve.token(claims(row.changes)), check()) == row.code)
  }

  @Test("a token for another access token is refused (at_hash)")
  func tokenHash() throws {
    let hash = Base64URL.encode(Digests.hash(.sha256, Array("access-1".utf8)).prefix(16))
    let token = try SigningKey.curve.token(claims(["at_hash": .string(hash)]))
    #expect(code(token, check(accessToken: "access-1")) == nil)
    #expect(code(token, check(accessToken: "access-2")) == .wrongTokenHash)
  }

  @Test("a name that stands twice, in the header or in the payload, is refused")
  func duplicates() {
    func signed(_ header: String, _ payload: String) -> String {
      SigningKey.assemble(Data(header.utf8), Data(payload.utf8)) {
        Digests.messageCode(.sha256, key: Array(Self.secret.text.utf8), $0)
      }
    }
    let check = check(secret: Self.secret)
    #expect(code(signed(#"{"alg":"HS256","alg":"none"}"#, "{}"), check) == .duplicateParameter)
    #expect(code(signed(#"{"alg":"HS256"}"#, #"{"aud":"client-2","aud":"client-1"}"#), check) == .duplicateParameter)
    #expect(code(signed(#"{"alg":"HS256"}"#, #"{"aud":"a","\u0061ud":"b"}"#), check) == .duplicateParameter)
  }

  @Test(
    "what is no token is malformed, and traps nothing",
    arguments: [
      "", ".", "..", "...", "a.b.c", "e30.e30.", "e30.e30.e30", "e30=.e30.e30", "bm8.e30.e30", "W10.W10.W10",
      "eyJhbGciOjd9.e30.AA", "e30.e30.e30.e30.e30",
    ])
  func malformed(text: String) {
    #expect(code(text, check(secret: Self.secret)) == .malformedToken)
  }

  @Test(
    "strict JSON takes what JSON is, and nothing else",
    arguments: [
      (#" {"a" : [1, -2.5e3, true, false, null, "x\n\u00e9\ud83d\ude00\/"]} "#, true), ("1", true),
      (#""\ud83d""#, false),
      (#""\ude00""#, false), ("01", false), ("-", false), ("1.", false), ("+1", false), ("1e999", false),
      ("{a:1}", false),
      (#"{"a":1,}"#, false), ("[1,]", false), ("[1", false), ("{", false), (#""a"#, false), ("\"\u{1}\"", false),
      ("nul", false), ("{} {}", false), (String(repeating: "[", count: 100_000), false), (#""\u00g0""#, false),
      (#"{"a":{"b":1,"b":2}}"#, false), (#"{"":1}"#, true), ("-0", true), ("-01", false), ("1-2", false),
    ])
  func strictJSON(text: String, isGood: Bool) {
    var parsed = true
    do { _ = try StrictJSON.parse(Array(text.utf8)) } catch { parsed = false }
    #expect(parsed == isGood)
  }

  @Test("a secret shows nowhere")
  func hidden() {
    #expect(!"\(Self.secret)".contains("client"))
    #expect(!String(reflecting: Self.secret).contains("client"))
  }
}

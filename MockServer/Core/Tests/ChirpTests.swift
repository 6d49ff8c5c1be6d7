import Groundwork
import Testing

@testable import MockServerCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("The chirp dialect, by bodies written by hand from the page on wire formats")
struct ChirpTests {
  let test = TestServer()

  @Test("register answers 201 with the public user, and the user can sign in")
  func register() throws {
    let body = #"{"username":"bob_1","email":"  Bob@Example.com ","password":"password123"}"#
    let reply = try test.ask("POST", "/auth/register", body)
    #expect(reply.status == 201)
    #expect(reply.header("Content-Type") == "application/json")
    let id = try #require(try reply.json()["id"]?.string)
    #expect(UUID(uuidString: id) != nil)
    #expect(
      reply.text
        == #"{"id":"\#(id)","username":"bob_1","email":"Bob@Example.com","createdAt":"2030-01-01T00:00:00Z"}"#)
    let login = try test.ask("POST", "/auth/login", #"{"email":"bob@example.com","password":"password123"}"#)
    #expect(login.status == 200)
  }

  @Test("login answers 200 with tokens, whole seconds of life and no caching")
  func login() throws {
    let reply = try test.ask("POST", "/auth/login", #"{"email":"anna@example.com","password":"correct horse"}"#)
    #expect(reply.status == 200)
    let pair = try reply.pair()
    #expect(
      reply.text
        == #"{"accessToken":"\#(pair.access)","refreshToken":"\#(pair.refresh)","expiresIn":900,"tokenType":"Bearer"}"#)
    #expect(reply.header("Cache-Control") == "no-store")
    #expect(reply.header("Date") == "Tue, 01 Jan 2030 00:00:00 GMT")
    #expect(reply.header("X-Request-ID") == "r1")
  }

  @Test(
    "login refuses a wrong password and an unknown email with the same body",
    arguments: [
      #"{"email":"anna@example.com","password":"wrong horse"}"#,
      #"{"email":"nobody@example.com","password":"correct horse"}"#,
      #"{"email":"anna@example.com","password":"correct horse "}"#, #"{"email":"","password":""}"#,
    ])
  func wrongPassword(body: String) throws {
    let reply = try test.ask("POST", "/auth/login", body)
    #expect(reply.status == 401)
    #expect(reply.text == #"{"error":true,"reason":"Invalid email or password.","code":"invalid_credentials"}"#)
    #expect(test.realm.count(.login, .invalidCredentials) == 1)
  }

  @Test("register refuses a taken email and a taken username, whatever their case (D1.7)")
  func taken() throws {
    let email = try test.ask(
      "POST", "/auth/register", #"{"username":"other","email":"ANNA@example.com","password":"password123"}"#)
    #expect(email.status == 409)
    #expect(email.text == #"{"error":true,"reason":"This email has an account already.","code":"email_taken"}"#)
    let name = try test.ask(
      "POST", "/auth/register", #"{"username":"Anna","email":"other@example.com","password":"password123"}"#)
    #expect(name.status == 409)
    #expect(name.text == #"{"error":true,"reason":"This username is taken.","code":"username_taken"}"#)
    #expect(test.realm.snapshot.users.count == 1)
  }

  @Test("register names each bad field (D1.7)")
  func validation() throws {
    let reply = try test.ask("POST", "/auth/register", #"{"username":"a b","email":"anna@","password":"short"}"#)
    #expect(reply.status == 422)
    #expect(
      reply.text == #"{"error":true,"reason":"Some fields are not valid.","code":"validation_failed","fields":{"#
        + #""username":"must be 3 to 32 letters, digits or underscores","#
        + #""email":"must be an address like name@example.com","#
        + #""password":"must be 8 to 128 characters long"}}"#)
    let missing = try test.ask("POST", "/auth/register", #"{"username":7,"email":null}"#)
    #expect(missing.status == 422)
    #expect(
      try missing.json()["fields"] == [
        "username": "must be a text", "email": "is missing", "password": "is missing",
      ])
  }

  @Test(
    "the edges of password and username length",
    arguments: [
      ("abc", 8, 201), ("abc", 128, 201), ("abc", 7, 422), ("abc", 129, 422), ("ab", 8, 422),
      (String(repeating: "a", count: 32), 8, 201), (String(repeating: "a", count: 33), 8, 422),
    ])
  func lengths(username: String, password: Int, status: Int) throws {
    let body =
      #"{"username":"\#(username)","email":"x@example.com","password":"\#(String(repeating: "p", count: password))"}"#
    #expect(try test.ask("POST", "/auth/register", body).status == status)
  }

  @Test(
    "addresses that are taken, and that are not (D5.1)",
    arguments: [
      ("name@domain.tld", true), ("a.b+c@x-y.example.org", true), ("\\\"a b\\\"@example.com", false),
      ("\\\"a@b\\\"@example.com", true), ("ü@exämple.de", true), ("用户@例子.广告", true), ("name@domain", false),
      ("@domain.tld", false), ("name@", false), ("na me@domain.tld", false), ("a@b@domain.tld", false),
      (".a@domain.tld", false), ("a..b@domain.tld", false), ("name@-domain.tld", false), ("name@domain..tld", false),
      ("name@domain.tld.", false), ("name@dom_ain.tld", false), ("name\\u0000@domain.tld", false),
      (String(repeating: "a", count: 65) + "@domain.tld", false),
      ("a@" + String(repeating: "b", count: 64) + ".tld", false),
    ])
  func addresses(email: String, ok: Bool) throws {
    let body = #"{"username":"someone","email":"\#(email)","password":"password123"}"#
    #expect(try test.ask("POST", "/auth/register", body).status == (ok ? 201 : 422))
  }

  @Test("me answers the public user; the bearer scheme's case does not matter")
  func me() throws {
    let pair = try test.login()
    let id = try #require(test.realm.snapshot.users.first?.id)
    for scheme in ["Bearer", "bearer", "BEARER"] {
      let header = MockRequest.Field("authorization", "\(scheme) \(pair.access)")
      let reply = try test.ask("GET", "/me", headers: [header])
      #expect(reply.status == 200)
      #expect(
        reply.text
          == #"{"id":"\#(id)","username":"anna","email":"anna@example.com","createdAt":"2030-01-01T00:00:00Z"}"#)
    }
  }

  @Test("me refuses a missing, an unknown, an expired and a revoked token, each in its own words (RFC 6750 §3)")
  func unauthorized() throws {
    let missing = try test.ask("GET", "/me")
    #expect(missing.status == 401)
    #expect(missing.text == #"{"error":true,"reason":"This needs a bearer token.","code":"missing_token"}"#)
    #expect(missing.header("WWW-Authenticate") == "Bearer")
    #expect(try test.ask("GET", "/me", headers: [MockRequest.Field("Authorization", "Basic YTpi")]).status == 401)

    func refused(_ token: String, _ words: String, _ outcome: MockOutcome) throws {
      let reply = try test.ask("GET", "/me", bearer: token)
      #expect(reply.status == 401)
      #expect(reply.text == #"{"error":true,"reason":"\#(words).","code":"invalid_token"}"#)
      #expect(
        reply.header("WWW-Authenticate") == #"Bearer error="invalid_token", error_description="\#(words)""#)
      #expect(test.realm.journal().last?.outcome == outcome)
    }
    try refused("nonsense", "The access token is unknown", .unknownToken)
    let revoked = try test.login()
    #expect(test.realm.revoke(.access(revoked.access)) == 1)
    try refused(revoked.access, "The access token was revoked", .revokedToken)
    let expired = try test.login()
    test.realm.advance(by: .seconds(900) - .microseconds(1))
    #expect(try test.me(expired.access) == 200)
    test.realm.advance(by: .microseconds(1))
    try refused(expired.access, "The access token expired", .expiredToken)
  }

  @Test("refresh tells why it refuses: unknown, revoked, expired, reused")
  func invalidGrant() throws {
    func refused(_ token: String, _ detail: String, _ outcome: MockOutcome) throws {
      let reply = try test.refresh(token)
      #expect(reply.status == 401)
      #expect(
        reply.text
          == #"{"error":true,"reason":"The refresh token is not valid.","code":"invalid_grant","detail":"\#(detail)"}"#)
      #expect(test.realm.journal().last?.outcome == outcome)
    }
    try refused("nonsense", "unknown", .unknownGrant)
    let revoked = try test.login()
    #expect(test.realm.revoke(.refresh(revoked.refresh)) == 1)
    try refused(revoked.refresh, "revoked", .revokedGrant)
    #expect(try test.me(revoked.access) == 200)
    let spent = try test.login()
    #expect(try test.refresh(spent.refresh).status == 200)
    try refused(spent.refresh, "reused", .reuseDetected)
    try refused(spent.refresh, "revoked", .revokedGrant)
    let expired = try test.login()
    test.realm.advance(by: .seconds(30 * 86400))
    try refused(expired.refresh, "expired", .expiredGrant)
  }

  @Test("logout ends the family, and answers an unknown token alike")
  func logout() throws {
    let pair = try test.login()
    let reply = try test.ask("POST", "/auth/logout", #"{"refreshToken":"\#(pair.refresh)"}"#)
    #expect(reply.status == 204)
    #expect(reply.body.isEmpty)
    #expect(reply.header("Content-Type") == nil)
    #expect(try test.me(pair.access) == 401)
    #expect(try test.refresh(pair.refresh).detail == "revoked")
    #expect(try test.ask("POST", "/auth/logout", #"{"refreshToken":"nonsense"}"#).status == 204)
    #expect(test.realm.count(.logout, .signedOut) == 1)
    #expect(test.realm.count(.logout, .nothingToRevoke) == 1)
    #expect(test.realm.snapshot.sessions.first?.endedBy == .logout)
  }

  @Test("the feed comes in pages, newest first, until the cursor is null")
  func feed() throws {
    let pair = try test.login()
    var target = "/feed?limit=10"
    var ids: [String] = []
    for expected in [10, 10, 5] {
      let page = try test.ask("GET", target, bearer: pair.access).json()
      let items = try #require(page["items"]?.array)
      #expect(items.count == expected)
      ids += items.compactMap { $0["id"]?.string }
      guard let cursor = page["nextCursor"]?.string else {
        #expect(page["nextCursor"] == .null)
        break
      }
      target = "/feed?limit=10&cursor=\(cursor)"
    }
    #expect(ids == (1...25).reversed().map { "post-\($0)" })
    let first = try test.ask("GET", "/feed?limit=1", bearer: pair.access)
    #expect(
      first.text == #"{"items":[{"id":"post-25","author":"ada","text":"Signed out, signed in, still here.","#
        + #""createdAt":"2029-12-31T23:59:00Z"}],"nextCursor":"before-25"}"#)
    let bad = try test.ask("GET", "/feed?limit=0&cursor=x", bearer: pair.access)
    #expect(bad.status == 422)
    #expect(try bad.json()["fields"]?.object?.keys.sorted() == ["cursor", "limit"])
    #expect(try test.ask("GET", "/feed?limit=%zz", bearer: pair.access).status == 400)
    #expect(try test.ask("GET", "/feed").status == 401)
  }

  @Test("a post with a repeated Idempotency-Key is made once; with another body it is refused")
  func idempotency() throws {
    let pair = try test.login()
    let key = [MockRequest.Field("Idempotency-Key", "k1")]
    let first = try test.ask("POST", "/posts", #"{"text":"hello"}"#, bearer: pair.access, headers: key)
    #expect(first.status == 201)
    #expect(
      first.text == #"{"id":"post-26","author":"anna","text":"hello","createdAt":"2030-01-01T00:00:00Z"}"#)
    let again = try test.ask("POST", "/posts", #"{"text":"hello"}"#, bearer: pair.access, headers: key)
    #expect(again.status == 201)
    #expect(again.text == first.text)
    #expect(again.header("Idempotency-Replayed") == "true")
    let other = try test.ask("POST", "/posts", #"{"text":"other"}"#, bearer: pair.access, headers: key)
    #expect(other.status == 422)
    #expect(try other.json()["code"] == "idempotency_key_reused")
    let keyless = try test.ask("POST", "/posts", #"{"text":"hello"}"#, bearer: pair.access)
    #expect(try keyless.json()["id"] == "post-27")
    #expect(try test.ask("POST", "/posts", #"{"text":""}"#, bearer: pair.access).status == 422)
    let long = String(repeating: "k", count: 256)
    let tooLong = [MockRequest.Field("Idempotency-Key", long)]
    #expect(try test.ask("POST", "/posts", #"{"text":"a"}"#, bearer: pair.access, headers: tooLong).status == 400)
  }

  @Test("415, 400, 413, 405 and 404 come with the dialect's body")
  func protocolErrors() throws {
    let json = #"{"email":"anna@example.com","password":"correct horse"}"#
    for type in ["text/plain", "application/jsonp", "application/json; charset=latin-1", ""] {
      let reply = try test.ask("POST", "/auth/login", json, headers: [MockRequest.Field("Content-Type", type)])
      #expect(reply.status == 415)
      #expect(try reply.json()["code"] == "unsupported_media_type")
    }
    for type in ["application/json", "Application/JSON; charset=UTF-8", "application/json;charset=\"utf-8\""] {
      let reply = try test.ask("POST", "/auth/login", json, headers: [MockRequest.Field("Content-Type", type)])
      #expect(reply.status == 200)
    }
    for body in ["", "{", "[]", "null", #"{"a":1}x"#, #"{"a":1e999}"#] {
      let reply = try test.ask("POST", "/auth/login", body)
      #expect(reply.status == 400)
      #expect(try reply.json()["code"] == "invalid_json")
    }
    let large = #"{"email":"\#(String(repeating: "a", count: 1 << 20))"}"#
    #expect(try test.ask("POST", "/auth/login", large).status == 413)
    for (method, target, allow) in [
      ("GET", "/auth/login", "POST"), ("POST", "/me", "GET, HEAD"), ("DELETE", "/feed", "GET, HEAD"),
    ] {
      let reply = try test.ask(method, target)
      #expect(reply.status == 405)
      #expect(reply.header("Allow") == allow)
      #expect(try reply.json()["code"] == "method_not_allowed")
    }
    for target in ["/", "/nothing", "/me/", "//me", "/auth/login%2f", "*", "/r/x"] {
      let reply = try test.ask("GET", target)
      #expect(reply.status == (target == "*" ? 400 : 404))
    }
  }

  @Test("the rate limit counts its operations alone, tells when to come back, and ends on the realm's clock")
  func rateLimit() throws {
    test.realm.policy.rateLimit = MockRateLimit(limit: 2, per: .seconds(60))
    _ = try test.login()
    let pair = try test.login()
    test.realm.advance(by: .milliseconds(10_500))
    let reply = try test.ask("POST", "/auth/login", #"{"email":"anna@example.com","password":"correct horse"}"#)
    #expect(reply.status == 429)
    #expect(reply.text == #"{"error":true,"reason":"Too many tries. Try again later.","code":"rate_limited"}"#)
    #expect(reply.header("Retry-After") == "50")
    #expect(try test.me(pair.access) == 200)
    test.realm.advance(by: .milliseconds(49_500))
    _ = try test.login()
  }
}

@Suite("The envelope dialect (D2.2)")
struct EnvelopeTests {
  let test = TestServer()

  @Test("login, refresh and me wrap their answers, and tell no lifetime")
  func flow() throws {
    let login = try test.ask("POST", "/envelope/login", #"{"username":"anna","password":"correct horse"}"#)
    #expect(login.status == 200)
    let first = try #require(try login.json()["data"])
    let (access, refresh) = (try #require(first["accessToken"]?.string), try #require(first["refreshToken"]?.string))
    #expect(login.text == #"{"data":{"accessToken":"\#(access)","refreshToken":"\#(refresh)"}}"#)
    let id = try #require(test.realm.snapshot.users.first?.id)
    let me = try test.ask("GET", "/envelope/me", bearer: access)
    #expect(
      me.text == #"{"data":{"id":"\#(id)","username":"anna","email":"anna@example.com","#
        + #""createdAt":"2030-01-01T00:00:00Z"}}"#)
    let refreshed = try test.ask("POST", "/envelope/refresh", #"{"refreshToken":"\#(refresh)"}"#)
    #expect(refreshed.status == 200)
    #expect(try refreshed.json()["data"]?["refreshToken"]?.string != refresh)
    #expect(test.realm.count(.refresh, .rotated) == 1)
    #expect(test.realm.journal().map(\.dialect) == [.envelope, .envelope, .envelope])
  }

  @Test("errors have the envelope's shape and no code")
  func errors() throws {
    let login = try test.ask("POST", "/envelope/login", #"{"username":"anna","password":"wrong horse"}"#)
    #expect(login.status == 401)
    #expect(login.text == #"{"error":{"message":"Invalid username or password."}}"#)
    let refresh = try test.ask("POST", "/envelope/refresh", #"{"refreshToken":"nonsense"}"#)
    #expect(refresh.status == 401)
    #expect(refresh.text == #"{"error":{"message":"The refresh token is not valid: unknown."}}"#)
    let me = try test.ask("GET", "/envelope/me", bearer: "nonsense")
    #expect(me.status == 401)
    #expect(me.text == #"{"error":{"message":"The access token is unknown."}}"#)
    #expect(me.header("WWW-Authenticate")?.hasPrefix(#"Bearer error="invalid_token""#) == true)
    #expect(try test.ask("GET", "/envelope/login").text.hasPrefix(#"{"error":{"message":"#))
    let missing = try test.ask("POST", "/envelope/login", "{}")
    #expect(missing.status == 422)
    #expect(missing.text == #"{"error":{"message":"username is missing; password is missing."}}"#)
  }
}

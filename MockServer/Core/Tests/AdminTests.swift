import Groundwork
import Testing

@testable import MockServerCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("The admin API")
struct AdminTests {
  let test = TestServer()

  @Test("state shows the realm whole, in a fixed order")
  func state() throws {
    let pair = try test.login()
    _ = try test.refresh(pair.refresh)
    test.realm.script(.me, .status(503, times: 2))
    let user = try #require(test.realm.snapshot.users.first?.id)
    let session = try #require(test.realm.snapshot.sessions.first?.id)
    #expect(
      try test.admin("GET", "state").text
        == #"{"realm":"default","now":"2030-01-01T00:00:00.000Z","clock":"virtual","#
        + #""policy":{"accessTTL":"15m","refreshTTL":"30d","rotation":"strict","grace":"10s","tokens":"opaque","#
        + #""clockSkew":"0s","rateLimit":null,"cors":null,"autoconfirm":true,"supabaseErrors":"current","idTokenFlaw":null},"#
        + #""users":[{"id":"\#(user)","username":"anna","email":"anna@example.com","createdAt":"2030-01-01T00:00:00Z","#
        + #""confirmed":true,"lastSignInAt":"2030-01-01T00:00:00.000Z"}],"#
        + #""sessions":[{"id":"\#(session)","userID":"\#(user)","alive":true,"generation":1,"#
        + #""accessExpiresAt":"2030-01-01T00:15:00.000Z","refreshExpiresAt":"2030-01-31T00:00:00.000Z"}],"#
        + #""scripts":{"me":{"used":0,"remaining":2,"then":"real"}},"held":{},"delayed":0,"#
        + #""journal":{"seq":2,"dropped":0}}"#)
  }

  @Test("the clock is advanced, set, and switched; it answers the time")
  func clock() throws {
    #expect(try test.admin("POST", "clock", #"{"advance":"90s"}"#).text == #"{"now":"2030-01-01T00:01:30.000Z"}"#)
    #expect(try test.admin("POST", "clock", #"{"advance":0.5}"#).text == #"{"now":"2030-01-01T00:01:30.500Z"}"#)
    let set = try test.admin("POST", "clock", #"{"set":"2031-02-03T04:05:06.7+01:00"}"#)
    #expect(set.text == #"{"now":"2031-02-03T03:05:06.700Z"}"#)
    #expect(try test.ask("GET", "/me").header("Date") == "Mon, 03 Feb 2031 03:05:06 GMT")
    #expect(try test.admin("POST", "clock", #"{"mode":"real"}"#).status == 200)
    test.time.pass(.seconds(2))
    #expect(MockInstant(test.realm.now).text == "2031-02-03T03:05:08.700Z")
    #expect(
      try test.admin("POST", "clock", #"{"advance":"1000000000000"}"#).text == #"{"now":"9999-12-31T23:59:59.000Z"}"#)
    for bad in [
      "{}", #"{"advance":"-5s"}"#, #"{"advance":"5 s"}"#, #"{"set":"yesterday"}"#, #"{"set":"2030-02-29T00:00:00Z"}"#,
      #"{"set":"2030-01-01T00:00:00Z","advance":"1s"}"#, #"{"advance":1e300}"#, "[]", "", #"{"mode":"fast"}"#,
      #"{"set":"1969-12-31T23:59:59Z"}"#,
    ] {
      #expect(try test.admin("POST", "clock", bad).status == 400, "\(bad)")
    }
  }

  @Test("the clock's skew moves what the server tells, not what it does")
  func skew() throws {
    #expect(try test.admin("PUT", "policy", #"{"clockSkew":"-1h"}"#).status == 200)
    let pair = try test.login()
    #expect(try test.ask("GET", "/me", bearer: pair.access).header("Date") == "Mon, 31 Dec 2029 23:00:00 GMT")
    test.realm.advance(by: .seconds(899))
    #expect(try test.me(pair.access) == 200)
  }

  @Test("users are added all or none")
  func users() throws {
    let two = #"""
      [{"username":"bob","email":"bob@example.com","password":"password123"},
       {"username":"eve","email":"eve@example.com","password":"password123"}]
      """#
    let reply = try test.admin("POST", "users", two)
    #expect(reply.status == 200)
    #expect(try reply.json().array?.map { $0["username"] } == ["bob", "eve"])
    #expect(try test.ask("POST", "/auth/login", #"{"email":"eve@example.com","password":"password123"}"#).status == 200)
    let half = #"""
      [{"username":"zoe","email":"zoe@example.com","password":"password123"},
       {"username":"Bob","email":"b@example.com","password":"password123"}]
      """#
    let taken = try test.admin("POST", "users", half)
    #expect(taken.status == 409)
    #expect(try taken.json()["reason"] == #"the username "Bob" has an account already"#)
    #expect(test.realm.snapshot.users.map(\.username) == ["anna", "bob", "eve"])
    let invalid = try test.admin(
      "POST", "users", #"[{"username":"x","email":"x@example.com","password":"password123"}]"#)
    #expect(invalid.status == 400)
    let missing = try test.admin("POST", "users", #"[{"username":"xyz"}]"#)
    #expect(try missing.json()["reason"] == #"users[0]: "email" is missing"#)
  }

  @Test("sessions are minted without a login, expired ones too")
  func mint() throws {
    let fresh = try test.admin("POST", "sessions", #"{"user":"anna@example.com","accessTTL":"5m"}"#)
    #expect(fresh.status == 200)
    #expect(try fresh.json()["expiresIn"] == 300)
    #expect(try test.me(try fresh.pair().access) == 200)
    let expired = try test.admin(
      "POST", "sessions", #"{"user":"ANNA@example.com","accessTTL":"0s","refreshTTL":"-1m"}"#)
    let pair = try expired.pair()
    #expect(try test.ask("GET", "/me", bearer: pair.access).text.contains("expired"))
    #expect(try test.refresh(pair.refresh).detail == "expired")
    #expect(test.realm.journal().count == 3)
    let nobody = try test.admin("POST", "sessions", #"{"user":"nobody"}"#)
    #expect(nobody.status == 404)
  }

  @Test("revoke takes an access token, a refresh token, a session, a user, or all")
  func revoke() throws {
    let user = try #require(test.realm.snapshot.users.first?.id)
    func revoke(_ json: String) throws -> JSONValue? { try test.admin("POST", "revoke", json).json()["revoked"] }
    let first = try test.login()
    #expect(try revoke(#"{"access":"\#(first.access)"}"#) == 1)
    #expect(try test.me(first.access) == 401)
    #expect(try revoke(#"{"access":"\#(first.access)"}"#) == 0)
    let second = try test.refresh(first.refresh).pair()
    #expect(try revoke(#"{"refresh":"\#(second.refresh)"}"#) == 1)
    #expect(try test.me(second.access) == 200)
    #expect(try test.refresh(second.refresh).detail == "revoked")
    #expect(test.realm.snapshot.sessions.first?.alive == false)
    let session = try #require(test.realm.snapshot.sessions.first?.id)
    #expect(try revoke(#"{"session":"\#(session)"}"#) == 1)
    #expect(try test.me(second.access) == 401)
    _ = try test.login()
    #expect(try revoke(#"{"user":"\#(user)"}"#) == 1)
    let last = try test.login()
    #expect(try revoke(#"{"all":true}"#) == 1)
    #expect(try test.me(last.access) == 401)
    #expect(try test.admin("POST", "revoke", #"{"all":false}"#).status == 400)
    #expect(try test.admin("POST", "revoke", #"{"all":true,"user":"x"}"#).status == 400)
  }

  @Test(
    "a key that stands there twice, and null where it means nothing, are refused, and change nothing",
    arguments: [
      ("policy", #"{"accessTTL":"1s","accessTTL":"2s"}"#, "twice"), ("policy", #"{"accessTTL":null}"#, "null"),
      ("policy", #"{"rateLimit":{"limit":1,"limit":2,"per":"1m"}}"#, "twice"),
      ("policy", #"{"grace":"1s","\u0067race":"1s"}"#, "twice"),
      ("policy", #"{"rateLimit":{"limit":1,"per":"1m","operations":null}}"#, "null"),
    ])
  func ambiguousBodies(path: String, body: String, hint: String) throws {
    let before = test.realm.policy
    let reply = try test.admin("PUT", path, body)
    #expect(reply.status == 400)
    #expect(try reply.json()["reason"]?.string?.contains(hint) == true, "\(reply.text)")
    #expect(test.realm.policy == before)
  }

  @Test("policy changes what it names, from the next request on")
  func policy() throws {
    let reply = try test.admin(
      "PUT", "policy", #"{"accessTTL":"90s","rotation":"grace","rateLimit":{"limit":1,"per":"1m","operations":["me"]}}"#
    )
    #expect(
      reply.text == #"{"accessTTL":"90s","refreshTTL":"30d","rotation":"grace","grace":"10s","tokens":"opaque","#
        + #""clockSkew":"0s","rateLimit":{"limit":1,"per":"1m","operations":["me"]},"cors":null,"#
        + #""autoconfirm":true,"supabaseErrors":"current","idTokenFlaw":null}"#)
    let pair = try test.login()
    #expect(try test.me(pair.access) == 200)
    #expect(try test.me(pair.access) == 429)
    #expect(try test.admin("PUT", "policy", #"{"rateLimit":null}"#).status == 200)
    #expect(try test.me(pair.access) == 200)
    #expect(test.realm.policy.rotation == .grace)
    #expect(try test.admin("PUT", "policy", #"{"tokens":"jwt"}"#).json()["tokens"] == "jwt-hs256")
    #expect(try test.login().access.hasPrefix("eyJ"))
    let odd = try test.admin("PUT", "policy", #"{"tokens":"jwt-hs265"}"#)
    #expect(odd.status == 400)
    #expect(try odd.json()["reason"] == #"policy: unknown token kind "jwt-hs265"; did you mean "jwt-hs256"?"#)
  }

  @Test(
    "an unknown key is refused by its name, with the nearest known one",
    arguments: [
      ("PUT", "policy", #"{"acessTTL":"5m"}"#, #"policy: unknown key "acessTTL"; did you mean "accessTTL"?"#),
      ("POST", "clock", #"{"advnace":"5m"}"#, #"clock: unknown key "advnace"; did you mean "advance"?"#),
      (
        "POST", "sessions", #"{"user":"a","ttl":1}"#,
        #"sessions: unknown key "ttl"; known: user, accessTTL, refreshTTL, dialect"#
      ),
      (
        "PUT", "scripts", #"{"operation":"me","actions":[{},{"staus":503}]}"#,
        #"actions[1]: unknown key "staus"; did you mean "status"?"#
      ),
      (
        "PUT", "scripts", #"{"operation":"refesh","actions":[]}"#,
        #"script: unknown operation "refesh"; did you mean "refresh"?"#
      ),
      (
        "PUT", "scripts", #"{"operation":"me","actions":[{"break":"clsoe"}]}"#,
        #"actions[0]: unknown break "clsoe"; did you mean "close"?"#
      ),
      (
        "PUT", "scripts", #"{"operation":"me","actions":[{"delay":{"distribution":"uniform","min":1,"mx":2}}]}"#,
        #"actions[0].delay: unknown key "mx"; did you mean "max"?"#
      ),
      ("POST", "release", #"{"hold":"a","cuont":1}"#, #"release: unknown key "cuont"; did you mean "count"?"#),
      ("POST", "reset", #"{"hard":true}"#, #"reset: unknown key "hard"; known: "#),
      ("GET", "journal/count?operaton=me", "", #"unknown query parameter "operaton"; did you mean "operation"?"#),
    ])
  func unknownKeys(method: String, call: String, body: String, reason: String) throws {
    let reply = try test.admin(method, call, body.isEmpty ? nil : body)
    #expect(reply.status == 400)
    #expect(try reply.json()["reason"]?.string == reason)
    #expect(try reply.json()["code"] == "bad_request")
  }

  @Test(
    "scripts that make no sense are refused",
    arguments: [
      #"{"actions":[]}"#, #"{"operation":"me","endpoint":"GET /me","actions":[]}"#, #"{"operation":"me"}"#,
      #"{"endpoint":"/me","actions":[]}"#, #"{"endpoint":"GET me","actions":[]}"#,
      #"{"operation":"me","actions":[{"status":99}]}"#, #"{"operation":"me","actions":[{"status":600}]}"#,
      #"{"operation":"me","actions":[{"status":"503"}]}"#, #"{"operation":"me","actions":[{"times":0}]}"#,
      #"{"operation":"me","actions":[{"times":1.5}]}"#, #"{"operation":"me","actions":[{"after":3}]}"#,
      #"{"operation":"me","actions":[{"phase":"mid-body","break":"garbage"}]}"#,
      #"{"operation":"me","actions":[{"headers":{"a b":"c"}}]}"#,
      #"{"operation":"me","actions":[{"headers":{"a":"b\r\nc: d"}}]}"#,
      #"{"operation":"me","actions":[{"headers":{"a":1}}]}"#,
      #"{"operation":"me","actions":[],"then":"repeat"}"#, #"{"operation":"me","actions":[{"delay":"soon"}]}"#,
      #"{"operation":"me","actions":[{"delay":{"distribution":"uniform","min":2,"max":1}}]}"#,
      #"{"operation":"me","actions":[{"delay":{"distribution":"lognormal","median":1,"sigma":-1}}]}"#,
      #"{"operation":"me","actions":[{"delay":{"distribution":"normal"}}]}"#, #"{"operation":"me","actions":[3]}"#,
    ])
  func badScripts(json: String) throws {
    #expect(try test.admin("PUT", "scripts", json).status == 400)
    #expect(test.realm.snapshot.scripts.isEmpty)
  }

  @Test("every key of an ACTION is read")
  func action() throws {
    let json: JSONValue = [
      "status": 503, "body": ["a": 1], "headers": ["Retry-After": "2"],
      "delay": ["distribution": "lognormal", "median": "80ms", "sigma": 0.5], "hold": "h", "break": "wrong-type",
      "phase": "after-commit", "revoke": "access", "times": 3,
    ]
    #expect(
      try MockAction(json: json)
        == MockAction(
          status: 503, body: ["a": 1], headers: [MockRequest.Field("Retry-After", "2")],
          delay: .lognormal(median: .milliseconds(80), sigma: 0.5), hold: "h", breaks: .wrongType,
          phase: .afterCommit, revoke: .access, times: 3))
    let reply = try test.admin(
      "PUT", "scripts", #"{"endpoint":"get /me","actions":[{"status":429,"headers":{"Retry-After":"2"}}]}"#)
    #expect(reply.status == 204)
    let limited = try test.ask("GET", "/me")
    #expect(limited.status == 429)
    #expect(limited.header("Retry-After") == "2")
    #expect(try test.admin("DELETE", "scripts").status == 204)
    #expect(test.realm.snapshot.scripts.isEmpty)
  }

  @Test("hold and release over the admin API")
  func release() throws {
    let pair = try test.login()
    _ = try test.admin("PUT", "scripts", #"{"operation":"me","actions":[{"hold":"x"}],"then":"repeat"}"#)
    let held = (0..<2).map { _ in test.send("GET", "/me", bearer: pair.access) }
    #expect(try test.admin("GET", "state").json()["held"] == ["x": 2])
    #expect(try test.admin("POST", "release", #"{"hold":"x","count":1}"#).text == #"{"released":1}"#)
    #expect(held.map(\.isEmpty) == [false, true])
    #expect(try test.admin("POST", "release", #"{"hold":"x"}"#).text == #"{"released":1}"#)
    #expect(try test.admin("POST", "release", #"{"hold":"x"}"#).text == #"{"released":0}"#)
  }

  @Test("connections fail in the order in which they were told to")
  func connections() throws {
    #expect(test.server.takeConnectionFault() == nil)
    #expect(try test.admin("POST", "connections", #"{"failHandshakes":2}"#).status == 204)
    #expect(try test.admin("POST", "connections", #"{"refuse":1}"#, realm: "/r/x").status == 204)
    #expect((0..<4).map { _ in test.server.takeConnectionFault() } == [.failHandshake, .failHandshake, .refuse, nil])
    for bad in ["{}", #"{"refuse":-1}"#, #"{"refuse":1e9}"#, #"{"refuse":1,"failHandshakes":1}"#] {
      #expect(try test.admin("POST", "connections", bad).status == 400)
    }
  }

  @Test("others than loopback, foreign hosts and foreign origins are refused")
  func access() throws {
    func status(
      _ headers: [(String, String)], isLoopback: Bool = true, on test: TestServer
    ) throws -> Int {
      let request = MockRequest(
        method: "GET", target: "/__mock/state", headers: headers.map { MockRequest.Field($0.0, $0.1) },
        isLoopback: isLoopback)
      let inbox = Inbox()
      test.server.receive(request, deliver: inbox.take)
      return try #require(inbox.one).reply.status
    }
    for host in ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "127.9.9.9", "[::1]", "[::1]:8080"] {
      #expect(try status([("Host", host)], on: test) == 200)
    }
    for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", "127.1", "", "[::2]"] {
      #expect(try status([("Host", host)], on: test) == 403, "\(host)")
    }
    let local = ("Host", "localhost:8080")
    #expect(try status([local, ("Origin", "http://localhost:8080")], on: test) == 200)
    for origin in ["http://localhost:9090", "http://evil.example", "null", "localhost:8080", ""] {
      #expect(try status([local, ("Origin", origin)], on: test) == 403, "\(origin)")
    }
    #expect(try status([local, ("Sec-Fetch-Site", "same-origin")], on: test) == 200)
    #expect(try status([local, ("Sec-Fetch-Site", "cross-site")], on: test) == 403)
    #expect(try status([], isLoopback: false, on: test) == 403)
    let open = TestServer(allowRemoteAdmin: true)
    #expect(try status([("Host", "mock.example:8080")], isLoopback: false, on: open) == 200)
    #expect(
      try status([("Host", "mock.example:8080"), ("Origin", "http://evil.example")], isLoopback: false, on: open) == 403
    )
  }

  @Test("unknown calls, wrong methods and large bodies have their statuses")
  func protocolErrors() throws {
    let unknown = try test.admin("GET", "sate")
    #expect(unknown.status == 404)
    #expect(
      try unknown.json()["reason"]?.string == #"unknown admin call "/__mock/sate"; did you mean "/__mock/state"?"#)
    let method = try test.admin("POST", "state")
    #expect(method.status == 405)
    #expect(method.header("Allow") == "GET")
    #expect(try test.admin("PUT", "policy", String(repeating: " ", count: 1 << 20 + 1)).status == 413)
    #expect(try test.admin("POST", "reset").status == 204)
  }
}

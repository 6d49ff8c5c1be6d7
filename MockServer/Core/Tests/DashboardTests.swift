import Groundwork
import Testing

@testable import MockServerCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("The dashboard's page and the calls that it is made of")
struct DashboardTests {
  let test = TestServer()

  // MARK: The page

  private func page(
    _ target: String = "/__mock/", _ headers: [(String, String)] = [("Host", "localhost:8080")], method: String = "GET",
    isLoopback: Bool = true
  ) throws -> MockReply {
    let request = MockRequest(
      method: method, target: target, headers: headers.map { MockRequest.Field($0.0, $0.1) }, isLoopback: isLoopback)
    let inbox = Inbox()
    test.server.receive(request, deliver: inbox.take)
    return try #require(inbox.one).reply
  }

  @Test("one page, in every realm, asks for nothing but itself")
  func selfContained() throws {
    for target in ["/__mock/", "/r/some-realm/__mock/"] {
      let reply = try page(target)
      #expect(reply.status == 200)
      #expect(reply.header("Content-Type") == "text/html; charset=utf-8")
      #expect(reply.text.hasPrefix("<!doctype html>"))
      #expect(reply.text.contains("<style>") && reply.text.contains("<script>"))
      for outside in ["src=", "@import", "https://", ": url(", "<!--style-->", "<!--script-->"] {
        #expect(!reply.text.contains(outside), "\(outside)")
      }
    }
    #expect(test.realm.snapshot.journalSeq == 0)
  }

  @Test("without its slash the address leads to the page")
  func redirect() throws {
    let reply = try page("/r/x/__mock")
    #expect(reply.status == 308)
    #expect(reply.header("Location") == "__mock/")
  }

  @Test("the page runs its own script and no other, stands in no frame, and is kept by nobody")
  func policy() throws {
    let reply = try page()
    let policy = try #require(reply.header("Content-Security-Policy"))
    for directive in [
      "default-src 'none'", "script-src 'sha256-", "style-src 'sha256-", "connect-src 'self'", "base-uri 'none'",
      "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
    ] {
      #expect(policy.contains(directive), "\(directive)")
    }
    #expect(!policy.contains("unsafe"))
    #expect(reply.header("X-Frame-Options") == "DENY")
    #expect(reply.header("X-Content-Type-Options") == "nosniff")
    #expect(reply.header("Cache-Control") == "no-store")
    #expect(reply.header("Referrer-Policy") == "no-referrer")
    #expect(reply.header("Cross-Origin-Resource-Policy") == "same-origin")
    #expect(!DashboardPage.html.contains("innerHTML") && !DashboardPage.html.contains("insertAdjacentHTML"))
    #expect(!DashboardPage.html.contains(" onclick="))
  }

  @Test("the page too is for loopback, by a loopback name, and not for another origin")
  func access() throws {
    #expect(try page(isLoopback: false).status == 403)
    #expect(try page("/__mock/", [("Host", "evil.example")]).status == 403)
    #expect(try page("/__mock", [("Host", "evil.example")]).status == 403)
    let host = ("Host", "localhost:8080")
    #expect(try page("/__mock/", [host, ("Origin", "http://evil.example")]).status == 403)
    #expect(try page("/__mock/", [host, ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Dest", "iframe")]).status == 403)
    // A link on another site may lead here: the page has no data, and nobody else can look into it.
    #expect(
      try page("/__mock/", [host, ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Dest", "document")]).status == 200)
    #expect(
      try page("/__mock/state", [host, ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Dest", "document")]).status == 403)
    let wrong = try page(method: "POST")
    #expect(wrong.status == 405)
    #expect(wrong.header("Allow") == "GET, HEAD")
  }

  @Test("a cross-site post changes nothing, whatever it calls its body")
  func crossSite() throws {
    for origin in ["http://evil.example", "null", "http://localhost:9999", "https://localhost.evil.example:8080"] {
      for (method, call) in [("POST", "users"), ("PUT", "users"), ("DELETE", "users?user=anna@example.com")] {
        let request = MockRequest(
          method: method, target: "/__mock/\(call)",
          headers: [
            MockRequest.Field("Host", "localhost:8080"), MockRequest.Field("Origin", origin),
            MockRequest.Field("Content-Type", "text/plain"),
          ], body: Data(#"{"user":"anna@example.com","banned":true}"#.utf8))
        let inbox = Inbox()
        test.server.receive(request, deliver: inbox.take)
        #expect(inbox.one?.reply.status == 403)
        #expect(inbox.one?.reply.header("Access-Control-Allow-Origin") == nil)
      }
    }
    #expect(test.realm.snapshot.users.map(\.bannedUntil) == [nil])
  }

  @Test("the sources of the page in the program are those of the page's folder")
  func sources() throws {
    let pages = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Dashboard/Page")
    let embedded = [
      "page.html": DashboardPage.pageMarkup, "page.css": DashboardPage.pageStyle, "page.js": DashboardPage.pageScript,
      "live.js": DashboardPage.liveScript, "shell.js": DashboardPage.shellScript, "clock.js": DashboardPage.clockScript,
      "users.js": DashboardPage.usersScript, "requests.js": DashboardPage.requestsScript,
      "sessions.js": DashboardPage.sessionsScript, "sequence.js": DashboardPage.sequenceScript,
      "rules.js": DashboardPage.rulesScript, "start.js": DashboardPage.startScript,
    ]
    #expect(DashboardPage.scripts.count == embedded.count - 2)
    for (name, text) in embedded {
      let file = try String(contentsOf: pages.appendingPathComponent(name), encoding: .utf8)
      let lines = file.split(separator: "\n").map(\.trimmedOfSpaces).filter { line in
        !line.isEmpty && !line.hasPrefix("//") && !(line.hasPrefix("/*") && line.hasSuffix("*/"))
      }
      #expect(text == lines.joined(separator: "\n"), "\(name): make dashboard")
    }
  }

  // MARK: Users

  @Test("a banned user cannot sign in, refresh or use a token, in any dialect; lifted, the session goes on")
  func ban() throws {
    let pair = try test.login()
    let banned = try test.admin("PUT", "users", #"{"user":"anna@example.com","banned":true}"#)
    #expect(banned.status == 200)
    #expect(try banned.json()["bannedUntil"] == "9999-12-31T23:59:59.000Z")
    let login = try test.ask(
      "POST", "/auth/login", #"{"email":"anna@example.com","password":"\#(TestServer.password)"}"#)
    #expect(login.status == 403)
    #expect(try login.json()["code"] == "user_banned")
    let envelope = try test.ask(
      "POST", "/envelope/login", #"{"username":"anna","password":"\#(TestServer.password)"}"#)
    #expect(envelope.status == 403)
    #expect(try test.me(pair.access) == 401)
    #expect(try test.refresh(pair.refresh).detail == "banned")
    #expect(test.realm.count(MockJournalFilter(outcome: .banned)) == 4)
    let wrong = try test.ask("POST", "/auth/login", #"{"email":"anna@example.com","password":"wrong"}"#)
    #expect(wrong.status == 401)
    #expect(try test.admin("PUT", "users", #"{"user":"anna@example.com","banned":false}"#).status == 200)
    #expect(try test.me(pair.access) == 200)
    #expect(try test.refresh(pair.refresh).status == 200)
  }

  @Test("a ban ends at its time, on the realm's clock")
  func banForAWhile() throws {
    _ = try test.admin("PUT", "users", #"{"user":"anna@example.com","banned":true,"for":"1h"}"#)
    #expect(test.realm.snapshot.users.first?.bannedUntil != nil)
    test.realm.advance(by: .seconds(3600))
    _ = try test.login()
    for bad in [
      #"{"user":"anna@example.com"}"#, #"{"banned":true}"#, #"{"user":"anna@example.com","banned":false,"for":"1h"}"#,
      #"{"user":"anna@example.com","banned":true,"for":"0s"}"#, #"{"user":"anna@example.com","banned":true,"until":1}"#,
    ] {
      #expect(try test.admin("PUT", "users", bad).status == 400, "\(bad)")
    }
    #expect(try test.admin("PUT", "users", #"{"user":"nobody","banned":true}"#).status == 404)
  }

  @Test("a deleted user is gone with sessions and tokens, and the name is free again")
  func delete() throws {
    let pair = try test.login()
    let id = try #require(test.realm.snapshot.users.first?.id)
    #expect(try test.admin("DELETE", "users?user=\(id)").text == #"{"sessions":1}"#)
    #expect(test.realm.snapshot.users.isEmpty)
    #expect(test.realm.snapshot.sessions.map(\.endedBy) == [.admin])
    #expect(try test.me(pair.access) == 401)
    #expect(try test.refresh(pair.refresh).detail == "revoked")
    #expect(try test.admin("DELETE", "users?user=\(id)").status == 404)
    #expect(try test.admin("DELETE", "users").status == 400)
    #expect(
      try test.admin("POST", "users", #"[{"username":"anna","email":"anna@example.com","password":"password123"}]"#)
        .status == 200)
  }

  // MARK: Looking closer

  @Test("a family shows each rotation, with its parent, and no token")
  func family() throws {
    let pair = try test.login()
    test.realm.advance(by: .seconds(60))
    let next = try test.refresh(pair.refresh).pair()
    let session = try #require(test.realm.snapshot.sessions.first?.id)
    let reply = try test.admin("GET", "sessions?session=\(session)")
    #expect(reply.status == 200)
    let tokens = try #require(try reply.json()["refreshTokens"]?.array)
    #expect(tokens.map { $0["generation"] } == [0, 1])
    #expect(tokens.map { $0["parent"] } == [nil, 0])
    #expect(tokens.map { $0["current"] } == [false, true])
    #expect(tokens[0]["issuedAt"] == "2030-01-01T00:00:00.000Z")
    #expect(tokens[0]["spentAt"] == "2030-01-01T00:01:00.000Z")
    #expect(tokens[1]["issuedAt"] == "2030-01-01T00:01:00.000Z")
    #expect(try reply.json()["accessTokens"]?.array?.count == 2)
    for secret in [pair.access, pair.refresh, next.access, next.refresh] { #expect(!reply.text.contains(secret)) }
    #expect(try test.admin("GET", "sessions?session=nobody").status == 404)
    #expect(try test.admin("GET", "sessions").status == 400)
  }

  @Test("scripts come back as they were put, and can be put again")
  func scripts() throws {
    let script = #"""
      {"operation":"refresh","actions":[{"status":503,"body":{"a":[1,null]},"headers":{"Retry-After":"2"},\#
      "delay":{"distribution":"lognormal","median":"80ms","sigma":0.5},"hold":"h","break":"truncate",\#
      "phase":"mid-body","after":3,"revoke":"access","times":2},{"delay":{"distribution":"uniform","min":"1s",\#
      "max":"2s"}},{"delay":"250ms"},{}],"then":"fail"}
      """#.replacing("\\\n", with: "")
    #expect(try test.admin("PUT", "scripts", script).status == 204)
    #expect(try test.admin("PUT", "scripts", #"{"endpoint":"GET /me","actions":[{}],"then":"repeat"}"#).status == 204)
    let listed = try #require(try test.admin("GET", "scripts").json()["scripts"]?.array)
    #expect(listed.count == 2)
    #expect(listed[0]["endpoint"] == "GET /me")
    #expect(listed[0]["remaining"] == .null)
    #expect(listed[1]["remaining"] == 5)
    var again = try #require(listed[1].object)
    again["used"] = nil
    again["remaining"] = nil
    #expect(try MockScript(json: .object(again)) == MockScript(json: JSONParser.parse(Data(script.utf8))))
  }

  @Test("realms are listed")
  func realms() throws {
    _ = test.server.realm("b")
    #expect(try test.admin("GET", "realms").json()["realms"]?.array?.map { $0["name"] } == ["b", "default"])
  }

  @Test("an exchange is shown whole, with its secrets masked")
  func exchange() throws {
    let pair = try test.login()
    let login = try test.admin("GET", "journal/entry?seq=1")
    let json = try login.json()
    #expect(json["entry"]?["outcome"] == "issued")
    #expect(json["request"]?["target"] == "/auth/login")
    #expect(json["request"]?["body"] == #"{"email":"anna@example.com","password":"***"}"#)
    #expect(
      json["reply"]?["body"]
        == #"{"accessToken":"***","expiresIn":900,"refreshToken":"***","tokenType":"Bearer"}"#)
    #expect(json["reply"]?["status"] == 200)
    for secret in [TestServer.password, pair.access, pair.refresh] { #expect(!login.text.contains(secret)) }
    _ = try test.ask(
      "GET", "/me?token=\(pair.access)&limit=3", bearer: pair.access,
      headers: [
        MockRequest.Field("Cookie", "sid=12345"), MockRequest.Field("apikey", "sb_secret_x"),
        MockRequest.Field("X-Trace", "a \(pair.refresh) b"), MockRequest.Field("Accept", "application/json"),
      ])
    let me = try test.admin("GET", "journal/entry?seq=2")
    #expect(try me.json()["request"]?["target"] == "/me?token=***&limit=3")
    let headers = try #require(try me.json()["request"]?["headers"]?.array)
    let shown = Dictionary(
      uniqueKeysWithValues: headers.map { ($0["name"]?.string ?? "", $0["value"]?.string ?? "") })
    #expect(
      shown == [
        "Cookie": "***", "apikey": "***", "X-Trace": "a *** b", "Accept": "application/json",
        "Authorization": "Bearer ***",
      ])
    for secret in ["12345", pair.access, pair.refresh] { #expect(!me.text.contains(secret)) }
  }

  @Test("what cannot be judged is not shown; only the last 256 exchanges are kept")
  func exchangeBounds() throws {
    let half = try test.ask("POST", "/auth/login", #"{"email":"a@example.com","password":"hunter2222"#)
    #expect(half.status == 400)
    let shown = try test.admin("GET", "journal/entry?seq=1")
    #expect(try shown.json()["request"]?["body"] == nil)
    #expect(try shown.json()["request"]?["bodySize"] == 47)
    #expect(!shown.text.contains("hunter"))
    let large = #"{"email":"\#(String(repeating: "a", count: 20_000))","password":"x"}"#
    _ = try test.ask("POST", "/auth/login", large)
    #expect(try test.admin("GET", "journal/entry?seq=2").json()["request"]?["body"] == nil)
    for _ in 0..<256 { _ = try test.ask("GET", "/me") }
    #expect(try test.admin("GET", "journal/entry?seq=2").status == 404)
    #expect(try test.admin("GET", "journal/entry?seq=3").status == 200)
    #expect(try test.admin("GET", "journal/entry?seq=258").status == 200)
    #expect(try test.admin("GET", "journal/entry?seq=259").status == 404)
    #expect(try test.admin("GET", "journal/entry?seq=0").status == 400)
    #expect(try test.admin("GET", "journal/entry").status == 400)
  }

  @Test(
    "secrets are known by their names and by their looks",
    arguments: [
      ("application/json", #"{"refresh_token":"abc","n":1}"#, #"{"n":1,"refresh_token":"***"}"#),
      ("application/json", #"{"password":12345678}"#, #"{"password":"***"}"#),
      (
        "application/json", #"{"access_token":null,"token_type":"bearer"}"#,
        #"{"access_token":null,"token_type":"bearer"}"#
      ),
      ("application/json", #"{"code":"email_taken"}"#, #"{"code":"email_taken"}"#),
      ("application/json", #"{"user_code":"ABCD-1234"}"#, #"{"user_code":"***"}"#),
      ("application/json", #"{"a":["eyJhbGciOiJIUzI1NiJ9.e30.x"]}"#, #"{"a":["***"]}"#),
      ("application/json", #"{"a":"Xk29dLmQ8vRt51ZbYc04NpWs"}"#, #"{"a":"***"}"#),
      (
        "application/json", #"{"id":"4b5765eb-b72f-47d4-b176-ba4de28c624c"}"#,
        #"{"id":"4b5765eb-b72f-47d4-b176-ba4de28c624c"}"#
      ),
      (
        "application/x-www-form-urlencoded", "grant_type=refresh_token&refresh_token=abc&scope=a+b",
        "grant_type=refresh_token&refresh_token=***&scope=a+b"
      ),
      ("application/x-www-form-urlencoded", "pass%77ord=abc&x=%zz", "pass%77ord=***&x=***"),
      ("text/plain", "see eyJhbGciOiJIUzI1NiJ9.e30.x there", "see *** there"),
    ])
  func masks(type: String, body: String, shown: String) {
    #expect(SecretMask().body(Data(body.utf8), type: type) == shown)
  }
}

import Groundwork
import Testing

@testable import MockServerCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Realms, and input from anywhere")
struct RealmTests {
  @Test("realms share nothing: users, tokens, clock, scripts, journal, policy")
  func isolation() throws {
    let test = TestServer()
    let (a, b) = (test.server.realm("a"), test.server.realm("b"))
    try a.addUser(username: "only_a", email: "only@a.example", password: "password123")
    a.script(.me, .status(503))
    a.advance(by: .seconds(100))
    a.policy.accessTTL = .seconds(1)
    let body = #"{"email":"only@a.example","password":"password123"}"#
    let login = try test.ask("POST", "/r/a/auth/login", body)
    #expect(login.status == 200)
    #expect(try test.ask("POST", "/r/b/auth/login", body).status == 401)
    let pair = try login.pair()
    #expect(try test.ask("GET", "/r/b/me", bearer: pair.access).status == 401)
    #expect(try test.ask("GET", "/r/a/me", bearer: pair.access).status == 503)
    #expect(try test.ask("GET", "/r/a/me", bearer: pair.access).status == 200)
    #expect(b.now == Date(timeIntervalSince1970: 1_893_456_000))
    #expect(b.policy.accessTTL == .seconds(900))
    #expect(a.journal().map(\.path) == ["/auth/login", "/me", "/me"])
    #expect(a.journal().map(\.realm) == ["a", "a", "a"])
    #expect(b.journal().count == 2)
    #expect(test.realm.journal().isEmpty)
    #expect(try test.admin("GET", "state", realm: "/r/a").json()["realm"] == "a")
    _ = try test.admin("POST", "reset", realm: "/r/a")
    #expect(try test.ask("POST", "/r/a/auth/login", body).status == 401)
    #expect(b.journal().count == 2)
  }

  @Test("two servers in one process share nothing")
  func twoServers() throws {
    let (one, two) = (TestServer(seed: 1), TestServer(seed: 2))
    let pair = try one.login()
    #expect(try two.me(pair.access) == 401)
    #expect(one.realm.journal().count == 1)
  }

  @Test("the same seed gives the same bytes, whatever the order in which realms are made")
  func seeds() throws {
    let (one, two) = (TestServer(seed: 42), TestServer(seed: 42))
    _ = try one.login(realm: "/r/x")
    let first = try one.login(realm: "/r/y")
    #expect(try two.login(realm: "/r/y") == first)
    #expect(try two.login(realm: "/r/x") != first)
    #expect(try TestServer(seed: 43).login(realm: "/r/y") != first)
  }

  @Test("dropped realms begin anew, and too many realms are refused")
  func many() async throws {
    let test = TestServer(maximumRealms: 3)
    for name in ["a", "b", "c"] { #expect(try test.ask("GET", "/r/\(name)/me").status == 401) }
    #expect(try test.ask("GET", "/r/d/me").status == 503)
    #expect(try test.ask("GET", "/me").status == 401)
    #expect(test.server.realmNames == ["a", "b", "c", "default"])
    let events = test.server.realm("a").events()
    test.server.dropRealm("a")
    var kinds: [MockEvent] = []
    for await event in events { kinds.append(event) }
    #expect(kinds == [.changed(.reset)])
    test.server.dropRealm("b")
    #expect(try test.ask("GET", "/r/d/me").status == 401)
    #expect(test.server.realm("a").journal().isEmpty)
  }

  @Test(
    "paths that try tricks get 400 or 404, never another realm",
    arguments: [
      ("/r/../me", 400), ("/r/./me", 400), ("/r//me", 400), ("/r/a%2fb/me", 400), ("/r/a b/me", 400), ("/r/", 400),
      ("/r/%2e%2e/me", 400), ("/r/" + String(repeating: "a", count: 65) + "/me", 400), ("", 400), ("me", 400),
      ("/r/a/../../me", 404), ("/r/a/r/b/me", 404), ("/ME", 404), ("/me%00", 404), ("/./me", 404), ("/me;x=1", 404),
      ("/r/a/me?x=/__mock/state", 401), ("/r/a/__mockery", 404), ("/r/a/__mock/../me", 404), ("/%5f_mock/state", 404),
      ("http://host/r/a/me", 401), ("http://host", 404), ("/me#x", 401),
    ])
  func tricks(target: String, status: Int) throws {
    #expect(try TestServer().ask("GET", target).status == status)
  }

  @Test("hostile bodies are refused with a 4xx, and nothing traps")
  func hostile() throws {
    let test = TestServer()
    let bodies: [[UInt8]] = [
      [0xFF, 0xFE], Array(#"{"email":""#.utf8) + [0xC3, 0x28] + Array(#"","password":"x"}"#.utf8),
      Array(String(repeating: "[", count: 500_000).utf8), Array(String(repeating: #"{"a":"#, count: 100_000).utf8),
      Array(#"{"email":1e309,"password":-1e309}"#.utf8), Array(#"{"email":"\ud800","password":"x"}"#.utf8),
      Array(#"{"email":"\ud800\u0041","password":"x"}"#.utf8), Array(#"{"email":"\u00zz"}"#.utf8),
      Array(#"{"a":01}"#.utf8),
      Array((#"{"a":"# + String(repeating: "9", count: 500) + "}").utf8), [0x00], [0xEF, 0xBB, 0xBF, 0x7B, 0x7D],
      Array("{\"a\":\"\u{1}\"}".utf8), Array(#"{"email":"a","email""#.utf8), Array("-".utf8), Array("\"\\".utf8),
      Array("{\"\\u".utf8), Array("tru".utf8), Array("{\"a\":1,}".utf8), Array("[1,]".utf8),
    ]
    for body in bodies {
      for target in ["/auth/login", "/auth/register", "/envelope/refresh", "/__mock/policy", "/__mock/scripts"] {
        let inbox = Inbox()
        test.server.receive(
          MockRequest(
            method: target.hasPrefix("/__") ? "PUT" : "POST", target: target,
            headers: [MockRequest.Field("Content-Type", "application/json")], body: Data(body)),
          deliver: inbox.take)
        #expect(inbox.one?.reply.status == 400)
      }
    }
  }

  @Test("a repeated member keeps its last value, escapes are read, and other members are ignored")
  func parsing() throws {
    let test = TestServer()
    let body =
      #"{"email":"x","x":[1,2.5e1,{"y":null}],"email":"\u0061nna@\u0065xample.com","password":"correct\u0020horse"}"#
    #expect(try test.ask("POST", "/auth/login", body).status == 200)
    #expect(
      try JSONParser.parse(Data(#"["\ud83d\ude00\n\/",-0.5,1e2,true,false,null,{},[]]"#.utf8)) == [
        "😀\n/", -0.5, 100, true, false, nil, [:], [],
      ])
  }

  @Test("random requests, half of them near proper ones, are answered exactly once each")
  func fuzz() throws {
    let test = TestServer(journalCapacity: 50, maximumRealms: 20)
    var random = SeededRandom(seed: 2026)
    let pair = try test.login()
    let pieces = [
      "/r/", "a", "/", "..", "%2f", "%", "?", "&", "=", "#", "me", "/feed", "?limit=5", "/auth/login", "/auth/refresh",
      "/posts", "/envelope/me", "/__mock/", "state", "journal?since=1", "clock", "users", "scripts", "policy", "revoke",
      "\u{0}",
      "é", "http://", ":", "limit", "\u{1F600}",
    ]
    let values = [
      "{", "}", "[", "]", ":", ",", "\"", "\"email\"", "\"anna@example.com\"", "\"password\"", "\"correct horse\"",
      "\"operation\"", "\"me\"", "\"actions\"", "\"status\"", "503", "1e400", "-", "0", "null", "true", "\\u12",
      "\"advance\"",
      "\"1s\"", "\"refreshToken\"", "\"\(pair.refresh)\"", "\"accessTTL\"", "{\"all\":true}", "\"hold\"", "\u{0}", "é",
    ]
    func text(_ pieces: [String], _ count: Int) -> String {
      (0..<Int(random.next() % UInt64(count))).map { _ in pieces[Int(random.next() % UInt64(pieces.count))] }.joined()
    }
    let methods = ["GET", "POST", "PUT", "DELETE", "HEAD", "", "get", "é", "GET /"]
    for _ in 0..<20_000 {
      var headers = [MockRequest.Field("Content-Type", "application/json")]
      if random.next() % 2 == 0 { headers.append(MockRequest.Field("Authorization", "Bearer " + pair.access)) }
      if random.next() % 8 == 0 { headers.append(MockRequest.Field(text(pieces, 3), text(values, 3))) }
      let request = MockRequest(
        method: methods[Int(random.next() % UInt64(methods.count))], target: text(pieces, 6), headers: headers,
        body: Data(text(values, 12).utf8))
      let inbox = Inbox()
      test.server.receive(request, deliver: inbox.take)
      #expect(inbox.all.count <= 1)
      if let reply = inbox.one?.reply { #expect((200...599).contains(reply.status)) }
    }
    for name in test.server.realmNames { test.server.realm(name).reset() }
    #expect(try test.login().access.hasPrefix("at_"))
  }

  @Test("instants: leap years, the ends of the range, and what is none")
  func instants() throws {
    for text in [
      "1970-01-01T00:00:00.000Z", "2000-02-29T12:34:56.789Z", "2100-02-28T23:59:59.999Z", "2100-03-01T00:00:00.000Z",
      "2024-12-31T23:59:59.000Z", "9999-12-31T23:59:59.000Z",
    ] {
      #expect(MockInstant(text: text)?.text == text)
    }
    #expect(MockInstant(text: "1994-11-06T08:49:37Z")?.httpDate == "Sun, 06 Nov 1994 08:49:37 GMT")
    for text in [
      "", "2030", "2030-01-01", "2030-13-01T00:00:00Z", "2100-02-29T00:00:00Z", "2030-01-01T24:00:00Z",
      "2030-01-01T00:00:00", "2030-01-01T00:00:00+1:00", "2030-01-01T00:00:00Zx", "2030-01-01T00:00:00.Z",
      "+030-01-01T00:00:00Z", "1970-01-01T00:00:00+01:00",
    ] {
      #expect(MockInstant(text: text) == nil, "\(text)")
    }
    #expect(MockInstant(Date.distantPast).microseconds == 0)
    #expect(MockInstant(Date.distantFuture).microseconds > 0)
    #expect(MockInstant(Date(timeIntervalSince1970: .infinity)).microseconds == MockInstant.latestMicroseconds)
    #expect(MockInstant(Date(timeIntervalSince1970: .nan)).microseconds == 0)
    let epoch = MockInstant(microseconds: 0)
    #expect(epoch.adding(.seconds(Int64.max)).microseconds == MockInstant.latestMicroseconds)
    #expect(epoch.adding(.seconds(Int64.min)).microseconds == 0)
  }

  @Test("a configuration from outside is checked")
  func configuration() throws {
    let anna = MockSeedUser(username: "anna", email: "anna@example.com", password: "password123")
    let other = MockSeedUser(username: "ANNA", email: "b@example.com", password: "password123")
    try MockServerConfiguration(users: [anna]).check()
    #expect(throws: MockServerError.self) { try MockServerConfiguration(users: [anna, other]).check() }
    #expect(throws: MockServerError.self) {
      try MockServerConfiguration(users: [MockSeedUser(username: "a", email: "b", password: "c")]).check()
    }
    #expect(throws: MockServerError.self) {
      try MockServerConfiguration(policy: MockPolicy(accessTTL: .seconds(-1))).check()
    }
  }
}

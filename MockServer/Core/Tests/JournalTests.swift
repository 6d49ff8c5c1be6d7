import Groundwork
import Testing

@testable import MockServerCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("The journal")
struct JournalTests {
  let test = TestServer()

  @Test("an entry tells who, what, which session and generation, and what came of it")
  func entry() throws {
    let first = try test.login()
    let second = try test.refresh(first.refresh).pair()
    test.realm.advance(by: .milliseconds(1500))
    _ = try test.ask(
      "GET", "/me?token=\(second.access)", bearer: first.access, headers: [MockRequest.Field("X-Request-ID", "abc")])
    let session = try #require(test.realm.snapshot.sessions.first?.id)
    #expect(
      test.realm.journal().last
        == MockJournalEntry(
          seq: 3, at: Date(timeIntervalSince1970: 1_893_456_001.5), realm: "default", dialect: .chirp,
          operation: .me, method: "GET", path: "/me", status: 200, sessionID: session, generation: 0, outcome: .ok,
          fault: nil, malformed: nil, attempt: 1, requestID: "abc"))
    let json = try test.admin("GET", "journal?since=2").text
    #expect(
      json == #"{"entries":[{"seq":3,"at":"2030-01-01T00:00:01.500Z","realm":"default","dialect":"chirp","#
        + #""operation":"me","method":"GET","path":"/me","status":200,"sessionID":"\#(session)","generation":0,"#
        + #""outcome":"ok","attempt":1,"requestID":"abc"}],"dropped":0}"#)
  }

  @Test("malformed requests and unknown endpoints are in it, admin calls are not")
  func everything() throws {
    let malformation = MockRequest.Malformation(status: 431, reason: "the head is too long")
    test.server.receive(
      MockRequest(method: "GET", target: "/r/other/me", malformation: malformation), deliver: { _ in })
    test.server.receive(MockRequest(method: "", target: "", malformation: malformation)) { delivery in
      #expect(delivery.reply.status == 431)
      #expect(
        delivery.reply.text == #"{"error":true,"reason":"the head is too long","code":"malformed_request"}"#)
    }
    _ = try test.ask("PUT", "/nothing")
    _ = try test.ask("PUT", "/me")
    _ = try test.admin("GET", "state")
    let entries = test.realm.journal()
    #expect(entries.map(\.status) == [431, 404, 405])
    #expect(entries.map(\.outcome) == [.malformed, .notFound, .methodNotAllowed])
    #expect(entries.map(\.malformed) == ["the head is too long", nil, nil])
    #expect(entries.map(\.operation) == [.unknown, .unknown, .unknown])
    #expect(test.server.realm("other").journal().map(\.outcome) == [.malformed])
  }

  @Test("no token and no password in journal, state or events, wherever the client put them")
  func secrets() async throws {
    var events = test.realm.eventBytes().makeAsyncIterator()
    let pair = try test.login()
    let secrets = [pair.access, pair.refresh, TestServer.password, "hunter2hunter2"]
    for secret in secrets.prefix(2) {
      _ = try test.ask("GET", "/me/\(secret)?a=\(secret)", bearer: secret)
      _ = try test.ask("GET", "/%61t_x/\(secret.replacing("_", with: "%5F"))")
      _ = try test.ask("GET", "/me", headers: [MockRequest.Field("X-Request-ID", secret)])
      _ = try test.ask(secret, "/me")
      _ = try test.ask("POST", "/auth/logout", #"{"refreshToken":"\#(secret)"}"#)
    }
    _ = try test.ask("POST", "/auth/login", #"{"email":"anna@example.com","password":"hunter2hunter2"}"#)
    _ = try test.ask(
      "POST", "/auth/register", #"{"username":"eve","email":"eve@example.com","password":"hunter2hunter2"}"#)
    test.realm.script(MockScript(.operation(.me), [MockAction(hold: "x")]))
    _ = test.send("GET", "/me", bearer: pair.access)
    var texts = [try test.admin("GET", "state").text, try test.admin("GET", "journal").text]
    texts.append("\(test.realm.snapshot)")
    texts.append("\(test.realm.journal())")
    for _ in 0..<12 { texts.append(String(decoding: await events.next() ?? Data(), as: UTF8.self)) }
    #expect(texts.dropFirst(4).contains { $0.contains("event: request") })
    for text in texts {
      for secret in secrets {
        #expect(!text.contains(secret))
        #expect(!text.contains(secret.replacing("_", with: "%5F")))
      }
    }
    #expect(
      test.realm.journal().contains { $0.method == "***" } && test.realm.journal().contains { $0.path == "/me/***" })
    let minted = try test.realm.mintSession(user: "anna@example.com")
    #expect(!"\(minted)".contains(minted.accessToken))
  }

  @Test("counts by each filter, and by several")
  func filters() throws {
    let pair = try test.login()
    _ = try test.me(pair.access)
    _ = try test.me("nonsense")
    _ = try test.ask("GET", "/envelope/me", bearer: pair.access)
    func count(_ query: String) throws -> String { try test.admin("GET", "journal/count\(query)").text }
    #expect(try count("") == #"{"count":4}"#)
    #expect(try count("?operation=me") == #"{"count":3}"#)
    #expect(try count("?operation=me&status=401") == #"{"count":1}"#)
    #expect(try count("?path=/me&method=GET&outcome=ok") == #"{"count":1}"#)
    #expect(try count("?path=%2Fenvelope%2Fme") == #"{"count":1}"#)
    #expect(try test.admin("GET", "journal/count?operation=mee").status == 400)
    #expect(try test.admin("GET", "journal/count?status=x").status == 400)
  }

  @Test("entries fall out of the ring, counts stay exact")
  func ring() throws {
    let test = TestServer(journalCapacity: 4)
    for _ in 0..<10 { _ = try test.me("nonsense") }
    #expect(test.realm.journal().map(\.seq) == [7, 8, 9, 10])
    #expect(test.realm.journal(since: 8).map(\.seq) == [9, 10])
    #expect(test.realm.journal(since: 99).isEmpty)
    #expect(test.realm.journal(since: -5).count == 4)
    #expect(test.realm.count(.me) == 10)
    #expect(test.realm.snapshot.journalDropped == 6)
    #expect(try test.admin("GET", "journal").json()["dropped"] == 6)
  }

  @Test("a hostile client cannot make the counts grow for ever")
  func manyPaths() throws {
    for index in 0..<6000 { _ = try test.ask("GET", "/nothing/\(index)") }
    #expect(test.realm.count(MockJournalFilter(operation: .unknown, status: 404)) == 6000)
    #expect(test.realm.count(MockJournalFilter(path: "/nothing/17")) == 1)
    #expect(test.realm.count(MockJournalFilter(path: "(other)")) == 1904)
  }

  @Test("wait answers once the count is reached, at once if it is, and at the time-out with what there is")
  func waiting() throws {
    let reached = test.send("GET", "/__mock/journal/count?operation=me&wait=2")
    let never = test.send("GET", "/__mock/journal/count?operation=me&wait=3&timeout=2s")
    _ = try test.me("nonsense")
    #expect(reached.isEmpty)
    _ = try test.me("nonsense")
    #expect(reached.one?.reply.text == #"{"count":2}"#)
    #expect(try test.admin("GET", "journal/count?operation=me&wait=2").text == #"{"count":2}"#)
    test.time.pass(.milliseconds(1999))
    #expect(never.isEmpty)
    test.time.pass(.milliseconds(1))
    #expect(never.one?.reply.text == #"{"count":2}"#)
    test.time.pass(.seconds(60))
    #expect(reached.all.count == 1 && never.all.count == 1)
  }

  @Test("the Swift wait answers by count, and by cancellation")
  func waitForCount() async throws {
    let realm = test.realm
    async let two = realm.waitForCount(MockJournalFilter(operation: .me), atLeast: 2)
    for _ in 0..<2 { _ = try test.me("nonsense") }
    #expect(await two == 2)
    let task = Task { await realm.waitForCount(MockJournalFilter(operation: .me), atLeast: 9) }
    task.cancel()
    #expect(await task.value == 2)
  }

  @Test("a retry is known by its request id, or by the failure right before it")
  func attempts() throws {
    let pair = try test.login()
    let id = [MockRequest.Field("X-Request-ID", "one")]
    for _ in 0..<2 { _ = try test.ask("GET", "/me", bearer: pair.access, headers: id) }
    _ = try test.ask("GET", "/feed", bearer: pair.access, headers: id)
    #expect(test.realm.journal().suffix(3).map(\.attempt) == [1, 2, 1])
    test.realm.script(.me, .real, .status(503, times: 2))
    for _ in 0..<5 { _ = try test.me(pair.access) }
    #expect(test.realm.journal().suffix(5).map(\.attempt) == [1, 1, 2, 3, 1])
    // A retry under an id of its own: the same body, right after it failed.
    test.realm.script(.refresh, .status(503))
    for id in ["two", "three", "four"] {
      let body = #"{"refreshToken": "\#(id == "four" ? "another" : pair.refresh)"}"#
      _ = try test.ask("POST", "/auth/refresh", body, headers: [MockRequest.Field("X-Request-ID", id)])
    }
    #expect(test.realm.journal().suffix(3).map(\.attempt) == [1, 2, 1])
  }

  @Test("events tell requests and changes, in order; a reader that sleeps is cut off")
  func events() async throws {
    var events = test.realm.events().makeAsyncIterator()
    let sleeper = test.realm.events()
    _ = try test.me("nonsense")
    test.realm.advance(by: .seconds(1))
    guard case .request(let entry) = await events.next() else {
      Issue.record("a request comes first")
      return
    }
    #expect(entry.outcome == .unknownToken)
    #expect(await events.next() == .changed(.clock))
    for _ in 0..<1100 { _ = try test.me("nonsense") }
    var count = 0
    for await _ in sleeper { count += 1 }
    #expect(count == 1024)
  }

  @Test("the event stream of the admin API is server-sent events")
  func serverSentEvents() async throws {
    let delivery = try #require(test.send("GET", "/__mock/events").one)
    #expect(delivery.reply.header("Content-Type") == "text/event-stream")
    var stream = try #require(delivery.stream).makeAsyncIterator()
    _ = try test.admin("PUT", "policy", #"{"accessTTL":"5m"}"#)
    _ = try test.me("nonsense")
    let first = await stream.next(), second = await stream.next(), third = await stream.next()
    #expect(first.map { String(decoding: $0, as: UTF8.self) } == ": following\n\n")
    #expect(second.map { String(decoding: $0, as: UTF8.self) } == "event: changed\ndata: {\"kind\":\"policy\"}\n\n")
    #expect(
      third.map { String(decoding: $0, as: UTF8.self) }?.hasPrefix("id: 1\nevent: request\ndata: {\"seq\":1,") == true)
  }
}

@Suite("What looks like a secret")
struct SecretsTests {
  @Test(
    "tokens of every kind are masked, words, ids and paths are not",
    arguments: [
      ("/me/at_0123456789abcdefXYZ", "/me/***"), ("/x/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln/y", "/x/***/y"),
      ("/k/sb_secret_0123456789abcdef", "/k/***"), ("/c/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "/c/***"),
      ("/u/5f0c954d-3b1c-4c2f-9f27-1d2a53a3c1aa", "/u/5f0c954d-3b1c-4c2f-9f27-1d2a53a3c1aa"),
      ("/auth/v1/.well-known/jwks.json", "/auth/v1/.well-known/jwks.json"),
      ("/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server"),
      ("/a%74_0123456789abcdefXYZ", "/***"), ("", ""), ("/%", "/%"),
    ])
  func masks(path: String, shown: String) {
    #expect(Secrets.masked(path) == shown)
  }

  @Test("a token of the server is masked in a path, however short")
  func lookedUp() throws {
    let test = TestServer()
    let token = try test.login().refresh
    let short = "abc123abc123"
    test.realm.step { state, now, _ in
      state.refresh[short] = state.refresh[token]
    }
    _ = try test.ask("GET", "/x/\(short)/\(short)", headers: [MockRequest.Field("X-Request-ID", short)])
    let entry = try #require(test.realm.journal().last)
    #expect(entry.path == "/x/***/***" && entry.requestID != short)
  }
}

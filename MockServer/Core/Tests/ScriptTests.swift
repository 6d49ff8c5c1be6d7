import Groundwork
import Testing

@testable import MockServerCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Scripts")
struct ScriptTests {
  let test = TestServer()

  @Test("actions come one a request, in order, then the real answers")
  func order() throws {
    let pair = try test.login()
    test.realm.script(.me, .status(503), .real, .status(429, times: 2))
    let statuses = try (0..<6).map { _ in try test.me(pair.access) }
    #expect(statuses == [503, 200, 429, 429, 200, 200])
    #expect(
      test.realm.snapshot.scripts == [MockScriptProgress(target: "me", used: 4, remaining: 0, then: .real)])
    #expect(test.realm.count(.me, .scripted) == 3)
  }

  @Test("then: repeat begins again, then: fail answers 500 and says which script")
  func then() throws {
    let pair = try test.login()
    test.realm.script(.me, .status(503), .real, then: .repeat)
    #expect(try (0..<5).map { _ in try test.me(pair.access) } == [503, 200, 503, 200, 503])
    test.realm.script(.me, .status(503), then: .fail)
    #expect(try test.me(pair.access) == 503)
    let reply = try test.ask("GET", "/me", bearer: pair.access)
    #expect(reply.status == 500)
    #expect(reply.text == #"{"error":true,"reason":"The script for \"me\" is used up.","code":"script_exhausted"}"#)
    #expect(test.realm.count(.me, .scriptExhausted) == 1)
    test.realm.removeScripts()
    #expect(try test.me(pair.access) == 200)
  }

  @Test("an operation's script holds in every dialect; an endpoint's is asked first")
  func targets() throws {
    let pair = try test.login()
    test.realm.script(.me, .status(503), .status(500))
    test.realm.script(MockScript(.endpoint(method: "GET", path: "/me"), [.status(418)]))
    #expect(try test.me(pair.access) == 418)
    #expect(try test.me(pair.access) == 503)
    #expect(try test.ask("GET", "/envelope/me", bearer: pair.access).status == 500)
    #expect(try test.me(pair.access) == 200)
    test.realm.script(
      MockScript(.endpoint(method: "GET", path: "/things"), [MockAction(body: ["a": 1])], then: .repeat))
    let made = try test.ask("GET", "/things?x=1")
    #expect(made.status == 200)
    #expect(made.text == #"{"a":1}"#)
    #expect(try test.ask("POST", "/things").status == 404)
  }

  @Test(
    "a status alone brings the dialect's own error",
    arguments: [
      (
        "refresh", "POST", "/auth/refresh", 401,
        #"{"error":true,"reason":"The refresh token is not valid.","code":"invalid_grant"}"#
      ),
      (
        "login", "POST", "/auth/login", 401,
        #"{"error":true,"reason":"Invalid email or password.","code":"invalid_credentials"}"#
      ),
      ("me", "GET", "/me", 401, #"{"error":true,"reason":"The access token is refused.","code":"invalid_token"}"#),
      (
        "me", "GET", "/me", 503,
        #"{"error":true,"reason":"The server is not available. Try again later.","code":"unavailable"}"#
      ),
      ("refresh", "POST", "/envelope/refresh", 401, #"{"error":{"message":"The refresh token is not valid."}}"#),
      ("me", "GET", "/envelope/me", 500, #"{"error":{"message":"Something went wrong on the server."}}"#),
    ])
  func defaultBodies(operation: String, method: String, path: String, status: Int, body: String) throws {
    test.realm.script(MockScript(.operation(try #require(MockOperation(rawValue: operation))), [.status(status)]))
    let reply = try test.ask(method, path, method == "POST" ? "{}" : nil)
    #expect(reply.status == status)
    #expect(reply.text == body)
    #expect((reply.header("WWW-Authenticate") != nil) == (operation == "me" && status == 401))
  }

  @Test("body and headers: JSON as JSON, text as it is, a header replaces its namesake")
  func bodies() throws {
    let html = MockAction(
      status: 200, body: "<html>", headers: [MockRequest.Field("content-type", "text/html")])
    let late = MockAction(headers: [MockRequest.Field("Date", "Sat, 01 Jan 2000 00:00:00 GMT")])
    test.realm.script(.login, html, late)
    let page = try test.ask("POST", "/auth/login", "{}")
    #expect(page.text == "<html>")
    #expect(page.header("Content-Type") == "text/html")
    #expect(page.headers.filter { $0.name.lowercased() == "content-type" }.count == 1)
    let login = try test.ask("POST", "/auth/login", #"{"email":"anna@example.com","password":"correct horse"}"#)
    #expect(login.status == 200)
    #expect(login.headers.filter { $0.name == "Date" }.map(\.value) == ["Sat, 01 Jan 2000 00:00:00 GMT"])
  }

  @Test("before: the operation is not done; after-commit: it is, and its answer is replaced or lost")
  func phases() throws {
    let first = try test.login()
    let body = #"{"refreshToken":"\#(first.refresh)"}"#
    test.realm.script(
      .refresh, MockAction(status: 503), .breaks(.reset), MockAction(status: 503, phase: .afterCommit))
    #expect(try test.refresh(first.refresh).status == 503)
    #expect(test.send("POST", "/auth/refresh", body).one?.fault == .reset(afterBodyBytes: nil))
    #expect(test.realm.snapshot.sessions.first?.generation == 0)
    let replaced = try test.refresh(first.refresh)
    #expect(replaced.status == 503)
    #expect(try replaced.json()["code"] == "unavailable")
    #expect(test.realm.snapshot.sessions.first?.generation == 1)
    #expect(test.realm.journal().suffix(3).map(\.outcome) == [.scripted, .lost, .rotated])
    #expect(test.realm.journal().suffix(3).map(\.fault) == [nil, .reset, nil])
    #expect(try test.refresh(first.refresh).detail == "reused")
  }

  @Test("mid-body: done, and a part of the real answer gets through")
  func midBody() throws {
    let pair = try test.login()
    test.realm.script(
      .me, MockAction(phase: .midBody, after: 7), MockAction(breaks: .reset, phase: .midBody),
      MockAction(breaks: .truncate, phase: .afterCommit, after: 1_000_000))
    let cut = try #require(test.send("GET", "/me", bearer: pair.access).one)
    #expect(cut.fault == .close(afterBodyBytes: 7))
    #expect(cut.reply.status == 200)
    #expect(cut.reply.text.contains("anna@example.com"))
    let reset = try #require(test.send("GET", "/me", bearer: pair.access).one)
    #expect(reset.fault == .reset(afterBodyBytes: reset.reply.body.count / 2))
    let short = try #require(test.send("GET", "/me", bearer: pair.access).one)
    #expect(short.fault == .truncate(afterBodyBytes: short.reply.body.count - 1))
  }

  @Test("malformed is no JSON, wrong-type is JSON of other types, huge is 64 MiB of JSON")
  func bodyFaults() throws {
    let pair = try test.login()
    test.realm.script(
      .me, .breaks(.malformed, phase: .afterCommit), .breaks(.wrongType, phase: .afterCommit),
      .breaks(.malformed), .breaks(.huge))
    let malformed = try test.ask("GET", "/me", bearer: pair.access)
    #expect(throws: (any Error).self) { try malformed.json() }
    let wrong = try test.ask("GET", "/me", bearer: pair.access)
    #expect(
      wrong.text == #"{"createdAt":20,"email":16,"id":36,"username":4}"#)
    let filler = try test.ask("GET", "/me", bearer: pair.access)
    #expect(filler.status == 200)
    #expect(throws: (any Error).self) { try filler.json() }
    let huge = try test.ask("GET", "/me", bearer: pair.access)
    #expect(huge.body.count == 64 << 20 + 13)
    #expect(huge.body.first == UInt8(ascii: "{") && huge.body.last == UInt8(ascii: "}"))
    #expect(test.realm.journal().suffix(4).map(\.fault) == [.malformed, .wrongType, .malformed, .huge])
  }

  @Test(
    "connection faults reach the front by their names",
    arguments: [
      (.close, .close(afterBodyBytes: nil)), (.reset, .reset(afterBodyBytes: nil)), (.garbage, .garbage),
      (.tls, .tls), (.drip, .drip(interval: .milliseconds(100))),
    ] as [(MockBreak, WireFault)])
  func wireFaults(breaks: MockBreak, fault: WireFault) throws {
    test.realm.script(.login, .breaks(breaks))
    #expect(test.send("POST", "/auth/login", "{}").one?.fault == fault)
    #expect(test.realm.journal().last?.fault == breaks)
    #expect(test.realm.snapshot.sessions.isEmpty)
  }

  @Test("revoke: access before the operation refuses it, the session can be refreshed; session ends it")
  func revoke() throws {
    let first = try test.login()
    test.realm.script(.me, MockAction(revoke: .access))
    #expect(try test.me(first.access) == 401)
    let second = try test.refresh(first.refresh).pair()
    #expect(try test.me(second.access) == 200)
    test.realm.script(.me, MockAction(phase: .afterCommit, revoke: .session))
    #expect(try test.me(second.access) == 200)
    #expect(try test.me(second.access) == 401)
    #expect(try test.refresh(second.refresh).detail == "revoked")
    #expect(test.realm.snapshot.sessions.first?.endedBy == .script)
  }

  @Test("revoke in a refresh finds the session by the refresh token")
  func revokeAtRefresh() throws {
    let first = try test.login()
    test.realm.script(.refresh, MockAction(phase: .afterCommit, revoke: .access))
    let second = try test.refresh(first.refresh).pair()
    #expect(try test.me(second.access) == 401)
    test.realm.script(.refresh, MockAction(revoke: .session))
    #expect(try test.refresh(second.refresh).detail == "revoked")
  }

  @Test("100 parallel requests get each action exactly as often as it says")
  func parallel() async throws {
    let pair = try test.login()
    test.realm.script(.me, .status(503, times: 17), .status(500, times: 1), .real, .status(429, times: 40))
    let test = test
    let statuses = await withTaskGroup(of: Int?.self) { group in
      for _ in 0..<100 {
        group.addTask { test.send("GET", "/me", bearer: pair.access).one?.reply.status }
      }
      return await group.reduce(into: [:] as [Int?: Int]) { $0[$1, default: 0] += 1 }
    }
    #expect(statuses == [503: 17, 500: 1, 429: 40, 200: 42])
    #expect(test.realm.count(.me) == 100)
    #expect(test.realm.count(MockJournalFilter(operation: .me, status: 429)) == 40)
    #expect(test.realm.journal().map(\.seq) == Array(1...101))
  }

  @Test("a hold keeps the answer back, not the operation; release lets out the oldest first")
  func hold() throws {
    let pair = try test.login()
    test.realm.script(.refresh, .hold("race"))
    let held = test.send("POST", "/auth/refresh", #"{"refreshToken":"\#(pair.refresh)"}"#)
    #expect(held.isEmpty)
    #expect(test.realm.count(.refresh, .rotated) == 1)
    #expect(test.realm.snapshot.held == ["race": 1])
    #expect(test.realm.release(hold: "other") == 0)
    #expect(try test.ask("POST", "/auth/logout", #"{"refreshToken":"\#(pair.refresh)"}"#).status == 204)
    #expect(held.isEmpty)
    #expect(test.realm.release(hold: "race") == 1)
    #expect(held.one?.reply.status == 200)
    #expect(held.all.count == 1)
    #expect(test.realm.release(hold: "race") == 0)

    test.realm.script(MockScript(.operation(.me), [.hold("me")], then: .repeat))
    let waiting = (0..<3).map { _ in test.send("GET", "/me", bearer: pair.access) }
    #expect(test.realm.release(hold: "me", count: 2) == 2)
    #expect(waiting.map(\.isEmpty) == [false, false, true])
    #expect(test.realm.release(hold: "me") == 1)
  }

  @Test("with phase before, the operation itself waits, and the journal has it as pending meanwhile")
  func holdBefore() throws {
    let pair = try test.login()
    test.realm.script(.refresh, MockAction(hold: "slow", phase: .before))
    let held = test.send("POST", "/auth/refresh", #"{"refreshToken":"\#(pair.refresh)"}"#)
    #expect(test.realm.count(.refresh) == 1)
    #expect(test.realm.journal().last?.outcome == .pending)
    #expect(test.realm.journal().last?.status == 0)
    #expect(try test.ask("POST", "/auth/logout", #"{"refreshToken":"\#(pair.refresh)"}"#).status == 204)
    test.realm.release(hold: "slow")
    #expect(try held.one?.reply.detail == "revoked")
    #expect(test.realm.journal().map(\.outcome) == [.issued, .revokedGrant, .signedOut])
    #expect(test.realm.count(.refresh) == 1)
    #expect(test.realm.count(.refresh, .pending) == 0)
  }

  @Test("in a virtual realm delayed answers come when the clock is advanced, in the order of their times")
  func virtualDelays() throws {
    let pair = try test.login()
    test.realm.script(
      .me, .delay(.fixed(.seconds(30))), .delay(.fixed(.seconds(10))), .delay(.fixed(.seconds(20))))
    let order = Guarded<[Int]>([])
    for index in 0..<3 {
      let request = MockRequest(
        method: "GET", target: "/me", headers: [MockRequest.Field("Authorization", "Bearer \(pair.access)")])
      test.server.receive(request) { _ in order.withLock { $0.append(index) } }
    }
    test.time.pass(.seconds(3600))
    #expect(order.withLock { $0 }.isEmpty)
    #expect(test.time.plannedCount == 0)
    test.realm.advance(by: .seconds(10) - .microseconds(1))
    #expect(order.withLock { $0 }.isEmpty)
    test.realm.advance(by: .microseconds(1))
    #expect(order.withLock { $0 } == [1])
    test.realm.advance(by: .seconds(60))
    #expect(order.withLock { $0 } == [1, 2, 0])
    #expect(test.realm.snapshot.delayed == 0)
  }

  @Test("in a real realm delayed answers wait on the scheduler, and advance brings them early")
  func realDelays() throws {
    let test = TestServer(clock: .real)
    let pair = try test.login()
    test.realm.script(
      .me, .delay(.fixed(.seconds(30))), .delay(.fixed(.seconds(10))), .delay(.fixed(.seconds(50))))
    let inboxes = (0..<3).map { _ in test.send("GET", "/me", bearer: pair.access) }
    test.time.pass(.seconds(9))
    #expect(inboxes.map(\.isEmpty) == [true, true, true])
    test.time.pass(.seconds(1))
    #expect(inboxes.map(\.isEmpty) == [true, false, true])
    test.time.pass(.seconds(20))
    #expect(inboxes.map(\.isEmpty) == [false, false, true])
    test.realm.advance(by: .seconds(20))
    #expect(inboxes.map(\.isEmpty) == [false, false, false])
    test.time.pass(.seconds(100))
    #expect(inboxes.map(\.all.count) == [1, 1, 1])
    #expect(test.time.plannedCount == 0)
  }

  @Test("a delayed operation with phase before happens at its time")
  func delayBefore() throws {
    let test = TestServer(MockPolicy(accessTTL: .seconds(15)), clock: .real)
    let pair = try test.login()
    test.realm.script(
      .me, MockAction(delay: .fixed(.seconds(20)), phase: .before), MockAction(delay: .fixed(.seconds(20))))
    let late = test.send("GET", "/me", bearer: pair.access)
    let early = test.send("GET", "/me", bearer: pair.access)
    test.time.pass(.seconds(20))
    #expect(late.one?.reply.status == 401)
    #expect(early.one?.reply.status == 200)
  }

  @Test("delays of a distribution repeat with the seed, and keep their bounds")
  func distributions() {
    func delays(_ delay: MockDelay, seed: UInt64) -> [Duration] {
      var random = SeededRandom(seed: seed)
      return (0..<500).map { _ in delay.sample(&random) }
    }
    let uniform = MockDelay.uniform(min: .milliseconds(100), max: .milliseconds(300))
    let some = delays(uniform, seed: 1)
    #expect(some == delays(uniform, seed: 1))
    #expect(some != delays(uniform, seed: 2))
    #expect(some.allSatisfy { .milliseconds(100) <= $0 && $0 <= .milliseconds(300) })
    #expect(Set(some).count > 400)
    let tail = delays(.lognormal(median: .milliseconds(100), sigma: 1), seed: 1).sorted()
    #expect(tail == delays(.lognormal(median: .milliseconds(100), sigma: 1), seed: 1).sorted())
    #expect((Duration.milliseconds(80)...Duration.milliseconds(125)).contains(tail[250]))
    #expect(tail[499] > .milliseconds(700))
    #expect(tail[0] > .zero)
  }

  @Test("reset loses what is kept back, and everything is as new")
  func reset() throws {
    let pair = try test.login()
    test.realm.script(.me, .hold("a"), .delay(.fixed(.seconds(5))))
    let (held, delayed) = (
      test.send("GET", "/me", bearer: pair.access), test.send("GET", "/me", bearer: pair.access)
    )
    test.realm.advance(by: .seconds(1))
    test.realm.reset()
    #expect(held.one?.fault == .close(afterBodyBytes: nil))
    #expect(delayed.one?.fault == .close(afterBodyBytes: nil))
    let state = test.realm.snapshot
    #expect(state.sessions.isEmpty && state.scripts.isEmpty && state.held.isEmpty && state.journalSeq == 0)
    #expect(state.users.map(\.username) == ["anna"])
    #expect(state.now == Date(timeIntervalSince1970: 1_893_456_000))
    #expect(try test.me(pair.access) == 401)
    #expect(try test.login() == pair, "the same seed gives the same tokens again")
  }
}

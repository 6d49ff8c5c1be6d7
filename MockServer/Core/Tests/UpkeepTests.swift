import Groundwork
import Testing

@testable import MockServerCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Realms by the thousand, and what they begin with")
struct UpkeepTests {
  @Test("five thousand realms side by side keep apart, and idle ones are dropped on request")
  func thousands() throws {
    let test = TestServer(maximumRealms: 6000)
    let pairs = try (0..<5000).map { try test.login(realm: "/r/t\($0)") }
    #expect(Set(pairs.map(\.access)).count == 5000)
    test.time.pass(.seconds(60))
    for index in stride(from: 0, to: 5000, by: 100) {
      #expect(try test.ask("GET", "/r/t\(index)/me", bearer: pairs[index].access).status == 200)
      #expect(try test.ask("GET", "/r/t\(index)/me", bearer: pairs[(index + 1) % 5000].access).status == 401)
    }
    let dropped = try test.admin("DELETE", "realms?idle=30s").json()["dropped"]?.array ?? []
    #expect(dropped.count == 4950)
    #expect(test.server.realmNames.count == 51)
    #expect(try test.ask("GET", "/r/t100/me", bearer: pairs[100].access).status == 200)
    // Dropped is as never made: the token is unknown.
    #expect(try test.ask("GET", "/r/t101/me", bearer: pairs[101].access).status == 401)
  }

  @Test("a realm that keeps an answer back, is followed or waited for is not idle; the root never is")
  func atRest() throws {
    let test = TestServer()
    test.server.realm("held").script(.me, .hold("h"))
    let held = test.send("GET", "/r/held/me")
    let following = test.send("GET", "/r/followed/__mock/events")
    let waiting = test.send("GET", "/r/awaited/__mock/journal/count?operation=me&wait=1&timeout=1h")
    _ = try test.ask("GET", "/r/idle/me")
    test.time.pass(.seconds(10))
    #expect(test.server.dropRealms(idleFor: .seconds(11)) == [])
    #expect(test.server.dropRealms(idleFor: .seconds(10)) == ["idle"])
    #expect(test.server.realmNames == ["awaited", "followed", "held"])
    #expect(held.isEmpty && waiting.isEmpty && following.one?.stream != nil)
    test.server.realm("held").release(hold: "h")
    #expect(test.server.dropRealms(idleFor: .zero) == ["held"])
    #expect(held.one?.reply.status == 401)
    _ = try test.me("nonsense")
    #expect(test.server.dropRealms(idleFor: .zero) == [])
    #expect(test.realm.journal().count == 1)
  }

  @Test("the list of realms tells what is in each, and dropping by name takes one")
  func list() throws {
    let test = TestServer()
    _ = try test.login(realm: "/r/b")
    test.time.pass(.milliseconds(1500))
    _ = try test.ask("GET", "/r/a/me")
    #expect(
      try test.admin("GET", "realms").text
        == #"{"realms":[{"name":"a","users":1,"sessions":0,"requests":1,"idle":"0s"},"#
        + #"{"name":"b","users":1,"sessions":1,"requests":1,"idle":"1500ms"},"#
        + #"{"name":"default","users":1,"sessions":0,"requests":0,"idle":"0s"}]}"#)
    #expect(try test.admin("DELETE", "realms?name=b").text == #"{"dropped":["b"]}"#)
    #expect(try test.admin("DELETE", "realms?name=nobody").text == #"{"dropped":[]}"#)
    for bad in ["realms", "realms?idle=soon", "realms?idle=1s&name=a", "realms?idel=1s"] {
      #expect(try test.admin("DELETE", bad).status == 400, "\(bad)")
    }
    #expect(test.server.realmNames == ["a", "default"])
  }

  @Test("a realm begins as its own part of the configuration says, the others as all do")
  func beginnings() throws {
    let anna = MockSeedUser(username: "anna", email: "anna@example.com", password: "password123")
    let ben = MockSeedUser(username: "ben", email: "ben@example.com", password: "password123")
    let configuration = MockServerConfiguration(
      policy: MockPolicy(accessTTL: .seconds(60)), clock: .virtual, users: [anna],
      scripts: [MockScript(.operation(.me), [.status(503)])],
      realms: [
        "own": MockRealmConfiguration(
          policy: MockPolicy(accessTTL: .seconds(5)), startsAt: Date(timeIntervalSince1970: 0), users: [ben],
          scripts: [])
      ])
    try configuration.check()
    let server = MockAuthServer(configuration: configuration)
    #expect(server.realm("own").snapshot.users.map(\.username) == ["ben"])
    #expect(server.realm("own").policy.accessTTL == .seconds(5))
    #expect(server.realm("own").now == Date(timeIntervalSince1970: 0))
    #expect(server.realm("own").scripts.isEmpty && server.realm("own").snapshot.clock == .virtual)
    #expect(server.realm("other").snapshot.users.map(\.username) == ["anna"])
    #expect(server.realm("other").scripts.map(\.progress.target) == ["me"])
    server.realm("own").reset()
    #expect(server.realm("own").snapshot.users.map(\.username) == ["ben"])
    for name in ["", "..", "a/b", "a b", String(repeating: "a", count: 65)] {
      let bad = MockServerConfiguration(realms: [name: MockRealmConfiguration()])
      #expect(throws: MockServerError.self, "\(name)") { try bad.check() }
    }
    let twice = MockServerConfiguration(realms: ["x": MockRealmConfiguration(users: [ben, ben])])
    #expect(throws: MockServerError.self) { try twice.check() }
  }

  @Test("a new configuration brings along what differs, and leaves alone what was set by hand")
  func reconfigure() throws {
    let anna = MockSeedUser(username: "anna", email: "anna@example.com", password: "correct horse")
    let ben = MockSeedUser(username: "ben", email: "ben@example.com", password: "password123")
    let script = MockScript(.operation(.feed), [.status(500)])
    let before = MockServerConfiguration(
      policy: MockPolicy(accessTTL: .seconds(60)), clock: .virtual, users: [anna],
      scripts: [script, MockScript(.operation(.logout), [.status(500)])])
    let server = MockAuthServer(configuration: before)
    let (one, two) = (server.realm("one"), server.realm("two"))
    let session = try one.mintSession(user: "anna@example.com")
    one.script(.me, .status(418))
    two.policy.rotation = .grace
    var after = before
    after.users = [anna, ben]
    after.scripts = [script, MockScript(.operation(.login), [.status(429)])]
    server.reconfigure(after)
    #expect(one.snapshot.users.map(\.username) == ["anna", "ben"])
    #expect(one.snapshot.sessions.map(\.id) == [session.sessionID])
    #expect(one.scripts.map(\.progress.target) == ["feed", "login", "me"])
    // The policy is the same in both configurations: what was set by hand holds.
    #expect(two.policy.rotation == .grace)
    after.policy.accessTTL = .seconds(7)
    after.clock = .real
    server.reconfigure(after)
    #expect(two.policy == after.policy && one.policy == after.policy)
    #expect(one.snapshot.clock == .real)
    #expect(server.realm("three").snapshot.users.count == 2 && server.configuration.policy == after.policy)
    // The script for feed has not changed, so it has not begun anew.
    #expect(one.scripts.map(\.progress.used) == [0, 0, 0])
  }
}

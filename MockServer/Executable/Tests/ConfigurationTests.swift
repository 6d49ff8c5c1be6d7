import CheckedYAML
import Groundwork
import MockServerCore
import Testing

@testable import mock_server

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Configuration files")
struct ConfigurationTests {
  private func mistakes(_ text: String) -> [String] {
    do throws(ConfigurationReader.Mistakes) {
      if try ConfigurationReader.holdsScripts(text, file: "f") {
        _ = try ConfigurationReader.scripts(text, file: "f")
      } else {
        _ = try ConfigurationReader.configuration(text, file: "f")
      }
      return []
    } catch { return error.diagnostics.map(\.description) }
  }

  @Test("everything that a file may say reaches the configuration")
  func everything() throws {
    let text = """
      clock: virtual
      now: 2030-01-31T12:00:00Z
      seed: 7
      feedItems: 3
      journalCapacity: 100
      maximumRealms: 5
      maximumSessions: 50
      policy:
        accessTTL: 5m
        refreshTTL: 86400
        rotation: grace
        grace: 20s
        tokens: jwt-es256
        autoconfirm: false
        supabaseErrors: oauth
        idTokenFlaw: expired
        clockSkew: -1h
        rateLimit: {limit: 3, per: 1m, operations: [login, refresh]}
        cors: {origins: ["http://localhost:3000"], maxAge: 5m}
      users:
        - {username: anna, email: anna@example.com, password: "12345678"}
        - {username: ben, email: ben@example.com, password: 12345678}
      clients:
        - {id: app, secret: app-secret, redirectURIs: ["https://app.example/cb"], grants: [password], scopes: [a, b]}
      scripts:
        - operation: refresh
          actions:
            - {status: 503, headers: {Retry-After: 5}, times: 2}
            - {phase: after-commit, break: close}
            - {delay: {distribution: lognormal, median: 80ms, sigma: 0.5}, body: {a: 1, b: "1", c: null}}
          then: repeat
      realms:
        slow:
          policy: {accessTTL: 1s}
          clock: real
          scripts: [{endpoint: GET /me, actions: [{delay: 1s}]}]
        empty: {users: [], feedItems: 0, policy: {rateLimit: null}}
      """
    let configuration = try ConfigurationReader.configuration(text, file: "f")
    #expect(configuration.clock == .virtual && configuration.seed == 7 && configuration.feedItems == 3)
    #expect(configuration.startsAt == Date(timeIntervalSince1970: 1_896_091_200))
    #expect(configuration.journalCapacity == 100)
    #expect(configuration.maximumRealms == 5 && configuration.maximumSessions == 50)
    let policy = MockPolicy(
      accessTTL: .seconds(300), refreshTTL: .seconds(86400), rotation: .grace, grace: .seconds(20),
      clockSkew: .seconds(-3600),
      rateLimit: MockRateLimit(limit: 3, per: .seconds(60), operations: [.login, .refresh]),
      cors: MockCORS(origins: ["http://localhost:3000"], maxAge: .seconds(300)), tokens: .es256, autoconfirm: false,
      supabaseErrors: .oauth, idTokenFlaw: .expired)
    #expect(configuration.policy == policy)
    #expect(
      configuration.clients == [
        MockOAuthClient(
          id: "app", secret: "app-secret", redirectURIs: ["https://app.example/cb"], grants: [.password],
          scopes: ["a", "b"])
      ])
    #expect(configuration.users.map(\.password) == ["12345678", "12345678"])
    #expect(
      configuration.scripts == [
        MockScript(
          .operation(.refresh),
          [
            MockAction(status: 503, headers: [.init("Retry-After", "5")], times: 2), .loseAnswer,
            MockAction(
              body: ["a": 1, "b": "1", "c": nil], delay: .lognormal(median: .milliseconds(80), sigma: 0.5)),
          ], then: .repeat)
      ])
    var slow = policy
    slow.accessTTL = .seconds(1)
    #expect(configuration.realms["slow"]?.policy == slow && configuration.realms["slow"]?.clock == .real)
    #expect(
      configuration.realms["slow"]?.scripts
        == [MockScript(.endpoint(method: "GET", path: "/me"), [.delay(.fixed(.seconds(1)))])])
    #expect(configuration.realms["empty"]?.users == [] && configuration.realms["empty"]?.policy?.rateLimit == nil)
    #expect(configuration.realms["empty"]?.scripts == nil)
  }

  @Test("JSON is YAML")
  func json() throws {
    let text = #"{"policy": {"accessTTL": "5s", "cors": null}, "users": [], "scripts": []}"#
    #expect(try ConfigurationReader.configuration(text, file: "f").policy.accessTTL == .seconds(5))
    #expect(try ConfigurationReader.scripts(#"{"operation":"me","actions":[{}]}"#, file: "f").count == 1)
    #expect(try ConfigurationReader.scripts(#"[{"operation":"me","actions":[{}]}]"#, file: "f").count == 1)
  }

  @Test("options stand above the file, and a realm's own policy above them")
  func overrides() throws {
    let text = "policy: {accessTTL: 5s, grace: 7s}\nrealms:\n  a: {policy: {grace: 1s}}\n"
    let configuration = try ConfigurationReader.configuration(text, file: "f") { $0.policy.accessTTL = .seconds(9) }
    #expect(configuration.policy.accessTTL == .seconds(9) && configuration.policy.grace == .seconds(7))
    #expect(configuration.realms["a"]?.policy?.accessTTL == .seconds(9))
    #expect(configuration.realms["a"]?.policy?.grace == .seconds(1))
  }

  @Test(
    "a mistake is told once, with its place, the nearest known name, and nothing that follows from it",
    arguments: [
      ("polcy: {accessTTL: 5s}\n", ["f:1:1: a configuration has no \"polcy\"; did you mean \"policy\"?"]),
      (
        "policy:\n  acessTTL: 5s\n  grace: soon\n",
        [
          "f:2:3: a policy has no \"acessTTL\"; did you mean \"accessTTL\"?",
          "f:3:10: expected a duration like 250ms, 30s, 15m, 2h or 30d, found \"soon\"",
        ]
      ),
      (
        "policy: {rotation: strickt}\n",
        ["f:1:20: expected one of none, strict, grace, parent-ok, gotrue, found \"strickt\"; did you mean \"strict\"?"]
      ),
      (
        "users:\n  - {username: a, email: a@example.com, password: password123}\n",
        ["f:2:5: user \"a\": username must be 3 to 32 letters, digits or underscores"]
      ),
      (
        "users:\n  - &u {username: anna, email: a@example.com, password: password123}\n",
        ["f:2:5: anchors (&name) are not taken; write the value out"]
      ),
      (
        "users:\n- {username: anna, email: a@example.com, password: password123}\n"
          + "- {username: ANNA, email: b@example.com, password: password123}\n",
        ["f:3:3: two seeded users have the username \"ANNA\""]
      ),
      (
        "- operation: me\n  actions: [{after: 5}]\n",
        ["f:1:3: actions[0]: \"after\" goes with \"phase\": \"mid-body\" or \"break\": \"truncate\""]
      ),
      (
        "- operation: refersh\n  endpoint: GET /me\n",
        [
          "f:1:3: a script needs \"actions\": one a request", "f:1:14: expected one of register, login, refresh,",
          "f:2:3: a script does one thing: \"operation\" or \"endpoint\", not both",
        ]
      ),
      (
        "- {operation: me, actions: []}\n- {operation: me, actions: [{}]}\n",
        ["f:2:3: \"me\" has a script already, in line 1: put the actions into one"]
      ),
      (
        "realms:\n  \"a/b\": {}\n",
        ["f:2:3: no realm can have this name: 1 to 64 letters, digits, \"-\", \"_\" or \".\" make one"]
      ),
      (
        "realms:\n  a:\n    seed: 1\n",
        ["f:3:5: a realm has no \"seed\". Known: clock, now, policy, users, clients, scripts, feedItems"]
      ),
      ("now: tomorrow\n", ["f:1:6: this is no ISO 8601 time from 1970 to 9999, say 2030-01-31T12:00:00Z"]),
      ("policy: {cors: {origins: [localhost]}}\n", []), ("", ["f:1:1: the file is empty"]),
      ("just text\n", ["f:1:1: expected a configuration, found \"just text\""]),
      ("a: b: c\n", []),
    ] as [(String, [String])])
  func mistakes(text: String, told: [String]) {
    let found = mistakes(text)
    #expect(!found.isEmpty)
    for (found, told) in zip(found, told) { #expect(found.hasPrefix(told), "\(found)") }
    if !told.isEmpty { #expect(found.count == told.count, "\(found)") }
  }

  @Test("the example of the documentation is right")
  func documentation() throws {
    let page = URL(filePath: #filePath).appending(path: "../../../../Documentation/mock-server.md").standardizedFileURL
    let text = try String(decoding: Data(contentsOf: page), as: UTF8.self)
    let blocks = text.split(separator: "```yaml\n", omittingEmptySubsequences: false).dropFirst()
    #expect(!blocks.isEmpty)
    for block in blocks {
      let example = String(block[..<(block.firstRange(of: "```")?.lowerBound ?? block.endIndex)])
      #expect(mistakes(example) == [], "\(example)")
    }
  }
}

import CheckedYAML
import ScenarioKit
import Testing

@Suite("Running scenarios")
struct RunnerTests {
  private func run(
    _ steps: String, expect: String, head: String = "users: [anna]\n", limit: Duration = .seconds(20)
  ) async throws -> ScenarioReport {
    let text = "name: n\ncovers: [S8]\n\(head)steps:\n\(steps)\nexpect:\n\(expect)\n"
    let scenario = try ScenarioReader.read(text, file: "f.yaml").get()
    let runner = Runner(jobs: 1, timeLimit: limit, limits: try DriverLimits.checkedIn())
    return await runner.run(scenario, driver: InProcessDriver(), realm: "r")
  }

  private func failures(
    _ steps: String, expect: String, head: String = "users: [anna]\n"
  ) async throws -> [String] {
    try await run(steps, expect: expect, head: head).failures.map { "\($0.place): \($0.expected) / \($0.seen)" }
  }

  @Test("a scenario that holds passes, and knows its steps and requests")
  func passes() async throws {
    let report = try await run(
      "  - login: anna\n  - call: GET /me", expect: "  requests: {login: 1, me: 1}\n  order: [login, me]")
    #expect(report.result == .passed)
    #expect(report.steps.map(\.seen) == ["ok", "ok, status 200"])
    #expect(report.journal.map(\.operation) == ["login", "me"])
  }

  @Test(
    "whatever is not as expected fails, and says what was seen",
    arguments: [
      ("  - login: anna", "  requests: {}", "requests: login 0 / requests: login 1"),
      ("  - login: anna", "  requests: {login: 1, me: 1}", "requests: me 1 / requests: me 0"),
      (
        "  - login: anna\n  - call: GET /me", "  requests: {login: 1, me: 1}\n  order: [me, login]",
        "order me, login / order login, me"
      ),
      (
        "  - login: anna\n  - call: GET /nothing", "  requests: {login: 1, unknown: 1}",
        "outcome ok / outcome refused, status 404"
      ),
      ("  - login: {user: anna, password: wrong-password}", "  requests: {login: 1}", "outcome ok / outcome refused"),
      (
        "  - {login: anna, expect: {outcome: transient}}", "  requests: {login: 1}", "outcome transient / outcome ok"
      ),
      (
        "  - login: anna\n  - {call: GET /me, expect: {body: {username: bob}}}", "  requests: {login: 1, me: 1}",
        "body to have {username: \"bob\"} / body {"
      ),
      (
        "  - login: anna", "  requests: {login: 1}\n  client: {state: signedOut}",
        "client: state signedOut / client: state signedIn"
      ),
      (
        "  - login: anna", "  requests: {login: 1}\n  client: {events: [refreshed]}",
        "client: events refreshed / client: events signedIn"
      ),
      (
        "  - login: anna", "  requests: {login: 1}\n  store: {session: absent}",
        "store: session absent / store: session present"
      ),
      ("  - login: anna", "  requests: {login: 1}\n  store: {rotations: 1}", "store: rotations 1 / store: rotations 0"),
      (
        "  - login: anna", "  requests: {login: 1}\n  store: {same-session: false}",
        "store: same session false / store: same session true"
      ),
      (
        "  - login: anna", "  requests: {login: 1}\n  server: {live: 0}",
        "server: live sessions 0 / server: live sessions 1"
      ),
      (
        "  - login: anna", "  requests: {login: 1}\n  server: {ended: 1}",
        "server: ended sessions 1 / server: ended sessions 0"
      ),
      (
        "  - script: [{operation: me, actions: [{status: 500}]}]\n  - login: anna", "  requests: {login: 1}",
        "script actions all used / script actions me: 1 left"
      ),
      (
        "  - login: anna\n  - until: {state: signedOut}", "  requests: {login: 1}",
        "client: state signedOut / client: state signedIn"
      ),
      ("  - {advance: 10s, expect: {took: 1m}}", "  requests: {}", "took 1m / took 10s"),
      (
        "  - {login: anna, parallel: 2, expect: {outcomes: {ok: 1}}}", "  requests: {login: 2}",
        "outcomes ok 1 / outcomes ok 2"
      ),
      (
        "  - {login: anna, expect: {requests: {login: 2}}}", "  requests: {login: 1}",
        "requests so far: login 2 / requests so far: login 1"
      ),
    ])
  func fails(steps: String, expect: String, message: String) async throws {
    let failures = try await failures(steps, expect: expect)
    #expect(failures.count == 1, "\(failures)")
    #expect(failures.first?.contains(message) == true, "\(failures)")
  }

  @Test("a request to no endpoint fails by itself")
  func unmatched() async throws {
    let failures = try await failures(
      "  - login: anna\n  - {call: GET /nothing, expect: refused}", expect: "  requests: {login: 1}")
    #expect(failures.count == 1 && failures[0].contains("requests: unknown 0 / requests: unknown 1"), "\(failures)")
  }

  @Test("the first step that is not as expected is the last one")
  func stops() async throws {
    let report = try await run(
      "  - {call: GET /me, expect: ok}\n  - login: anna", expect: "  requests: {login: 1}")
    #expect(report.steps.count == 1)
    #expect(report.failures.first?.place == "f.yaml:5 call GET /me")
    #expect(report.journal.isEmpty)
  }

  @Test("a password in an answer's message is a leak")
  func leaks() async throws {
    let failures = try await failures(
      "  - {login: anna, expect: {outcome: refused}}\n  - check: x".replacing("\n  - check: x", with: ""),
      expect: "  requests: {login: 1}",
      head: """
        users: [anna]
        script:
          - operation: login
            actions: [{status: 400, body: {error: true, reason: you typed pass-anna-word, code: odd}}]

        """)
    #expect(failures.contains { $0.contains("outputs without secrets / outputs anna's password in") }, "\(failures)")
  }

  @Test("a step that waits for ever is cut off and named")
  func hangs() async throws {
    let report = try await run(
      "  - {login: anna, start: held}\n  - wait: {login: 1}\n  - {await: held}\n  - release: gate",
      expect: "  requests: {login: 1}",
      head: "users: [anna]\nscript:\n  - operation: login\n    actions: [{hold: gate}]\n", limit: .seconds(1))
    #expect(report.result == .failed)
    let failure = try #require(report.failures.first)
    // Under virtual time the client's own time-out comes first; what never comes back is cut off by the runner.
    #expect(failure.place.contains("await held"), "\(failure)")
  }

  @Test("what a driver cannot do is skipped, with the reason, and not counted as passed")
  func skips() async throws {
    let limits = try DriverLimits("inprocess:\n  advance: it stands still here\n", file: "d.yaml")
    let scenario = try ScenarioReader.read(
      "name: n\ncovers: [S8]\nsteps: [{advance: 1s}]\nexpect: {requests: {}}\n", file: "f.yaml"
    ).get()
    let report = await Runner(jobs: 1, limits: limits).run(scenario, driver: InProcessDriver(), realm: "r")
    #expect(report.result == .skipped && report.skipReason == "advance: it stands still here")
    let summary = TerminalReport.summary([report, report])
    #expect(summary.last == "0 passed, 0 failed, 2 skipped")
    #expect(summary.first == "skipped by \(report.driver): 2 × advance: it stands still here")
    #expect(summary.dropFirst().first?.contains("\(report.driver) 0 of 2 (2 skipped)") == true)
    #expect(!TerminalReport.lines(report).joined().contains("stands still"), "the reason is told once, at the end")
    #expect(throws: Diagnostic.self) { try DriverLimits("inprocess:\n  advnace: x\n", file: "d.yaml") }
  }

  @Test("a seed gives the same order each time, and another seed another one")
  func seeds() async throws {
    let text = """
      name: n
      covers: [S6]
      users: [anna]
      steps:
        - login: anna
        - {call: GET /me, start: a}
        - {call: GET /feed, start: b}
        - {call: {method: POST, path: /posts, body: {text: x}}, start: c}
        - await: a
        - await: b
        - await: c
      expect: {requests: {login: 1, me: 1, feed: 1, post: 1}}
      """
    let scenario = try ScenarioReader.read(text, file: "f.yaml").get()
    let runner = Runner(jobs: 1, limits: try DriverLimits.checkedIn())
    var orders: Set<[String]> = []
    for seed in UInt64(1)...12 {
      let first = await runner.run(scenario, driver: InProcessDriver(seed: seed), realm: "r")
      let second = await runner.run(scenario, driver: InProcessDriver(seed: seed), realm: "r")
      #expect(first.result == .passed)
      #expect(first.journal.map(\.summary) == second.journal.map(\.summary))
      orders.insert(first.journal.map(\.operation))
    }
    #expect(orders.count > 1)
  }

  @Test("a report that is read again is the same report")
  func merging() async throws {
    let passed = try await run("  - login: anna\n  - call: GET /me", expect: "  requests: {login: 1, me: 1}")
    let failed = try await run("  - {call: GET /me, expect: ok}", expect: "  requests: {}")
    let text = try ResultsReport.text([passed, failed])
    let again = try ResultsReport.read(Array(text.utf8), name: "results.json")
    #expect(try ResultsReport.text(again) == text)
    #expect(HTMLReport.text(again).count > 1000)
    #expect(throws: WorldError.self) { try ResultsReport.read(Array("{}".utf8), name: "x") }
    #expect(throws: WorldError.self) { try ResultsReport.read(Array("no".utf8), name: "x") }
  }

  @Test("the reports hold what failed, escaped")
  func reports() async throws {
    let report = try await run(
      "  - {call: GET /me, expect: {message: \"<&>\"}}", expect: "  requests: {}")
    #expect(JUnitReport.text([report]).contains("message=\"expected outcome ok, seen outcome notSignedIn"))
    #expect(JUnitReport.text([report]).contains("&lt;&amp;&gt;"))
    #expect(HTMLReport.text([report]).contains("&lt;&amp;&gt;"))
    #expect(try ResultsReport.text([report]).contains("\"result\" : \"failed\""))
    #expect(TerminalReport.summary([report]).last == "0 passed, 1 failed, 0 skipped")
  }
}

import CheckedYAML
import Groundwork
import ScenarioKit
import Testing

@Suite("Reading scenarios")
struct ScenarioReaderTests {
  private static let head = "name: n\ncovers: [S8]\nusers: [anna]\n"
  private static let tail = "expect:\n  requests: {login: 1}\n"

  private func faults(_ text: String) -> [String] {
    switch ScenarioReader.read(text, file: "f.yaml") {
    case .success: []
    case .failure(let invalid): invalid.diagnostics.map(\.description)
    }
  }

  @Test("a whole scenario is read")
  func whole() throws {
    let text = """
      name: a late 401 costs no second refresh
      covers: [S8, D3.5]
      report: supabase/auth-js#529
      profile: chirp
      server: {rotation: strict, accessTTL: 15m, grace: 10}
      users:
        anna:
        bob: {email: b@example.org, password: "12345678"}
      script:
        - operation: me
          actions: [{status: 401, times: 2}, real, {hold: gate, delay: 250ms}]
          then: repeat
      steps:
        - login: anna
        - {call: GET /me, parallel: 50, start: calls}
        - await: calls
          expect: {outcomes: {ok: 49, notSignedIn: 1}}
        - release: gate
        - logout
        - {login: {user: bob, password: wrong}, as: B, expect: {outcome: refused, message: "No."}}
      expect:
        requests: {login: 2, me: 50}
        order: [login, me x 3]
        clients: {B: {state: signedOut}}
      """
    let scenario = try ScenarioReader.read(text, file: "f.yaml").get()
    #expect(scenario.users.map(\.email) == ["anna@example.com", "b@example.org"])
    #expect(scenario.users[1].password == "12345678")
    #expect(scenario.policy["grace"] == "10" && scenario.policy["rotation"] == "strict")
    #expect(scenario.scripts[0].body["actions"]?.array?.count == 3)
    #expect(scenario.scripts[0].body["actions"]?.array?[0]["times"] == 2)
    #expect(scenario.scripts[0].body["actions"]?.array?[1] == [:])
    #expect(scenario.steps.count == 6)
    #expect(scenario.steps[1].parallel == 50 && scenario.steps[1].background == "calls")
    #expect(scenario.steps[5].process == "B")
    #expect(scenario.expect.order == ["login", "me", "me", "me"])
    #expect(scenario.steps[5].title == "login user bob, password ●●●, as B")
  }

  @Test(
    "a mistake is told once, with its place and the nearest name",
    arguments: [
      ("steps: [{lgoin: anna}]\n", ["f.yaml:4:10: a step has no \"lgoin\"; did you mean \"login\"?"]),
      ("steps: [relunch]\n", ["f.yaml:4:9: expected one of"]),
      ("steps: [{login: ana}]\n", ["f.yaml:4:17: there is no user \"ana\"; did you mean \"anna\"?"]),
      (
        "steps: [{login: anna, refresh: }]\n",
        ["f.yaml:4:23: a step does one thing: \"login\" or \"refresh\", not both"]
      ),
      ("steps: [{advance: 5 min}]\n", ["f.yaml:4:19: expected a duration"]),
      ("steps: [{client-clock: 5m}]\n", ["f.yaml:4:24: expected a duration with a sign"]),
      (
        "steps: [{login: anna, parallel: \"5\"}]\n",
        ["f.yaml:4:33: expected a whole number from 1 to 10000, found the text \"5\" in quotes"]
      ),
      ("steps: [{call: GET me}]\n", ["f.yaml:4:16: a call is written METHOD /path"]),
      ("steps: [{await: calls}]\n", ["f.yaml:4:17: there is no step in the background called \"calls\""]),
      ("steps: [{release: gate}]\n", ["f.yaml:4:19: there is no hold \"gate\""]),
      ("steps: [{login: anna, start: x}]\n", ["f.yaml:4:30: the step \"x\" in the background is never awaited"]),
      ("steps: [{login: anna, expect: okay}]\n", ["f.yaml:4:31: expected"]),
      ("steps: [{login: anna, expect: {outcome: refusd}}]\n", ["f.yaml:4:41: expected one of"]),
      (
        "steps: [{wait: {refrehs: 1}}]\n", ["f.yaml:4:17: there is no operation \"refrehs\"; did you mean \"refresh\"?"]
      ),
      ("steps: [{type: {emial: x}}]\n", ["f.yaml:4:17: there is no field \"emial\"; did you mean \"email\"?"]),
      ("steps: []\n", ["f.yaml:4:8: a scenario needs a step at least"]),
      ("steps: {login: anna}\n", ["f.yaml:4:8: expected a list of"]),
      ("stesp: [{login: anna}]\n", ["f.yaml:4:1: a scenario has no \"stesp\"; did you mean \"steps\"?"]),
      ("script: [{actions: []}]\nsteps: [logout]\n", ["f.yaml:4:10: a script needs one of operation, endpoint"]),
      ("script: [{operation: refrsh, actions: []}]\nsteps: [logout]\n", ["f.yaml:4:22: expected one of"]),
      (
        "script: [{operation: me, actions: [{stauts: 401}]}]\nsteps: [logout]\n",
        ["f.yaml:4:37: an action has no \"stauts\"; did you mean \"status\"?"]
      ),
    ])
  func mistakes(steps: String, messages: [String]) {
    let found = faults(Self.head + steps + Self.tail)
    #expect(found.count == messages.count, "\(found)")
    for (found, message) in zip(found, messages) { #expect(found.hasPrefix(message), "\(found)") }
  }

  @Test("several mistakes are told together, in the order of the file")
  func several() {
    let found = faults(
      "nmae: x\ncovers: [S99, D3.55]\nsteps: [{logn: anna}, {call: GET /me, paralel: 2}]\nexpect: {request: {}}\n")
    #expect(
      found.map { $0.split(separator: ":")[1] + ":" + $0.split(separator: ":")[2] } == ["1:1", "3:10", "3:39", "4:10"],
      "\(found)")
    let ids = faults("name: x\ncovers: [S99, D3.55]\nsteps: [logout]\nexpect: {requests: {}}\n")
    #expect(ids.count == 2 && ids[0].hasPrefix("f.yaml:2:10: there is no requirement or rule \"S99\""), "\(ids)")
  }

  @Test("what has to be there is missed by name")
  func missing() {
    let found = faults("name: x\n")
    #expect(found.count == 3, "\(found)")
    #expect(found[0].hasPrefix("f.yaml:1:1: a scenario needs \"covers\""), "\(found)")
  }

  @Test("the JSON Schema is JSON and names every verb")
  func schema() throws {
    let text = try ScenarioSchema.text()
    for verb in ["login", "parallel", "after-commit", "$schema"] { #expect(text.contains("\"\(verb)\"")) }
  }
}

import CheckedYAML
import Foundation
import Groundwork
import ScenarioKit
import Testing

/// Clients that are programs of their own.
@Suite("The driver protocol")
struct ExecTests {
  private static let root: URL = {
    var folder = URL(filePath: #filePath)
    for _ in 0..<4 { folder.deleteLastPathComponent() }
    return folder
  }()

  /// The built `e2e`, wherever the tests are run from.
  private static let program: String = {
    let own = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments.first ?? "")
    var folder = own.resolvingSymlinksInPath().deletingLastPathComponent()
    while !FileManager.default.isExecutableFile(atPath: folder.appending(path: "e2e").path), folder.path != "/" {
      folder.deleteLastPathComponent()
    }
    return folder.appending(path: "e2e").path
  }()

  private func run(_ scenario: String, command: String) async throws -> ScenarioReport {
    let driver = try await ExecDriver(command: command)
    let runner = Runner(jobs: 1, timeLimit: .seconds(60), limits: try DriverLimits.checkedIn())
    let report = await runner.run(
      try ScenarioFiles.read(Self.root.appending(path: "E2ETests/Scenarios/\(scenario)").path).get(), driver: driver,
      realm: "exec")
    await driver.stop()
    return report
  }

  @Test(
    "our own client as a program holds what it holds in process: expiry, a lost answer, a kill, no network",
    arguments: [
      "D3/example-flow.yaml", "refresh/answer-lost-grace.yaml", "processes/killed-in-mid-refresh-grace.yaml",
      "network/offline-at-refresh.yaml", "refresh/cancelled-waiters.yaml", "processes/two-at-once.yaml",
    ])
  func ownClient(scenario: String) async throws {
    let report = try await run(scenario, command: "'\(Self.program)' client")
    #expect(report.result == .passed, "\(TerminalReport.lines(report).joined(separator: "\n"))")
    #expect(report.driver == "exec:chirp's own modules 1")
  }

  @Test("a client without a clock of its own is waited for, and what looks within a token's life is skipped")
  func realTime() async throws {
    let blind = "'\(Self.program)' client | sed -u 's/\"advance\",//'"
    let storm = try await run("refresh/storm.yaml", command: blind)
    #expect(storm.result == .passed, "\(TerminalReport.lines(storm).joined(separator: "\n"))")
    #expect(storm.seconds > 2)
    let within = try await run("D3/example-flow.yaml", command: blind)
    #expect(within.skipReason == "advance: time within a token's life needs a clock that can be moved")
  }

  @Test("a verb that the client does not name skips the scenarios that need it")
  func verbs() async throws {
    let report = try await run(
      "refresh/cancelled-caller.yaml", command: "'\(Self.program)' client | sed -u 's/,\"cancel\"//'")
    #expect(report.skipReason == "cancel: chirp's own modules says that it has no such verb")
  }

  @Test(
    "a program that does not speak the protocol is told so",
    arguments: [
      ("true", "the client has ended"), ("echo hello", "a line that is no JSON on standard output: hello"),
      ("echo '{\"ok\":true}'", "a line without \"id\" and \"ok\""),
      ("read -r line; echo '{\"id\":1,\"ok\":true,\"value\":{}}'", "needs a name and a list of verbs"),
      ("echo no such thing >&2; exit 3", "it wrote: no such thing"),
    ])
  func strangers(command: String, message: String) async throws {
    let error = await #expect(throws: WorldError.self) { try await ExecDriver(command: command) }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test("a known failure does not fail the run, an unexpected pass does, and a failure of the rig is never excused")
  func baseline() throws {
    let scenario = try ScenarioReader.read(
      "name: n\ncovers: [S8]\nsteps: [logout]\nexpect: {requests: {}}\n", file: "folder/f.yaml"
    ).get()
    let baseline = try Baseline("folder/f.yaml: \"it is slow\"\n", name: "b.yaml")
    var report = ScenarioReport(scenario: scenario, driver: "exec:x", result: .failed)
    report.failures = [ScenarioReport.Failure(place: "f", expected: "a", seen: "b")]
    #expect(baseline.judge(report).result == .known)
    #expect(Baseline.text([report]).contains("\"folder/f.yaml\": \"expected a, seen b\""))
    #expect(try Baseline(Baseline.text([report]), name: "again").entries.map(\.file) == ["folder/f.yaml"])
    report.failures[0].expected = "the rig to work"
    #expect(baseline.judge(report).result == .failed)
    let passed = baseline.judge(ScenarioReport(scenario: scenario, driver: "exec:x", result: .passed))
    #expect(passed.result == .failed && passed.failures[0].seen == "it passes now; take the line out of the baseline")
    #expect(baseline.strangers(to: []).map(\.description) == ["b.yaml:1:1: there is no scenario folder/f.yaml"])
    #expect(try Baseline("# nothing\n", name: "b.yaml").entries.isEmpty)
    #expect(throws: Diagnostic.self) { try Baseline("f.yaml: [a]\n", name: "b.yaml") }
  }

  @Test("the conformance report names each id with the scenarios that hold and those that do not")
  func conformance() throws {
    let scenario = try ScenarioReader.read(
      "name: a sentence\ncovers: [S8, D3.5]\nsteps: [logout]\nexpect: {requests: {}}\n", file: "f.yaml"
    ).get()
    var failed = ScenarioReport(scenario: scenario, driver: "exec:x 1", result: .failed)
    failed.failures = [ScenarioReport.Failure(place: "f.yaml:3", expected: "<a>", seen: "b")]
    let conformance = try #require(ConformanceReport.all([failed]).first)
    #expect(conformance.client == "x 1" && conformance.rows.map(\.id) == ["D3.5", "S8"])
    #expect(conformance.lines[0] == "x 1: 0 scenarios hold, 1 do not, 0 could not be tried")
    #expect(conformance.json["ids"]?.array?[0]["failed"] == ["a sentence"])
    #expect(conformance.html.contains("Conformance: x 1") && conformance.html.contains("&lt;a&gt;"))
    #expect(ConformanceReport.all([ScenarioReport(scenario: scenario, driver: "http", result: .passed)]).isEmpty)
  }
}

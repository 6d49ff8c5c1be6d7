import CheckedYAML
import CommandLineTable
import Groundwork
import ScenarioKit

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The program `e2e`: runs, lists and checks scenario files.
@main
enum EndToEnd {
  static let program = Program(
    Command(
      "e2e", "Runs scenario files against the mock server.",
      commands: [
        Command(
          "run", "Run scenarios, each under every driver that is named.",
          options: [
            .value(
              "driver", "NAME", repeated: true,
              "How to run them: inprocess, http, cli, exec:COMMAND (a client of your own). The first three unless given."
            ),
            .value(
              "baseline", "FILE", kind: .file,
              "Known failures: they do not fail the run, and an unexpected pass does."),
            .value("write-baseline", "FILE", kind: .file, "Write what fails as a baseline."),
            .value("filter", "TEXT", "Only scenarios whose name, file or ids contain this."),
            .value("jobs", short: "j", "N", kind: .integer(1...256), "How many run at once (the number of cores)."),
            .value("report", "DIR", kind: .folder, "Write junit.xml, results.json and report.html there."),
            .value("shard", "I/N", "Run only the I-th of N parts."),
            .value(
              "seed", "N", kind: .integer(0...Int.max),
              "Shuffle which task runs next under inprocess; the same N gives the same order."),
            .value(
              "time-limit", "DURATION", kind: .duration(minimum: .seconds(1)), default: "30s",
              "How long one scenario may take in real time."),
          ],
          positionals: [paths],
          examples: [
            Command.Example("e2e run --driver inprocess --filter S8", "everything about rule S8, without sockets")
          ]),
        Command(
          "list", "List the scenarios.",
          options: [
            .flag(
              "coverage",
              "Prove what the scenarios cover: print each id, its scenarios, and the breakage under which each fails."),
            .flag("reports", "Print the public bug reports that scenarios reproduce, as a Markdown table."),
          ],
          positionals: [paths]),
        Command("check", "Check scenario files and say what is wrong, with line and column.", positionals: [paths]),
        Command(
          "merge", "Join the reports of several runs, such as the shards of one, into one.",
          options: [.value("report", "DIR", kind: .folder, required: true, "Where the joined report goes.")],
          positionals: [Positional("DIR", kind: .folder, repeated: true, "Reports of runs.")]),
        Command(
          "client", "Speak the driver protocol with this package's own client: e2e run --driver 'exec:e2e client'."),
        Command("schema", "Print the JSON Schema of scenario files, for editors."),
        .completion(for: "e2e"), .manual(for: "e2e"),
      ]),
    version: Program.packageVersion,
    exitCodes: [
      Program.ExitCode(0, "all passed"), Program.ExitCode(1, "some failed, or standard output cannot be written"),
      Program.ExitCode(2, "usage, a file that is no scenario, or a report that cannot be written"),
    ])

  private static let paths = Positional(
    "PATH", kind: .file, required: false, repeated: true, "Files, or folders of .yaml files (E2ETests/Scenarios).")

  static func main() async {
    StandardStreams.open()
    // A client that goes away while its socket is written to must not end the run.
    signal(SIGPIPE, SIG_IGN)
    let code = await run(Array(CommandLine.arguments.dropFirst()))
    let lost = lostOutput.withLock { $0 }
    if let lost { complain("e2e: standard output cannot be written: \(String(cString: strerror(lost)))") }
    exit(code == 0 && lost != nil ? 1 : code)
  }

  private static func run(_ arguments: [String]) async -> Int32 {
    do {
      switch try program.parse(arguments, environment: ProcessInfo.processInfo.environment) {
      case .print(let text):
        say(text)
        return 0
      case .run(let call): return try await run(call)
      }
    } catch let error as UsageError {
      complain(error.description)
      return error.exitCode
    } catch {
      complain("e2e: \(error)")
      return 2
    }
  }

  private static func run(_ call: Invocation) async throws -> Int32 {
    switch call.path.first {
    case "run": return try await RunCommand(call).run()
    case "list": return try await list(call)
    case "check": return try check(call)
    case "client":
      await ExecProgram { say($0) }.run()
      return 0
    case "merge":
      let reports = try call.arguments("DIR").flatMap { try ReportFolder.read($0) }
      return try RunCommand.finish(reports, folder: call.text("report"))
    default:
      say(try ScenarioSchema.text())
      return 0
    }
  }

  /// The scenarios that a command line names, or nil after saying what is wrong with them.
  static func scenarios(_ call: Invocation) throws -> [Scenario]? {
    let given = call.arguments("PATH")
    let files = try ScenarioFiles.find(given.isEmpty ? ["E2ETests/Scenarios"] : given)
    guard !files.isEmpty else {
      complain("e2e: there is no .yaml file in \(given.joined(separator: ", "))")
      return nil
    }
    var scenarios: [Scenario] = []
    var isGood = true
    for file in files {
      switch ScenarioFiles.readAll(file) {
      case .success(let rows): scenarios += rows
      case .failure(let invalid):
        isGood = false
        for diagnostic in invalid.diagnostics { complain(diagnostic.description) }
      }
    }
    return isGood ? scenarios : nil
  }

  private static func check(_ call: Invocation) throws -> Int32 {
    guard let scenarios = try scenarios(call) else { return 2 }
    let alone = scenarios.filter(\.isAlone)
    for scenario in alone {
      complain("\(scenario.file): \"only\" keeps every other scenario from running; take it out")
    }
    let files = Set(scenarios.map(\.file)).count
    if alone.isEmpty { say("\(files) \(files == 1 ? "file is" : "files are") good") }
    return alone.isEmpty ? 0 : 2
  }

  private static func list(_ call: Invocation) async throws -> Int32 {
    guard let scenarios = try scenarios(call) else { return 2 }
    if call.flag("reports") {
      say(ReproducedReports.table(scenarios))
      return 0
    }
    if call.flag("coverage") { return try await prove(scenarios) }
    for scenario in scenarios {
      let report = scenario.report.map { "  (\($0))" } ?? ""
      say("\(scenario.file)\n    \(scenario.name)  [\(scenario.covers.joined(separator: ", "))]\(report)")
    }
    say("\(scenarios.count) \(scenarios.count == 1 ? "scenario" : "scenarios")")
    return 0
  }

  /// Runs every scenario under the breakages of what it covers.
  private static func prove(_ scenarios: [Scenario]) async throws -> Int32 {
    let breakages = try Breakage.checkedIn()
    let needsPrograms = scenarios.contains { !$0.features.isDisjoint(with: [.programs, .exit]) }
    let programs = try await Drivers.make(needsPrograms ? ["cli"] : [])
    let clock = SystemClock()
    let start = clock.sinceBoot
    let proof = await CoverageProof.run(
      scenarios, breakages: breakages, jobs: ProcessInfo.processInfo.activeProcessorCount,
      programs: programs.all.first, limits: try DriverLimits.checkedIn())
    await programs.close()
    say(proof.lines.joined(separator: "\n"))
    for claim in proof.unproven { say("does not count: \(claim.id) in \(claim.file): it notices no breakage of it") }
    let covered = RequirementIDs.all.count - proof.gaps.count
    let seconds = TerminalReport.milliseconds((clock.sinceBoot - start).inSeconds)
    let counting = proof.claims.count - proof.unproven.count
    say(
      "\(proof.runs) runs under \(breakages.count) breakages in \(seconds); \(counting) of \(proof.claims.count) claims count"
    )
    say("\(covered) of \(RequirementIDs.all.count) ids are covered")
    if !proof.gaps.isEmpty { say("a gap: \(proof.gaps.joined(separator: ", "))") }
    return proof.gaps.isEmpty ? 0 : 1
  }

  /// Why standard output could not be written, if it could not: whatever else went well, the run was for nothing.
  private static let lostOutput = Guarded<Int32?>(nil)

  static func say(_ text: String) {
    let code = write(text, to: 1)
    // Whoever closed the pipe has seen enough.
    if code != 0, code != EPIPE { lostOutput.withLock { $0 = code } }
  }

  static func complain(_ text: String) { _ = write(text, to: 2) }

  /// Returns 0, or the errno that the write ended with.
  private static func write(_ text: String, to descriptor: Int32) -> Int32 {
    var bytes = Array((text.hasSuffix("\n") ? text : text + "\n").utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { unsafe in
        #if canImport(Darwin)
          Darwin.write(descriptor, unsafe.baseAddress, unsafe.count)
        #else
          Glibc.write(descriptor, unsafe.baseAddress, unsafe.count)
        #endif
      }
      if count > 0 {
        bytes = bytes.dropFirst(count)
      } else if errno == EAGAIN {
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&wait, 1, -1)
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }
}

import CheckedYAML
import CommandLineTable
import Groundwork
import ScenarioKit

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `e2e run`.
struct RunCommand {
  let call: Invocation

  init(_ call: Invocation) { self.call = call }

  func run() async throws -> Int32 {
    guard let all = try EndToEnd.scenarios(call) else { return 2 }
    let alone = all.filter(\.isAlone)
    if !alone.isEmpty {
      EndToEnd.complain("e2e: \(alone.count) of \(all.count) scenarios say \"only\": the others do not run")
    }
    let scenarios = try shard((alone.isEmpty ? all : alone).filter(matches))
    guard !scenarios.isEmpty else {
      throw call.usageError("no scenario is left to run: \(all.count) were read, and --filter or --shard leaves none")
    }
    // Before the run, which may be long.
    if let folder = call.text("report") { try ReportFolder.check(folder) }
    let names = call.texts("driver")
    let drivers = try await Drivers.make(
      names.isEmpty ? ["inprocess", "http", "cli"] : names, seed: try call.integer("seed").map { UInt64(clamping: $0) })
    let baseline = try call.text("baseline").map { try Baseline.read($0) }
    // Whoever names files runs a part: the rest of the baseline is about others.
    if call.arguments("PATH").isEmpty, let strangers = baseline?.strangers(to: all), !strangers.isEmpty {
      for stranger in strangers { EndToEnd.complain(stranger.description) }
      return 2
    }
    var runner = Runner(
      jobs: try call.integer("jobs") ?? ProcessInfo.processInfo.activeProcessorCount,
      timeLimit: try call.duration("time-limit") ?? .seconds(30), limits: try DriverLimits.checkedIn()
    ) { report in
      EndToEnd.say(TerminalReport.lines(report).joined(separator: "\n"))
    }
    if let baseline { runner.judge = { baseline.judge($0) } }
    let reports = await runner.run(scenarios, drivers: drivers.all)
    await drivers.close()
    if let path = call.text("write-baseline") {
      do {
        try Data(Baseline.text(reports).utf8).write(to: URL(filePath: path), options: .atomic)
      } catch {
        throw WorldError("the baseline \"\(path)\" cannot be written")
      }
    }
    return try Self.finish(reports, folder: call.text("report"))
  }

  /// Writes the report and the two last lines.
  static func finish(_ reports: [ScenarioReport], folder: String?) throws -> Int32 {
    if let folder {
      try ReportFolder.write(reports, to: folder)
      EndToEnd.say("report: \(folder)/report.html")
    }
    for conformance in ConformanceReport.all(reports) { EndToEnd.say(conformance.lines.joined(separator: "\n")) }
    EndToEnd.say(TerminalReport.summary(reports).joined(separator: "\n"))
    return reports.contains { $0.result == .failed } ? 1 : 0
  }

  private func matches(_ scenario: Scenario) -> Bool {
    guard let filter = call.text("filter")?.lowercased() else { return true }
    let texts = [scenario.name, scenario.file, scenario.report ?? ""]
    return texts.contains { $0.lowercased().contains(filter) } || scenario.covers.contains { $0.lowercased() == filter }
  }

  private func shard(_ scenarios: [Scenario]) throws -> [Scenario] {
    guard let text = call.text("shard") else { return scenarios }
    guard let match = text.wholeMatch(of: /([0-9]{1,6})\/([0-9]{1,6})/), let part = Int(match.1),
      let count = Int(match.2),
      (1...max(count, 1)).contains(part), count > 0
    else { throw call.usageError("--shard is written I/N, say 2/5, and I counts from 1", code: .badValue) }
    return scenarios.enumerated().filter { $0.offset % count == part - 1 }.map(\.element)
  }
}

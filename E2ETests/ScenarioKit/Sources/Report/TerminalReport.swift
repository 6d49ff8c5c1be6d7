/// What a run prints.
package enum TerminalReport {
  /// A scenario's line, and what failed below it.
  package static func lines(_ report: ScenarioReport) -> [String] {
    let name = "[\(report.driver)] \(report.scenario.name)"
    switch report.result {
    case .passed: return ["✓ \(name) (\(milliseconds(report.seconds)))"]
    // Why is told once for all of them, at the end.
    case .skipped: return ["- \(name): skipped"]
    case .known: return ["≈ \(name): fails as expected: \(report.skipReason ?? "")"]
    case .failed:
      var lines = ["✗ \(name) (\(milliseconds(report.seconds)))"]
      for failure in report.failures {
        lines += ["    \(failure.place)", "      expected  \(failure.expected)", "      seen      \(failure.seen)"]
      }
      lines.append(report.journal.isEmpty ? "    no request reached the server" : "    the requests so far:")
      lines += report.journal.suffix(40).map { "      \($0.summary)" }
      return lines
    }
  }

  /// What was skipped, by driver and reason, then the two lines at the end.
  package static func summary(_ reports: [ScenarioReport]) -> [String] {
    var runs: [(driver: String, passed: Int, skipped: Int, all: Int)] = []
    for report in reports {
      let index = runs.firstIndex { $0.driver == report.driver } ?? runs.count
      if index == runs.count { runs.append((report.driver, 0, 0, 0)) }
      runs[index].passed += report.result == .passed ? 1 : 0
      runs[index].skipped += report.result == .skipped ? 1 : 0
      runs[index].all += 1
    }
    let distinct = Set(reports.filter { $0.result == .passed }.map(\.scenario.file))
      .subtracting(reports.filter { $0.result == .failed || $0.result == .known }.map(\.scenario.file))
    let perDriver = runs.map { run in
      "\(run.driver) \(run.passed) of \(run.all)\(run.skipped > 0 ? " (\(run.skipped) skipped)" : "")"
    }.joined(separator: ", ")
    let count = { (result: ScenarioReport.Result) in reports.count { $0.result == result } }
    let known = count(.known)
    return skipped(reports) + (known > 0 ? ["\(known) failed as the baseline expects"] : []) + [
      "\(distinct.count) distinct scenarios passed; runs: \(perDriver.isEmpty ? "none" : perDriver)",
      "\(count(.passed)) passed, \(count(.failed)) failed, \(count(.skipped)) skipped",
    ]
  }

  /// A line for each driver and reason: how many scenarios it keeps out.
  private static func skipped(_ reports: [ScenarioReport]) -> [String] {
    var groups: [(driver: String, reason: String, count: Int)] = []
    for report in reports where report.result == .skipped {
      let reason = report.skipReason ?? "no reason given"
      if let index = groups.firstIndex(where: { $0.driver == report.driver && $0.reason == reason }) {
        groups[index].count += 1
      } else {
        groups.append((report.driver, reason, 1))
      }
    }
    return groups.map { "skipped by \($0.driver): \($0.count) × \($0.reason)" }
  }

  /// Seconds as a person reads them: 12 ms, 3.4 s.
  package static func milliseconds(_ seconds: Double) -> String {
    let value = (seconds * 1000).rounded()
    return value < 1000
      ? "\(Int(value)) ms" : "\(Int(value / 1000)).\(Int(value.truncatingRemainder(dividingBy: 1000) / 100)) s"
  }
}

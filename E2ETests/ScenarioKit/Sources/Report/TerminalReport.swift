/// What a run prints.
package enum TerminalReport {
  /// A scenario's line, and what failed below it.
  package static func lines(_ report: ScenarioReport) -> [String] {
    let name = "[\(report.driver)] \(report.scenario.name)"
    switch report.result {
    case .passed: return ["✓ \(name) (\(milliseconds(report.seconds)))"]
    case .skipped: return ["- \(name): skipped, \(report.skipReason ?? "no reason given")"]
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

  /// The two lines at the end.
  package static func summary(_ reports: [ScenarioReport]) -> [String] {
    var runs: [(driver: String, passed: Int, run: Int)] = []
    for report in reports where report.result != .skipped {
      let passed = report.result == .passed ? 1 : 0
      if let index = runs.firstIndex(where: { $0.driver == report.driver }) {
        runs[index].passed += passed
        runs[index].run += 1
      } else {
        runs.append((report.driver, passed, 1))
      }
    }
    let distinct = Set(reports.filter { $0.result == .passed }.map(\.scenario.file))
      .subtracting(reports.filter { $0.result == .failed }.map(\.scenario.file))
    let perDriver = runs.map { "\($0.driver) \($0.passed) of \($0.run)" }.joined(separator: ", ")
    let count = { (result: ScenarioReport.Result) in reports.count { $0.result == result } }
    return [
      "\(distinct.count) distinct scenarios passed; runs: \(perDriver.isEmpty ? "none" : perDriver)",
      "\(count(.passed)) passed, \(count(.failed)) failed, \(count(.skipped)) skipped",
    ]
  }

  static func milliseconds(_ seconds: Double) -> String {
    let value = (seconds * 1000).rounded()
    return value < 1000
      ? "\(Int(value)) ms" : "\(Int(value / 1000)).\(Int(value.truncatingRemainder(dividingBy: 1000) / 100)) s"
  }
}

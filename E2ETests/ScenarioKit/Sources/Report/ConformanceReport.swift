package import Groundwork

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What a client that was judged from outside does and does not: by requirement and rule, for its authors.
package struct ConformanceReport: Sendable {
  /// An id, and how the scenarios that cover it went.
  package struct Row: Sendable {
    package var id: String
    package var passed: [String] = []
    package var failed: [String] = []
    package var skipped: [String] = []
  }

  /// The client's name and version.
  package let client: String
  private let reports: [ScenarioReport]

  /// Makes the report of one client; nil if the run had none.
  package static func all(_ reports: [ScenarioReport]) -> [ConformanceReport] {
    var names: [String] = []
    for report in reports where report.driver.hasPrefix("exec:") && !names.contains(report.driver) {
      names.append(report.driver)
    }
    return names.map { name in
      ConformanceReport(
        client: String(name.dropFirst("exec:".count)), reports: reports.filter { $0.driver == name })
    }
  }

  private func count(_ results: ScenarioReport.Result...) -> Int { reports.count { results.contains($0.result) } }

  /// A row for each id that a scenario of the run covers, in the order of the ids.
  package var rows: [Row] {
    RequirementIDs.all.compactMap { id in
      let about = reports.filter { $0.scenario.covers.contains(id) }
      guard !about.isEmpty else { return nil }
      var row = Row(id: id)
      for report in about {
        switch report.result {
        case .passed: row.passed.append(report.scenario.name)
        case .failed, .known: row.failed.append(report.scenario.name)
        case .skipped: row.skipped.append(report.scenario.name)
        }
      }
      return row
    }
  }

  /// What the terminal shows after the run's own lines.
  package var lines: [String] {
    let failing = rows.filter { !$0.failed.isEmpty }.map(\.id)
    let whole = rows.filter { $0.failed.isEmpty && !$0.passed.isEmpty }.map(\.id)
    return [
      "\(client): \(count(.passed)) scenarios hold, \(count(.failed, .known)) do not, \(count(.skipped)) could not be tried",
      "  held wherever tried: \(whole.isEmpty ? "none" : whole.joined(separator: " "))",
      "  failed somewhere:    \(failing.isEmpty ? "none" : failing.joined(separator: " "))",
    ]
  }

  /// The report as JSON, for tools.
  package var json: JSONValue {
    [
      "client": .string(client), "passed": .number(Double(count(.passed))),
      "failed": .number(Double(count(.failed, .known))), "skipped": .number(Double(count(.skipped))),
      "ids": .array(
        rows.map { row in
          [
            "id": .string(row.id), "passed": .array(row.passed.map { .string($0) }),
            "failed": .array(row.failed.map { .string($0) }), "skipped": .array(row.skipped.map { .string($0) }),
          ]
        }),
      "scenarios": .array(
        reports.map { report in
          [
            "file": .string(report.scenario.file), "name": .string(report.scenario.name),
            "result": .string(report.result.rawValue), "reason": report.skipReason.map { .string($0) } ?? .null,
            "covers": .array(report.scenario.covers.map { .string($0) }),
            "bugReport": report.scenario.report.map { .string($0) } ?? .null,
            "notJudged": .array(report.unjudged.map { .string($0) }),
            "failures": .array(
              report.failures.map { failure in
                [
                  "place": .string(failure.place), "expected": .string(failure.expected), "seen": .string(failure.seen),
                ]
              }),
          ]
        }),
    ]
  }

  /// The report as one HTML page: the ids first, then each scenario that does not hold, with its sequence.
  package var html: String {
    let table = rows.map { row in
      let mark = row.failed.isEmpty ? (row.passed.isEmpty ? "skipped" : "passed") : "failed"
      let sign = ["passed": "✓", "failed": "✗", "skipped": "–"][mark] ?? ""
      let names =
        row.failed.map { "<li class=\"failed\">✗ \(HTMLReport.escaped($0))</li>" }
        + row.passed.map { "<li>✓ \(HTMLReport.escaped($0))</li>" }
        + row.skipped.map { "<li>– \(HTMLReport.escaped($0))</li>" }
      return """
        <tr class="\(mark)"><td><span class="mark">\(sign)</span> \(row.id)</td><td>\(row.passed.count) of \(row.passed.count + row.failed.count)\(row.skipped.isEmpty ? "" : ", \(row.skipped.count) not tried")</td>
        <td><ul>\(names.joined())</ul></td></tr>
        """
    }
    let body = """
      <p>Each scenario was run with this client against a server that does what real ones do at the worst moment. Nothing but what the client answers and
      what reaches the server is judged. To run one again: <code>e2e run --driver "exec:COMMAND" FILE</code>.</p>
      <h2>By requirement and rule</h2>
      <table><thead><tr><th>id</th><th>scenarios that hold</th><th>which</th></tr></thead><tbody>\(table.joined(separator: "\n"))</tbody></table>
      <h2>Scenario by scenario</h2>
      """
    return HTMLReport.text(reports, title: "Conformance: \(client)", introduction: body)
  }
}

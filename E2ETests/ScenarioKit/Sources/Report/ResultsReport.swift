internal import Groundwork

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A run as JSON, for tools.
package enum ResultsReport {
  /// The file's text.
  package static func text(_ reports: [ScenarioReport]) throws(WorldError) -> String {
    let value: JSONValue = ["format": 1, "results": .array(reports.map(json))]
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
    } catch {
      throw WorldError("the results cannot be written as JSON: \(error)")
    }
  }

  private static func json(_ report: ScenarioReport) -> JSONValue {
    let scenario = report.scenario
    return [
      "file": .string(scenario.file), "name": .string(scenario.name), "driver": .string(report.driver),
      "covers": .array(scenario.covers.map { .string($0) }), "report": scenario.report.map { .string($0) } ?? .null,
      "result": .string(report.result.rawValue), "skipReason": report.skipReason.map { .string($0) } ?? .null,
      "milliseconds": .number((report.seconds * 1000).rounded()),
      "steps": .array(
        report.steps.map { step in
          [
            "title": .string(step.title), "line": .number(Double(step.line)), "seen": .string(step.seen),
            "passed": .bool(step.passed),
          ]
        }),
      "failures": .array(
        report.failures.map { failure in
          ["place": .string(failure.place), "expected": .string(failure.expected), "seen": .string(failure.seen)]
        }),
      "journal": .array(
        report.journal.map { entry in
          [
            "seq": .number(Double(entry.sequence)), "at": .string(entry.at), "operation": .string(entry.operation),
            "request": .string(entry.request), "status": .number(Double(entry.status)),
            "outcome": .string(entry.outcome),
            "fault": entry.fault.map { .string($0) } ?? .null,
          ]
        }),
    ]
  }
}

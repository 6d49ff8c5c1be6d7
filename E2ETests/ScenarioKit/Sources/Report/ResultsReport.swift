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
    try text(["format": 1, "results": .array(reports.map(json))])
  }

  /// Any value as a file's text.
  static func text(_ value: JSONValue) throws(WorldError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
    } catch {
      throw WorldError("the results cannot be written as JSON: \(error)")
    }
  }

  /// Reads what `text` wrote, so that the parts of a run on several machines become one report.
  ///
  /// - Parameter name: the file's name, for messages.
  package static func read(_ data: [UInt8], name: String) throws(WorldError) -> [ScenarioReport] {
    let value: JSONValue
    do {
      value = try JSONDecoder().decode(JSONValue.self, from: Data(data))
    } catch {
      throw WorldError("\(name) is no JSON")
    }
    guard value["format"]?.integer == 1, let results = value["results"]?.array else {
      throw WorldError("\(name) holds no results of e2e in format 1")
    }
    var reports: [ScenarioReport] = []
    for (index, result) in results.enumerated() {
      guard let report = report(result) else { throw WorldError("\(name): result \(index + 1) cannot be read") }
      reports.append(report)
    }
    return reports
  }

  private static func report(_ json: JSONValue) -> ScenarioReport? {
    guard let file = json["file"]?.string, let name = json["name"]?.string, let driver = json["driver"]?.string,
      let result = json["result"]?.string.flatMap(ScenarioReport.Result.init)
    else { return nil }
    let scenario = Scenario(
      file: file, name: name, covers: (json["covers"]?.array ?? []).compactMap(\.string), report: json["report"]?.string
    )
    var report = ScenarioReport(
      scenario: scenario, driver: driver, result: result, skipReason: json["skipReason"]?.string)
    report.seconds = (json["milliseconds"]?.number ?? 0) / 1000
    report.unjudged = (json["notJudged"]?.array ?? []).compactMap(\.string)
    report.journal = (json["journal"]?.array ?? []).compactMap { JournalEntry($0) }
    report.steps = (json["steps"]?.array ?? []).map { step in
      ScenarioReport.StepRecord(
        title: step["title"]?.string ?? "", line: step["line"]?.integer ?? 0, seen: step["seen"]?.string ?? "",
        passed: step["passed"]?.bool ?? false, journalCount: step["journalCount"]?.integer ?? 0)
    }
    report.failures = (json["failures"]?.array ?? []).map { failure in
      ScenarioReport.Failure(
        place: failure["place"]?.string ?? "", expected: failure["expected"]?.string ?? "",
        seen: failure["seen"]?.string ?? "")
    }
    return report
  }

  private static func json(_ report: ScenarioReport) -> JSONValue {
    let scenario = report.scenario
    return [
      "file": .string(scenario.file), "name": .string(scenario.name), "driver": .string(report.driver),
      "covers": .array(scenario.covers.map { .string($0) }), "report": scenario.report.map { .string($0) } ?? .null,
      "result": .string(report.result.rawValue), "skipReason": report.skipReason.map { .string($0) } ?? .null,
      "notJudged": .array(report.unjudged.map { .string($0) }),
      "milliseconds": .number((report.seconds * 1000).rounded()),
      "steps": .array(
        report.steps.map { step in
          [
            "title": .string(step.title), "line": .number(Double(step.line)), "seen": .string(step.seen),
            "passed": .bool(step.passed), "journalCount": .number(Double(step.journalCount)),
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

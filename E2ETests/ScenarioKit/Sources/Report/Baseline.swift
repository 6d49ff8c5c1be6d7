package import CheckedYAML
internal import Groundwork

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The failures of a client that are known: `--baseline FILE`. What is not in it fails the run, and so does what passes although it is.
package struct Baseline: Sendable {
  /// A known failure.
  package struct Entry: Sendable {
    /// The scenario's file, from any folder on: `refresh/late-401.yaml`.
    package var file: String
    /// Why it fails.
    package var reason: String
    /// Where it stands.
    package var mark: Mark
  }

  /// The file's name, for messages.
  package var name: String
  /// The known failures in the order of the file.
  package var entries: [Entry]

  /// Reads a baseline: a YAML mapping of scenario files to reasons.
  package init(_ text: String, name: String) throws(Diagnostic) {
    self.name = name
    let isEmpty = text.split(separator: "\n").allSatisfy { $0.allSatisfy(\.isWhitespace) || $0.hasPrefix("#") }
    guard !isEmpty else {
      entries = []
      return
    }
    let root = try YAMLReader.read(text, file: name)
    if let first = Shape.table(.text).check(root, file: name).first { throw first }
    entries = root.entries.map { Entry(file: $0.key, reason: $0.value.text ?? "", mark: $0.mark) }
  }

  /// Reads a baseline from its file.
  package static func read(_ path: String) throws -> Baseline {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw WorldError("the baseline \"\(path)\" cannot be read")
    }
    return try Baseline(String(decoding: data, as: UTF8.self), name: path)
  }

  /// The entries that name none of these scenarios.
  package func strangers(to scenarios: [Scenario]) -> [Diagnostic] {
    entries.filter { entry in !scenarios.contains { Self.matches(Self.key($0), entry.file) } }.map {
      Diagnostic(file: name, mark: $0.mark, message: "there is no scenario \($0.file)")
    }
  }

  /// A report in the light of the baseline.
  package func judge(_ report: ScenarioReport) -> ScenarioReport {
    guard let entry = entries.first(where: { Self.matches(Self.key(report.scenario), $0.file) }) else { return report }
    var report = report
    switch report.result {
    case .failed:
      guard !report.failures.contains(where: \.isOfTheRig) else { return report }
      report.result = .known
      report.skipReason = entry.reason
    case .passed:
      report.result = .failed
      report.failures = [
        ScenarioReport.Failure(
          place: "\(name):\(entry.mark.line)", expected: "a failure: \(entry.reason)",
          seen: "it passes now; take the line out of the baseline")
      ]
    case .skipped, .known: break
    }
    return report
  }

  /// What a run would need as its baseline: each failure with the first thing that was not as expected.
  package static func text(_ reports: [ScenarioReport]) -> String {
    let failed = reports.filter {
      $0.result == .known || $0.result == .failed && !$0.failures.contains(where: \.isOfTheRig)
    }
    let lines = failed.map { report in
      let first = report.failures.first.map { "expected \($0.expected), seen \($0.seen)" } ?? ""
      let quoted = (report.result == .known ? report.skipReason ?? first : first)
        .replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: " ")
      let key = shortName(key(report.scenario)).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      return "\"\(key)\": \"\(quoted)\""
    }
    let title =
      "# Known failures: a scenario that fails, and why. Written by e2e run --write-baseline; edit the reasons."
    return ([title] + lines.sorted() + [""]).joined(separator: "\n")
  }

  /// The file; of many rows, also which one.
  private static func key(_ scenario: Scenario) -> String {
    scenario.isRow ? "\(scenario.file) \(scenario.name.replacing("/", with: "|"))" : scenario.file
  }

  /// The last folder and the name: enough to tell scenarios apart wherever the clone stands.
  private static func shortName(_ file: String) -> String {
    file.split(separator: "/").suffix(2).joined(separator: "/")
  }

  private static func matches(_ file: String, _ entry: String) -> Bool { file == entry || file.hasSuffix("/\(entry)") }
}

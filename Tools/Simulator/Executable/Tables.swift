import Groundwork
import SimulatorKit

/// Tables for a terminal.
enum Tables {
  /// What a campaign has reached.
  static func print(_ coverage: Coverage) {
    section("Rules", coverage.rules.map { ($0.text, $0.count) })
    section("Faults", Mark.allCases.filter(\.isFault).map { ($0.rawValue, coverage.count($0)) })
    section("Kill points", KillPoint.allCases.map { ($0.rawValue, coverage.count($0)) })
    section("Steps of a refresh", coverage.transitions.filter(\.isRefresh).map { ($0.name, $0.count) })
    section("Steps of a session", coverage.transitions.filter { !$0.isRefresh }.map { ($0.name, $0.count) })
  }

  private static func section(_ title: String, _ rows: [(String, Int)]) {
    Swift.print("\n\(title)")
    for (text, count) in rows { Swift.print("\(right(count, 12))  \(text)") }
  }

  /// A number in a column of its own.
  static func right(_ number: Int, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: " ", count: max(0, width - text.count)) + text
  }

  /// A text in a column of its own.
  static func left(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}

/// The naive design's known faults, and how each was found.
struct NaiveFaults {
  /// What `simulate --subject naive` has to find, as the violations name it.
  static let known = [
    "sign-out on a passing failure", "second refresh on a late 401", "session revived after sign-out",
    "resend under another user's token", "flight killed by its starter's cancellation",
    "refresh token spent twice by two processes",
    "spent token kept after a crash",
  ]

  /// Each fault that was found, shrunk.
  let found: [(finding: Campaign.Finding, shrunk: Shrinker.Result)]
  /// The known faults that were not found.
  let missing: [String]

  init(_ report: Campaign.Report, _ shrink: (Campaign.Finding) -> Shrinker.Result) {
    found = report.findings.map { ($0, shrink($0)) }
    let kinds = Set(report.findings.map(\.violation.kind))
    missing = Self.known.filter { !kinds.contains($0) }
  }

  func printTable() {
    print("")
    print(
      Tables.left("fault", 46) + Tables.left("invariant", 11) + Tables.left("seed", 8)
        + Tables.left("after schedules", 17)
        + Tables.left("choices, shrunk", 17) + "of")
    for (finding, shrunk) in found {
      let isKnown = Self.known.contains(finding.violation.kind)
      print(
        Tables.left((isKnown ? "" : "(also) ") + finding.violation.kind, 46)
          + Tables.left("(\(finding.violation.invariant))", 11) + Tables.left(String(finding.seed), 8)
          + Tables.left(String(finding.schedules), 17) + Tables.left(String(shrunk.choices.count { $0 != 0 }), 17)
          + String(finding.choices.count))
    }
    for kind in missing { print("\(kind): NOT FOUND") }
  }
}

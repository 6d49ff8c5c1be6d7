/// A run as JUnit XML: a suite for each driver.
package enum JUnitReport {
  /// The file's text.
  package static func text(_ reports: [ScenarioReport]) -> String {
    var drivers: [String] = []
    for report in reports where !drivers.contains(report.driver) { drivers.append(report.driver) }
    var lines = [
      #"<?xml version="1.0" encoding="UTF-8"?>"#,
      "<testsuites \(counts(reports))>",
    ]
    for driver in drivers {
      let own = reports.filter { $0.driver == driver }
      lines.append("  <testsuite name=\"\(escaped(driver))\" \(counts(own))>")
      for report in own { lines += testCase(report) }
      lines.append("  </testsuite>")
    }
    return (lines + ["</testsuites>", ""]).joined(separator: "\n")
  }

  private static func counts(_ reports: [ScenarioReport]) -> String {
    let failures = reports.count { $0.result == .failed }
    let skipped = reports.count { $0.result == .skipped || $0.result == .known }
    let seconds = reports.reduce(0) { $0 + $1.seconds }
    return "tests=\"\(reports.count)\" failures=\"\(failures)\" skipped=\"\(skipped)\" time=\"\(fixed(seconds))\""
  }

  private static func testCase(_ report: ScenarioReport) -> [String] {
    let open =
      "    <testcase classname=\"\(escaped(report.scenario.file))\" name=\"\(escaped(report.scenario.name))\" time=\"\(fixed(report.seconds))\""
    switch report.result {
    case .passed: return [open + "/>"]
    case .skipped, .known:
      let message = (report.result == .known ? "fails as expected: " : "") + (report.skipReason ?? "")
      return [open + ">", "      <skipped message=\"\(escaped(message))\"/>", "    </testcase>"]
    case .failed:
      let first = report.failures.first
      let message = "expected \(first?.expected ?? ""), seen \(first?.seen ?? "")"
      let body = TerminalReport.lines(report).joined(separator: "\n")
      return [
        open + ">", "      <failure message=\"\(escaped(message))\">\(escaped(body))</failure>", "    </testcase>",
      ]
    }
  }

  /// Text for XML 1.0, attributes too: what it cannot hold is replaced.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\n", "\t": result.unicodeScalars.append(scalar)
      case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{84}", "\u{86}"..."\u{9F}", "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Seconds with three decimals, whatever the locale.
  static func fixed(_ seconds: Double) -> String {
    let milliseconds = Int(min(max(seconds * 1000, 0), 1e12).rounded())
    let fraction = String(milliseconds % 1000)
    return "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
  }
}

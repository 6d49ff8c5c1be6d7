import SimulatorKit

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Why saved reports cannot be added up.
struct SavedReportsError: Error, CustomStringConvertible {
  /// What is wrong, with which file.
  let description: String
}

/// Reports that `simulate --json` wrote, added up, as tables for a page: a long run may be split over processes and machines.
struct SavedReports {
  /// What is read of a report.
  private struct Report: Decodable {
    var build: String
    var schedules: Int
    var failed: Int
    var steps: Int
    var seconds: Double
    var virtualSeconds: Double
    var rules: [String: Int]
    var faults: [String: Int]
    var killPoints: [String: Int]
    var transitions: [String: Int]
  }

  private var total: Report

  /// Reads the files; a report of another build is refused, since its seeds mean other schedules.
  init(_ paths: [String]) throws(SavedReportsError) {
    var total: Report?
    for path in paths {
      guard let data = FileManager.default.contents(atPath: path) else {
        throw SavedReportsError(description: "\(path) cannot be read.")
      }
      let report: Report
      do {
        report = try JSONDecoder().decode(Report.self, from: data)
      } catch {
        throw SavedReportsError(description: "\(path) is no report of simulate --json: \(error)")
      }
      guard var sum = total else {
        total = report
        continue
      }
      guard sum.build == report.build else { throw SavedReportsError(description: "\(path) comes from another build.") }
      sum.schedules += report.schedules
      sum.failed += report.failed
      sum.steps += report.steps
      sum.seconds += report.seconds
      sum.virtualSeconds += report.virtualSeconds
      sum.rules.merge(report.rules, uniquingKeysWith: +)
      sum.faults.merge(report.faults, uniquingKeysWith: +)
      sum.killPoints.merge(report.killPoints, uniquingKeysWith: +)
      sum.transitions.merge(report.transitions, uniquingKeysWith: +)
      total = sum
    }
    guard let total else {
      throw SavedReportsError(description: "name the files of simulate --json, with commas between.")
    }
    self.total = total
  }

  /// Prints Markdown.
  func printTables() {
    let years = Int(total.virtualSeconds / (365.25 * 86400))
    print(
      "\(total.schedules) schedules, \(total.steps) steps, \(years) years of virtual time, \(Int(total.seconds)) s of all parts together (build \(total.build)): "
        + "**\(total.failed) violations**.")
    table("rule and situation", total.rules, order: Coverage().rules.map(\.text))
    table("fault", total.faults, order: Mark.allCases.map(\.rawValue))
    table("killed", total.killPoints, order: KillPoint.allCases.map(\.rawValue))
    table("step", total.transitions, order: Coverage.everyStep)
  }

  private func table(_ title: String, _ counts: [String: Int], order: [String]) {
    print("\n| \(title) | times |\n| --- | ---: |")
    let known = order.filter { counts[$0] != nil }
    let others = counts.keys.filter { !order.contains($0) }.sorted()
    for key in known + others { print("| \(key) | \(grouped(counts[key] ?? 0)) |") }
  }

  /// 1234567 as 1,234,567.
  private func grouped(_ number: Int) -> String {
    var digits = Array(String(number))
    var place = digits.count - 3
    while place > 0 {
      digits.insert(",", at: place)
      place -= 3
    }
    return String(digits)
  }
}

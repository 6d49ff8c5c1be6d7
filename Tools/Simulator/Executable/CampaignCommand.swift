import Groundwork
import SimulatorKit

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `simulate`: many schedules, and a report.
struct CampaignCommand {
  let setup: Setup
  let seeds: ClosedRange<UInt64>
  let workers: Int
  let isJSON: Bool
  let shrinks: Bool

  func run() -> Int32 {
    let clock = SystemClock()
    let begun = clock.sinceBoot
    let report = Campaign(setup, seeds: seeds, workers: workers).run()
    let seconds = (clock.sinceBoot - begun).inSeconds
    let escaped = Escapes.count
    let naive = setup.subject == .naive ? NaiveFaults(report, shrink) : nil
    if isJSON {
      printJSON(report, seconds, escaped, naive)
    } else {
      let rate = Int(Double(report.passed + report.failed) / max(seconds, 0.001))
      print(
        "\(setup.subject.rawValue): \(report.passed + report.failed) schedules, \(report.steps) steps, "
          + "\(Int(report.elapsed.inSeconds / 3600)) h of virtual time, \(rate) schedules/s"
      )
      if let naive {
        naive.printTable()
      } else {
        Tables.print(report.coverage)
        printFindings(report)
      }
      if escaped > 0 { print("\(escaped) jobs escaped to the platform's own executors.") }
      let (passed, failed) = naive.map { ($0.found.count, $0.missing.count) } ?? (report.passed, report.failed)
      print("\(passed) passed, \(failed + (escaped > 0 ? 1 : 0)) failed")
    }
    if escaped > 0 { return 1 }
    if let naive { return naive.missing.isEmpty ? 0 : 1 }
    return report.failed == 0 ? 0 : 1
  }

  private func shrink(_ finding: Campaign.Finding) -> Shrinker.Result {
    guard shrinks else { return Shrinker.Result(violation: finding.violation, choices: finding.choices, runs: 0) }
    return Campaign.shrink(setup, finding)
  }

  private func printFindings(_ report: Campaign.Report) {
    for finding in report.findings {
      let shrunk = shrink(finding)
      let traced = Schedule(
        setup, seed: finding.seed, choices: shrunk.choices, isTraced: true, ending: .at(kind: shrunk.violation.kind)
      ).run()
      print("\n(\(finding.violation.invariant)) \(Invariant.sentence(finding.violation.invariant))")
      print("Violated by \(finding.count) schedules: \(finding.violation.kind).")
      print("seed \(finding.seed), build \(Output.buildID()), found after \(finding.schedules) schedules")
      print("simulate --replay \(finding.seed)\(setup.arguments)")
      print("choices \(ChoiceList.text(shrunk.choices))")
      if finding.count > 1 {
        print("also with the seeds \(finding.seeds.dropFirst().map(String.init).joined(separator: " "))")
      }
      print(traced.diagram.text)
    }
  }

  private func printJSON(_ report: Campaign.Report, _ seconds: Double, _ escaped: Int, _ naive: NaiveFaults?) {
    func counts(_ pairs: [(String, Int)]) -> JSONValue {
      .object(Dictionary(pairs.map { ($0.0, JSONValue.number(Double($0.1))) }, uniquingKeysWith: { _, last in last }))
    }
    let coverage = report.coverage
    let findings = report.findings.map { finding in
      let shrunk = shrink(finding)
      return JSONValue.object([
        "invariant": .number(Double(finding.violation.invariant)), "kind": .string(finding.violation.kind),
        "text": .string(shrunk.violation.text), "seed": .number(Double(finding.seed)),
        "schedules": .number(Double(finding.schedules)), "count": .number(Double(finding.count)),
        "choices": .string(ChoiceList.text(shrunk.choices)),
        "seeds": .array(finding.seeds.map { .number(Double($0)) }),
      ])
    }
    let object: [String: JSONValue] = [
      "subject": .string(setup.subject.rawValue), "build": .string(Output.buildID()),
      "schedules": .number(Double(report.passed + report.failed)), "passed": .number(Double(report.passed)),
      "failed": .number(Double(report.failed)), "steps": .number(Double(report.steps)), "seconds": .number(seconds),
      "virtualSeconds": .number(report.elapsed.inSeconds.rounded()),
      "schedulesPerSecond": .number((Double(report.passed + report.failed) / max(seconds, 0.001)).rounded()),
      "escaped": .number(Double(escaped)), "violations": .array(findings),
      "rules": counts(coverage.rules.map { ($0.text, $0.count) }),
      "transitions": counts(coverage.transitions.map { ($0.name, $0.count) }),
      "faults": counts(Mark.allCases.filter(\.isFault).map { ($0.rawValue, coverage.count($0)) }),
      "killPoints": counts(KillPoint.allCases.map { ($0.rawValue, coverage.count($0)) }),
      "missing": .array((naive?.missing ?? []).map { .string($0) }),
    ]
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      print(String(decoding: try encoder.encode(JSONValue.object(object)), as: UTF8.self))
    } catch {
      Output.complain("simulate: the report cannot be written as JSON: \(error)")
    }
  }
}

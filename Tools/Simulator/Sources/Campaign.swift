import Dispatch
import Groundwork

/// Many schedules, on every core.
package struct Campaign: Sendable {
  /// A violation as it was found first.
  package struct Finding: Sendable {
    /// What is violated.
    package var violation: Violation
    /// The seed of the schedule that shows it.
    package var seed: UInt64
    /// After how many schedules of the campaign, in the order of their seeds.
    package var schedules: Int
    /// The schedule's choices.
    package var choices: [UInt16]
    /// How many schedules show it.
    package var count: Int
    /// The lowest of their seeds, in order.
    package var seeds: [UInt64] = []

    /// Makes a finding from its parts.
    package init(violation: Violation, seed: UInt64, schedules: Int, choices: [UInt16], count: Int) {
      self.violation = violation
      self.seed = seed
      self.schedules = schedules
      self.choices = choices
      self.count = count
    }

    /// Enough to see whether they have one cause.
    static let seedLimit = 32
  }

  /// What a campaign has found.
  package struct Report: Sendable {
    /// Schedules without a violation.
    package var passed = 0
    /// Schedules with one.
    package var failed = 0
    /// Steps in all.
    package var steps = 0
    /// Virtual time in all.
    package var elapsed = Duration.zero
    /// What was reached.
    package var coverage = Coverage()
    /// The kinds of violations, the first found first.
    package var findings: [Finding] = []
  }

  private let setup: Setup
  private let seeds: ClosedRange<UInt64>
  private let workers: Int

  /// A schedule for each seed.
  package init(_ setup: Setup, seeds: ClosedRange<UInt64>, workers: Int) {
    self.setup = setup
    self.seeds = seeds
    self.workers = max(workers, 1)
  }

  private struct Progress: Sendable {
    var next: UInt64?
    var report = Report()
    var findings: [String: Finding] = [:]
  }

  /// Runs it; the result does not depend on the number of workers.
  package func run() -> Report {
    let progress = Guarded(Progress(next: seeds.lowerBound))
    DispatchQueue.concurrentPerform(iterations: workers) { _ in
      while let seed = takeSeed(progress) { runOne(seed, progress) }
    }
    return progress.withLock { progress in
      progress.report.findings = progress.findings.values.sorted {
        ($0.seed, $0.violation.kind) < ($1.seed, $1.violation.kind)
      }
      return progress.report
    }
  }

  private func takeSeed(_ progress: Guarded<Progress>) -> UInt64? {
    progress.withLock { progress in
      guard let seed = progress.next else { return nil }
      progress.next = seed < seeds.upperBound ? seed + 1 : nil
      return seed
    }
  }

  private func runOne(_ seed: UInt64, _ progress: Guarded<Progress>) {
    // The naive design has many faults a schedule: it goes on, so that the frequent ones do not hide the rare ones.
    let outcome = Schedule(setup, seed: seed, ending: setup.subject == .engine ? .atFirst : .atEnd).run()
    progress.withLock { progress in
      if outcome.violations.isEmpty { progress.report.passed += 1 } else { progress.report.failed += 1 }
      progress.report.steps += outcome.steps
      progress.report.elapsed += outcome.elapsed
      progress.report.coverage.add(outcome.coverage)
      for violation in outcome.violations {
        var finding =
          progress.findings[violation.kind]
          ?? Finding(violation: violation, seed: seed, schedules: 0, choices: outcome.choices, count: 0)
        finding.count += 1
        finding.seeds.append(seed)
        finding.seeds.sort()
        if finding.seeds.count > Finding.seedLimit { finding.seeds.removeLast() }
        if seed <= finding.seed {
          finding.seed = seed
          finding.violation = violation
          finding.choices = outcome.choices
          finding.schedules = Int(clamping: seed - seeds.lowerBound) + 1
        }
        progress.findings[violation.kind] = finding
      }
    }
  }

  /// The simplest schedule that shows a finding.
  package static func shrink(_ setup: Setup, _ finding: Finding) -> Shrinker.Result {
    Shrinker.shrink(setup, seed: finding.seed, choices: finding.choices, violation: finding.violation)
  }
}

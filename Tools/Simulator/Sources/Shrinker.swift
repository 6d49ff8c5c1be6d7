/// Finds the simplest schedule that still shows a violation: delta debugging over its choice list.
///
/// Lower and shorter lists are simpler schedules, so it zeroes and removes runs of choices, large ones first, then lowers single ones, for
/// as long as the same kind of violation is found.
package struct Shrinker: Sendable {
  /// A violation and the simplest schedule that was found to show it.
  package struct Result: Sendable {
    /// What is violated.
    package var violation: Violation
    /// The choices that lead there.
    package var choices: [UInt16]
    /// How many schedules were run to find it.
    package var runs: Int

    /// Makes a result from its parts.
    package init(violation: Violation, choices: [UInt16], runs: Int) {
      self.violation = violation
      self.choices = choices
      self.runs = runs
    }
  }

  let setup: Setup
  let seed: UInt64
  let kind: String
  let budget: Int
  private var runs = 0

  /// - Parameter budget: how many schedules it may run.
  init(setup: Setup, seed: UInt64, kind: String, budget: Int) {
    self.setup = setup
    self.seed = seed
    self.kind = kind
    self.budget = budget
  }

  /// Shrinks a schedule that is known to show the violation.
  static func shrink(
    _ setup: Setup, seed: UInt64, choices: [UInt16], violation: Violation, budget: Int = 12_000
  ) -> Result {
    var shrinker = Shrinker(
      setup: setup, seed: seed, kind: violation.kind, budget: budget)
    var best = Candidate(choices: choices.trimmed, weight: .max, violation: violation)
    if let same = shrinker.attempt(choices.trimmed, better: .max) { best = same }
    var isBetter = true
    while isBetter, shrinker.runs < budget {
      isBetter = false
      for step in [Step.cut, .zero, .lower] {
        if let better = shrinker.pass(step, over: best) {
          best = better
          isBetter = true
        }
      }
    }
    return Result(violation: best.violation, choices: best.choices, runs: shrinker.runs)
  }

  private enum Step { case cut, zero, lower }

  private struct Candidate {
    var choices: [UInt16]
    var weight: Int
    var violation: Violation
  }

  /// One pass of one kind, with runs of halving length; nil if nothing became simpler.
  private mutating func pass(_ step: Step, over start: Candidate) -> Candidate? {
    var best = start
    var length = step == .lower ? 1 : max(best.choices.count / 2, 1)
    while length >= 1, runs < budget {
      var index = 0
      while index < best.choices.count, runs < budget {
        let range = index..<min(index + length, best.choices.count)
        var found = false
        for choices in Self.simpler(best.choices, range, step) {
          if let candidate = attempt(choices, better: best.weight) {
            best = candidate
            found = true
            break
          }
        }
        // After a cut the next run stands at the same place.
        if !(found && step == .cut) { index += length }
      }
      length /= 2
    }
    return best.weight < start.weight ? best : nil
  }

  private static func simpler(_ choices: [UInt16], _ range: Range<Int>, _ step: Step) -> [[UInt16]] {
    guard !range.isEmpty else { return [] }
    var changed = choices
    switch step {
    case .cut:
      changed.removeSubrange(range)
      return [changed.trimmed]
    case .zero:
      guard choices[range].contains(where: { $0 != 0 }) else { return [] }
      for index in range { changed[index] = 0 }
      return [changed.trimmed]
    case .lower:
      let value = choices[range.lowerBound]
      return Set([1, value / 2, value &- 1]).filter { $0 > 0 && $0 < value }.sorted().map { lower in
        changed[range.lowerBound] = lower
        return changed
      }
    }
  }

  private mutating func attempt(_ choices: [UInt16], better weight: Int) -> Candidate? {
    guard runs < budget else { return nil }
    runs += 1
    let outcome = Schedule(setup, seed: seed, choices: choices, ending: .at(kind: kind)).run()
    guard let violation = outcome.violations.first(where: { $0.kind == kind }) else { return nil }
    let kept = Array(outcome.choices.prefix(choices.count)).trimmed
    let found = Self.weight(kept, outcome.steps)
    guard found < weight else { return nil }
    return Candidate(choices: kept, weight: found, violation: violation)
  }

  /// Few departures from calm count most, then few steps, then low numbers.
  private static func weight(_ choices: [UInt16], _ steps: Int) -> Int {
    let departures = choices.count { $0 != 0 }
    return departures * 100_000 + min(steps, 9_999) * 10 + min(choices.reduce(0) { $0 + Int($1) }, 9_999) / 1000
      + choices.count
  }
}

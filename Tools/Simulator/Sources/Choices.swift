import Groundwork

/// Numbers from a seed (SplitMix64): ids, jitter and tokens, which no schedule chooses.
struct Dice: Sendable {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number from 0 up to but not including 1.
  mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }
}

/// Every decision of a schedule: drawn from a seed, or read from a list, and written down either way.
///
/// 0 is always the calm decision: the job that waits longest, no delay, no fault. A list that is used up goes on with 0, so a shorter or
/// lower list is a simpler schedule: that is what shrinking works on.
final class Choices: Sendable {
  fileprivate struct State: Sendable {
    var dice: Dice
    var script: [UInt16]?
    var taken: [UInt16] = []
  }

  private let state: Guarded<State>

  /// Draws from the seed, or reads `script`.
  init(seed: UInt64, script: [UInt16]?) {
    state = Guarded(State(dice: Dice(seed: seed), script: script))
  }

  /// What was decided so far.
  var taken: [UInt16] { state.withLock { $0.taken } }

  /// A number below `count`.
  func pick(_ count: Int) -> Int {
    guard count > 1 else { return 0 }
    return state.withLock { state in
      state.take(below: count) { Int($0.next() % UInt64(count)) }
    }
  }

  /// The index of a weight, drawn in proportion to the weights.
  func pick(weights: [Int]) -> Int {
    state.withLock { state in
      state.take(below: weights.count) { dice in
        var rest = Int(dice.next() % UInt64(max(weights.reduce(0, +), 1)))
        for (index, weight) in weights.enumerated() {
          rest -= weight
          if rest < 0 { return index }
        }
        return 0
      }
    }
  }

  /// Yes in so many of a hundred cases; no is the calm answer.
  func chance(_ percent: Int) -> Bool { pick(weights: [100 - percent, percent]) == 1 }
}

extension Choices.State {
  fileprivate mutating func take(below count: Int, _ draw: (inout Dice) -> Int) -> Int {
    let value: Int
    if let script {
      value = taken.count < script.count ? Int(script[taken.count]) % count : 0
    } else {
      value = draw(&dice)
    }
    taken.append(UInt16(truncatingIfNeeded: value))
    return value
  }
}

/// A choice list as text: numbers between points, 0 left out, and no zeros at the end.
package enum ChoiceList {
  package static func text(_ choices: [UInt16]) -> String {
    choices.trimmed.map { $0 == 0 ? "" : String($0) }.joined(separator: ".")
  }

  /// Nil if the text is no choice list.
  package static func parse(_ text: String) -> [UInt16]? {
    var choices: [UInt16] = []
    for part in text.split(separator: ".", omittingEmptySubsequences: false) {
      guard !part.isEmpty else {
        choices.append(0)
        continue
      }
      guard let value = UInt16(part) else { return nil }
      choices.append(value)
    }
    return choices
  }
}

extension [UInt16] {
  /// The list without the zeros at its end, which stand there anyway.
  var trimmed: [UInt16] {
    guard let last = lastIndex(where: { $0 != 0 }) else { return [] }
    return Array(self[...last])
  }
}

/// A seeded generator (SplitMix64): one seed, one run.
struct Dice: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number below `limit`; 0 for a limit of 0.
  mutating func below(_ limit: Int) -> Int {
    limit > 0 ? Int(next() % UInt64(limit)) : 0
  }

  /// True in `percent` of 100 cases.
  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  /// One of them; the fallback if there is none.
  mutating func pick<Element>(_ elements: [Element], else fallback: Element) -> Element {
    elements.isEmpty ? fallback : elements[below(elements.count)]
  }

  mutating func pick(_ words: [String]) -> String { pick(words, else: "") }
}

extension [UInt8] {
  /// Does some kinds of damage that a broken client, a proxy or an enemy could do.
  mutating func damage(_ dice: inout Dice) {
    for _ in 0...dice.below(4) {
      let at = dice.below(count)
      switch dice.below(8) {
      case 0 where !isEmpty: self[at] ^= 1 << UInt8(dice.below(8))
      case 1 where !isEmpty: self[at] = UInt8(truncatingIfNeeded: dice.next())
      case 2: removeSubrange(at..<Swift.min(count, at + dice.below(16)))
      case 3: insert(contentsOf: (0..<dice.below(16)).map { _ in UInt8(truncatingIfNeeded: dice.next()) }, at: at)
      case 4: removeLast(dice.below(Swift.min(count + 1, 40)))
      case 5: insert(contentsOf: self[at..<Swift.min(count, at + dice.below(64))], at: dice.below(count + 1))
      case 6:
        let tricks: [String] = [
          "\r\n", "\n", "\r", "\0", " ", "\t", ":", ": ", "+", "0x", "-1", "\r\n\r\n", "%", "%00", "%2e%2e", "..", "//",
          "\"",
          "{", "[", "\\u0000", "\\ud800", "1e999", "9223372036854775808", "\u{FEFF}", "💥", "é",
        ]
        insert(contentsOf: Array(dice.pick(tricks).utf8), at: at)
      default: append(UInt8(truncatingIfNeeded: dice.next()))
      }
    }
  }
}

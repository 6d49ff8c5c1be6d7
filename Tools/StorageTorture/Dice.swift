/// A seeded generator (SplitMix64): one seed, one run.
struct Dice: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  /// The generator of one input: it depends on nothing that went before, so that any input can be made again alone.
  init(seed: UInt64, input: UInt64) {
    self.init(seed: seed ^ (input &+ 1) &* 0x9e37_79b9_7f4a_7c15)
    _ = next()
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// A number below `limit`; 0 for a limit of 0.
  mutating func below(_ limit: Int) -> Int {
    limit > 0 ? Int(next() % UInt64(limit)) : 0
  }

  /// True in `percent` of 100 cases.
  mutating func chance(_ percent: Int) -> Bool {
    below(100) < percent
  }
}

extension [UInt8] {
  /// Does one to eight kinds of damage that a disk, a program or an enemy could do.
  mutating func damage(_ dice: inout Dice) {
    for _ in 0...dice.below(8) {
      let at = dice.below(count)
      switch dice.below(9) {
      case 0 where !isEmpty: self[at] ^= 1 << UInt8(dice.below(8))
      case 1 where !isEmpty: self[at] = UInt8(truncatingIfNeeded: dice.next())
      case 2: removeSubrange(at..<Swift.min(count, at + dice.below(16)))
      case 3: insert(contentsOf: (0..<dice.below(16)).map { _ in UInt8(truncatingIfNeeded: dice.next()) }, at: at)
      case 4: removeLast(dice.below(count + 1))
      case 5: insert(contentsOf: self[at..<Swift.min(count, at + dice.below(64))], at: dice.below(count + 1))
      case 6 where count >= at + 4:
        // A length where there may be one: none, all, or just too much.
        let lengths: [UInt32] = [
          0, 1, UInt32(clamping: count), .max, .max / 2, 0x8000_0000, UInt32(clamping: count - at),
        ]
        let length = lengths[dice.below(lengths.count)]
        for offset in 0..<4 { self[at + offset] = UInt8(truncatingIfNeeded: length >> UInt32(24 - 8 * offset)) }
      case 7 where count >= at + 8:
        // A number that is one of the unlucky ones: NaN, infinity, the largest, the smallest.
        let numbers: [UInt64] = [0x7ff8_0000_0000_0001, 0x7ff0_0000_0000_0000, .max, 1 << 63, 0xffef_ffff_ffff_ffff]
        let number = numbers[dice.below(numbers.count)]
        for offset in 0..<8 { self[at + offset] = UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * offset)) }
      default: append(UInt8(truncatingIfNeeded: dice.next()))
      }
    }
  }

  /// Damage to a file of pages: pages swapped, doubled, emptied, cut off, or single bytes changed.
  mutating func damagePages(_ dice: inout Dice, size: Int = 4096) {
    let pages = count / size
    for _ in 0...dice.below(4) {
      let (one, other) = (dice.below(pages) * size, dice.below(pages) * size)
      guard count >= Swift.max(one, other) + size, pages > 0 else { return damage(&dice) }
      switch dice.below(8) {
      case 0: replaceSubrange(one..<(one + size), with: Array(self[other..<(other + size)]))
      case 1: replaceSubrange(one..<(one + size), with: repeatElement(0, count: size))
      case 2: removeLast(dice.below(count))
      case 3:
        let start = one + dice.below(size)
        for index in start..<Swift.min(count, start + dice.below(256)) {
          self[index] = UInt8(truncatingIfNeeded: dice.next())
        }
      case 4: self[dice.below(Swift.min(count, 100))] = UInt8(truncatingIfNeeded: dice.next())
      case 5: append(contentsOf: self[one..<(one + size)])
      default: self[dice.below(count)] ^= 1 << UInt8(dice.below(8))
      }
    }
  }
}

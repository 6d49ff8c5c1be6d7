internal import Groundwork

/// Random numbers that a test has chosen: given ones in a circle, or a seeded stream.
///
/// Its `next` fits where the code under test takes its jitter from: a number from 0 up to 1.
public final class SequenceRandom: Sendable {
  private let values: [Double]
  private let state: Guarded<UInt64>

  /// Gives the values in order, again and again; an empty list gives zeros.
  public init(_ values: [Double]) {
    self.values = values.isEmpty ? [0] : values
    state = Guarded(0)
  }

  /// Gives the stream of a seed: equal seeds, equal numbers (SplitMix64).
  public init(seed: UInt64) {
    values = []
    state = Guarded(seed)
  }

  /// The next number, from 0 up to but not including 1.
  public func next() -> Double {
    state.withLock { state in
      guard values.isEmpty else {
        let value = values[Int(state % UInt64(values.count))]
        state += 1
        return value
      }
      state &+= 0x9E37_79B9_7F4A_7C15
      var bits = state
      bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
      bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
      bits ^= bits >> 31
      return Double(bits >> 11) * 0x1p-53
    }
  }
}

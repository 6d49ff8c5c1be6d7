import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The real clocks, moved ahead: what makes a token expire without waiting for it.
final class ShiftedClock: TimeSource {
  private let shift = Guarded(Duration.zero)

  var wallClock: Date { clock.wallClock.addingTimeInterval(shift.withLock { $0 }.inSeconds) }
  var sinceBoot: Duration { clock.sinceBoot + shift.withLock { $0 } }
  var bootID: String { clock.bootID }

  func sleep(for duration: Duration) async throws { try await clock.sleep(for: duration) }

  /// Moves both clocks ahead.
  func advance(by duration: Duration) { shift.withLock { $0 += duration } }
}

public import Groundwork

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A clock on which every wait is over at once: sleeping moves the time on by what was asked for.
///
/// Bounds of many seconds pass in microseconds, and a loop that waits without a bound would show as a test that never
/// ends.
public final class LeapingClock: TimeSource {
  private struct Reading {
    var wall: Date
    var sinceBoot: Duration
  }

  private let reading: Guarded<Reading>
  public let bootID: String

  /// Makes a clock that stands at the given readings.
  public init(
    wallClock: Date = Date(timeIntervalSince1970: 1_800_000_000), sinceBoot: Duration = .seconds(1000),
    bootID: String = "test-boot"
  ) {
    reading = Guarded(Reading(wall: wallClock, sinceBoot: sinceBoot))
    self.bootID = bootID
  }

  public var wallClock: Date { reading.withLock { $0.wall } }
  public var sinceBoot: Duration { reading.withLock { $0.sinceBoot } }

  public func sleep(for duration: Duration) async throws {
    try Task.checkCancellation()
    advance(by: duration)
    await Task.yield()
    try Task.checkCancellation()
  }

  /// Moves both clocks on; a duration of zero or less does nothing.
  public func advance(by duration: Duration) {
    guard duration > .zero else { return }
    reading.withLock { reading in
      reading.wall.addTimeInterval(duration.inSeconds)
      reading.sinceBoot += duration
    }
  }

  /// Sets the wall clock alone, as a person or a time server does.
  public func setWallClock(_ date: Date) {
    reading.withLock { $0.wall = date }
  }
}

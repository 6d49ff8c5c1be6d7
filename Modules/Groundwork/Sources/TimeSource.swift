#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Where logic gets the time from: a wall clock, a reading that no one can set, and a way to wait.
///
/// Nothing in this project asks the system for the time in its logic; it is handed a `TimeSource`, so that a test decides
/// what time it is (rule S4 needs both clocks).
public protocol TimeSource: Sendable {
  /// The wall clock: may be wrong, and may jump either way at any moment.
  var wallClock: Date { get }

  /// Time since the machine was started, suspension included: never goes back while the machine runs.
  var sinceBoot: Duration { get }

  /// Names this start of the machine: two readings of `sinceBoot` compare only under the same name.
  var bootID: String { get }

  /// Waits until `sinceBoot` has grown by `duration`; a duration of zero or less returns at once.
  ///
  /// - Throws: `CancellationError`, as soon as the task is cancelled.
  func sleep(for duration: Duration) async throws
}

extension Duration {
  /// The duration in seconds, as a floating-point number: exact to about 100 ns for a year.
  public var inSeconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) / 1e18
  }

  /// A duration from seconds of any value: not-a-number is zero, and what is out of range is held at 10^15 s either way.
  ///
  /// `Duration.seconds(_:)` traps on such values, and these come from the network (rule S3).
  public static func clamped(seconds: Double) -> Duration {
    guard !seconds.isNaN else { return .zero }
    return .seconds(min(max(seconds, -1e15), 1e15))
  }
}

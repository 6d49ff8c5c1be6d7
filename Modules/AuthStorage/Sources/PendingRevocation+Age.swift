#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

extension PendingRevocation {
  /// How long a row may stay in an outbox (S20), in seconds.
  package static let longestWait: Double = 24 * 60 * 60

  /// Whether the row's time is over; a row from more than a day ahead has waited too long as well, since the clock was
  /// moved.
  package func isOverdue(at now: Date) -> Bool {
    abs(now.timeIntervalSince(since)) > Self.longestWait
  }
}

import AuthStorage
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The clocks, read once (S4).
struct ClockReading: Sendable {
  var wall: Date
  var sinceBoot: Duration
  var bootID: String

  init(_ time: any TimeSource) {
    wall = time.wallClock
    sinceBoot = time.sinceBoot
    bootID = time.bootID
  }
}

/// How long a record's access token is good for: rules S2 to S4, pure.
struct TokenAge: Sendable, Hashable {
  /// When the token stops working, on the axis of `sinceBoot`; nil if unknown (S3).
  var expiry: Duration?
  /// The life below which it is refreshed (S2).
  var leeway: Duration

  init(_ record: SessionRecord, at now: ClockReading, options: SessionOptions) {
    guard let seconds = record.lifetime, let lifetime = Self.usableLifetime(seconds) else {
      expiry = nil
      leeway = .zero
      return
    }
    leeway = lifetime <= options.shortLifetime ? lifetime / 5 : options.leeway
    let age: Duration
    if record.bootID == now.bootID {
      age = now.sinceBoot - .clamped(seconds: record.sinceBootAtIssue)
    } else {
      // The lifetime runs from the issue by the server's clock; the saved skew stands on both sides and falls out.
      age = .clamped(seconds: now.wall.timeIntervalSince(record.issuedAt))
    }
    // Issued in the future: some clock is wrong, and the one safe reading is that the token is old (S4).
    expiry = age + Self.rounding < .zero ? now.sinceBoot : now.sinceBoot + lifetime - max(age, .zero)
  }

  /// A reading that went through floating point may come back later than it was.
  private static let rounding = Duration.milliseconds(1)

  /// A lifetime that means something: a server that says 0 or less has said nothing, and believing it would refresh for ever (S3).
  static func usableLifetime(_ seconds: Double) -> Duration? {
    guard seconds.isFinite, seconds > 0 else { return nil }
    return .clamped(seconds: seconds)
  }

  /// Whether the token is good for more than the leeway, or than `minimum` if that is more.
  func isGood(at sinceBoot: Duration, minimum: Duration? = nil) -> Bool {
    guard let expiry else { return true }
    return expiry - sinceBoot > max(leeway, minimum ?? .zero)
  }

  /// Whether the token still works at all (S5).
  func works(at sinceBoot: Duration) -> Bool {
    guard let expiry else { return true }
    return expiry > sinceBoot
  }
}

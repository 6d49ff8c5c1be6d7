package import AuthModels
package import Groundwork

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// Both clocks, read at one moment.
package struct TimeReading: Sendable {
  /// The wall clock.
  package var wall: Date
  /// Seconds since the machine was started.
  package var sinceBoot: Double
  /// Which start that was.
  package var bootID: String

  /// Reads the clocks.
  package init(_ time: any TimeSource) {
    wall = time.wallClock
    sinceBoot = time.sinceBoot.inSeconds
    bootID = time.bootID
  }
}

extension SessionRecord {
  /// A record for tokens of which nothing is known but what a bundle tells.
  ///
  /// A bundle does not say when it came. The record is taken to be issued now, or so long before that its life is more
  /// than a minute: a nearly expired token of an hour must not pass for one whose whole life is short, which has a
  /// smaller leeway (S2).
  package init(
    bundle: TokenBundle, sessionID: SessionID, slot: SessionSlot, profile: String, at now: TimeReading
  ) {
    let shortest: Double = 61
    let remaining = bundle.accessTokenExpiry.map { $0.timeIntervalSince(now.wall) }
    let age = remaining.map { max(0, shortest - $0) } ?? 0
    self.init(
      sessionID: sessionID, slot: slot, profile: profile, accessToken: bundle.accessToken,
      refreshToken: bundle.refreshToken, tokenType: "Bearer", scope: nil,
      issuedAt: now.wall.addingTimeInterval(-age), lifetime: remaining.map { $0 + age }, bootID: now.bootID,
      sinceBootAtIssue: now.sinceBoot - age, serverSkew: nil, user: nil)
  }

  /// The record's tokens as a plain token store keeps them.
  package var bundle: TokenBundle {
    TokenBundle(
      accessToken: accessToken, refreshToken: refreshToken,
      accessTokenExpiry: lifetime.map { issuedAt.addingTimeInterval($0) })
  }
}

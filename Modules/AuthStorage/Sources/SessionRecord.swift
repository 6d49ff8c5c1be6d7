public import AuthModels

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Names a session: minted at sign-in, kept by every rotation.
public typealias SessionID = UUID

/// Which session of a store is meant: one per server and account.
public struct SessionSlot: Sendable, Hashable, Codable {
  /// The server, canonical: scheme, lower-case host, effective port, base path (`ServerIdentity` in AuthSession makes
  /// it).
  public var server: String
  /// The account's name at that server, "default" unless the user chose one.
  public var account: String

  /// Makes a slot from its parts.
  public init(server: String, account: String = "default") {
    self.server = server
    self.account = account
  }
}

/// One session with all that is needed to use it after a restart.
public struct SessionRecord: Sendable, Hashable, Codable {
  /// Minted at sign-in; rotations keep it.
  public var sessionID: SessionID
  /// Where it stands.
  public var slot: SessionSlot
  /// The dialect that made it: `chirp`, `envelope`, `supabase`, `oauth2`.
  public var profile: String
  /// What goes into the `Authorization` header.
  public var accessToken: String
  /// What buys the next pair; may be absent.
  public var refreshToken: String?
  /// The scheme of the `Authorization` header.
  public var tokenType: String
  /// What the token may do, where the server tells.
  public var scope: String?
  /// The wall clock when the tokens came.
  public var issuedAt: Date
  /// Seconds the access token lives from `issuedAt`; nil if the server does not tell (S3).
  public var lifetime: Double?
  /// The machine's start at which `sinceBootAtIssue` was read (S4).
  public var bootID: String
  /// Seconds since that start when the tokens came (S4).
  public var sinceBootAtIssue: Double
  /// Seconds the server's clock is ahead of ours, from its `Date` header; nil if it sent none (S4).
  public var serverSkew: Double?
  /// The user, once known.
  public var user: SessionUser?
  /// The store's counter when the tokens were last changed; the store sets it, 0 before the first save.
  public var stamp: UInt64

  /// Makes a record from its parts.
  public init(
    sessionID: SessionID, slot: SessionSlot, profile: String, accessToken: String, refreshToken: String?,
    tokenType: String, scope: String?, issuedAt: Date, lifetime: Double?, bootID: String, sinceBootAtIssue: Double,
    serverSkew: Double?, user: SessionUser?, stamp: UInt64 = 0
  ) {
    self.sessionID = sessionID
    self.slot = slot
    self.profile = profile
    self.accessToken = accessToken
    self.refreshToken = refreshToken
    self.tokenType = tokenType
    self.scope = scope
    self.issuedAt = issuedAt
    self.lifetime = lifetime
    self.bootID = bootID
    self.sinceBootAtIssue = sinceBootAtIssue
    self.serverSkew = serverSkew
    self.user = user
    self.stamp = stamp
  }

  /// What compare-and-swap compares.
  public var version: SessionVersion { SessionVersion(sessionID: sessionID, stamp: stamp) }
}

extension SessionRecord: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Names the session and hides its tokens.
  public var description: String {
    "SessionRecord(\(sessionID) #\(stamp) of \(slot.account) at \(slot.server), tokens ●●●)"
  }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// A record's identity and age: equal versions hold equal tokens.
public struct SessionVersion: Sendable, Hashable, Codable {
  /// The session.
  public var sessionID: SessionID
  /// The store's counter when its tokens were last changed.
  public var stamp: UInt64

  /// Makes a version from its parts.
  public init(sessionID: SessionID, stamp: UInt64) {
    self.sessionID = sessionID
    self.stamp = stamp
  }
}

/// "This refresh token is about to be spent", written before the refresh is sent (S16). Writing one changes no stamp.
public struct RefreshIntent: Sendable, Hashable, Codable {
  /// The record whose refresh token is being spent.
  public var version: SessionVersion
  /// Names the flight.
  public var attempt: UUID
  /// When, by the wall clock: for people.
  public var startedAt: Date

  /// Makes an intent from its parts.
  public init(version: SessionVersion, attempt: UUID, startedAt: Date) {
    self.version = version
    self.attempt = attempt
    self.startedAt = startedAt
  }
}

/// "Do not refresh before": saved, so that a loop of short-lived processes honours it too (S12).
public struct RefreshCooldown: Sendable, Hashable, Codable {
  /// Passing failures in a row.
  public var failures: Int
  /// Answers in a row that the dialect's table does not know (S10).
  public var unclassified: Int
  /// The wall clock when the cooldown began.
  public var since: Date
  /// Seconds from `since` during which no refresh is sent.
  public var duration: Double

  /// Makes a cooldown from its parts.
  public init(failures: Int, unclassified: Int = 0, since: Date, duration: Double) {
    self.failures = failures
    self.unclassified = unclassified
    self.since = since
    self.duration = duration
  }
}

/// Why a slot has no session any more: shown when the user asks (S22).
public struct SignOutNote: Sendable, Hashable, Codable {
  /// The reasons of S22.
  public enum Reason: String, Sendable, Hashable, Codable {
    /// The user signed out here.
    case byUser
    /// The server refused the refresh (S10).
    case refreshRefused
    /// The session went away in another process, or at the server by somebody else.
    case elsewhere
  }

  /// Why.
  public var reason: Reason
  /// The server's code, for `refreshRefused`.
  public var serverCode: String?
  /// The refused request's id, for the server's logs.
  public var requestID: String?
  /// When, by the wall clock.
  public var at: Date

  /// Makes a note from its parts.
  public init(_ reason: Reason, serverCode: String? = nil, requestID: String? = nil, at: Date) {
    self.reason = reason
    self.serverCode = serverCode
    self.requestID = requestID
    self.at = at
  }
}

/// Tokens that are only still to be revoked (S20): unreachable through any load of a session, gone after 24 h.
public struct PendingRevocation: Sendable, Hashable, Codable, Identifiable {
  /// Names the row.
  public var id: UUID
  /// Whose they were.
  public var slot: SessionSlot
  /// The dialect that revokes them.
  public var profile: String
  /// For servers that want it, while it lives.
  public var accessToken: String?
  /// The refresh token, if there was one.
  public var refreshToken: String?
  /// When the user signed out, by the wall clock.
  public var since: Date
  /// `local`, `global` or `others`, as the sign-out asked.
  public var scope: String
  /// The stamp of the record that the tokens stood in.
  public var stamp: UInt64

  /// Makes a row from its parts.
  public init(
    id: UUID, slot: SessionSlot, profile: String, accessToken: String?, refreshToken: String?, since: Date,
    scope: String = "local", stamp: UInt64 = 0
  ) {
    self.id = id
    self.slot = slot
    self.profile = profile
    self.accessToken = accessToken
    self.refreshToken = refreshToken
    self.since = since
    self.scope = scope
    self.stamp = stamp
  }
}

extension PendingRevocation: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Names the row and hides its tokens.
  public var description: String { "PendingRevocation(\(id) of \(slot.account) at \(slot.server), tokens ●●●)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

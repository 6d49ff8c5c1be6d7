import AuthStorage
import MockServerCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What has been violated, where and when.
package struct Violation: Sendable, Hashable {
  /// The invariant's number: 1 to 10 as in the design, 11 and 12 as in Documentation/simulator.md.
  package var invariant: Int
  /// The fault in a few words, the same for all violations of its kind.
  package var kind: String
  /// What happened, with the names of this schedule.
  package var text: String
}

/// A family of tokens: what one login began. To the client it is a session.
struct Family: Sendable {
  var user = ""
  /// When a sign-out removed it from the store.
  var signedOutAt: Duration?
  var wasRemoved = false
  var wasStored = false
  /// The server refused a refresh token of it, and a process heard so.
  var wasRefused = false
}

/// A token that the server has issued.
struct TokenFact: Sendable {
  var family: Int
  var generation: Int
  /// When the request was sent that was answered with it, and the machine's start in which that was.
  var askedAt: Duration
  var boot: Int
  /// The same for each time that it was given out, with what was left of the access token's life.
  var grants: [(askedAt: Duration, lifetime: Duration)] = []
  /// The access tokens that came with a refresh token.
  var pairs: [String] = []
}

/// One sending of a refresh token.
struct Spending: Sendable {
  enum Outcome: Sendable {
    /// No answer yet.
    case pending
    /// Nobody will ever hear: lost, timed out, undecodable.
    case unknown
    case granted
    case refused
    /// Answered, or never sent: the token is not spent, as far as a client can tell.
    case notSpent
  }

  var process: LaneID
  var outcome = Outcome.pending
}

/// What is known of a living process.
struct Life: Sendable {
  var name: String
  var column: Int
  /// Its place in the order of starts and deaths.
  var order: Int
  var sight = Sight.unknown
  /// Families whose sign-in it has saved.
  var savedHere: Set<Int> = []
  /// Families that it has been in.
  var wasIn: Set<Int> = []
  /// Families that a sign-out ended here, while it has not returned yet.
  var endingHere: Set<Int> = []
  /// The same, once it has returned.
  var endedHere: Set<Int> = []
  /// Uses of a family that another process has signed out of.
  var usedAfterEnd: [Int: EndedUse] = [:]
  /// When the store could last not be asked, or the process went on after it had been stopped.
  var blindUntil = Duration.zero
  /// Families that it has told the server to revoke.
  var revoked: Set<Int> = []
  /// Refresh tokens that it knows to be spent or refused, and could not say so in the store, which still holds them.
  var untold: Set<String> = []
  /// Families that it has left, and could not say so in the store.
  var untoldFamilies: Set<Int> = []
  /// The refresh token that the store showed it last.
  var seen: String?
  /// Refresh tokens that answers brought here.
  var refreshTokens: [String] = []
  /// Access tokens that a 401 refused here.
  var refusedAccess: Set<String> = []
  /// When a caller last asked for a refresh whatever the token's age.
  var forcedAt: Duration?
  var hasTriedLock = false
}

/// How a process has used a session that is over, without knowing.
struct EndedUse: Sendable {
  /// The first use since then, or since the store could last not be asked.
  var first: Duration
  /// The first use half a second later: the store has been asked beside it.
  var asked: Duration?
}

/// A call under way.
struct PendingCall: Sendable {
  var process: LaneID
  var operation: Operation
  var begunAt: Duration
  var bound: Duration
  var family: Int?
  var isCancelled = false
  var cancelledAt: Duration?
  /// How often it has sent its request.
  var sends = 0
  /// Whether its process has sent a refresh since it began.
  var sentRefresh = false
}

/// What is sent.
struct Sending: Sendable {
  var operation: String
  var bearer: String?
  var refreshToken: String?
  var call: Int?
}

public import AuthModels
public import AuthStorage

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Whether a session is there, as far as this process knows (S22).
public enum SessionState: Sendable, Hashable {
  /// The store has not answered yet.
  case unknown
  /// The store could not answer; it is asked again on the next access. Never means signed out (S21).
  case unavailable(StoreError)
  /// No session, and why.
  case signedOut(SignedOutReason)
  /// A session is there.
  case signedIn(SessionSummary)
}

/// Why there is no session (S22): the last reason is kept in the store, so that "why was I signed out?" has an answer after a restart.
public enum SignedOutReason: Sendable, Hashable {
  /// No one has signed in here.
  case neverSignedIn
  /// The user signed out here.
  case byUser
  /// The server refused the refresh; its code and the request's id, where known.
  case refreshRefused(code: String?, requestID: String?)
  /// Another process signed out, or the session was taken away by somebody else.
  case elsewhere

  init(_ note: SignOutNote?) {
    switch note?.reason {
    case nil: self = .neverSignedIn
    case .byUser: self = .byUser
    case .elsewhere: self = .elsewhere
    case .refreshRefused: self = .refreshRefused(code: note?.serverCode, requestID: note?.requestID)
    }
  }
}

/// A session without its secrets.
public struct SessionSummary: Sendable, Hashable, Identifiable {
  /// The session: minted at sign-in, kept by every rotation.
  public var id: SessionID
  /// Server and account.
  public var slot: SessionSlot
  /// The dialect that made it.
  public var profile: String
  /// The user, once known.
  public var user: SessionUser?
  /// When the current tokens came, by the wall clock of that moment.
  public var issuedAt: Date
  /// When the access token stops working, by the same clock; nil if the server does not tell (S3).
  public var accessTokenExpiry: Date?
  /// Whether the session can renew itself.
  public var hasRefreshToken: Bool
  /// How often the store has changed this store's tokens; grows with each rotation.
  public var stamp: UInt64
  /// Whether the newest tokens could not be saved yet (S13).
  public var isUnsaved: Bool
  /// Refresh answers in a row that the dialect's table does not know; 5 and more are worth a look (S10).
  public var unclassifiedRefreshAnswers: Int
}

/// A state and its place in the order of states: a higher sequence is newer (S23).
public struct SessionSnapshot: Sendable, Hashable {
  /// Grows by one with each change.
  public var sequence: UInt64
  /// The state.
  public var state: SessionState
}

/// What happened to the session (S23).
public enum SessionEvent: Sendable, Hashable {
  /// A sign-in was saved.
  case signedIn(SessionID)
  /// The session is over here.
  case signedOut(SessionID, SignedOutReason)
  /// New tokens are in use.
  case refreshed(SessionID)
  /// A refresh failed for a passing reason; the session stays.
  case refreshFailing(SessionID, SessionError)
  /// The fifth answer in a row that the dialect's table does not know, or a later one (S10).
  case unclassifiedRefreshAnswers(SessionID, count: Int)
  /// New tokens or a sign-out could not be saved; saving is retried (S13, S20).
  case persistenceFailed(SessionID, StoreError)
  /// What could not be saved has been saved.
  case persistenceRecovered(SessionID)
  /// Another process has refreshed the session; its tokens are in use here now (S11).
  case adopted(SessionID)
  /// Another session stands in this one's place; the engine follows it (S11).
  case replaced(SessionID, by: SessionID)
  /// A caller asked for more life than the server gives (S2).
  case lifetimeShorterThanAsked(SessionID)
  /// This subscriber was too slow: so many events were dropped before the next one.
  case missed(Int)
}

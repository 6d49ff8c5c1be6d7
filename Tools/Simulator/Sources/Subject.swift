import AuthModels

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a caller asks of the client under test.
enum Operation: Sendable, Hashable {
  /// `GET /me` with the session's token; the answer is the user's email.
  case me
  case token
  /// A token with more life than usual.
  case longToken(Duration)
  case refresh
  case user
  case signIn(email: String)
  case signOut
  /// Signs out until nobody is signed in.
  case signOutWhoever
  case restore
  case flush
  /// Watches the store for so long, for what other processes do (S17).
  case watch(Duration)

  var name: String {
    switch self {
    case .me: "GET /me"
    case .token: "validAccessToken"
    case .longToken: "validAccessToken, long"
    case .refresh: "refresh"
    case .user: "currentUser"
    case .signIn(let email): "sign in \(email.prefix { $0 != "@" })"
    case .signOut: "sign out"
    case .signOutWhoever: "sign out whoever"
    case .restore: "restore"
    case .flush: "flush revocations"
    case .watch: "watch"
    }
  }

  /// Whether a cancelled caller returns at once, leaving everything behind it going on (S7).
  var endsAtOnceWhenCancelled: Bool {
    switch self {
    case .me, .token, .longToken, .refresh: true
    case .user, .signIn, .signOut, .signOutWhoever, .restore, .flush, .watch: false
    }
  }

  /// Whether it signs the user out.
  var isSignOut: Bool { self == .signOut || self == .signOutWhoever }

  var isWatch: Bool {
    if case .watch = self { true } else { false }
  }
}

/// How a call ended, in the terms of the invariants.
enum CallOutcome: Sendable, Hashable {
  /// It did what it was asked; an answer's text, if there is one.
  case done(String?)
  case token(String)
  /// Nobody is signed in.
  case notSignedIn
  /// The session that the call belonged to is over, or replaced.
  case sessionOver
  /// It failed for a reason that passes.
  case passing(String)
  case storage(String)
  case unauthorized
  case cancelled
  case other(String)

  var name: String {
    switch self {
    case .done(let text): text.map { "done: \($0)" } ?? "done"
    case .token: "a token"
    case .notSignedIn: "not signed in"
    case .sessionOver: "session over"
    case .passing(let text): "failed, passing: \(text)"
    case .storage(let text): "store: \(text)"
    case .unauthorized: "unauthorized"
    case .cancelled: "cancelled"
    case .other(let text): "failed: \(text)"
    }
  }
}

/// What a process believes about its session.
enum Sight: Sendable, Hashable {
  /// Why it believes that there is no session.
  enum Reason: Sendable, Hashable {
    case neverSignedIn, byUser, refused, elsewhere, failure
  }

  case unknown
  case unavailable
  case signedOut(Reason)
  case session(UUID)
  /// A design that has no session ids: the token that it holds.
  case holding(String)
}

/// A client under test in one process.
protocol Subject: Sendable {
  var sight: Sight { get }
  /// Starts whatever watches the session.
  func observe()
  /// Ends the watching: the process has ended.
  func close()
  func perform(_ operation: Operation, call: Int) async -> CallOutcome
  /// The longest that a call may take by the client's own documentation (invariant 8).
  func bound(_ operation: Operation) -> Duration
  /// What is wrong about what observers were told, if anything (invariant 9).
  func observerFault() -> String?
}

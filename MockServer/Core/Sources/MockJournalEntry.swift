#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// In whose wire format a request is.
public enum MockDialect: String, Sendable, Hashable, CaseIterable {
  case chirp, envelope, supabase, oauth2
  /// No dialect has such an endpoint.
  case none
}

/// What became of a request, as the server sees it: finer than the status, the same words in every dialect.
public enum MockOutcome: String, Sendable, Hashable, CaseIterable {
  /// Done: `me`, `feed`, `post`.
  case ok
  /// Register: there is a new user.
  case registered
  /// Login: there is a new session.
  case issued
  /// Refresh: a new pair, the presented refresh token is spent.
  case rotated
  /// Refresh without rotation: a new access token.
  case refreshed
  /// Refresh: a spent token got the current pair once more (policies `grace`, `parent-ok`, `gotrue`).
  case repeated
  /// Logout: the family has ended.
  case signedOut = "signed-out"
  /// Logout with a refresh token that is unknown or has ended already: answered like the other.
  case nothingToRevoke = "nothing-to-revoke"
  /// A repeated `Idempotency-Key`: the first answer once more, nothing done.
  case replayed
  /// Login: wrong email, username or password.
  case invalidCredentials = "invalid-credentials"
  /// Register: the email has an account.
  case emailTaken = "email-taken"
  /// Register: the username has an account.
  case usernameTaken = "username-taken"
  /// A field is missing or not as it should be.
  case validationFailed = "validation-failed"
  /// An `Idempotency-Key` that came with another body before.
  case idempotencyConflict = "idempotency-conflict"
  /// Refresh: no such token was ever issued, or it is long forgotten.
  case unknownGrant = "unknown-grant"
  /// Refresh: the token, or its whole family, was revoked.
  case revokedGrant = "revoked-grant"
  /// Refresh: the token has expired.
  case expiredGrant = "expired-grant"
  /// Refresh: the token was spent before; its family has ended now.
  case reuseDetected = "reuse-detected"
  /// An authed request without a bearer token.
  case noToken = "no-token"
  /// An authed request whose token was never issued, or is long forgotten.
  case unknownToken = "unknown-token"
  /// An authed request whose token has expired.
  case expiredToken = "expired-token"
  /// An authed request whose token, or whose session, was revoked.
  case revokedToken = "revoked-token"
  /// The password is too easy to guess.
  case weakPassword = "weak-password"
  /// The API key is missing, or none of the realm's.
  case badAPIKey = "bad-api-key"
  /// There is no such grant.
  case unsupportedGrant = "unsupported-grant"
  /// OAuth 2: no such client, or it has not proved to be the one.
  case invalidClient = "invalid-client"
  /// OAuth 2: the client may not use this grant.
  case unauthorizedClient = "unauthorized-client"
  /// OAuth 2: the client cannot have this scope.
  case invalidScope = "invalid-scope"
  /// OAuth 2: the redirect address is not registered, or not that of the authorization request.
  case redirectMismatch = "redirect-mismatch"
  /// OAuth 2: the verifier does not belong to the challenge.
  case pkceFailed = "pkce-failed"
  /// OAuth 2: the user has said no.
  case denied
  /// OAuth 2: a device asks before the user has decided.
  case authorizationPending = "authorization-pending"
  /// OAuth 2: a device asks too often.
  case slowDown = "slow-down"
  /// The user is banned.
  case banned
  /// Login: the address has not been confirmed.
  case unconfirmed
  /// The token is good, but not for this.
  case notAllowed = "not-allowed"
  /// Too many tries.
  case rateLimited = "rate-limited"
  /// The body does not parse, or a header makes no sense.
  case badRequest = "bad-request"
  /// The body is not JSON.
  case unsupportedMediaType = "unsupported-media-type"
  /// The body is too large.
  case tooLarge = "too-large"
  /// The endpoint has no such method.
  case methodNotAllowed = "method-not-allowed"
  /// There is no such endpoint.
  case notFound = "not-found"
  /// No proper HTTP; `malformed` says why.
  case malformed
  /// A script answered; the operation was not done.
  case scripted
  /// A script broke the connection before the operation was done.
  case lost
  /// A browser's preflight request, which the policy's `cors` has answered.
  case preflight
  /// A script with `then: fail` was used up.
  case scriptExhausted = "script-exhausted"
  /// A script keeps the operation itself back; another outcome follows.
  case pending
}

/// One request, as the journal has it: no token and no password in it.
public struct MockJournalEntry: Sendable, Hashable {
  /// 1, 2, 3 … in the order of arrival.
  public var seq: Int
  /// When it arrived, on the realm's clock.
  public var at: Date
  /// The realm.
  public var realm: String
  /// The dialect of the endpoint.
  public var dialect: MockDialect
  /// What it asks for.
  public var operation: MockOperation
  /// The method, at most 32 bytes of it.
  public var method: String
  /// The path without the realm's prefix and the query, at most 256 bytes of it; what looks like a token is masked.
  public var path: String
  /// The answer's status, also if it broke on the wire; 0 while the operation is kept back.
  public var status: Int
  /// The session that it belongs to or has begun, as far as its tokens tell.
  public var sessionID: String?
  /// Which pair of the session the access token came with (0: the login's), in an authed request; the spent refresh token's in a refresh.
  public var generation: Int?
  /// What became of it.
  public var outcome: MockOutcome
  /// How its answer was broken by a script.
  public var fault: MockBreak?
  /// What was wrong with it as HTTP.
  public var malformed: String?
  /// 1, or more for a retry: the request has the `X-Request-ID` or `Idempotency-Key` of an earlier one of the same method and
  /// path; or the same method, path and body as one that failed right before (broken, 401, 408, 425, 429, 5xx).
  public var attempt: Int
  /// The client's `X-Request-ID`, or the one that the server made up.
  public var requestID: String
  /// The script that it nearly was for, and why it was not, if no script took it.
  public var nearMiss: MockNearMiss?
}

/// Which journal entries count; nil means any.
public struct MockJournalFilter: Sendable, Hashable {
  /// The operation, in any dialect.
  public var operation: MockOperation?
  /// The method, as the journal has it.
  public var method: String?
  /// The path, as the journal has it: without the realm's prefix and the query.
  public var path: String?
  /// The status of the answer.
  public var status: Int?
  /// What became of it.
  public var outcome: MockOutcome?

  /// Makes a filter.
  public init(
    operation: MockOperation? = nil, method: String? = nil, path: String? = nil, status: Int? = nil,
    outcome: MockOutcome? = nil
  ) {
    self.operation = operation
    self.method = method
    self.path = path
    self.status = status
    self.outcome = outcome
  }
}

extension MockJournalEntry {
  /// The entry as the admin API sends it.
  func write(to writer: inout JSONWriter) {
    writer.object { json in
      json.member("seq", seq)
      json.member("at", MockInstant(at).text)
      json.member("realm", realm)
      json.member("dialect", dialect.rawValue)
      json.member("operation", operation.rawValue)
      json.member("method", method)
      json.member("path", path)
      json.member("status", status)
      if let sessionID { json.member("sessionID", sessionID) }
      if let generation { json.member("generation", generation) }
      json.member("outcome", outcome.rawValue)
      if let fault { json.member("fault", fault.rawValue) }
      if let malformed { json.member("malformed", malformed) }
      json.member("attempt", attempt)
      json.member("requestID", requestID)
      if let nearMiss {
        json.key("nearMiss")
        json.object { json in
          json.member("script", nearMiss.script)
          json.member("reason", nearMiss.reason)
        }
      }
    }
  }
}

public import AuthModels
public import AuthStorage

/// Why the session engine could not do what it was asked.
///
/// Decide by `code`; `message` is for a person and holds no secret.
public struct SessionError: Error, Sendable, Hashable {
  /// What the caller can do about it.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// Nobody is signed in: sign in.
    case notLoggedIn
    /// The session that the request belonged to is over (S18).
    case sessionEnded
    /// The session that the request belonged to has been replaced by another one (S18).
    case sessionReplaced
    /// The refresh failed for a passing reason: try again, after `retryAfter` if there is one (S10, S12).
    case refreshFailed
    /// Fresh tokens keep being refused: something is wrong at the server; refreshing pauses (S12).
    case tooManyRefreshes
    /// Another process holds the refresh lock longer than the bound: try again (S15).
    case busy
    /// The store could not do its part; `storeError` says why (S21).
    case storage
  }

  /// What the caller can do about it.
  public var code: Code
  /// One sentence for a person.
  public var message: String
  /// The call's error behind it, if there is one.
  public var apiError: APIError?
  /// The store's error behind it, if there is one.
  public var storeError: StoreError?
  /// How long to wait before trying again.
  public var retryAfter: Duration?
  /// Why nobody is signed in, for `notLoggedIn` and `sessionEnded`.
  public var signedOutReason: SignedOutReason?

  /// Makes an error from its parts.
  public init(
    _ code: Code, message: String, apiError: APIError? = nil, storeError: StoreError? = nil,
    retryAfter: Duration? = nil, signedOutReason: SignedOutReason? = nil
  ) {
    self.code = code
    self.message = message
    self.apiError = apiError
    self.storeError = storeError
    self.retryAfter = retryAfter
    self.signedOutReason = signedOutReason
  }
}

extension SessionError: CustomStringConvertible {
  public var description: String { message }
}

extension SessionError {
  static func notLoggedIn(_ reason: SignedOutReason) -> SessionError {
    let message =
      switch reason {
      case .neverSignedIn: "Nobody is signed in."
      case .byUser: "Nobody is signed in: you signed out."
      case .refreshRefused(let code, _):
        "The session is over: the server refused to renew it\(code.map { " (\($0))" } ?? "")."
      case .elsewhere: "The session is over: it was signed out elsewhere."
      }
    return SessionError(.notLoggedIn, message: message, signedOutReason: reason)
  }

  static func ended(_ reason: SignedOutReason) -> SessionError {
    SessionError(
      .sessionEnded, message: "The session ended while the request was under way.", signedOutReason: reason)
  }

  static let replaced = SessionError(
    .sessionReplaced, message: "Another session took this one's place while the request was under way.")

  static func storage(_ error: StoreError) -> SessionError {
    SessionError(error.code == .busy ? .busy : .storage, message: error.message, storeError: error)
  }

  static func refreshFailed(_ error: APIError?, message: String? = nil, retryAfter: Duration? = nil) -> SessionError {
    let answer = error.map { error in
      error.transport?.message
        ?? "The server answered with status \(error.status ?? 0)\(error.serverCode.map { " (\($0.rawValue))" } ?? "")."
    }
    let cause = answer ?? "No answer came."
    return SessionError(
      .refreshFailed, message: message ?? "The session could not be renewed just now. \(cause)", apiError: error,
      retryAfter: retryAfter ?? error?.retryAfter)
  }

  /// A refresh was asked for before the next one is due: nothing was sent (S12).
  static func coolingDown(_ remaining: Duration, cause: APIError?) -> SessionError {
    refreshFailed(
      cause,
      message: "Nothing was sent: the last tries to renew the session failed, and the next one is due in "
        + "\(remaining.roundedUpText).",
      retryAfter: remaining)
  }

  static let tooManyRefreshes = SessionError(
    .tooManyRefreshes,
    message: "The server keeps refusing the tokens that it has just issued; renewing pauses for a while.",
    retryAfter: .seconds(30))
}

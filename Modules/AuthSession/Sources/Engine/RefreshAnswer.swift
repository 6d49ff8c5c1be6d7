public import AuthModels

/// How a refresh went, as the dialect reads it (S10).
public enum RefreshAnswer: Sendable {
  /// New tokens.
  case granted(TokenGrant)
  /// The server will never take this refresh token again: the session is over.
  case refused(RefreshRefusal)
  /// It failed for a reason that may pass; the session stays.
  case passing(PassingFailure)
}

/// The server's refusal of a refresh token.
public struct RefreshRefusal: Sendable, Hashable {
  /// The server's code, if its dialect has codes.
  public var code: String?
  /// The request's id, for the server's logs.
  public var requestID: String?

  /// Makes a refusal from its parts.
  public init(code: String?, requestID: String? = nil) {
    self.code = code
    self.requestID = requestID
  }
}

/// A failure that ends no session (S10, S12).
public struct PassingFailure: Sendable, Hashable {
  /// What happened.
  public var error: APIError
  /// Sent, and no usable answer came: the server may have rotated, so the same refresh is sent once more at once (S12).
  public var isAmbiguous: Bool
  /// An answer that the dialect's table does not know (S10).
  public var isUnclassified: Bool

  /// Makes a failure from its parts.
  public init(error: APIError, isAmbiguous: Bool, isUnclassified: Bool = false) {
    self.error = error
    self.isAmbiguous = isAmbiguous
    self.isUnclassified = isUnclassified
  }
}

/// A server's own name for an error, open: a server may send one that nobody has listed.
public struct ServerErrorCode: RawRepresentable, Sendable, Hashable, Codable, ExpressibleByStringLiteral {
  /// The code as the server wrote it.
  public var rawValue: String

  /// Takes any code.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// Takes any code.
  public init(stringLiteral value: String) { rawValue = value }

  /// Wrong email, username or password.
  public static let invalidCredentials: ServerErrorCode = "invalid_credentials"
  /// The refresh token is unknown, revoked, expired or reused (RFC 6749 §5.2).
  public static let invalidGrant: ServerErrorCode = "invalid_grant"
  /// The client itself is not known (RFC 6749 §5.2): never the session's end (S10).
  public static let invalidClient: ServerErrorCode = "invalid_client"
  /// The access token is unknown, revoked or expired (RFC 6750 §3.1).
  public static let invalidToken: ServerErrorCode = "invalid_token"
  /// The address has an account.
  public static let emailTaken: ServerErrorCode = "email_taken"
  /// The username has an account.
  public static let usernameTaken: ServerErrorCode = "username_taken"
  /// A field is not as the server wants it; the error's `fields` say which.
  public static let validationFailed: ServerErrorCode = "validation_failed"
  /// Too many tries.
  public static let rateLimited: ServerErrorCode = "rate_limited"
}

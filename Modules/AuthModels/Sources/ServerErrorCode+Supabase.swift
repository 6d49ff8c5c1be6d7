/// The codes of the Supabase auth API that the client decides by (D4).
extension ServerErrorCode {
  /// The access token is expired, malformed or signed by somebody else: a 403 there, where others say 401 (S10).
  public static let badJWT: ServerErrorCode = "bad_jwt"
  /// The request has no access token.
  public static let noAuthorization: ServerErrorCode = "no_authorization"
  /// The session was ended at the server: signed out elsewhere, or by an administrator.
  public static let sessionNotFound: ServerErrorCode = "session_not_found"
  /// The session was too old, or idle for too long.
  public static let sessionExpired: ServerErrorCode = "session_expired"
  /// The user is gone.
  public static let userNotFound: ServerErrorCode = "user_not_found"
  /// The user may not sign in, for now or for good.
  public static let userBanned: ServerErrorCode = "user_banned"
  /// The refresh token is unknown.
  public static let refreshTokenNotFound: ServerErrorCode = "refresh_token_not_found"
  /// The refresh token was spent before, and not just now.
  public static let refreshTokenAlreadyUsed: ServerErrorCode = "refresh_token_already_used"
  /// The address or the number has an account.
  public static let userAlreadyExists: ServerErrorCode = "user_already_exists"
  /// The address has an account.
  public static let emailExists: ServerErrorCode = "email_exists"
  /// The number has an account.
  public static let phoneExists: ServerErrorCode = "phone_exists"
  /// The address waits to be confirmed.
  public static let emailNotConfirmed: ServerErrorCode = "email_not_confirmed"
  /// The password is too easy to guess.
  public static let weakPassword: ServerErrorCode = "weak_password"
}

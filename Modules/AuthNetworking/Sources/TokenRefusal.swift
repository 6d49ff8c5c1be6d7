public import AuthModels

/// Which answers to an authed call say that the access token is not taken any more, and a new one may help (D3.5, S9).
///
/// 401 does everywhere. A dialect may add codes that it sends with a 403; a bare 403 means "not allowed", and no new token helps.
public struct TokenRefusal: Sendable {
  /// The codes that count with a 403.
  public var forbiddenCodes: Set<ServerErrorCode>
  /// What reads them.
  public var decoder: any ErrorDecoder

  /// Makes a rule.
  public init(forbiddenCodes: Set<ServerErrorCode>, decoder: any ErrorDecoder) {
    self.forbiddenCodes = forbiddenCodes
    self.decoder = decoder
  }

  /// 401 alone (RFC 6750 §3.1).
  public static let unauthorized = TokenRefusal(forbiddenCodes: [], decoder: AnyErrorDecoder.all)

  /// Supabase: 401, and its 403s that are about the token or the session behind it. Of a session that is gone the refresh then tells.
  public static let supabase = TokenRefusal(
    forbiddenCodes: [.badJWT, .sessionNotFound, .sessionExpired, .userNotFound, .userBanned],
    decoder: SupabaseErrorDecoder())

  /// Whether the answer refuses the token that it was asked with.
  public func applies(to response: HTTPResponse) -> Bool {
    if response.status == 401 { return true }
    guard response.status == 403, !forbiddenCodes.isEmpty, let code = decoder.decode(response)?.code else {
      return false
    }
    return forbiddenCodes.contains(code)
  }
}

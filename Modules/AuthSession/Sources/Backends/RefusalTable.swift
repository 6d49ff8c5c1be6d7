public import AuthModels

/// Which answers of a refresh endpoint end a session (S10): one table, a row a dialect.
///
/// | dialect  | shape      | ends the session, with 400, 401 or 403                        | passes                                |
/// |----------|------------|---------------------------------------------------------------|---------------------------------------|
/// | chirp    | `chirp`    | `invalid_grant`; the bare shape, with 401 alone                | every other code                      |
/// | envelope | `envelope` | the bare shape: this dialect has no codes                      |                                       |
/// | supabase | `supabase` | `refresh_token_not_found`, `refresh_token_already_used`, `session_not_found`, `session_expired`, `user_banned`, `user_not_found`, `validation_failed` | `bad_jwt`, `no_authorization`, the gateway's bare `message`, every other code |
/// | oauth2   | `oauth2`   | `invalid_grant`                                               | `invalid_client`, `invalid_request`, every other code |
/// | any      | any other  | `invalid_grant` in the shape of RFC 6749 §5.2                  | `invalid_client`, every other code    |
///
/// Passing for every dialect: no answer, 408, 425, 429, 5xx, a redirect, HTML or any other body that is in no known shape, a 2xx
/// that does not decode. What is none of these is passing too, and counted as unclassified.
public struct RefusalTable: Sendable, Hashable {
  /// The dialect's own error shape.
  public var shape: ServerErrorShape
  /// Codes that end the session.
  public var codes: Set<ServerErrorCode>
  /// Statuses with which a body without a code ends the session.
  public var bareStatuses: Set<Int>

  /// Makes a row.
  public init(shape: ServerErrorShape, codes: Set<ServerErrorCode>, bareStatuses: Set<Int>) {
    self.shape = shape
    self.codes = codes
    self.bareStatuses = bareStatuses
  }

  /// The chirp dialect. Its bare shape is what a server without codes sends (D1); with a 400 or 403 it may well be about the request.
  public static let chirp = RefusalTable(shape: .chirp, codes: [.invalidGrant], bareStatuses: [401])
  /// The envelope dialect.
  public static let envelope = RefusalTable(shape: .envelope, codes: [.invalidGrant], bareStatuses: [400, 401, 403])

  /// The Supabase dialect. `validation_failed` says there that the text is no refresh token at all; a gateway's bare message, or a code
  /// about the access token or the key, is about this client's request and ends nothing.
  public static let supabase = RefusalTable(
    shape: .supabase,
    codes: [
      .refreshTokenNotFound, .refreshTokenAlreadyUsed, .sessionNotFound, .sessionExpired, .userBanned, .userNotFound,
      .validationFailed, .invalidGrant,
    ], bareStatuses: [])
  /// OAuth 2 (RFC 6749 §5.2): one code, whatever is wrong with the token.
  public static let oauth2 = RefusalTable(shape: .oauth2, codes: [.invalidGrant], bareStatuses: [])

  /// Judges a failed refresh.
  public func judge(_ error: APIError) -> RefreshAnswer {
    if let transport = error.transport {
      return .passing(PassingFailure(error: error, isAmbiguous: transport.mayHaveBeenSent))
    }
    guard let status = error.status else {
      return .passing(PassingFailure(error: error, isAmbiguous: true, isUnclassified: true))
    }
    switch status {
    case 200...299:
      // The server said yes, and nobody can read what it gave: it may have rotated (S12).
      return .passing(PassingFailure(error: error, isAmbiguous: true))
    case 400, 401, 403:
      let isOwnShape = error.shape == shape || error.shape == .oauth2
      if isOwnShape, let code = error.serverCode, codes.contains(code) {
        return .refused(RefreshRefusal(code: code.rawValue, requestID: error.requestID))
      }
      if error.shape == shape, error.serverCode == nil, bareStatuses.contains(status) {
        return .refused(RefreshRefusal(code: nil, requestID: error.requestID))
      }
      let isKnown = error.serverCode == .invalidClient
      return .passing(PassingFailure(error: error, isAmbiguous: false, isUnclassified: !isKnown))
    case 300...399, 408, 425, 429, 500...599:
      return .passing(PassingFailure(error: error, isAmbiguous: false))
    default:
      return .passing(PassingFailure(error: error, isAmbiguous: false, isUnclassified: true))
    }
  }

  /// Judges whatever a refresh call threw: everything that is no `APIError` passes (cancellation included).
  public func judge(thrown error: any Error) -> RefreshAnswer {
    if let error = error as? APIError { return judge(error) }
    let transport = TransportError(.cancelled, mayHaveBeenSent: true, message: "The refresh was cancelled.")
    return .passing(PassingFailure(error: APIError(transport), isAmbiguous: true))
  }
}

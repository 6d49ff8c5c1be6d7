/// A token for one request, and whose it is.
public struct RequestAuthorization: Sendable, Hashable {
  /// The access token.
  public var accessToken: String
  /// The scheme of the `Authorization` header, nearly always `Bearer`.
  public var tokenType: String
  /// Which session the request belongs to from now on (S18): opaque to everyone but the authorizer.
  public var session: String
  /// Whether this very request has had its refresh already: there is one at most (S4).
  public var isFreshlyRefreshed: Bool

  /// Makes an authorization.
  public init(accessToken: String, tokenType: String = "Bearer", session: String, isFreshlyRefreshed: Bool = false) {
    self.accessToken = accessToken
    self.tokenType = tokenType
    self.session = session
    self.isFreshlyRefreshed = isFreshlyRefreshed
  }
}

/// What an authed request asks of the session engine; `AuthSession` implements it, `BearerInterceptor` calls it.
public protocol RequestAuthorizer: Sendable {
  /// A token that is good for more than the leeway, refreshed first if need be (S1). Binds the request to its session (S18).
  func authorize() async throws -> RequestAuthorization

  /// The request was answered with a 401 to this token (S8, S9).
  ///
  /// - Parameter endpoint: names the endpoint (method and path), since one endpoint's 401s must not cause refreshes for ever.
  /// - Returns: the token to resend with, once; nil if the 401 is to be reported as it is.
  /// - Throws: the session's error if it has ended or been replaced, and the refresh's error if it failed.
  func authorizeAfterUnauthorized(_ refused: RequestAuthorization, endpoint: String) async throws
    -> RequestAuthorization?

  /// The resent request was answered with anything but a 401, or with another 401 (`accepted` false), S9.
  func noteResend(_ authorization: RequestAuthorization, endpoint: String, accepted: Bool) async

  /// Asserts that the answer may be delivered: the request's session is still the current one (S18).
  ///
  /// - Throws: the session's error (ended or replaced) otherwise.
  func checkStillCurrent(_ authorization: RequestAuthorization) throws
}

extension RequestAuthorization: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Names the session and hides the token.
  public var description: String { "RequestAuthorization(session: \(session), accessToken: ●●●)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

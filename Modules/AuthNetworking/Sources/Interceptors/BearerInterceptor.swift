internal import AuthModels

/// Sends each authed request with the session's token, and once more with a fresh one after its refusal (D3.5, S8, S9, S18).
///
/// The request is bound to the session that gave its first token: if that session ends or is replaced meanwhile, nothing is resent
/// and the answer is not delivered; the authorizer's error is thrown instead. What is a refusal the dialect says (`TokenRefusal`):
/// a 401 everywhere, and a 403 nowhere unless the dialect names its code. Calls whose `requiresAuth` is
/// false pass through untouched; so a call that brings an `Authorization` of its own says `requiresAuth: false`.
public struct BearerInterceptor: HTTPInterceptor {
  private let authorizer: any RequestAuthorizer
  private let refusal: TokenRefusal

  /// Makes the interceptor over the session engine, or whatever else gives tokens.
  ///
  /// - Parameter refusal: which answers say that the token is not taken any more.
  public init(authorizer: any RequestAuthorizer, refusal: TokenRefusal = .unauthorized) {
    self.authorizer = authorizer
    self.refusal = refusal
  }

  /// Handles one request.
  ///
  /// - Throws: the authorizer's errors as they are; `TransportError` with code `insecureConnection` before a token is even asked for,
  ///   if it would go over plain HTTP (S24); what `next` throws, also for the resend.
  public func intercept(
    _ request: HTTPRequest, context: RequestContext,
    next: @Sendable (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    guard context.requiresAuth else { return try await next(request) }
    if !context.allowsInsecureHTTP {
      try ConnectionSecurity.check(request, carriesCredential: true)
    }
    let first = try await authorizer.authorize()
    let answer = try await next(request.authorized(by: first))
    guard refusal.applies(to: answer) else {
      try authorizer.checkStillCurrent(first)
      return answer
    }
    guard let second = try await authorizer.authorizeAfterUnauthorized(first, endpoint: context.endpoint),
      second.session == first.session
    else {
      try authorizer.checkStillCurrent(first)
      return answer
    }
    try authorizer.checkStillCurrent(second)
    let resent = try await next(request.authorized(by: second))
    await authorizer.noteResend(second, endpoint: context.endpoint, accepted: !refusal.applies(to: resent))
    try authorizer.checkStillCurrent(second)
    return resent
  }
}

extension HTTPRequest {
  /// The same request with the token in its `Authorization` field (RFC 6750 §2.1).
  fileprivate func authorized(by authorization: RequestAuthorization) -> HTTPRequest {
    var request = self
    request.headers["Authorization"] = "\(authorization.tokenType) \(authorization.accessToken)"
    return request
  }
}

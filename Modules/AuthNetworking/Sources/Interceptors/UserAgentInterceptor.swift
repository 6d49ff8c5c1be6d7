/// Names the client in `User-Agent` (RFC 9110 §10.1.5), unless the request brings one.
public struct UserAgentInterceptor: HTTPInterceptor {
  private let product: String

  /// Makes the interceptor.
  ///
  /// - Parameter product: name and version, as `chirp/1.0`.
  public init(product: String) {
    self.product = product
  }

  public func intercept(
    _ request: HTTPRequest, context: RequestContext,
    next: @Sendable (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    guard request.headers["User-Agent"] == nil else { return try await next(request) }
    var request = request
    request.headers["User-Agent"] = product
    return try await next(request)
  }
}

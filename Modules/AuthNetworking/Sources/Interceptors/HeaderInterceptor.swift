/// Sets one header field on every request, such as a project's public key (`apikey`, D4.2).
public struct HeaderInterceptor: HTTPInterceptor {
  private let name: String
  private let value: String

  /// Makes the interceptor; a field of that name that a request brings itself stays.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  public func intercept(
    _ request: HTTPRequest, context: RequestContext,
    next: @Sendable (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    guard request.headers[name] == nil else { return try await next(request) }
    var request = request
    request.headers[name] = value
    return try await next(request)
  }
}

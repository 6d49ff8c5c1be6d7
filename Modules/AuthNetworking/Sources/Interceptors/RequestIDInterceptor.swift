#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Gives each call an `X-Request-ID`, unless it brings one, so that client and server logs can be laid side by side.
///
/// Standing before the retry and bearer interceptors, all attempts of a call share one id. Errors carry it as `requestID`.
public struct RequestIDInterceptor: HTTPInterceptor {
  private let makeID: @Sendable () -> String

  /// Makes the interceptor.
  ///
  /// - Parameter makeID: gives the next id; a fresh UUID if nil.
  public init(makeID: (@Sendable () -> String)? = nil) {
    self.makeID = makeID ?? { UUID().uuidString.lowercased() }
  }

  public func intercept(
    _ request: HTTPRequest, context: RequestContext,
    next: @Sendable (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    guard request.headers["X-Request-ID"] == nil else { return try await next(request) }
    var request = request
    request.headers["X-Request-ID"] = makeID()
    return try await next(request)
  }
}

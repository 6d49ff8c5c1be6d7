/// What an interceptor knows of a call beside the request itself.
public struct RequestContext: Sendable, Hashable {
  /// The endpoint's name: method and path, without base path and query, as `GET /me`.
  public var endpoint: String
  /// Whether the call carries the session's token (D3.2).
  public var requiresAuth: Bool
  /// Whether sending it twice does what sending it once does.
  public var isIdempotent: Bool
  /// Whether the body holds a credential (S24); its answer most likely does, too.
  public var hasCredentialBody: Bool
  /// Whether the caller allowed plain HTTP to a host that is not loopback, by name (S24).
  public var allowsInsecureHTTP: Bool

  /// Makes a context.
  public init(
    endpoint: String, requiresAuth: Bool, isIdempotent: Bool, hasCredentialBody: Bool = false,
    allowsInsecureHTTP: Bool = false
  ) {
    self.endpoint = endpoint
    self.requiresAuth = requiresAuth
    self.isIdempotent = isIdempotent
    self.hasCredentialBody = hasCredentialBody
    self.allowsInsecureHTTP = allowsInsecureHTTP
  }
}

/// A step that every request of an `APIClient` goes through (D3.9): it may change the request, send it several times, or change the answer.
///
/// Interceptors stand in a list; the first is the outermost: it sees the request first and the answer last, and what it sends
/// through `next` goes through all that follow it. The order that fits most: `UserAgentInterceptor`, `RequestIDInterceptor` (one id for
/// all attempts), `RetryInterceptor`, `BearerInterceptor` (so that an attempt after a long wait asks for a token anew),
/// `LoggingInterceptor` (it then sees each attempt as it leaves).
///
/// An answer of any status is an answer: statuses become errors only after the whole chain. `next` throws `TransportError` when no
/// answer came. An interceptor is called from any number of tasks at once, and holds no state of a call between its calls.
public protocol HTTPInterceptor: Sendable {
  /// Handles one request.
  ///
  /// - Parameters:
  ///   - request: the request as the interceptors before this one left it.
  ///   - context: what is known of the call.
  ///   - next: sends a request through the rest of the chain; may be called any number of times.
  /// - Throws: what `next` throws, or an error of its own, which reaches the caller of `APIClient` as it is.
  func intercept(
    _ request: HTTPRequest, context: RequestContext,
    next: @Sendable (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse
}

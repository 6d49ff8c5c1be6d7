internal import AuthModels
public import Groundwork

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Calls the endpoints of one server: makes the request, sends it through the interceptors and the transport, and reads the answer.
///
/// A value, made once and shared freely; all that a call needs travels with the call. Order of work: request from the endpoint,
/// interceptors from first to last, the checks of S24 and of the header fields, transport; then the answer back through the interceptors;
/// then the status becomes an error or the body a value.
///
/// Errors of `send`, `exchange` and `sendRaw`: `APIError`; or an interceptor's own error (the session engine's, through
/// `BearerInterceptor`) as it is; or `CancellationError` as soon as the task is cancelled, never an `APIError` for that.
public struct APIClient: Sendable {
  /// The server: scheme, host, port and base path; no query, fragment or user.
  public let baseURL: URL
  /// What sends.
  public let transport: any HTTPTransport
  /// What each request goes through, the outermost first.
  public let interceptors: [any HTTPInterceptor]
  /// What reads error bodies.
  public let errorDecoder: any ErrorDecoder
  /// How long a whole exchange may take where the endpoint says nothing; nil for the transport's own limit.
  public let timeout: Duration?
  /// Whether credentials may go over plain HTTP to a host that is not loopback (S24).
  public let allowsInsecureHTTP: Bool
  let time: any TimeSource
  /// How every request's URL begins, or why none can be made: found out once, since it costs more than the rest of a request.
  let base: Result<String, TransportError>

  /// Makes a client.
  ///
  /// - Parameters:
  ///   - baseURL: the server; an unusable one (`ftp:`, no host, a query) makes every call throw `invalidRequest`.
  ///   - transport: what sends.
  ///   - interceptors: what each request goes through, the outermost first; see `HTTPInterceptor` for the order.
  ///   - errorDecoder: what reads error bodies: any known shape unless given.
  ///   - timeout: for a whole exchange.
  ///   - allowInsecureHTTP: allows credentials over plain HTTP to a host that is not loopback.
  ///   - time: today's date, for a `Retry-After` that is a date in an answer without `Date`.
  public init(
    baseURL: URL, transport: any HTTPTransport, interceptors: [any HTTPInterceptor] = [],
    errorDecoder: any ErrorDecoder = AnyErrorDecoder.all, timeout: Duration? = nil, allowInsecureHTTP: Bool = false,
    time: any TimeSource = SystemClock()
  ) {
    self.baseURL = baseURL
    self.transport = transport
    self.interceptors = interceptors
    self.errorDecoder = errorDecoder
    self.timeout = timeout
    self.allowsInsecureHTTP = allowInsecureHTTP
    self.time = time
    base = Self.base(of: baseURL)
  }

  /// Calls an endpoint and gives its value.
  public func send<Response: Sendable>(_ endpoint: Endpoint<Response>) async throws -> Response {
    try await exchange(endpoint).value
  }

  /// Calls an endpoint and gives its value together with the whole answer, for its header fields (`Date`, a request id).
  public func exchange<Response: Sendable>(
    _ endpoint: Endpoint<Response>
  ) async throws -> (value: Response, response: HTTPResponse) {
    let requestID = Guarded<String?>(nil)
    do {
      let request = try makeRequest(endpoint)
      let response = try await run(request, context: context(of: endpoint), requestID: requestID)
      guard 200...299 ~= response.status else {
        throw failure(response, of: endpoint, requestID: requestID.withLock { $0 })
      }
      do {
        return (try endpoint.decode(response), response)
      } catch let error as APIError {
        throw error
      } catch {
        throw APIError(
          .undecodable, status: response.status, requestID: response.requestID ?? requestID.withLock { $0 },
          detail: UndecodableAnswer.detail(of: error, in: response))
      }
    } catch let error as TransportError {
      throw Self.surfaced(error, requestID: requestID.withLock { $0 })
    }
  }

  /// Sends any request under the base URL and gives the answer whatever its status (`chirp api`).
  ///
  /// It goes through the interceptors like every call: with `requiresAuth` it carries the session's token and takes part in refreshing.
  public func sendRaw(_ call: RawCall) async throws -> HTTPResponse {
    let requestID = Guarded<String?>(nil)
    do {
      let request = try makeRequest(call)
      let context = RequestContext(
        endpoint: "\(call.method.rawValue) \(call.path)", requiresAuth: call.requiresAuth,
        isIdempotent: call.method.isIdempotent, hasCredentialBody: call.hasCredentialBody,
        allowsInsecureHTTP: allowsInsecureHTTP)
      return try await run(request, context: context, requestID: requestID)
    } catch let error as TransportError {
      throw Self.surfaced(error, requestID: requestID.withLock { $0 })
    }
  }

  private func context<Response>(of endpoint: Endpoint<Response>) -> RequestContext {
    RequestContext(
      endpoint: "\(endpoint.method.rawValue) \(endpoint.path)", requiresAuth: endpoint.requiresAuth,
      isIdempotent: endpoint.isIdempotent, hasCredentialBody: endpoint.hasCredentialBody,
      allowsInsecureHTTP: allowsInsecureHTTP)
  }

  private func run(
    _ request: HTTPRequest, context: RequestContext, requestID: Guarded<String?>
  ) async throws -> HTTPResponse {
    var next: @Sendable (HTTPRequest) async throws -> HTTPResponse = { request in
      requestID.withLock { $0 = request.headers["X-Request-ID"] }
      try request.checkFields()
      if !allowsInsecureHTTP {
        try ConnectionSecurity.check(request, carriesCredential: request.carriesCredential)
      }
      return try await transport.send(request)
    }
    for interceptor in interceptors.reversed() {
      let inner = next
      next = { try await interceptor.intercept($0, context: context, next: inner) }
    }
    return try await next(request)
  }

  private func failure<Response>(
    _ response: HTTPResponse, of endpoint: Endpoint<Response>, requestID: String?
  ) -> APIError {
    let body = errorDecoder.decode(response)
    var error = APIError(
      APIError.Kind(
        status: response.status, body: body, requiresAuth: endpoint.requiresAuth, isSignIn: endpoint.isSignIn),
      status: response.status, serverCode: body?.code, serverMessage: body?.message, fields: body?.fields ?? [:],
      retryAfter: RetryAfter.delay(in: response, now: time.wallClock),
      requestID: response.requestID ?? requestID, shape: body?.shape)
    if body == nil {
      error.detail = UndecodableAnswer.summary(of: response)
    }
    return error
  }

  private static func surfaced(_ error: TransportError, requestID: String?) -> any Error {
    error.code == .cancelled ? CancellationError() : APIError(error, requestID: requestID)
  }
}

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// One call of an API, as a value: what to send, and what comes back.
///
/// `requiresAuth` is true unless stated (D3.2): a forgotten flag fails closed.
public struct Endpoint<Response: Sendable>: Sendable {
  /// The method.
  public var method: HTTPMethod
  /// The path under the server's base URL, beginning with `/`, not percent-encoded.
  public var path: String
  /// The query in order; names and values not percent-encoded.
  public var query: [(name: String, value: String)]
  /// Header fields of this call alone.
  public var headers: HTTPFields
  /// The body, encoded.
  public var body: Data?
  /// Whether the call carries the session's token and takes part in refreshing (D3.2).
  public var requiresAuth: Bool
  /// Whether sending it twice does what sending it once does, so that it may be retried.
  public var isIdempotent: Bool
  /// Whether the body holds a credential: no redirect, no plain HTTP except to loopback (S24), never logged.
  public var hasCredentialBody: Bool
  /// Whether the call signs somebody in: a 401, or an `invalid_grant`, then means a wrong email or password (D1.5).
  public var isSignIn: Bool
  /// How long the whole exchange may take; nil for the client's own limit.
  public var timeout: Duration?
  /// Makes the response from a successful answer.
  public var decode: @Sendable (HTTPResponse) throws -> Response

  /// Makes an endpoint.
  public init(
    method: HTTPMethod, path: String, query: [(name: String, value: String)] = [], headers: HTTPFields = [:],
    body: Data? = nil, requiresAuth: Bool = true, isIdempotent: Bool? = nil, hasCredentialBody: Bool = false,
    isSignIn: Bool = false, timeout: Duration? = nil,
    decode: @escaping @Sendable (HTTPResponse) throws -> Response
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
    self.requiresAuth = requiresAuth
    self.isIdempotent = isIdempotent ?? method.isIdempotent
    self.hasCredentialBody = hasCredentialBody
    self.isSignIn = isSignIn
    self.timeout = timeout
    self.decode = decode
  }
}

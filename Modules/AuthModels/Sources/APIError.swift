/// Why a call did not do what it was asked: the one error of `APIClient` and the services over it.
///
/// Decide by `kind`; show `userMessage`; log `description`. None of the three holds a secret.
public struct APIError: Error, Sendable, Hashable {
  /// What the caller can do about it.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// No answer came; `transport` says why.
    case transport
    /// 401 for an authed call: the token was refused, also after a refresh (S9).
    case unauthorized
    /// A sign-in with a wrong email, username or password.
    case invalidCredentials
    /// 403: known, but not allowed.
    case forbidden
    /// 404 or 410.
    case notFound
    /// 409, or a taken email or username: see `fields`.
    case conflict
    /// 400 or 422 with what is wrong in `fields` or `serverMessage`.
    case validation
    /// 429; `retryAfter` says when to try again.
    case rateLimited
    /// Any other 4xx.
    case clientError
    /// 5xx, 408 and 425.
    case serverError
    /// An answer that is not what the endpoint promises, a redirect or HTML page included.
    case undecodable
  }

  /// What the caller can do about it.
  public var kind: Kind
  /// The HTTP status, if there was an answer.
  public var status: Int?
  /// The server's own code, if it gave one.
  public var serverCode: ServerErrorCode?
  /// The server's own words, if it gave any, at most 300 characters.
  public var serverMessage: String?
  /// What the server says of single fields (`email`, `password`, `username`), D1.7.
  public var fields: [String: String]
  /// How long the server asks to wait.
  public var retryAfter: Duration?
  /// The id of the request, for the server's logs.
  public var requestID: String?
  /// Why no answer came, for `kind` `transport`.
  public var transport: TransportError?
  /// In which shape the server told its error; nil if the body was in none that the client knows: HTML, empty, other JSON.
  ///
  /// Only an error that is told in the server's own shape may end a session (S10).
  public var shape: ServerErrorShape?
  /// What was wrong with an answer that could not be used, for a developer: names members, never values.
  public var detail: String?

  /// Makes an error from its parts.
  public init(
    _ kind: Kind, status: Int? = nil, serverCode: ServerErrorCode? = nil, serverMessage: String? = nil,
    fields: [String: String] = [:], retryAfter: Duration? = nil, requestID: String? = nil,
    transport: TransportError? = nil, shape: ServerErrorShape? = nil, detail: String? = nil
  ) {
    self.kind = kind
    self.status = status
    self.serverCode = serverCode
    self.serverMessage = serverMessage
    self.fields = fields
    self.retryAfter = retryAfter
    self.requestID = requestID
    self.transport = transport
    self.shape = shape
    self.detail = detail
  }

  /// An error for a request that got no answer.
  public init(_ transport: TransportError, requestID: String? = nil) {
    self.init(.transport, requestID: requestID, transport: transport)
  }
}

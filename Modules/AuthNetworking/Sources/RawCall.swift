#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Any request under a client's base URL, for `APIClient.sendRaw`.
public struct RawCall: Sendable {
  /// The method.
  public var method: HTTPMethod
  /// Path and query as a person types them: percent-escapes stand for themselves, what cannot stand in a URL gets escaped.
  public var target: String
  /// Header fields of this call.
  public var headers: HTTPFields
  /// The body, if there is one.
  public var body: Data?
  /// Whether it carries the session's token.
  public var requiresAuth: Bool
  /// Whether the body holds a credential (S24).
  public var hasCredentialBody: Bool
  /// How long the whole exchange may take; nil for the client's own limit.
  public var timeout: Duration?

  /// Makes a call.
  public init(
    _ method: HTTPMethod, _ target: String, headers: HTTPFields = [:], body: Data? = nil, requiresAuth: Bool = true,
    hasCredentialBody: Bool = false, timeout: Duration? = nil
  ) {
    self.method = method
    self.target = target
    self.headers = headers
    self.body = body
    self.requiresAuth = requiresAuth
    self.hasCredentialBody = hasCredentialBody
    self.timeout = timeout
  }

  /// The target without its query.
  public var path: String {
    String(target.prefix { $0 != "?" })
  }
}

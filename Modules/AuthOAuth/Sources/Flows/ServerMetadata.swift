import AuthModels
public import AuthNetworking
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What an authorization server says of itself (RFC 8414 §2; OpenID Connect Discovery §3).
public struct ServerMetadata: Sendable, Hashable, Codable {
  /// The server's name: a URL, letter by letter what its tokens say.
  public var issuer: String
  /// Where a browser asks for a code.
  public var authorizationEndpoint: String?
  /// Where tokens are bought.
  public var tokenEndpoint: String
  /// Where a machine without a browser asks for a device code (RFC 8628).
  public var deviceAuthorizationEndpoint: String?
  /// Where tokens are revoked (RFC 7009).
  public var revocationEndpoint: String?
  /// Who is signed in (OpenID Connect Core §5.3).
  public var userInfoEndpoint: String?
  /// The keys that its tokens are signed with.
  public var keySet: String?
  /// How a client may prove itself at the token endpoint; nil if the server does not say, which means `basic`.
  public var clientAuthentications: [String]?
  /// The scopes that the server knows; nil if it does not say.
  public var scopes: [String]?
  /// Which proofs of RFC 7636 it takes; nil if it does not say.
  public var codeChallengeMethods: [String]?
  /// Whether each answer of the authorization endpoint names the issuer (RFC 9207 §3).
  public var sendsIssuer: Bool

  /// Names a server's endpoints by hand, for one without metadata.
  public init(
    issuer: String, tokenEndpoint: String, authorizationEndpoint: String? = nil,
    deviceAuthorizationEndpoint: String? = nil, revocationEndpoint: String? = nil, userInfoEndpoint: String? = nil,
    keySet: String? = nil, clientAuthentications: [String]? = nil, scopes: [String]? = nil,
    codeChallengeMethods: [String]? = nil, sendsIssuer: Bool = false
  ) {
    self.issuer = issuer
    self.tokenEndpoint = tokenEndpoint
    self.authorizationEndpoint = authorizationEndpoint
    self.deviceAuthorizationEndpoint = deviceAuthorizationEndpoint
    self.revocationEndpoint = revocationEndpoint
    self.userInfoEndpoint = userInfoEndpoint
    self.keySet = keySet
    self.clientAuthentications = clientAuthentications
    self.scopes = scopes
    self.codeChallengeMethods = codeChallengeMethods
    self.sendsIssuer = sendsIssuer
  }

  /// Asks the server, at the places where RFC 8414 §3.1 and OpenID Connect Discovery §4 put its metadata.
  ///
  /// - Parameters:
  ///   - issuer: the server's name, as its users know it; one slash at its end more or less is no difference.
  ///   - client: what sends; its base URL does not matter.
  /// - Throws: `OAuthError`: `noMetadata`, `badMetadata`, `wrongIssuer` if it names another issuer than the one asked (§3.3); `APIError`
  ///   if the server cannot be reached or has a problem; `CancellationError`.
  public static func discover(issuer: String, client: APIClient) async throws -> ServerMetadata {
    for place in try places(of: issuer) {
      let endpoint = try OAuthEndpoint(place, client, named: "metadata")
      let call = Endpoint(
        method: .get, path: endpoint.path, query: endpoint.query, headers: ["Accept": "application/json"],
        requiresAuth: false
      ) { try JSONDecoder().decode(JSONValue.self, from: $0.body) }
      let document: JSONValue
      do {
        document = try await endpoint.client.send(call)
      } catch let error as APIError where error.isAbsence {
        continue
      }
      return try ServerMetadata(document, issuer: issuer, allowsInsecureHTTP: client.allowsInsecureHTTP)
    }
    throw OAuthError(
      .noMetadata, "\(issuer) has no metadata of an authorization server, neither by RFC 8414 nor by OpenID Connect.")
  }

  /// Where an issuer's metadata may stand: between host and path, or behind the path.
  static func places(of issuer: String) throws(OAuthError) -> [String] {
    guard let parts = URLComponents(string: issuer), let scheme = parts.scheme, let host = parts.percentEncodedHost,
      !host.isEmpty, parts.query == nil, parts.fragment == nil, parts.user == nil
    else {
      throw OAuthError(.badMetadata, "\"\(issuer.prefix(80))\" is no issuer: a URL without query and fragment is.")
    }
    let origin = "\(scheme)://\(host)\(parts.port.map { ":\($0)" } ?? "")"
    var path = parts.percentEncodedPath
    while path.hasSuffix("/") { path.removeLast() }
    var places = [
      "\(origin)/.well-known/oauth-authorization-server\(path)", "\(origin)\(path)/.well-known/openid-configuration",
    ]
    if !path.isEmpty { places.append("\(origin)/.well-known/openid-configuration\(path)") }
    return places
  }

  /// Reads a document, and holds it against the issuer that was asked.
  init(_ document: JSONValue, issuer: String, allowsInsecureHTTP: Bool) throws(OAuthError) {
    guard let named = document["issuer"]?.string else {
      throw OAuthError(.badMetadata, "The server's metadata names no issuer.")
    }
    func bare(_ text: String) -> Substring { text.hasSuffix("/") ? text.dropLast() : Substring(text) }
    guard bare(named) == bare(issuer) else {
      throw OAuthError(
        .wrongIssuer,
        "\(issuer) was asked, and the metadata there are of another issuer, \(named.prefix(120)): they were not used.")
    }
    func endpoint(_ name: String) throws(OAuthError) -> String? {
      guard let text = document[name]?.string else { return nil }
      guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty, parts.fragment == nil,
        parts.user == nil,
        parts.scheme == "https"
          || parts.scheme == "http" && (allowsInsecureHTTP || ConnectionSecurity.isLoopback(host: host))
      else {
        throw OAuthError(.badMetadata, "The server's metadata have a \(name) that is no https URL.")
      }
      return text
    }
    func list(_ name: String) -> [String]? { document[name]?.array.map { $0.compactMap(\.string) } }
    guard let tokenEndpoint = try endpoint("token_endpoint") else {
      throw OAuthError(.badMetadata, "The server's metadata name no token endpoint.")
    }
    self.init(
      issuer: named, tokenEndpoint: tokenEndpoint, authorizationEndpoint: try endpoint("authorization_endpoint"),
      deviceAuthorizationEndpoint: try endpoint("device_authorization_endpoint"),
      revocationEndpoint: try endpoint("revocation_endpoint"), userInfoEndpoint: try endpoint("userinfo_endpoint"),
      keySet: try endpoint("jwks_uri"), clientAuthentications: list("token_endpoint_auth_methods_supported"),
      scopes: list("scopes_supported"), codeChallengeMethods: list("code_challenge_methods_supported"),
      sendsIssuer: document["authorization_response_iss_parameter_supported"]?.bool ?? false)
  }

  /// What a person who signs in most likely wants, of what the server knows: an identity, and a session that renews itself.
  public var usualScope: String? {
    let known = scopes ?? []
    guard known.contains("openid") else { return nil }
    return ["openid", "profile", "email", "offline_access"].filter(known.contains).joined(separator: " ")
  }

  /// How a client proves itself here: without a secret not at all, else by what the server takes, `basic` if it takes that.
  public func authentication(hasSecret: Bool) -> ClientAuthentication {
    guard hasSecret else { return .none }
    guard let methods = clientAuthentications, !methods.contains("client_secret_basic") else { return .basic }
    return methods.contains("client_secret_post") ? .post : .basic
  }
}

extension APIError {
  /// Nothing stands there: the next place is worth a look. A page for people in its place is the same.
  fileprivate var isAbsence: Bool {
    switch kind {
    case .notFound, .unauthorized, .forbidden, .clientError, .validation, .undecodable: true
    default: false
    }
  }
}

/// An endpoint by its whole URL, which may be on any host.
struct OAuthEndpoint: Sendable {
  let client: APIClient
  let path: String
  let query: [(name: String, value: String)]

  init(_ text: String, _ client: APIClient, named name: String) throws(OAuthError) {
    guard let parts = URLComponents(string: text), let scheme = parts.scheme, let host = parts.percentEncodedHost,
      !host.isEmpty, let base = URL(string: "\(scheme)://\(host)\(parts.port.map { ":\($0)" } ?? "")")
    else { throw OAuthError(.badMetadata, "The server's \(name) endpoint is no URL.") }
    self.client = client.with(baseURL: base)
    path = parts.path.isEmpty ? "/" : parts.path
    query = (parts.queryItems ?? []).map { ($0.name, $0.value ?? "") }
  }
}

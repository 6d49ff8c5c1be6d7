import AuthModels
import AuthNetworking
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The token endpoint, and its two relatives, as one client calls them (RFC 6749 §3.2, RFC 7009, RFC 8628 §3.1).
struct TokenEndpoint: Sendable {
  let client: APIClient
  let connection: OAuth2Connection
  let secret: ClientSecret?

  /// What the token endpoint answers.
  struct Answer: Sendable {
    var tokens: TokenResponse
    var idToken: String?
    var serverDate: Date?
  }

  /// Buys tokens.
  ///
  /// - Throws: `APIError`; `OAuthError`, code `tokenTypeNotSupported`.
  func tokens(_ grant: String, _ parameters: [(name: String, value: String)], isSignIn: Bool) async throws -> Answer {
    let now = client.today
    let form = [("grant_type", grant)] + parameters
    let answer = try await call(connection.metadata.tokenEndpoint, named: "token", form, isSignIn: isSignIn) {
      let body = try JSONDecoder().decode(JSONValue.self, from: $0.body)
      let serverDate = $0.headers["Date"].flatMap { HTTPDate.parse($0) }
      return Answer(
        tokens: try TokenFields.oauth2.read(body, serverDate: serverDate ?? now), idToken: body["id_token"]?.string,
        serverDate: serverDate)
    }
    guard answer.tokens.tokenType == "Bearer" else {
      throw OAuthError(
        .tokenTypeNotSupported,
        "The server gives tokens of type \(answer.tokens.tokenType.prefix(24)), which this client cannot send: it knows "
          + "Bearer.")
    }
    return answer
  }

  /// Revokes one token (RFC 7009): 200, also for one that the server does not know.
  func revoke(_ token: String, hint: String) async throws {
    guard let endpoint = connection.metadata.revocationEndpoint else { return }
    try await call(
      endpoint, named: "revocation", [("token", token), ("token_type_hint", hint)], isSignIn: false
    ) { _ in }
  }

  /// Asks for a device code.
  func deviceAuthorization() async throws -> JSONValue {
    guard let endpoint = connection.metadata.deviceAuthorizationEndpoint else {
      throw OAuthError(.notSupported, "The server has no sign-in for machines without a browser (RFC 8628).")
    }
    return try await call(
      endpoint, named: "device authorization", connection.scope.map { [("scope", $0)] } ?? [], isSignIn: false
    ) { try JSONDecoder().decode(JSONValue.self, from: $0.body) }
  }

  private func call<Value: Sendable>(
    _ url: String, named name: String, _ parameters: [(name: String, value: String)], isSignIn: Bool,
    decode: @escaping @Sendable (HTTPResponse) throws -> Value
  ) async throws -> Value {
    let endpoint = try OAuthEndpoint(url, client, named: name)
    var parameters = parameters
    var headers: HTTPFields = ["Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"]
    switch (connection.authentication, secret) {
    case (.basic, let secret?):
      let pair = FormEncoding.escape(connection.clientID) + ":" + FormEncoding.escape(secret.text)
      headers["Authorization"] = "Basic " + Data(pair.utf8).base64EncodedString()
    case (.post, let secret?):
      parameters += [("client_id", connection.clientID), ("client_secret", secret.text)]
    case (.none, _), (_, nil): parameters.append(("client_id", connection.clientID))
    }
    return try await endpoint.client.send(
      Endpoint(
        method: .post, path: endpoint.path, query: endpoint.query, headers: headers,
        body: Data(FormEncoding.encode(parameters).utf8), requiresAuth: false, isIdempotent: false,
        hasCredentialBody: true, isSignIn: isSignIn, decode: decode))
  }
}

extension OAuthError {
  /// A sign-in that the token endpoint refused, by its code (RFC 6749 §5.2); nil if the error says something else.
  init?(refusing error: APIError, of grant: String) {
    guard let code = error.serverCode, error.shape == .oauth2 else { return nil }
    let words = error.serverMessage.map { " It says: \($0)" } ?? ""
    switch code {
    case .invalidClient:
      self.init(.clientRefused, "The server does not know this client, or its secret is wrong.\(words)")
    case .invalidGrant where grant == "authorization_code":
      self.init(
        .codeRefused,
        "The server did not take the authorization code: it was used before, ran out, or is another client's."
          + words)
    case "unauthorized_client":
      self.init(.grantNotAllowed, "This client may not sign in in this way (\(grant)).\(words)")
    case "unsupported_grant_type":
      self.init(.grantNotSupported, "The server has no sign-in of this kind (\(grant)).\(words)")
    case "invalid_scope": self.init(.scopeRefused, "The server does not give this scope.\(words)")
    default: return nil
    }
    serverCode = code
    requestID = error.requestID
  }
}

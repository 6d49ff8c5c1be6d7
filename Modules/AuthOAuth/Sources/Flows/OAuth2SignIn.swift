public import AuthModels
public import AuthNetworking
public import AuthSession
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The ways to sign in to an authorization server. Each gives tokens for `SessionEngine.signIn(with:)`, and what to keep beside them.
public struct OAuth2SignIn: Sendable {
  /// What a sign-in bought.
  public struct Outcome: Sendable {
    /// The tokens, and the user where an ID token told.
    public var grant: TokenGrant
    /// The connection as it is to be kept, with the user's name at the server.
    public var connection: OAuth2Connection
  }

  let endpoint: TokenEndpoint
  private let client: APIClient

  /// Makes the ways to one server.
  ///
  /// - Parameters:
  ///   - client: what sends, without a `BearerInterceptor`; its base URL does not matter.
  ///   - connection: the server and the client.
  ///   - secret: the client's secret, if it has one.
  public init(client: APIClient, connection: OAuth2Connection, secret: ClientSecret? = nil) {
    self.client = client
    endpoint = TokenEndpoint(client: client, connection: connection, secret: secret)
  }

  /// Makes a request for a browser (RFC 6749 §4.1.1).
  ///
  /// - Throws: `OAuthError`, code `notSupported`.
  public func authorizationRequest(
    redirectURI: String, extra: [(name: String, value: String)] = []
  ) throws(OAuthError) -> AuthorizationRequest {
    try AuthorizationRequest(
      metadata: endpoint.connection.metadata, clientID: endpoint.connection.clientID, redirectURI: redirectURI,
      scope: endpoint.connection.scope, extra: extra)
  }

  /// Redeems the code that the browser brought back (RFC 6749 §4.1.3, RFC 7636 §4.5).
  ///
  /// - Parameters:
  ///   - callback: the whole address that the browser was sent to; it is checked first.
  ///   - request: the request that it answers.
  /// - Throws: `OAuthError`, `APIError`, `CancellationError`.
  public func redeem(_ callback: String, of request: AuthorizationRequest) async throws -> Outcome {
    let code = try request.code(in: callback)
    return try await buy(
      "authorization_code",
      [("code", code), ("redirect_uri", request.redirectURI), ("code_verifier", request.pkce.verifier)],
      nonce: request.nonce)
  }

  /// Signs in by the resource owner's password (RFC 6749 §4.3).
  ///
  /// - Throws: `APIError`, kind `invalidCredentials` for wrong ones; `OAuthError`; `CancellationError`.
  public func password(_ credentials: Credentials) async throws -> Outcome {
    try await buy(
      "password", [("username", credentials.identifier), ("password", credentials.password)] + scope, nonce: nil)
  }

  /// Signs in as the client itself (RFC 6749 §4.4): no user, and most often no refresh token.
  ///
  /// - Throws: `OAuthError`, `APIError`, `CancellationError`.
  public func clientCredentials() async throws -> Outcome {
    try await buy("client_credentials", scope, nonce: nil)
  }

  private var scope: [(name: String, value: String)] {
    endpoint.connection.scope.map { [("scope", $0)] } ?? []
  }

  /// Buys tokens; what is refused gets its own error.
  func buy(_ grant: String, _ parameters: [(name: String, value: String)], nonce: String?) async throws -> Outcome {
    let answer: TokenEndpoint.Answer
    do {
      answer = try await endpoint.tokens(grant, parameters, isSignIn: true)
    } catch let error as APIError {
      if let refusal = OAuthError(refusing: error, of: grant) { throw refusal }
      throw error
    }
    var outcome = Outcome(
      grant: TokenGrant(response: answer.tokens, serverDate: answer.serverDate), connection: endpoint.connection)
    if outcome.grant.response.scope == nil { outcome.grant.response.scope = endpoint.connection.scope }
    guard let text = answer.idToken else { return outcome }
    let check = IDTokenCheck(
      issuer: endpoint.connection.metadata.issuer, clientID: endpoint.connection.clientID, keys: try await keys(),
      secret: endpoint.secret, nonce: nonce, accessToken: answer.tokens.accessToken,
      now: answer.serverDate ?? client.today)
    do {
      let token = try check.verify(text)
      outcome.grant.user = token.user
      outcome.connection.subject = token.subject
    } catch {
      // The tokens beside it are good, and nobody will use them.
      await endpoint.drop(answer.tokens)
      throw error
    }
    return outcome
  }

  /// The server's published keys.
  private func keys() async throws -> [JSONWebKey] {
    guard let url = endpoint.connection.metadata.keySet else { return [] }
    let place = try OAuthEndpoint(url, client, named: "key set")
    let set = try await place.client.send(
      Endpoint(
        method: .get, path: place.path, query: place.query, headers: ["Accept": "application/json"],
        requiresAuth: false
      ) { try JSONDecoder().decode(JSONValue.self, from: $0.body) })
    return JSONWebKey.keys(in: set)
  }
}

extension TokenEndpoint {
  /// Tells the server, best effort, that tokens will not be used.
  func drop(_ tokens: TokenResponse) async {
    do {
      try await revoke(
        tokens.refreshToken ?? tokens.accessToken, hint: tokens.refreshToken == nil ? "access_token" : "refresh_token")
    } catch {
      // What stopped the sign-in is what is told; these tokens end by themselves.
      return
    }
  }
}

import AuthModels

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A request for an authorization code (RFC 6749 §4.1.1, RFC 7636), and the check of what comes back (§4.1.2, RFC 9207).
public struct AuthorizationRequest: Sendable {
  /// What the user's browser opens.
  public let url: String
  /// Where the answer is to come to.
  public let redirectURI: String
  let state: String
  let nonce: String?
  let pkce: PKCE
  private let issuer: String
  private let requiresIssuer: Bool

  /// Makes a request with a state, a nonce and a proof of its own.
  ///
  /// - Parameters:
  ///   - metadata: the server's.
  ///   - clientID: the client's id there.
  ///   - redirectURI: where the answer is to come to, `http://127.0.0.1:PORT/callback` for a program at a terminal (RFC 8252 §7.3).
  ///   - scope: what is asked for; with `openid` in it, a nonce goes along.
  ///   - extra: more parameters, such as `login_hint` or `audience`.
  /// - Throws: `OAuthError`, code `notSupported` if the server has no authorization endpoint or takes no PKCE by S256.
  public init(
    metadata: ServerMetadata, clientID: String, redirectURI: String, scope: String?,
    extra: [(name: String, value: String)] = []
  ) throws(OAuthError) {
    guard let endpoint = metadata.authorizationEndpoint else {
      throw OAuthError(.notSupported, "The server has no authorization endpoint, so nobody can sign in by a browser.")
    }
    guard metadata.codeChallengeMethods?.contains("S256") ?? true else {
      throw OAuthError(.notSupported, "The server does not take PKCE by S256, without which a code can be stolen.")
    }
    state = RandomText.make()
    pkce = PKCE()
    let isOpenID = scope?.split(separator: " ").contains("openid") ?? false
    nonce = isOpenID ? RandomText.make() : nil
    issuer = metadata.issuer
    requiresIssuer = metadata.sendsIssuer
    self.redirectURI = redirectURI
    var parameters: [(name: String, value: String)] = [
      ("response_type", "code"), ("client_id", clientID), ("redirect_uri", redirectURI), ("state", state),
      ("code_challenge", pkce.challenge), ("code_challenge_method", "S256"),
    ]
    if let scope { parameters.append(("scope", scope)) }
    if let nonce { parameters.append(("nonce", nonce)) }
    let own = Set(parameters.map(\.name))
    parameters += extra.filter { !own.contains($0.name) }
    url = endpoint + (endpoint.contains("?") ? "&" : "?") + FormEncoding.encode(parameters)
  }

  /// Checks the address that the browser was sent to, and takes the code out of it.
  ///
  /// In this order: the address itself, parameters that stand there twice, the state, the issuer; only then what the server says.
  ///
  /// - Throws: `OAuthError`: `wrongRedirect`, `duplicateParameter`, `wrongState`, `wrongIssuer`, `denied`, `missingCode`.
  public func code(in callback: String) throws(OAuthError) -> String {
    let parts = callback.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = parts.first, address == redirectURI else {
      throw OAuthError(
        .wrongRedirect, "The answer came to another address than \(redirectURI), where this sign-in waits for it.")
    }
    let query = parts.count == 2 ? parts[1].prefix { $0 != "#" } : ""
    let parameters = try FormEncoding.decode(query)
    guard let given = parameters["state"], Digests.areSame(Array(given.utf8), Array(state.utf8)) else {
      throw OAuthError(
        .wrongState, "The answer is to another sign-in than this one (state), so it was not used. Start again.")
    }
    if let named = parameters["iss"] {
      guard named == issuer else {
        throw OAuthError(.wrongIssuer, "The answer is from another server than \(issuer) (iss), so it was not used.")
      }
    } else if requiresIssuer {
      throw OAuthError(.wrongIssuer, "The answer does not say which server it is from (iss), as this one always does.")
    }
    if let error = parameters["error"] {
      let name = error.utf8.allSatisfy { 0x21...0x7E ~= $0 } ? String(error.prefix(64)) : "unknown"
      let words = parameters["error_description"].map { ": " + String($0.prefix(300)) } ?? "."
      throw OAuthError(
        .denied, "The server gave no access (\(name))\(words)", serverCode: ServerErrorCode(rawValue: name))
    }
    guard let code = parameters["code"], !code.isEmpty else {
      throw OAuthError(.missingCode, "The answer holds no authorization code.")
    }
    return code
  }
}

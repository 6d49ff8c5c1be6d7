import Groundwork

// What the authorization server tells of itself and of the user.
extension RealmState {
  /// RFC 8414, and OpenID Connect Discovery in the same document.
  func serverMetadata() -> JSONWriter {
    let issuer = issuer
    let methods = ["none", "client_secret_basic", "client_secret_post"]
    return JSONWriter.object { json in
      func list(_ name: String, _ values: [String]) {
        json.key(name)
        json.array(values) { $0.string($1) }
      }
      json.member("issuer", issuer)
      json.member("authorization_endpoint", "\(issuer)/oauth2/authorize")
      json.member("token_endpoint", "\(issuer)/oauth2/token")
      json.member("jwks_uri", "\(issuer)/oauth2/jwks")
      json.member("userinfo_endpoint", "\(issuer)/oauth2/userinfo")
      json.member("revocation_endpoint", "\(issuer)/oauth2/revoke")
      json.member("introspection_endpoint", "\(issuer)/oauth2/introspect")
      json.member("device_authorization_endpoint", "\(issuer)/oauth2/device_authorization")
      list("scopes_supported", Set(oauth.clients.flatMap(\.scopes)).sorted())
      list("response_types_supported", ["code"])
      list("response_modes_supported", ["query"])
      list("grant_types_supported", MockOAuthGrantType.allCases.map(\.rawValue))
      list("token_endpoint_auth_methods_supported", methods)
      list("revocation_endpoint_auth_methods_supported", methods)
      list("introspection_endpoint_auth_methods_supported", ["client_secret_basic", "client_secret_post"])
      list("code_challenge_methods_supported", ["S256"])
      list("subject_types_supported", ["public"])
      list("id_token_signing_alg_values_supported", ["ES256", "RS256"])
      list(
        "claims_supported",
        [
          "sub", "iss", "aud", "exp", "iat", "auth_time", "nonce", "name", "preferred_username", "email",
          "email_verified",
        ])
      list("prompt_values_supported", ["none", "login"])
      json.member("authorization_response_iss_parameter_supported", true)
    }
  }

  /// OpenID Connect Core §5.3, refused as RFC 6750 §3 says.
  func userInfo(_ call: Call) throws(OAuthRefusal) -> Answer {
    var token = Self.bearer(of: call.request)
    if call.request.method == "POST", let form = FormItems(call.request), let sent = form["access_token"] {
      guard token == nil, form.repeated.isEmpty else {
        var refusal = OAuthRefusal.request("The access token comes in two ways at once.")
        refusal.challenge = Self.challenge("invalid_request", refusal.description)
        throw refusal
      }
      token = sent
    }
    guard let token else { return unauthorized(.missing, call) }
    switch authenticate(token, now: call.now) {
    case .failure(let refusal): return unauthorized(refusal, call)
    case .success(let record):
      guard let session = sessions[record.sessionID], let user = users[record.userID] else {
        return unauthorized(.unknown, call)
      }
      var scope = record.scope
      if case .oauth = session.kind {
        guard scope.contains("openid") else {
          var refusal = OAuthRefusal(
            "insufficient_scope", "This needs the scope openid.", .notAllowed, status: 403)
          refusal.challenge = MockRequest.Field(
            "WWW-Authenticate",
            "Bearer error=\"insufficient_scope\", error_description=\"This needs the scope openid.\", scope=\"openid\"")
          refusal.sessionID = session.id
          throw refusal
        }
      } else {
        scope = MockOAuthClient.usualScopes
      }
      let json = JSONWriter.object { json in
        json.member("sub", user.id)
        userClaims(user, scope, to: &json)
      }
      return Answer(
        reply: Chirp.json(200, json.data), outcome: .ok, sessionID: session.id, generation: record.generation)
    }
  }
}

import Groundwork

// The token endpoint (RFC 6749 §3.2).
extension RealmState {
  mutating func oauthToken(_ call: Call) throws(OAuthRefusal) -> Answer {
    let form = try oauthForm(call)
    guard let name = form["grant_type"] else { throw OAuthRefusal.request("The parameter grant_type is missing.") }
    guard let type = MockOAuthGrantType(rawValue: name) else {
      throw OAuthRefusal("unsupported_grant_type", "There is no grant \(name.prefix(60)).", .unsupportedGrant)
    }
    let client = try oauthClient(call, form)
    guard client.grants.contains(type), type != .clientCredentials || client.secret != nil else {
      throw OAuthRefusal("unauthorized_client", "This client may not use the grant \(name).", .unauthorizedClient)
    }
    switch type {
    case .password: return try passwordGrant(form, client, now: call.now)
    case .refreshToken: return try refreshGrant(form, client, now: call.now)
    case .authorizationCode: return try codeGrant(form, client, now: call.now)
    case .clientCredentials:
      let scope = try scope(form["scope"], for: client)
      return begin(for: "", client, scope, nonce: nil, authenticatedAt: nil, now: call.now)
    case .deviceCode: return try deviceGrant(form, client, now: call.now)
    }
  }

  private func required(_ name: String, in form: FormItems) throws(OAuthRefusal) -> String {
    guard let value = form[name] else { throw OAuthRefusal.request("The parameter \(name) is missing.") }
    return value
  }

  /// Begins a session of a user, or of the client itself, and answers with its tokens.
  private mutating func begin(
    for userID: String, _ client: MockOAuthClient, _ scope: [String], nonce: String?, authenticatedAt: MockInstant?,
    now: MockInstant
  ) -> Answer {
    let granted = OAuthGrant(clientID: client.id, scope: scope, authenticatedAt: authenticatedAt)
    let grant = issue(for: userID, kind: .oauth(granted), now: now)
    let mayRefresh = !userID.isEmpty && client.grants.contains(.refreshToken)
    let idToken = scope.contains("openid") ? idToken(for: grant, granted, nonce: nonce, now: now) : nil
    return Answer(
      reply: OAuth.tokens(
        grant, scope: scope, refreshToken: mayRefresh ? grant.refreshToken : nil, idToken: idToken),
      outcome: .issued, sessionID: grant.sessionID, generation: grant.generation)
  }

  /// A user by what they call themselves: an email or a username.
  func user(named name: String) -> UserRecord? { user(email: name) ?? user(username: name) }

  private mutating func passwordGrant(
    _ form: FormItems, _ client: MockOAuthClient, now: MockInstant
  ) throws(OAuthRefusal) -> Answer {
    let (name, password) = (try required("username", in: form), try required("password", in: form))
    let scope = try scope(form["scope"], for: client)
    guard let user = user(named: name), user.password.matches(password) else {
      throw OAuthRefusal.grant("Invalid username or password.", .invalidCredentials)
    }
    if let refusal = refusal(of: user, now: now) { throw OAuthRefusal.grant(refusal.reason, refusal.outcome) }
    return begin(for: user.id, client, scope, nonce: nil, authenticatedAt: now, now: now)
  }

  private mutating func refreshGrant(
    _ form: FormItems, _ client: MockOAuthClient, now: MockInstant
  ) throws(OAuthRefusal) -> Answer {
    let token = try required("refresh_token", in: form)
    guard let record = refresh[token], let session = sessions[record.sessionID] else {
      throw OAuthRefusal.grant("The refresh token is unknown.", .unknownGrant)
    }
    var granted = OAuthGrant(clientID: client.id, scope: client.scopes, authenticatedAt: nil)
    if case .oauth(let found) = session.kind { granted = found }
    guard granted.clientID == client.id, !session.userID.isEmpty else {
      throw OAuthRefusal.grant("The refresh token belongs to another client.", .unknownGrant)
    }
    var scope = granted.scope
    if let asked = form["scope"] {
      scope = asked.split(separator: " ").map(String.init)
      guard scope.allSatisfy(granted.scope.contains) else {
        throw OAuthRefusal("invalid_scope", "A refresh cannot widen the scope.", .invalidScope)
      }
    }
    sessions[record.sessionID]?.scope = scope
    switch exchange(token, now: now) {
    case .failure(let failure):
      var refusal = OAuthRefusal.grant(Self.words(for: failure.refusal), failure.refusal.outcome)
      refusal.sessionID = failure.sessionID
      refusal.generation = failure.generation
      throw refusal
    case .success(let success):
      let idToken =
        scope.contains("openid") && granted.authenticatedAt != nil
        ? idToken(for: success.grant, granted, nonce: nil, now: now) : nil
      // Nothing to tell: the client keeps the one that it has.
      let isKept = success.outcome == .refreshed
      return Answer(
        reply: OAuth.tokens(
          success.grant, scope: scope, refreshToken: isKept ? nil : success.grant.refreshToken, idToken: idToken),
        outcome: success.outcome, sessionID: success.grant.sessionID, generation: success.presented)
    }
  }

  private static func words(for refusal: GrantRefusal) -> String {
    switch refusal {
    case .unknown: "The refresh token is unknown."
    case .revoked: "The refresh token was revoked."
    case .expired: "The refresh token has expired."
    case .reused: "The refresh token was used before."
    case .banned: "The user is banned."
    }
  }

  private mutating func codeGrant(
    _ form: FormItems, _ client: MockOAuthClient, now: MockInstant
  ) throws(OAuthRefusal) -> Answer {
    let text = try required("code", in: form)
    guard let code = oauth.codes[text], code.clientID == client.id else {
      throw OAuthRefusal.grant("The authorization code is unknown.", .unknownGrant)
    }
    guard !code.isUsed else {
      // Whoever came second, one of the two has stolen it (RFC 6749 §4.1.2).
      if let sessionID = code.sessionID { end(sessionID, by: .replay) }
      var refusal = OAuthRefusal.grant(
        "The authorization code was used before; what it was exchanged for is revoked.", .reuseDetected)
      refusal.sessionID = code.sessionID
      throw refusal
    }
    guard now < code.madeAt.adding(OAuthTable.codeLifetime) else {
      oauth.removeCode(text)
      throw OAuthRefusal.grant("The authorization code has expired.", .expiredGrant)
    }
    guard code.redirectURI == form["redirect_uri"] else {
      throw OAuthRefusal.grant("The redirect_uri is not that of the authorization request.", .redirectMismatch)
    }
    switch (code.challenge, form["code_verifier"]) {
    case (nil, nil): break
    case (let challenge?, let verifier?) where challenge.accepts(verifier): break
    case (nil, _):
      throw OAuthRefusal.grant("There is a code_verifier, but there was no code_challenge.", .pkceFailed)
    default:
      // Who cannot prove it now will not later.
      oauth.removeCode(text)
      throw OAuthRefusal.grant("The code_verifier does not belong to the code_challenge.", .pkceFailed)
    }
    guard let user = users[code.userID] else { throw OAuthRefusal.grant("The user is gone.", .unknownGrant) }
    if let refusal = refusal(of: user, now: now) { throw OAuthRefusal.grant(refusal.reason, refusal.outcome) }
    let answer = begin(
      for: code.userID, client, code.scope, nonce: code.nonce, authenticatedAt: code.madeAt, now: now)
    oauth.useCode(text, for: answer.sessionID)
    return answer
  }

  private mutating func deviceGrant(
    _ form: FormItems, _ client: MockOAuthClient, now: MockInstant
  ) throws(OAuthRefusal) -> Answer {
    let text = try required("device_code", in: form)
    guard let device = oauth.devices[text], device.clientID == client.id else {
      throw OAuthRefusal.grant("The device code is unknown.", .unknownGrant)
    }
    guard now < device.madeAt.adding(OAuthTable.deviceLifetime) else {
      throw OAuthRefusal("expired_token", "The device code has expired.", .expiredGrant)
    }
    switch device.decision {
    case .denied: throw OAuthRefusal("access_denied", "The user has denied it.", .denied)
    case .open:
      let isHasty = device.polledAt.map { now < $0.adding(.seconds(device.interval)) } ?? false
      oauth.notePoll(text, at: now, hasty: isHasty)
      throw isHasty
        ? OAuthRefusal("slow_down", "Wait \(device.interval + 5) s between polls.", .slowDown)
        : OAuthRefusal("authorization_pending", "The user has not decided yet.", .authorizationPending)
    case .approved(let userID):
      oauth.removeDevice(text)
      guard let user = users[userID] else { throw OAuthRefusal.grant("The user is gone.", .unknownGrant) }
      if let refusal = refusal(of: user, now: now) { throw OAuthRefusal.grant(refusal.reason, refusal.outcome) }
      return begin(for: userID, client, device.scope, nonce: nil, authenticatedAt: now, now: now)
    }
  }

  // MARK: ID tokens

  /// An ID token (OpenID Connect Core §2), with the policy's flaw in it; nil if the policy leaves it out.
  private func idToken(
    for grant: TokenGrant, _ granted: OAuthGrant, nonce: String?, now: MockInstant
  ) -> String? {
    guard let session = sessions[grant.sessionID], let user = users[session.userID] else { return nil }
    let flaw = policy.idTokenFlaw
    guard flaw != .missing else { return nil }
    let told = now.adding(policy.clockSkew)
    let start = flaw == .early ? told.adding(.seconds(3600)) : told
    let end = flaw == .expired ? told.adding(.seconds(-3600)) : start.adding(.seconds(3600))
    // Half of the access token's hash, so that nobody can put another in its place (§3.1.3.6).
    let half = Array(SHA256.digest(Array(grant.accessToken.utf8)).prefix(16))
    let claims = JSONWriter.object { json in
      json.member("iss", flaw == .issuer ? "https://elsewhere.invalid" : issuer)
      json.member("sub", flaw == .subject ? "somebody-else" : user.id)
      json.member("aud", flaw == .audience ? "another-client" : granted.clientID)
      json.member("exp", Int(end.seconds))
      json.member("iat", Int(start.seconds))
      if flaw == .early { json.member("nbf", Int(start.seconds)) }
      if let instant = granted.authenticatedAt {
        json.member("auth_time", Int(instant.adding(policy.clockSkew).seconds))
      }
      if let nonce { json.member("nonce", flaw == .nonce ? "another-nonce" : nonce) }
      json.member("at_hash", Base64URL.encode(half))
      userClaims(user, granted.scope, to: &json)
    }
    let algorithm: JWTAlgorithm = policy.tokens == .rs256 ? .rs256 : .es256
    switch flaw {
    case .unsigned:
      let header = JSONWriter.object { $0.member("alg", "none") }
      return "\(Base64URL.encode(header.bytes)).\(Base64URL.encode(claims.bytes))."
    case .key: return JWT.make(algorithm, keys: keys, keyID: "no-such-key", claims: claims)
    case .signature:
      guard var token = JWT.make(algorithm, keys: keys, claims: claims) else { return nil }
      // The first letter of the signature: every bit of it counts.
      guard let dot = token.lastIndex(of: ".") else { return nil }
      let first = token.index(after: dot)
      token.replaceSubrange(first...first, with: token[first] == "A" ? "B" : "A")
      return token
    default: return JWT.make(algorithm, keys: keys, claims: claims)
    }
  }

  /// What the scopes show of a user (OpenID Connect Core §5.4).
  func userClaims(_ user: UserRecord, _ scope: [String], to json: inout JSONWriter) {
    if scope.contains("profile") {
      json.member("preferred_username", user.username)
      json.member("name", user.metadata["name"]?.string ?? user.username)
      json.member("updated_at", Int(user.updatedAt.seconds))
    }
    if scope.contains("email"), !user.email.isEmpty {
      json.member("email", user.email)
      json.member("email_verified", user.emailConfirmedAt != nil)
    }
  }
}

import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The OAuth 2 dialect: what is called, by which client.
extension RealmState {
  mutating func performOAuth(_ call: Call, _ route: Route) -> Answer {
    origin.note(call.request)
    do throws(OAuthRefusal) {
      switch route.endpoint {
      case .oauthToken: return try oauthToken(call)
      case .revoke: return try oauthRevoke(call)
      case .introspect: return try oauthIntrospect(call)
      case .deviceAuthorization: return try authorizeDevice(call)
      case .authorize: return authorize(call)
      case .devicePage: return devicePage(call)
      case .userInfo: return try userInfo(call)
      case .keys: return Answer(reply: Chirp.json(200, keys.published(with: policy.tokens).data), outcome: .ok)
      default: return Answer(reply: Chirp.json(200, serverMetadata().data), outcome: .ok)
      }
    } catch {
      return oauthAnswer(error)
    }
  }

  private func oauthAnswer(_ refusal: OAuthRefusal) -> Answer {
    var reply = OAuth.error(refusal.status, refusal.code, refusal.description)
    if let challenge = refusal.challenge { reply.headers.append(challenge) }
    return Answer(
      reply: reply, outcome: refusal.outcome, sessionID: refusal.sessionID, generation: refusal.generation)
  }

  /// The form of a request, each parameter in it once.
  func oauthForm(_ call: Call) throws(OAuthRefusal) -> FormItems {
    guard call.request.body.count <= 1 << 20 else {
      throw OAuthRefusal("invalid_request", "The body is larger than 1 MiB.", .tooLarge, status: 413)
    }
    guard let form = FormItems(call.request) else {
      throw OAuthRefusal.request("The body must be a form: application/x-www-form-urlencoded, in UTF-8.")
    }
    if let name = form.repeated.min() {
      throw OAuthRefusal.request("The parameter \(name.prefix(40)) comes more than once.")
    }
    return form
  }

  // MARK: Clients

  /// The client of a request: by `Authorization: Basic`, by `client_secret` in the form, or, if it is public, by its id alone
  /// (RFC 6749 §2.3).
  func oauthClient(_ call: Call, _ form: FormItems) throws(OAuthRefusal) -> MockOAuthClient {
    if let value = call.request.header("Authorization") { return try basicClient(value, form) }
    guard let id = form["client_id"] else {
      throw OAuthRefusal("invalid_client", "The client does not say who it is.", .invalidClient)
    }
    guard let client = oauth.client(id) else {
      throw OAuthRefusal("invalid_client", "There is no such client.", .invalidClient)
    }
    guard client.secret == form["client_secret"] else {
      let what =
        form["client_secret"] == nil ? "This client has a secret and must use it." : "The client's secret is wrong."
      throw OAuthRefusal("invalid_client", what, .invalidClient)
    }
    return client
  }

  private func basicClient(_ value: String, _ form: FormItems) throws(OAuthRefusal) -> MockOAuthClient {
    func refuse(_ description: String) -> OAuthRefusal {
      var refusal = OAuthRefusal("invalid_client", description, .invalidClient, status: 401)
      refusal.challenge = MockRequest.Field("WWW-Authenticate", "Basic realm=\"mock-server\", charset=\"UTF-8\"")
      return refusal
    }
    guard form["client_secret"] == nil else {
      throw OAuthRefusal.request("The client proves itself in two ways at once.")
    }
    let parts = value.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].equalsIgnoringCase("Basic"),
      let bytes = Data(base64Encoded: String(parts[1].trimmedOfSpaces)),
      let text = String(bytes: bytes, encoding: .utf8)
    else { throw refuse("A client proves itself by Basic here (RFC 6749 2.3.1).") }
    let pair = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard pair.count == 2, let id = pair[0].percentDecoded, let secret = pair[1].percentDecoded else {
      throw refuse("Basic credentials are an id, a colon and a secret, each encoded as in a form.")
    }
    if let named = form["client_id"], named != id {
      throw OAuthRefusal.request("The client has two ids.")
    }
    guard let client = oauth.client(id) else { throw refuse("There is no such client.") }
    guard client.secret ?? "" == secret else { throw refuse("The client's secret is wrong.") }
    return client
  }

  /// What a client may have of what it asks for; everything that it may have if it asks for nothing.
  func scope(_ text: String?, for client: MockOAuthClient) throws(OAuthRefusal) -> [String] {
    guard let text else { return client.scopes }
    let asked = text.split(separator: " ").map(String.init)
    guard let wrong = asked.first(where: { !OAuth.isScope($0) || !client.scopes.contains($0) }) else {
      var seen: Set<String> = []
      return asked.filter { seen.insert($0).inserted }
    }
    throw OAuthRefusal("invalid_scope", "This client cannot have the scope \(wrong.prefix(40)).", .invalidScope)
  }

  // MARK: Revocation and introspection

  /// RFC 7009: an access token ends itself, a refresh token its whole session.
  private mutating func oauthRevoke(_ call: Call) throws(OAuthRefusal) -> Answer {
    let form = try oauthForm(call)
    let client = try oauthClient(call, form)
    guard let token = form["token"] else { throw OAuthRefusal.request("The parameter token is missing.") }
    // The hint is not needed to find a token, and a wrong one is ignored.
    let sessionID = access[token]?.sessionID ?? refresh[token]?.sessionID
    guard let sessionID, let session = sessions[sessionID] else {
      if isIDToken(token) {
        throw OAuthRefusal(
          "unsupported_token_type", "An ID token cannot be revoked.", .badRequest)
      }
      return Answer(reply: MockReply(status: 200), outcome: .nothingToRevoke)
    }
    if case .oauth(let grant) = session.kind, grant.clientID != client.id {
      throw OAuthRefusal("unauthorized_client", "The token belongs to another client.", .notAllowed)
    }
    let didEnd: Bool
    if let record = access[token] {
      didEnd = !record.isRevoked && session.endedBy == nil
      access[token]?.isRevoked = true
    } else {
      didEnd = end(sessionID, by: .logout)
    }
    return Answer(
      reply: MockReply(status: 200), outcome: didEnd ? .signedOut : .nothingToRevoke, sessionID: sessionID)
  }

  private func isIDToken(_ token: String) -> Bool {
    guard JWT.resembles(token) else { return false }
    do throws(JWT.Flaw) {
      return try JWT.read(token, keys: keys).claims["session_id"] == nil
    } catch {
      return false
    }
  }

  /// RFC 7662: for clients that can prove who they are.
  private func oauthIntrospect(_ call: Call) throws(OAuthRefusal) -> Answer {
    let form = try oauthForm(call)
    let client = try oauthClient(call, form)
    guard client.secret != nil else {
      throw OAuthRefusal("invalid_client", "Introspection is for clients with a secret.", .invalidClient)
    }
    guard let token = form["token"] else { throw OAuthRefusal.request("The parameter token is missing.") }
    guard let found = activeToken(token, now: call.now) else {
      let inactive = JSONWriter.object { $0.member("active", false) }
      return Answer(reply: Chirp.json(200, inactive.data), outcome: .ok)
    }
    let (session, scope, expiresAt, issuedAt) = found
    let json = JSONWriter.object { json in
      json.member("active", true)
      if case .oauth(let grant) = session.kind {
        json.member("scope", scope.joined(separator: " "))
        json.member("client_id", grant.clientID)
        json.member("sub", session.userID.isEmpty ? grant.clientID : session.userID)
      } else {
        json.member("sub", session.userID)
      }
      if let user = users[session.userID] { json.member("username", user.username) }
      if let issuedAt {
        json.member("token_type", "Bearer")
        json.member("iat", Int(issuedAt.adding(policy.clockSkew).seconds))
      }
      json.member("exp", Int(expiresAt.adding(policy.clockSkew).seconds))
      json.member("aud", issuer)
      json.member("iss", issuer)
    }
    return Answer(reply: Chirp.json(200, json.data), outcome: .ok, sessionID: session.id)
  }

  /// A token that would be accepted now, of either kind; a refresh token has no issue time.
  private func activeToken(_ token: String, now: MockInstant) -> (
    session: SessionRecord, scope: [String], expiresAt: MockInstant, issuedAt: MockInstant?
  )? {
    if let record = access[token], let session = sessions[record.sessionID] {
      switch authenticate(token, now: now) {
      case .success, .failure(.noUser): return (session, record.scope, record.expiresAt, record.issuedAt)
      default: return nil
      }
    }
    guard let record = refresh[token], let session = sessions[record.sessionID], session.endedBy == nil,
      !record.isRevoked, record.spentAt == nil, now < record.expiresAt, session.userID.isEmpty == false,
      users[session.userID]?.isBanned(now) == false
    else { return nil }
    let scope = if case .oauth(let grant) = session.kind { grant.scope } else { session.scope }
    return (session, scope, record.expiresAt, nil)
  }
}

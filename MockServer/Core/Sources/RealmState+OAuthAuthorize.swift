import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The authorization endpoint (RFC 6749 §3.1, RFC 7636), for a person with a browser and for a client without one.
extension RealmState {
  /// A request whose client and redirect are known: every answer goes to the client from here on.
  private struct Authorization {
    let client: MockOAuthClient
    let redirect: String
    let items: FormItems
  }

  mutating func authorize(_ call: Call) -> Answer {
    guard call.request.body.count <= 1 << 20,
      let items = call.request.method == "POST" ? FormItems(call.request) : FormItems(call.query)
    else { return page(400, OAuthPage.failure("The request cannot be read.")) }
    guard !items.repeated.contains("client_id"), let id = items["client_id"], let client = oauth.client(id) else {
      return page(400, OAuthPage.failure("No client has this client_id."), .invalidClient)
    }
    // Without a place to send it to, the answer is for the person (§4.1.2.1).
    guard !items.repeated.contains("redirect_uri"), let redirect = items["redirect_uri"] ?? client.onlyRedirect,
      client.allows(redirect: redirect)
    else { return page(400, OAuthPage.failure("The redirect_uri is none of the client's."), .redirectMismatch) }
    let authorization = Authorization(client: client, redirect: redirect, items: items)
    do throws(OAuthRefusal) {
      return try authorize(call, authorization)
    } catch {
      return send(
        authorization, [("error", error.code), ("error_description", OAuth.describable(error.description))],
        error.outcome)
    }
  }

  private mutating func authorize(_ call: Call, _ authorization: Authorization) throws(OAuthRefusal) -> Answer {
    let (client, items) = (authorization.client, authorization.items)
    if let name = items.repeated.min() {
      throw OAuthRefusal.request("The parameter \(name.prefix(40)) comes more than once.")
    }
    guard let type = items["response_type"] else {
      throw OAuthRefusal.request("The parameter response_type is missing.")
    }
    guard type == "code" else {
      throw OAuthRefusal("unsupported_response_type", "There is only response_type code.", .badRequest)
    }
    guard items["response_mode"] ?? "query" == "query" else {
      throw OAuthRefusal.request("There is only response_mode query.")
    }
    guard client.grants.contains(.authorizationCode) else {
      throw OAuthRefusal("unauthorized_client", "This client may not ask for codes.", .unauthorizedClient)
    }
    let challenge = try challenge(items, for: client)
    let scope = try scope(items["scope"], for: client)
    if items["decision"] == "deny" { throw OAuthRefusal("access_denied", "The user has denied it.", .denied) }
    let message: String?
    switch person(items, now: call.now) {
    case .success(let userID?):
      let text = random.token(prefix: "")
      oauth.add(
        OAuthTable.Code(
          clientID: client.id, userID: userID, redirectURI: items["redirect_uri"], scope: scope, challenge: challenge,
          nonce: items["nonce"], madeAt: call.now), as: text)
      return send(authorization, [("code", text)], .ok)
    case .success(nil): message = nil
    case .failure(let refusal): message = refusal.message
    }
    guard items["prompt"] != "none" else {
      throw OAuthRefusal("login_required", "Nobody is signed in.", .denied)
    }
    let body = OAuthPage.form(
      title: "Sign in", action: "\(issuer)/oauth2/authorize", client: client.id, scope: scope, hidden: items.values,
      name: items["username"] ?? items["login_hint"], message: message)
    return page(message == nil ? 200 : 403, body, message == nil ? .ok : .invalidCredentials)
  }

  private func challenge(
    _ items: FormItems, for client: MockOAuthClient
  ) throws(OAuthRefusal) -> PKCEChallenge? {
    guard let value = items["code_challenge"] else {
      guard client.secret != nil, items["code_challenge_method"] == nil else {
        throw OAuthRefusal.request("A client without a secret sends a code_challenge (PKCE).")
      }
      return nil
    }
    // Without a method it would be plain (RFC 7636 §4.3), which proves nothing.
    guard items["code_challenge_method"] == "S256" else {
      throw OAuthRefusal.request("There is only code_challenge_method S256.")
    }
    guard PKCEChallenge.isVerifier(value) else {
      throw OAuthRefusal.request("A code_challenge has 43 to 128 letters of base64url.")
    }
    return PKCEChallenge(value: value, isHashed: true)
  }

  /// Why a person is not let in.
  struct PersonRefusal: Error {
    let message: String
  }

  /// Who agrees: the one whose password is right, or, without a password, the one that `user` or `login_hint` names, since
  /// this server is for tests; nil if nobody has said anything yet.
  func person(_ items: FormItems, now: MockInstant) -> Result<String?, PersonRefusal> {
    let found: UserRecord
    if let name = items["username"] {
      guard let user = user(named: name), user.password.matches(items["password"] ?? "") else {
        return .failure(PersonRefusal(message: "Invalid username or password."))
      }
      found = user
    } else {
      let hint = items["prompt"] == "login" ? nil : items["login_hint"]
      guard let name = items["user"] ?? hint else { return .success(nil) }
      guard let user = user(named: name) else {
        return .failure(PersonRefusal(message: "There is no such user."))
      }
      found = user
    }
    if let refusal = refusal(of: found, now: now) { return .failure(PersonRefusal(message: refusal.reason)) }
    return .success(found.id)
  }

  /// Sends the browser back to the client, with `state` and the issuer (RFC 9207).
  private func send(
    _ authorization: Authorization, _ parameters: [(String, String)], _ outcome: MockOutcome
  ) -> Answer {
    var all = parameters
    if let state = authorization.items["state"] { all.append(("state", state)) }
    all.append(("iss", issuer))
    let query = all.map { "\($0.0)=\(FormItems.encode($0.1))" }.joined(separator: "&")
    let joint = authorization.redirect.contains("?") ? "&" : "?"
    let reply = MockReply(
      status: 302,
      headers: [MockRequest.Field("Location", authorization.redirect + joint + query), Chirp.noStore])
    return Answer(reply: reply, outcome: outcome)
  }

  func page(_ status: Int, _ body: String, _ outcome: MockOutcome = .badRequest) -> Answer {
    let headers = [
      MockRequest.Field("Content-Type", "text/html; charset=utf-8"), Chirp.noStore,
      // Nothing is loaded, nothing runs, nobody frames it, and nobody learns the address.
      MockRequest.Field(
        "Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
      MockRequest.Field("Referrer-Policy", "no-referrer"),
    ]
    return Answer(reply: MockReply(status: status, headers: headers, body: Data(body.utf8)), outcome: outcome)
  }

  // MARK: Devices

  /// RFC 8628 §3.1.
  mutating func authorizeDevice(_ call: Call) throws(OAuthRefusal) -> Answer {
    let form = try oauthForm(call)
    let client = try oauthClient(call, form)
    guard client.grants.contains(.deviceCode) else {
      throw OAuthRefusal("unauthorized_client", "This client may not ask for device codes.", .unauthorizedClient)
    }
    let scope = try scope(form["scope"], for: client)
    let text = random.token(prefix: "")
    // Without vowels no word comes about, and nothing that looks like a digit (§6.1).
    let consonants = Array("BCDFGHJKLMNPQRSTVWXZ")
    let letters = (0..<8).map { _ in consonants[Int(random.next() % 20)] }
    let userCode = "\(String(letters[..<4]))-\(String(letters[4...]))"
    oauth.add(
      OAuthTable.Device(clientID: client.id, scope: scope, userCode: userCode, madeAt: call.now), as: text)
    let address = "\(issuer)/oauth2/device"
    let json = JSONWriter.object { json in
      json.member("device_code", text)
      json.member("user_code", userCode)
      json.member("verification_uri", address)
      json.member("verification_uri_complete", "\(address)?user_code=\(userCode)")
      json.member("expires_in", Int(OAuthTable.deviceLifetime.components.seconds))
      json.member("interval", 5)
    }
    return Answer(
      reply: MockReply(status: 200, headers: [Chirp.contentType, Chirp.noStore, OAuth.pragma], body: json.data),
      outcome: .ok)
  }

  /// The page where a person types in what the device shows (§3.3).
  mutating func devicePage(_ call: Call) -> Answer {
    guard call.request.body.count <= 1 << 20,
      let items = call.request.method == "POST" ? FormItems(call.request) : FormItems(call.query),
      items.repeated.isEmpty
    else { return page(400, OAuthPage.failure("The request cannot be read.")) }
    func form(_ status: Int, _ message: String?, _ outcome: MockOutcome, client: String? = nil) -> Answer {
      page(
        status,
        OAuthPage.form(
          title: "Connect a device", action: "\(issuer)/oauth2/device", client: client, scope: [],
          hidden: [:], userCode: items["user_code"] ?? "", name: items["username"], message: message), outcome)
    }
    guard let userCode = items["user_code"] else { return form(200, nil, .ok) }
    guard let device = oauth.device(userCode: userCode, now: call.now)?.device else {
      return form(404, "No device waits under this code.", .unknownGrant)
    }
    if items["decision"] == "deny" {
      _ = oauth.decide(.denied, userCode: userCode, now: call.now)
      return page(200, OAuthPage.notice("Denied", "The device stays signed out."), .denied)
    }
    switch person(items, now: call.now) {
    case .success(nil): return form(200, nil, .ok, client: device.clientID)
    case .failure(let refusal): return form(403, refusal.message, .invalidCredentials, client: device.clientID)
    case .success(let userID?):
      _ = oauth.decide(.approved(userID: userID), userCode: userCode, now: call.now)
      return page(200, OAuthPage.notice("Connected", "You can go back to your device."), .ok)
    }
  }
}

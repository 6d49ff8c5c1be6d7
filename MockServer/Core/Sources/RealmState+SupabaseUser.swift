import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// What a signed-in user may do, and the messages that bring one in.
extension RealmState {
  mutating func performSupabaseAuthed(_ call: Call, _ route: Route) throws(SupabaseRefusal) -> Answer {
    let bearer = try supabaseSession(call)
    do throws(SupabaseRefusal) {
      var answer: Answer
      switch route.endpoint {
      case .updateUser: answer = try updateUser(bearer.userID, call)
      case .logout: answer = try supabaseLogout(bearer, call)
      default: answer = supabaseUser(bearer.userID, .ok)
      }
      answer.sessionID = bearer.sessionID
      answer.generation = bearer.generation
      return answer
    } catch {
      var refusal = error
      refusal.sessionID = bearer.sessionID
      refusal.generation = bearer.generation
      throw refusal
    }
  }

  func supabaseUser(_ id: String, _ outcome: MockOutcome) -> Answer {
    var json = JSONWriter()
    if let user = users[id] { Supabase.user(user, to: &json) }
    return Answer(reply: Chirp.json(200, json.data), outcome: outcome)
  }

  private mutating func updateUser(_ id: String, _ call: Call) throws(SupabaseRefusal) -> Answer {
    let members = try supabaseBody(call)
    let challenge = try challenge(in: members)
    guard let user = users[id] else { return supabaseUser(id, .ok) }
    var checked = SupabaseContact()
    if members["email"]?.string?.isEmpty == false {
      checked.email = try contact(in: ["email": members["email"] ?? .null], for: "update").email
      guard self.user(email: checked.email).map({ $0.id == id }) ?? true else {
        throw SupabaseRefusal(
          422, "email_exists", "A user with this email address has already been registered", .emailTaken)
      }
    }
    if members["phone"]?.string?.isEmpty == false {
      checked.phone = try contact(in: ["phone": members["phone"] ?? .null], for: "update").phone
      guard userIDByPhone[checked.phone].map({ $0 == id }) ?? true else {
        throw SupabaseRefusal(
          422, "phone_exists", "A user with this phone number has already been registered", .emailTaken)
      }
    }
    let password = try text("password", in: members)
    if !password.isEmpty {
      try checkStrength(password)
      guard !user.password.matches(password) else {
        throw SupabaseRefusal(
          422, "same_password", "New password should be different from the old password.", .validationFailed)
      }
    }
    if let data = members["data"], data != .null {
      guard let changes = data.object else {
        throw SupabaseRefusal(
          400, "bad_json", "Could not parse request body as JSON: \"data\" is no object", .badRequest)
      }
      mergeMetadata(changes, of: id)
    }
    if !password.isEmpty { users[id]?.password = PasswordHash(password, salt: random.uuid()) }
    if !checked.email.isEmpty, checked.email != user.email.lowercased() {
      if policy.autoconfirm {
        _ = setEmail(checked.email, of: id)
        users[id]?.emailConfirmedAt = call.now
      } else {
        users[id]?.newEmail = (checked.email, call.now)
        send(.emailChange, to: checked.email, of: id, challenge: challenge, now: call.now)
      }
    }
    if !checked.phone.isEmpty, setPhone(checked.phone, of: id) { users[id]?.phoneConfirmedAt = call.now }
    users[id]?.updatedAt = call.now
    return supabaseUser(id, .ok)
  }

  private mutating func supabaseLogout(_ bearer: AccessRecord, _ call: Call) throws(SupabaseRefusal) -> Answer {
    let scope = QueryItems(call.query)?["scope"] ?? ""
    let ended: Int
    switch scope {
    case "", "global": ended = endSessions(of: bearer.userID, by: .logout)
    case "local": ended = end(bearer.sessionID, by: .logout) ? 1 : 0
    case "others": ended = endSessions(of: bearer.userID, by: .logout) { $0.id != bearer.sessionID }
    default: throw .invalid("Unsupported logout scope \"\(scope.prefix(32))\"")
    }
    return Answer(reply: MockReply(status: 204), outcome: ended > 0 ? .signedOut : .nothingToRevoke)
  }

  // MARK: Messages

  /// `POST /otp`, `/recover` and `/resend`: `{}` whether anyone has the address or not.
  mutating func supabaseMail(_ call: Call, _ route: Route) throws(SupabaseRefusal) -> Answer {
    let members = try supabaseBody(call)
    let contact = try contact(in: members, for: route.operation.rawValue)
    guard !contact.address.isEmpty else {
      throw .invalid("One of email or phone must be set")
    }
    let challenge = try challenge(in: members)
    let known = user(contact)
    switch route.endpoint {
    case .otp:
      if let known {
        send(.magicLink, to: contact.address, of: known.id, challenge: challenge, now: call.now)
      } else if members["create_user"]?.bool ?? true {
        // Nobody knows this password: the user signs in by codes until they set one.
        let password = random.token(prefix: "")
        let id = try addSupabaseUser(contact, password: password, members: members, now: call.now)
        askToConfirm(id, challenge: challenge, now: call.now)
      } else {
        throw SupabaseRefusal(422, "otp_disabled", "Signups not allowed for otp", .validationFailed)
      }
    case .recover:
      if let known { send(.recovery, to: contact.address, of: known.id, challenge: challenge, now: call.now) }
    default:
      switch try text("type", in: members) {
      case "signup", "sms":
        if let known, known.confirmedAt == nil { askToConfirm(known.id, challenge: challenge, now: call.now) }
      case "email_change", "phone_change":
        if let known, let newEmail = known.newEmail {
          send(.emailChange, to: newEmail.address, of: known.id, challenge: challenge, now: call.now)
        }
      default: throw .invalid("Missing one of these types: signup, email_change, sms, phone_change")
      }
    }
    return Answer(reply: Chirp.json(200, Data("{}".utf8)), outcome: .ok)
  }

  private static func kinds(_ type: String) -> [MockMail.Kind] {
    switch type {
    case "email", "sms": [.magicLink, .signUp]
    case "magiclink": [.magicLink, .signUp]
    default: MockMail.Kind(rawValue: type).map { [$0] } ?? []
    }
  }

  private func expired() -> SupabaseRefusal {
    SupabaseRefusal(403, "otp_expired", "Token has expired or is invalid", .expiredGrant)
  }

  mutating func supabaseVerify(_ call: Call) throws(SupabaseRefusal) -> Answer {
    let members = try supabaseBody(call)
    let kinds = Self.kinds(try text("type", in: members))
    guard !kinds.isEmpty else { throw .invalid("Verify requires a verification type") }
    let hash = try text("token_hash", in: members)
    let code = try text("token", in: members)
    let contact = try contact(in: members, for: "verify")
    guard hash.isEmpty != code.isEmpty else {
      throw .invalid("Verify requires either a token or a token hash")
    }
    guard hash.isEmpty == !contact.address.isEmpty else {
      throw .invalid("Only the token_hash and type should be provided")
    }
    let found = mails.take(now: call.now) { pending in
      guard kinds.contains(pending.kind) else { return false }
      return hash.isEmpty
        ? pending.code == code && pending.to.lowercased() == contact.address : pending.hash == hash
    }
    guard let found, users[found.userID] != nil else { throw expired() }
    if users[found.userID]?.isBanned(call.now) == true {
      throw SupabaseRefusal(403, "user_banned", "User is banned", .banned)
    }
    complete(found, now: call.now)
    return supabaseSession(for: found.userID, method: found.kind.method, outcome: .issued, now: call.now)
  }

  /// Does what the reader of a message has agreed to.
  private mutating func complete(_ found: MailTable.Pending, now: MockInstant) {
    if found.kind == .emailChange, let newEmail = users[found.userID]?.newEmail {
      users[found.userID]?.newEmail = nil
      if setEmail(newEmail.address, of: found.userID) { users[found.userID]?.emailConfirmedAt = now }
    }
    confirm(found.userID, now: now)
  }

  /// A link that was followed: on to the app with a session in the fragment, or with a code for PKCE.
  mutating func supabaseFollowLink(_ call: Call) -> Answer {
    let items = QueryItems(call.query)
    let hash = items?["token"] ?? items?["token_hash"] ?? ""
    let kinds = Self.kinds(items?["type"] ?? "")
    let app = items?["redirect_to"].flatMap { Self.isWebAddress($0) ? $0 : nil } ?? "http://localhost:3000"
    func redirect(_ suffix: String, _ outcome: MockOutcome, sessionID: String? = nil) -> Answer {
      let reply = MockReply(
        status: 303, headers: [MockRequest.Field("Location", app + suffix), Chirp.noStore])
      return Answer(reply: reply, outcome: outcome, sessionID: sessionID)
    }
    let found = mails.take(now: call.now) { !hash.isEmpty && $0.hash == hash && kinds.contains($0.kind) }
    guard let found, let user = users[found.userID], !user.isBanned(call.now) else {
      return redirect(
        "#error=access_denied&error_code=otp_expired&error_description=Email+link+is+invalid+or+has+expired",
        .expiredGrant)
    }
    complete(found, now: call.now)
    if let challenge = found.challenge {
      let code = random.uuid()
      mails.flows[code] = MailTable.Flow(
        userID: found.userID, kind: found.kind, challenge: challenge, madeAt: call.now)
      return redirect("\(app.contains("?") ? "&" : "?")code=\(code)", .ok)
    }
    let grant = issue(
      for: found.userID, kind: .supabase(method: found.kind.method, at: call.now), now: call.now)
    let expiry = call.now.adding(policy.clockSkew).adding(grant.expiresIn).seconds
    return redirect(
      "#access_token=\(grant.accessToken)&expires_at=\(expiry)&expires_in=\(grant.expiresIn.components.seconds)"
        + "&refresh_token=\(grant.refreshToken)&token_type=bearer&type=\(found.kind.rawValue)", .issued,
      sessionID: grant.sessionID)
  }

  /// An absolute address without a fragment, and without anything that a header must not have.
  static func isWebAddress(_ text: String) -> Bool {
    (1...2048).contains(text.utf8.count) && text.firstRange(of: "://") != nil && !text.contains("#")
      && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
  }
}

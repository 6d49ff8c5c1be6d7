import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Sign-up and the token endpoint.
extension RealmState {
  /// What a request names a user by.
  struct SupabaseContact {
    var email = ""
    var phone = ""
    var address: String { email.isEmpty ? phone : email }
  }

  /// Reads `email` or `phone`, and refuses what is none.
  func contact(
    in members: [String: JSONValue], for what: String
  ) throws(SupabaseRefusal) -> SupabaseContact {
    var contact = SupabaseContact()
    contact.email = try String(text("email", in: members).trimmedOfSpaces).lowercased()
    contact.phone = Self.digits(try text("phone", in: members))
    guard contact.email.isEmpty || contact.phone.isEmpty else {
      throw .invalid("Only an email address or phone number should be provided on \(what).")
    }
    if !contact.email.isEmpty, Validation.problem(email: contact.email) != nil {
      throw .invalid("Unable to validate email address: invalid format")
    }
    if !contact.phone.isEmpty, !Self.isPhone(contact.phone) {
      throw .invalid("Invalid phone number format (E.164 required)")
    }
    return contact
  }

  /// A number as it is kept: without the plus sign and spaces.
  static func digits(_ phone: String) -> String { phone.filter { $0 != "+" && $0 != " " } }

  /// E.164: 2 to 15 digits, the first no zero.
  static func isPhone(_ digits: String) -> Bool {
    (2...15).contains(digits.utf8.count) && digits.utf8.allSatisfy { 0x30...0x39 ~= $0 } && !digits.hasPrefix("0")
  }

  func user(_ contact: SupabaseContact) -> UserRecord? {
    contact.email.isEmpty
      ? userIDByPhone[contact.phone].flatMap { users[$0] } : user(email: contact.email)
  }

  /// Refuses a password that a sign-up or a change may not have.
  func checkStrength(_ password: String) throws(SupabaseRefusal) {
    guard password.unicodeScalars.count >= 8 else {
      throw SupabaseRefusal(
        422, "weak_password", "Password should be at least 8 characters.", .weakPassword, reasons: ["length"])
    }
    guard password.utf8.count <= 72 else { throw .invalid("Password cannot be longer than 72 characters") }
  }

  /// The challenge of a PKCE flow; nil for the implicit one.
  func challenge(in members: [String: JSONValue]) throws(SupabaseRefusal) -> PKCEChallenge? {
    let value = try text("code_challenge", in: members)
    let method = try text("code_challenge_method", in: members).lowercased()
    guard value.isEmpty == method.isEmpty else {
      throw .invalid("PKCE flow requires code_challenge_method and code_challenge")
    }
    guard !value.isEmpty else { return nil }
    guard ["s256", "plain"].contains(method) else {
      throw .invalid("unsupported code_challenge method \"\(method.prefix(16))\"")
    }
    guard PKCEChallenge.isVerifier(value) else {
      throw .invalid("code challenge has to be between 43 and 128 characters")
    }
    return PKCEChallenge(value: value, isHashed: method == "s256")
  }

  // MARK: Sign-up

  mutating func supabaseSignUp(_ call: Call) throws(SupabaseRefusal) -> Answer {
    let members = try supabaseBody(call)
    let contact = try contact(in: members, for: "signup")
    guard !contact.address.isEmpty else {
      throw SupabaseRefusal(
        422, "anonymous_provider_disabled", "Anonymous sign-ins are disabled", .validationFailed)
    }
    let password = try text("password", in: members)
    guard !password.isEmpty else { throw .invalid("Signup requires a valid password") }
    try checkStrength(password)
    let challenge = try challenge(in: members)
    if let known = user(contact) {
      guard !policy.autoconfirm else {
        throw SupabaseRefusal(422, "user_already_exists", "User already registered", .emailTaken)
      }
      if known.confirmedAt == nil {
        // Nobody has proved to own it: the message once more.
        askToConfirm(known.id, challenge: challenge, now: call.now)
        return bareUser(users[known.id] ?? known)
      }
      return obfuscatedUser(contact, now: call.now)
    }
    let user = try addSupabaseUser(contact, password: password, members: members, now: call.now)
    guard policy.autoconfirm else {
      askToConfirm(user, challenge: challenge, now: call.now)
      return users[user].map(bareUser) ?? Answer(reply: MockReply(status: 500), outcome: .registered)
    }
    return supabaseSession(for: user, method: "password", outcome: .registered, now: call.now)
  }

  /// Makes a user, confirmed; returns their id.
  mutating func addSupabaseUser(
    _ contact: SupabaseContact, password: String, members: [String: JSONValue], now: MockInstant,
    dataKey: String = "data"
  ) throws(SupabaseRefusal) -> String {
    let metadata = members[dataKey]?.object ?? [:]
    let wanted = metadata["username"]?.string.flatMap { name in
      Validation.problem(username: name) == nil && userIDByName[name.lowercased()] == nil ? name : nil
    }
    let username = wanted ?? freeUsername(for: contact.address)
    let inserted = insertUser(username: username, email: contact.email, password: password, now: now)
    guard case .success(let user) = inserted, contact.phone.isEmpty || setPhone(contact.phone, of: user.id) else {
      throw SupabaseRefusal(422, "user_already_exists", "User already registered", .emailTaken)
    }
    users[user.id]?.metadata = metadata
    if !contact.phone.isEmpty { users[user.id]?.phoneConfirmedAt = now }
    return user.id
  }

  private func bareUser(_ user: UserRecord) -> Answer {
    var json = JSONWriter()
    Supabase.user(user, to: &json)
    return Answer(reply: Chirp.json(200, json.data), outcome: .registered)
  }

  /// What a sign-up with a taken address gets, so that nobody learns that it is taken: a user that does not exist.
  private mutating func obfuscatedUser(_ contact: SupabaseContact, now: MockInstant) -> Answer {
    let id = random.uuid()
    let json = JSONWriter.object { json in
      json.member("id", id)
      json.member("aud", "authenticated")
      json.member("role", "")
      json.member("email", contact.email)
      json.member("phone", contact.phone)
      json.member("confirmation_sent_at", now.text)
      json.key("app_metadata")
      json.object { json in
        let provider = contact.email.isEmpty ? "phone" : "email"
        json.member("provider", provider)
        json.key("providers")
        json.array([provider]) { $0.string($1) }
      }
      json.key("user_metadata")
      json.object { _ in }
      json.key("identities")
      json.array([String]()) { $0.string($1) }
      json.member("created_at", now.text)
      json.member("updated_at", now.text)
      json.member("is_anonymous", false)
    }
    return Answer(reply: Chirp.json(200, json.data), outcome: .emailTaken)
  }

  // MARK: Tokens

  /// Begins a session and answers with it.
  mutating func supabaseSession(
    for userID: String, method: String, outcome: MockOutcome, now: MockInstant
  ) -> Answer {
    let grant = issue(for: userID, kind: .supabase(method: method, at: now), now: now)
    return supabaseAnswer(grant, outcome, now: now)
  }

  private func supabaseAnswer(_ grant: TokenGrant, _ outcome: MockOutcome, now: MockInstant) -> Answer {
    guard let session = sessions[grant.sessionID], let user = users[session.userID] else {
      return Answer(reply: MockReply(status: 500), outcome: outcome)
    }
    let expiresAt = now.adding(policy.clockSkew).adding(grant.expiresIn)
    return Answer(
      reply: Supabase.session(grant, of: user, expiresAt: expiresAt), outcome: outcome, sessionID: grant.sessionID,
      generation: grant.generation)
  }

  mutating func supabaseToken(_ call: Call) throws(SupabaseRefusal) -> Answer {
    switch QueryItems(call.query)?["grant_type"] {
    case "password"?: return try supabaseLogin(call)
    case "refresh_token"?: return try supabaseRefresh(call)
    case "pkce"?: return try supabaseExchangeCode(call)
    default:
      throw SupabaseRefusal(400, "invalid_credentials", "unsupported_grant_type", .unsupportedGrant)
    }
  }

  private mutating func supabaseLogin(_ call: Call) throws(SupabaseRefusal) -> Answer {
    let members = try supabaseBody(call)
    let contact = try contact(in: members, for: "login")
    guard !contact.address.isEmpty else { throw .invalid("missing email or phone") }
    let password = try text("password", in: members)
    guard let user = user(contact), user.password.matches(password) else {
      throw SupabaseRefusal(400, "invalid_credentials", "Invalid login credentials", .invalidCredentials)
    }
    if user.isBanned(call.now) { throw SupabaseRefusal(400, "user_banned", "User is banned", .banned) }
    if user.confirmedAt == nil {
      throw contact.email.isEmpty
        ? SupabaseRefusal(400, "phone_not_confirmed", "Phone not confirmed", .unconfirmed)
        : SupabaseRefusal(400, "email_not_confirmed", "Email not confirmed", .unconfirmed)
    }
    return supabaseSession(for: user.id, method: "password", outcome: .issued, now: call.now)
  }

  private mutating func supabaseRefresh(_ call: Call) throws(SupabaseRefusal) -> Answer {
    let token = try text("refresh_token", in: supabaseBody(call))
    // A text that no token looks like is told from a token that nobody has.
    let isOurs = refresh[token] != nil
    guard isOurs || token.utf8.count == 12 && token.utf8.allSatisfy({ 0x30...0x39 ~= $0 || 0x61...0x7A ~= $0 }) else {
      throw .invalid("Refresh token is not valid")
    }
    switch exchange(token, now: call.now) {
    case .success(let success):
      var answer = supabaseAnswer(success.grant, success.outcome, now: call.now)
      answer.generation = success.presented
      return answer
    case .failure(let failure):
      var refusal = refreshRefusal(failure)
      refusal.sessionID = failure.sessionID
      refusal.generation = failure.generation
      throw refusal
    }
  }

  private func refreshRefusal(_ failure: RefreshFailure) -> SupabaseRefusal {
    func refuse(_ code: String, _ message: String) -> SupabaseRefusal {
      SupabaseRefusal(400, code, "Invalid Refresh Token: \(message)", failure.refusal.outcome)
    }
    switch failure.refusal {
    case .unknown: return refuse("refresh_token_not_found", "Refresh Token Not Found")
    case .expired: return refuse("session_expired", "Session Expired")
    case .banned: return refuse("user_banned", "User Banned")
    case .reused: return refuse("refresh_token_already_used", "Already Used")
    case .revoked:
      switch failure.sessionID.flatMap({ sessions[$0]?.endedBy }) {
      // The session goes, and its tokens with it.
      case .logout?: return refuse("refresh_token_not_found", "Refresh Token Not Found")
      case .admin?, .script?, .replay?: return refuse("session_not_found", "No Valid Session Found")
      // Every token of the family counts as used.
      case .reuse?, nil: return refuse("refresh_token_already_used", "Already Used")
      }
    }
  }

  private mutating func supabaseExchangeCode(_ call: Call) throws(SupabaseRefusal) -> Answer {
    let members = try supabaseBody(call)
    let code = try text("auth_code", in: members)
    let verifier = try text("code_verifier", in: members)
    guard !code.isEmpty, !verifier.isEmpty else {
      throw .invalid("invalid request: both auth code and code verifier should be non-empty")
    }
    guard let flow = mails.flows[code] else {
      throw SupabaseRefusal(
        404, "flow_state_not_found", "invalid flow state, no valid flow state found", .unknownGrant)
    }
    guard call.now < flow.madeAt.adding(.seconds(300)) else {
      throw SupabaseRefusal(403, "flow_state_expired", "invalid flow state, flow state has expired", .expiredGrant)
    }
    guard flow.challenge.accepts(verifier) else {
      throw SupabaseRefusal(
        400, "bad_code_verifier", "code challenge does not match previously saved code verifier", .unknownGrant)
    }
    mails.flows[code] = nil
    guard let user = users[flow.userID], !user.isBanned(call.now) else {
      throw SupabaseRefusal(400, "user_banned", "User is banned", .banned)
    }
    return supabaseSession(for: user.id, method: flow.kind.method, outcome: .issued, now: call.now)
  }
}

extension MockMail.Kind {
  /// How `amr` calls a sign-in by such a message.
  var method: String {
    switch self {
    case .signUp, .emailChange: "otp"
    case .magicLink: "magiclink"
    case .recovery: "recovery"
    }
  }
}

import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Why a request of the Supabase dialect is refused.
struct SupabaseRefusal: Error {
  let status: Int
  let code: String
  let message: String
  let outcome: MockOutcome
  /// What makes a password weak.
  var reasons: [String] = []
  var sessionID: String?
  var generation: Int?

  init(_ status: Int, _ code: String, _ message: String, _ outcome: MockOutcome, reasons: [String] = []) {
    self.status = status
    self.code = code
    self.message = message
    self.outcome = outcome
    self.reasons = reasons
  }

  static func invalid(_ message: String) -> SupabaseRefusal {
    SupabaseRefusal(400, "validation_failed", message, .validationFailed)
  }
}

// The Supabase dialect: who may call, and what is called.
extension RealmState {
  /// Whom an API key stands for.
  enum SupabaseRole: String, Sendable {
    case anon
    case serviceRole = "service_role"
  }

  mutating func performSupabase(_ call: Call, _ route: Route) -> Answer {
    origin.note(call.request)
    do throws(SupabaseRefusal) {
      if let answer = performOpen(call, route) { return answer }
      if let refusal = apiKeyRefusal(call.request) { return refusal }
      switch route.endpoint {
      case .signUp: return try supabaseSignUp(call)
      case .token: return try supabaseToken(call)
      case .user, .updateUser, .logout: return try performSupabaseAuthed(call, route)
      case .otp, .recover, .resend: return try supabaseMail(call, route)
      case .verify: return try supabaseVerify(call)
      case .settings: return supabaseSettings()
      default: return try performSupabaseAdmin(call, route)
      }
    } catch {
      return answer(call, error)
    }
  }

  /// The endpoints that the gateway lets through without a key.
  private mutating func performOpen(_ call: Call, _ route: Route) -> Answer? {
    switch route.endpoint {
    case .keys: Answer(reply: Chirp.json(200, keys.published(with: policy.tokens).data), outcome: .ok)
    case .verifyLink: supabaseFollowLink(call)
    case .health:
      Answer(
        reply: Chirp.json(
          200,
          JSONWriter.object { json in
            json.member("version", "mock")
            json.member("name", "GoTrue")
            json.member("description", "GoTrue is a user registration and authentication API")
          }.data), outcome: .ok)
    default: nil
    }
  }

  private func supabaseSettings() -> Answer {
    let json = JSONWriter.object { json in
      json.key("external")
      json.object { json in
        for name in ["anonymous_users", "apple", "azure", "github", "google"] { json.member(name, false) }
        json.member("email", true)
        json.member("phone", true)
      }
      json.member("disable_signup", false)
      json.member("mailer_autoconfirm", policy.autoconfirm)
      json.member("phone_autoconfirm", policy.autoconfirm)
      json.member("sms_provider", "")
      json.member("saml_enabled", false)
    }
    return Answer(reply: Chirp.json(200, json.data), outcome: .ok)
  }

  // MARK: Keys

  /// The role of a key; nil for one that is none of the realm's.
  func role(ofKey key: String) -> SupabaseRole? {
    if key.hasPrefix(Supabase.publicKeyPrefix) { return .anon }
    if key.hasPrefix(Supabase.secretKeyPrefix) { return .serviceRole }
    do throws(JWT.Flaw) {
      return try JWT.read(key, keys: keys).claims["role"]?.string.flatMap(SupabaseRole.init)
    } catch {
      // Whatever is wrong with it: the gateway knows no such key.
      return nil
    }
  }

  /// A project's key of the older kind: a JWT that says its role. Always the same one for the realm.
  func apiKey(_ role: SupabaseRole) -> String {
    let claims = JSONWriter.object { json in
      json.member("iss", "supabase")
      json.member("ref", name)
      json.member("role", role.rawValue)
      json.member("iat", 1_577_836_800)
      json.member("exp", 4_102_444_800)
    }
    return JWT.make(.hs256, keys: keys, claims: claims) ?? Supabase.publicKeyPrefix
  }

  /// What the gateway in front of the server says; it knows neither codes nor versions.
  private func apiKeyRefusal(_ request: MockRequest) -> Answer? {
    guard let key = request.header("apikey"), !key.isEmpty else {
      let json = JSONWriter.object { $0.member("message", "No API key found in request") }
      return Answer(reply: Chirp.json(401, json.data), outcome: .badAPIKey)
    }
    guard role(ofKey: key) == nil else { return nil }
    let json = JSONWriter.object { json in
      json.member("message", "Invalid API key")
      json.member("hint", "Double check your Supabase `anon` or `service_role` API key.")
    }
    return Answer(reply: Chirp.json(401, json.data), outcome: .badAPIKey)
  }

  // MARK: Errors

  private func answer(_ call: Call, _ refusal: SupabaseRefusal) -> Answer {
    Answer(
      reply: supabaseError(call, refusal.status, refusal.code, refusal.message, reasons: refusal.reasons),
      outcome: refusal.outcome, sessionID: refusal.sessionID, generation: refusal.generation)
  }

  /// An error in the shape that the policy and the request's version ask for.
  func supabaseError(
    _ call: Call, _ status: Int, _ code: String, _ message: String, reasons: [String] = []
  ) -> MockReply {
    if policy.supabaseErrors == .oauth { return olderError(call, status, code, message) }
    let isNew = Supabase.wantsNewShape(call.request)
    let json = JSONWriter.object { json in
      if isNew {
        json.member("code", code)
        json.member("message", message)
      } else {
        json.member("code", status)
        json.member("error_code", code)
        json.member("msg", message)
        if status >= 500 { json.member("error_id", requestID(of: call)) }
      }
      if !reasons.isEmpty {
        json.key("weak_password")
        json.object { json in
          json.key("reasons")
          json.array(reasons) { $0.string($1) }
        }
      }
    }
    var reply = Chirp.json(status, json.data)
    reply.headers.append(MockRequest.Field(Supabase.errorHeader, code))
    if isNew { reply.headers.append(MockRequest.Field(Supabase.versionHeader, Supabase.latestVersion)) }
    return reply
  }

  private func olderError(_ call: Call, _ status: Int, _ code: String, _ message: String) -> MockReply {
    let isOAuth = call.route?.endpoint == .token && status == 400
    let json = JSONWriter.object { json in
      if isOAuth {
        let known = ["unsupported_grant_type": "unsupported_grant_type", "validation_failed": "invalid_request"]
        json.member("error", known[message] ?? known[code] ?? "invalid_grant")
        json.member("error_description", message)
      } else {
        json.member("code", status)
        json.member("msg", message)
      }
    }
    return Chirp.json(status, json.data)
  }

  // MARK: Bodies

  /// A body that is a JSON object; its content type is not looked at, as with the real server.
  func supabaseBody(_ call: Call) throws(SupabaseRefusal) -> [String: JSONValue] {
    guard call.request.body.count <= 1 << 20 else {
      throw SupabaseRefusal(
        413, "request_entity_too_large", "Request body exceeds maximum allowed size of 1048576 bytes", .tooLarge)
    }
    guard !call.request.body.isEmpty else { return [:] }
    do throws(JSONParser.Failure) {
      guard let members = try JSONParser.parse(call.request.body).object else {
        throw JSONParser.Failure(message: "it is no object")
      }
      return members
    } catch {
      throw SupabaseRefusal(
        400, "bad_json", "Could not parse request body as JSON: \(error.message)", .badRequest)
    }
  }

  /// A text of a body; "" if it is missing.
  func text(_ name: String, in members: [String: JSONValue]) throws(SupabaseRefusal) -> String {
    guard let value = members[name], value != .null else { return "" }
    guard let text = value.string else {
      throw SupabaseRefusal(
        400, "bad_json", "Could not parse request body as JSON: \"\(name)\" is no text", .badRequest)
    }
    return text
  }

  // MARK: Bearers

  /// The token of `(?i)^bearer (\S+$)`.
  static func strictBearer(of request: MockRequest) -> String? {
    guard let value = request.header("Authorization"), let token = bearer(of: request),
      value.utf8.count == token.utf8.count + 7, !token.contains(where: \.isWhitespace)
    else { return nil }
    return token
  }

  /// The user's session that a request comes with.
  func supabaseSession(_ call: Call) throws(SupabaseRefusal) -> AccessRecord {
    guard let token = Self.strictBearer(of: call.request) else {
      throw SupabaseRefusal(401, "no_authorization", "This endpoint requires a valid Bearer token", .noToken)
    }
    func bad(_ what: String, _ outcome: MockOutcome, _ record: AccessRecord? = nil) -> SupabaseRefusal {
      let isClaim = what.hasPrefix("invalid claim")
      let message = isClaim ? what : "invalid JWT: unable to parse or verify signature, \(what)"
      return refusal("bad_jwt", message, outcome, record)
    }
    func refusal(
      _ code: String, _ message: String, _ outcome: MockOutcome, _ record: AccessRecord? = nil
    ) -> SupabaseRefusal {
      var refusal = SupabaseRefusal(403, code, message, outcome)
      refusal.sessionID = record?.sessionID
      refusal.generation = record?.generation
      return refusal
    }
    switch authenticate(token, now: call.now) {
    case .success(let record): return record
    case .failure(.missing), .failure(.unknown):
      throw bad("token is malformed: token contains an invalid number of segments", .unknownToken)
    case .failure(.flawed(let what)): throw bad(what, what.contains("expired") ? .expiredToken : .unknownToken)
    case .failure(.noUser): throw bad("invalid claim: sub claim must be a UUID", .unknownToken)
    case .failure(.expired(let record)):
      throw bad("token has invalid claims: token is expired", .expiredToken, record)
    case .failure(.noSession):
      throw refusal("session_not_found", "Session from session_id claim in JWT does not exist", .unknownToken)
    case .failure(.revoked(let record)):
      guard let session = sessions[record.sessionID], session.endedBy != nil else {
        throw bad("token is revoked", .revokedToken, record)
      }
      guard users[record.userID] != nil else {
        throw refusal("user_not_found", "User from sub claim in JWT does not exist", .revokedToken, record)
      }
      throw refusal(
        "session_not_found", "Session from session_id claim in JWT does not exist", .revokedToken, record)
    case .failure(.banned(let record)): throw refusal("user_banned", "User is banned", .banned, record)
    }
  }
}

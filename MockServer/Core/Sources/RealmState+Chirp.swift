import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension RealmState {
  mutating func performChirp(_ call: Call, _ route: Route) -> Answer {
    switch route.operation {
    case .me, .feed, .post: return performAuthed(call, route)
    default: origin.note(call.request)
    }
    switch Chirp.body(of: call.request) {
    case .failure(let refusal):
      return Answer(
        reply: Chirp.error(refusal.status, refusal.code, refusal.reason), outcome: refusal.outcome)
    case .success(let members):
      var fields = BodyFields(members)
      switch route.operation {
      case .register: return register(&fields, now: call.now)
      case .login: return login(&fields, now: call.now)
      case .refresh: return refreshTokens(&fields, now: call.now)
      default: return logout(&fields)
      }
    }
  }

  private func invalid(_ problems: [(String, String)]) -> Answer {
    Answer(
      reply: Chirp.error(422, "validation_failed", "Some fields are not valid.", fields: problems),
      outcome: .validationFailed)
  }

  private mutating func register(_ fields: inout BodyFields, now: MockInstant) -> Answer {
    let username = fields.text("username", check: Validation.problem(username:))
    // Spaces at both ends are trimmed (D5.1).
    let email = String(fields.text("email") { Validation.problem(email: String($0.trimmedOfSpaces)) }.trimmedOfSpaces)
    let password = fields.text("password", check: Validation.problem(password:))
    guard fields.problems.isEmpty else { return invalid(fields.problems) }
    switch insertUser(username: username, email: email, password: password, now: now) {
    case .success(let user):
      if !policy.autoconfirm { askToConfirm(user.id, now: now) }
      return Answer(reply: Chirp.json(201, user.publicJSON), outcome: .registered)
    case .failure(.emailTaken):
      return Answer(reply: Chirp.error(409, "email_taken", "This email has an account already."), outcome: .emailTaken)
    case .failure(.usernameTaken):
      return Answer(reply: Chirp.error(409, "username_taken", "This username is taken."), outcome: .usernameTaken)
    }
  }

  private mutating func login(_ fields: inout BodyFields, now: MockInstant) -> Answer {
    let email = fields.text("email")
    let password = fields.text("password")
    guard fields.problems.isEmpty else { return invalid(fields.problems) }
    guard let user = user(email: String(email.trimmedOfSpaces)), user.password.matches(password) else {
      return Answer(
        reply: Chirp.error(401, "invalid_credentials", "Invalid email or password."), outcome: .invalidCredentials)
    }
    if let refusal = refusal(of: user, now: now) {
      return Answer(
        reply: Chirp.error(403, refusal.code, refusal.reason), outcome: refusal.outcome)
    }
    let grant = issue(for: user.id, now: now)
    return Answer(
      reply: Chirp.tokens(grant), outcome: .issued, sessionID: grant.sessionID, generation: grant.generation)
  }

  /// Why a user with the right password may not sign in all the same.
  func refusal(of user: UserRecord, now: MockInstant) -> (code: String, reason: String, outcome: MockOutcome)? {
    if user.isBanned(now) { return ("user_banned", "This account is banned.", .banned) }
    if user.confirmedAt == nil {
      return ("email_not_confirmed", "The address has not been confirmed yet.", .unconfirmed)
    }
    return nil
  }

  private mutating func refreshTokens(_ fields: inout BodyFields, now: MockInstant) -> Answer {
    let token = fields.text("refreshToken")
    guard fields.problems.isEmpty else { return invalid(fields.problems) }
    switch exchange(token, now: now) {
    case .success(let success):
      return Answer(
        reply: Chirp.tokens(success.grant), outcome: success.outcome, sessionID: success.grant.sessionID,
        generation: success.presented)
    case .failure(let failure):
      return Answer(
        reply: Chirp.error(
          401, "invalid_grant", "The refresh token is not valid.", detail: failure.refusal.rawValue),
        outcome: failure.refusal.outcome, sessionID: failure.sessionID, generation: failure.generation)
    }
  }

  private mutating func logout(_ fields: inout BodyFields) -> Answer {
    let token = fields.text("refreshToken")
    guard fields.problems.isEmpty else { return invalid(fields.problems) }
    let (sessionID, ended) = endSession(withRefreshToken: token, by: .logout)
    return Answer(
      reply: MockReply(status: 204), outcome: ended ? .signedOut : .nothingToRevoke, sessionID: sessionID)
  }

  // MARK: Authed

  private mutating func performAuthed(_ call: Call, _ route: Route) -> Answer {
    switch authenticate(call.request, now: call.now) {
    case .failure(let refusal): return unauthorized(refusal, call)
    case .success(let bearer):
      var answer: Answer
      switch route.operation {
      case .feed: answer = readFeed(call)
      case .post: answer = post(call, userID: bearer.userID)
      default:
        answer = Answer(
          reply: Chirp.json(200, users[bearer.userID]?.publicJSON ?? Data()), outcome: .ok)
      }
      answer.sessionID = bearer.sessionID
      answer.generation = bearer.generation
      return answer
    }
  }

  /// The refusal of a bearer token (RFC 6750 §3): without any token there is no error code in the challenge.
  func unauthorized(_ refusal: BearerRefusal, _ call: Call) -> Answer {
    var answer: Answer
    let description: String
    switch refusal {
    case .missing:
      let reason = "This needs a bearer token."
      var reply = render(call, 401, "missing_token", reason)
      reply.headers.append(MockRequest.Field("WWW-Authenticate", "Bearer"))
      return Answer(reply: reply, outcome: .noToken)
    case .noUser:
      description = "The access token is a client's, and this needs a user's"
      var reply = render(call, 403, "insufficient_scope", "\(description).")
      reply.headers.append(Self.challenge("insufficient_scope", description))
      return Answer(reply: reply, outcome: .notAllowed)
    case .unknown, .noSession:
      description = "The access token is unknown"
      answer = Answer(reply: MockReply(status: 401), outcome: .unknownToken)
    case .flawed(let what):
      description = "The access token is not valid: \(what.filter { $0 != "\"" && $0 != "\\" && $0.isASCII })"
      answer = Answer(reply: MockReply(status: 401), outcome: .unknownToken)
    case .banned(let record):
      description = "The user is banned"
      answer = Answer(
        reply: MockReply(status: 401), outcome: .banned, sessionID: record.sessionID, generation: record.generation)
    case .expired(let record):
      description = "The access token expired"
      answer = Answer(
        reply: MockReply(status: 401), outcome: .expiredToken, sessionID: record.sessionID,
        generation: record.generation)
    case .revoked(let record):
      description = "The access token was revoked"
      answer = Answer(
        reply: MockReply(status: 401), outcome: .revokedToken, sessionID: record.sessionID,
        generation: record.generation)
    }
    answer.reply = render(call, 401, "invalid_token", "\(description).")
    answer.reply.headers.append(Self.challenge("invalid_token", description))
    return answer
  }

  /// The challenge of RFC 6750 §3; the description has no quote in it.
  static func challenge(_ error: String, _ description: String) -> MockRequest.Field {
    MockRequest.Field("WWW-Authenticate", "Bearer error=\"\(error)\", error_description=\"\(description)\"")
  }

  mutating func seedFeed(count: Int, now: MockInstant) {
    let texts = [
      "Good morning from the feed.", "Rotating tokens, one at a time.", "A late answer is still an answer.",
      "Who else refreshes at midnight?", "Signed out, signed in, still here.",
    ]
    let number = max(count, 0)
    for index in 0..<number {
      lastPost += 1
      let age = Duration.seconds(60 * Int64(number - index))
      feed.append(
        FeedItem(
          number: lastPost, author: ["ada", "grace", "linus"][index % 3], text: texts[index % texts.count],
          createdAt: now.adding(.zero - age)))
    }
  }

  private func readFeed(_ call: Call) -> Answer {
    guard let query = QueryItems(call.query) else {
      return Answer(
        reply: Chirp.error(400, "bad_query", "The query has a malformed escape."), outcome: .badRequest)
    }
    var problems: [(String, String)] = []
    var limit = 20
    if let text = query["limit"] {
      if let number = Int(text), (1...100).contains(number) {
        limit = number
      } else {
        problems.append(("limit", "must be a whole number from 1 to 100"))
      }
    }
    var before = Int.max
    if let cursor = query["cursor"] {
      if cursor.hasPrefix("before-"), let number = Int(cursor.dropFirst(7)), number > 0 {
        before = number
      } else {
        problems.append(("cursor", "must be a nextCursor of this feed"))
      }
    }
    guard problems.isEmpty else { return invalid(problems) }
    let older = feed.reversed().drop { $0.number >= before }
    let page = older.prefix(limit)
    let json = JSONWriter.object { json in
      json.key("items")
      json.array(page) { $1.write(to: &$0) }
      json.key("nextCursor")
      if let last = page.last, older.count > page.count { json.string("before-\(last.number)") } else { json.null() }
    }
    return Answer(reply: Chirp.json(200, json.data), outcome: .ok)
  }

  private mutating func post(_ call: Call, userID: String) -> Answer {
    let key = call.request.header("Idempotency-Key")
    if let key, !(1...255).contains(key.utf8.count) {
      return Answer(
        reply: Chirp.error(400, "bad_idempotency_key", "An Idempotency-Key has 1 to 255 bytes."), outcome: .badRequest)
    }
    if let key, let first = idempotency.answer(userID: userID, key: key, body: call.request.body) {
      guard first.same else {
        return Answer(
          reply: Chirp.error(422, "idempotency_key_reused", "This Idempotency-Key came with another body before."),
          outcome: .idempotencyConflict)
      }
      var reply = first.reply
      reply.headers.append(MockRequest.Field("Idempotency-Replayed", "true"))
      return Answer(reply: reply, outcome: .replayed)
    }
    let members: [String: JSONValue]
    switch Chirp.body(of: call.request) {
    case .failure(let refusal):
      return Answer(reply: Chirp.error(refusal.status, refusal.code, refusal.reason), outcome: refusal.outcome)
    case .success(let found): members = found
    }
    var fields = BodyFields(members)
    let text = fields.text("text") { text in
      (1...500).contains(text.unicodeScalars.count) ? nil : "must be 1 to 500 characters long"
    }
    guard fields.problems.isEmpty else { return invalid(fields.problems) }
    lastPost += 1
    let item = FeedItem(
      number: lastPost, author: users[userID]?.username ?? "", text: text, createdAt: call.now)
    feed.append(item)
    if feed.count > 10_000 { feed.removeFirst(5000) }
    var writer = JSONWriter()
    item.write(to: &writer)
    let reply = Chirp.json(201, writer.data)
    if let key { idempotency.keep(reply, userID: userID, key: key, body: call.request.body) }
    return Answer(reply: reply, outcome: .ok)
  }
}

import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The envelope dialect's wire format (D2): everything under `data`, errors as `{"error":{"message":…}}`, no lifetimes.
enum Envelope {
  static func error(_ status: Int, _ message: String) -> MockReply {
    let json = JSONWriter.object { json in
      json.key("error")
      json.object { $0.member("message", message) }
    }
    return Chirp.json(status, json.data)
  }

  static func data(_ status: Int, _ members: (inout JSONWriter) -> Void) -> MockReply {
    let json = JSONWriter.object { json in
      json.key("data")
      members(&json)
    }
    return Chirp.json(status, json.data)
  }

  static func tokens(_ grant: TokenGrant) -> MockReply {
    var reply = data(200) { json in
      json.object { json in
        json.member("accessToken", grant.accessToken)
        json.member("refreshToken", grant.refreshToken)
      }
    }
    reply.headers.append(Chirp.noStore)
    return reply
  }
}

extension RealmState {
  mutating func performEnvelope(_ call: Call, _ route: Route) -> Answer {
    if route.operation == .me {
      switch authenticate(call.request, now: call.now) {
      case .failure(let refusal): return unauthorized(refusal, call)
      case .success(let bearer):
        let user = users[bearer.userID]?.publicJSON ?? Data()
        return Answer(
          reply: Envelope.data(200) { $0.raw(user) }, outcome: .ok, sessionID: bearer.sessionID,
          generation: bearer.generation)
      }
    }
    origin.note(call.request)
    let members: [String: JSONValue]
    switch Chirp.body(of: call.request) {
    case .failure(let refusal):
      return Answer(reply: Envelope.error(refusal.status, refusal.reason), outcome: refusal.outcome)
    case .success(let found): members = found
    }
    var fields = BodyFields(members)
    return route.operation == .login ? envelopeLogin(&fields, now: call.now) : envelopeRefresh(&fields, now: call.now)
  }

  private func invalidEnvelope(_ problems: [(String, String)]) -> Answer {
    let text = problems.map { "\($0.0) \($0.1)" }.joined(separator: "; ")
    return Answer(reply: Envelope.error(422, "\(text)."), outcome: .validationFailed)
  }

  private mutating func envelopeLogin(_ fields: inout BodyFields, now: MockInstant) -> Answer {
    let username = fields.text("username")
    let password = fields.text("password")
    guard fields.problems.isEmpty else { return invalidEnvelope(fields.problems) }
    guard let user = user(username: username), user.password.matches(password) else {
      return Answer(reply: Envelope.error(401, "Invalid username or password."), outcome: .invalidCredentials)
    }
    if let refusal = refusal(of: user, now: now) {
      return Answer(reply: Envelope.error(403, refusal.reason), outcome: refusal.outcome)
    }
    let grant = issue(for: user.id, now: now)
    return Answer(
      reply: Envelope.tokens(grant), outcome: .issued, sessionID: grant.sessionID, generation: grant.generation)
  }

  private mutating func envelopeRefresh(_ fields: inout BodyFields, now: MockInstant) -> Answer {
    let token = fields.text("refreshToken")
    guard fields.problems.isEmpty else { return invalidEnvelope(fields.problems) }
    switch exchange(token, now: now) {
    case .success(let success):
      return Answer(
        reply: Envelope.tokens(success.grant), outcome: success.outcome, sessionID: success.grant.sessionID,
        generation: success.presented)
    case .failure(let failure):
      return Answer(
        reply: Envelope.error(401, "The refresh token is not valid: \(failure.refusal.rawValue)."),
        outcome: failure.refusal.outcome, sessionID: failure.sessionID, generation: failure.generation)
    }
  }
}

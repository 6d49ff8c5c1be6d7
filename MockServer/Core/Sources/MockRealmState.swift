import Groundwork

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A user, as everyone may see them.
public struct MockUser: Sendable, Hashable {
  /// A UUID.
  public var id: String
  /// The name that envelope signs in with.
  public var username: String
  /// The address that chirp signs in with.
  public var email: String
  /// When the account was made, on the realm's clock.
  public var createdAt: Date
  /// The telephone number, digits alone; "" if there is none.
  public var phone: String
  /// Whether an address or number was confirmed: without that nobody signs in.
  public var isConfirmed: Bool
  /// When a session was begun for the last time.
  public var lastSignInAt: Date?
  /// Until when everything is refused; may have passed.
  public var bannedUntil: Date?

  init(_ user: UserRecord) {
    id = user.id
    username = user.username
    email = user.email
    createdAt = user.createdAt.date
    phone = user.phone
    isConfirmed = user.confirmedAt != nil
    lastSignInAt = user.lastSignInAt?.date
    bannedUntil = user.bannedUntil?.date
  }
}

/// A token family, without its tokens.
public struct MockSession: Sendable, Hashable {
  /// A UUID; the journal's `sessionID`.
  public var id: String
  /// Whose it is.
  public var userID: String
  /// Whether it can still be refreshed, as far as ends and revocations go; see the expiries for the rest.
  public var alive: Bool
  /// How many times it was refreshed to new tokens.
  public var generation: Int
  /// When the newest access token expires.
  public var accessExpiresAt: Date
  /// When the current refresh token expires.
  public var refreshExpiresAt: Date
  /// Why it is over, if it is.
  public var endedBy: MockSessionEnd?

  init(_ session: SessionRecord, in state: RealmState, now: MockInstant) {
    let refresh = state.refresh[session.refreshToken]
    id = session.id
    userID = session.userID
    alive = session.endedBy == nil && refresh?.isRevoked != true
    generation = session.generation
    accessExpiresAt = (state.access[session.accessToken]?.expiresAt ?? now).date
    refreshExpiresAt = (refresh?.expiresAt ?? now).date
    endedBy = session.endedBy
  }

  func write(to writer: inout JSONWriter) {
    writer.object { json in
      json.member("id", id)
      json.member("userID", userID)
      json.member("alive", alive)
      json.member("generation", generation)
      json.member("accessExpiresAt", MockInstant(accessExpiresAt).text)
      json.member("refreshExpiresAt", MockInstant(refreshExpiresAt).text)
      if let endedBy { json.member("endedBy", endedBy.rawValue) }
    }
  }
}

/// How far a script has got.
public struct MockScriptProgress: Sendable, Hashable {
  /// The operation, or the method and path.
  public var target: String
  /// How many requests it has answered.
  public var used: Int
  /// How many it will answer before `then`; nil if it repeats for ever.
  public var remaining: Int?
  /// What comes then.
  public var then: MockScript.Then
  /// The last request that was near it and that it did not take.
  public var nearest: MockNearRequest?
}

extension MockScriptProgress {
  init(target: MockScript.Target, _ progress: ScriptTable.Progress) {
    self.init(
      target: target.text, used: progress.used, remaining: progress.remaining, then: progress.script.then,
      nearest: progress.nearest)
  }
}

/// A pair of tokens that was made without a login.
///
/// The one value of this module that shows tokens; its description does not.
public struct MockMintedSession: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// The session's id, as the journal and the state have it.
  public var sessionID: String
  /// The access token.
  public var accessToken: String
  /// The refresh token.
  public var refreshToken: String
  /// What the access token has left to live.
  public var expiresIn: Duration

  init(_ grant: TokenGrant) {
    sessionID = grant.sessionID
    accessToken = grant.accessToken
    refreshToken = grant.refreshToken
    expiresIn = grant.expiresIn
  }

  public var description: String { "MockMintedSession(sessionID: \(sessionID))" }
  public var customMirror: Mirror { Mirror(self, children: ["sessionID": sessionID]) }
}

/// The keys of a realm. Its description shows none of them.
public struct MockRealmKeys: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// A client's key in the `apikey` header: a JWT with the role `anon`.
  public var anonKey: String
  /// The key that opens the admin calls and must not ship (D4.2): a JWT with the role `service_role`.
  public var serviceRoleKey: String
  /// What HS256 tokens and both keys are signed with.
  public var jwtSecret: String

  public var description: String { "MockRealmKeys" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What to revoke.
public enum MockRevocation: Sendable, Hashable {
  /// One access token.
  case access(String)
  /// One refresh token; the session's access tokens go on working.
  case refresh(String)
  /// A session by its id.
  case session(String)
  /// Every session of a user, by email or id.
  case user(String)
  /// Every session.
  case all
}

/// A realm at one moment; no token and no password in it.
public struct MockRealmState: Sendable, Hashable {
  /// The realm's name.
  public var realm: String
  /// What time it is in the realm.
  public var now: Date
  /// Whether its clock runs or stands.
  public var clock: MockClockMode
  /// How it treats tokens and time.
  public var policy: MockPolicy
  /// In the order in which they were made.
  public var users: [MockUser]
  /// In the order in which they began.
  public var sessions: [MockSession]
  /// In the order of their targets.
  public var scripts: [MockScriptProgress]
  /// How many answers each hold keeps back.
  public var held: [String: Int]
  /// How many answers wait for their time.
  public var delayed: Int
  /// The number of the last journal entry.
  public var journalSeq: Int
  /// How many journal entries fell out.
  public var journalDropped: Int

  init(_ state: RealmState, now: MockInstant) {
    realm = state.name
    self.now = now.date
    clock = state.clock.mode
    policy = state.policy
    users = state.userIDs.compactMap { state.users[$0].map(MockUser.init) }
    sessions = state.sessionIDs.compactMap { id in
      state.sessions[id].map { MockSession($0, in: state, now: now) }
    }
    scripts = state.scripts.scripts.map { target, progress in
      MockScriptProgress(target: target, progress)
    }.sorted { $0.target < $1.target }
    held = state.waiting.heldCounts
    delayed = state.waiting.delayedCount
    journalSeq = state.journal.lastSeq
    journalDropped = state.journal.dropped
  }

  func write(to writer: inout JSONWriter) {
    writer.object { json in
      json.member("realm", realm)
      json.member("now", MockInstant(now).text)
      json.member("clock", clock.rawValue)
      json.key("policy")
      policy.write(to: &json)
      json.key("users")
      json.array(users) { $1.write(to: &$0) }
      json.key("sessions")
      json.array(sessions) { $1.write(to: &$0) }
      json.key("scripts")
      json.object { json in
        for script in scripts {
          json.key(script.target)
          json.object { json in
            json.member("used", script.used)
            json.key("remaining")
            if let remaining = script.remaining { json.integer(remaining) } else { json.null() }
            json.member("then", script.then.rawValue)
            if let nearest = script.nearest {
              json.key("nearest")
              nearest.write(to: &json)
            }
          }
        }
      }
      json.key("held")
      json.object { json in
        for (name, count) in held.sorted(by: { $0.key < $1.key }) { json.member(name, count) }
      }
      json.member("delayed", delayed)
      json.key("journal")
      json.object { json in
        json.member("seq", journalSeq)
        json.member("dropped", journalDropped)
      }
    }
  }
}

extension MockUser {
  func write(to writer: inout JSONWriter) {
    writer.object { json in
      json.member("id", id)
      json.member("username", username)
      json.member("email", email)
      json.member("createdAt", MockInstant(createdAt).wholeSecondText)
      if !phone.isEmpty { json.member("phone", phone) }
      json.member("confirmed", isConfirmed)
      if let lastSignInAt { json.member("lastSignInAt", MockInstant(lastSignInAt).text) }
      if let bannedUntil { json.member("bannedUntil", MockInstant(bannedUntil).text) }
    }
  }
}

extension MockSeedUser {
  /// Refuses what a registration would refuse.
  func check() throws(MockServerError) {
    let problems = [
      ("username", Validation.problem(username: username)), ("email", Validation.problem(email: email)),
      ("password", Validation.problem(password: password)),
    ]
    for case (let field, let problem?) in problems {
      throw MockServerError(.invalidRequest, "user \"\(username.prefix(80))\": \(field) \(problem)")
    }
  }
}

extension RealmState {
  mutating func revoke(_ what: MockRevocation) -> Int {
    switch what {
    case .access(let token):
      guard let record = access[token], !record.isRevoked else { return 0 }
      access[token]?.isRevoked = true
      return 1
    case .refresh(let token):
      guard let record = refresh[token], !record.isRevoked, record.spentAt == nil else { return 0 }
      refresh[token]?.isRevoked = true
      return 1
    case .session(let id): return end(id, by: .admin) ? 1 : 0
    case .user(let text):
      guard let user = user(email: text) ?? users[text] else { return 0 }
      return sessions.values.filter { $0.userID == user.id }.map(\.id).reduce(0) { $0 + (end($1, by: .admin) ? 1 : 0) }
    case .all: return Array(sessions.keys).reduce(0) { $0 + (end($1, by: .admin) ? 1 : 0) }
    }
  }
}

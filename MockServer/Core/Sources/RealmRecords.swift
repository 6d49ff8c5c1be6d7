import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A user of a realm.
struct UserRecord: Sendable {
  let id: String
  let createdAt: MockInstant
  let username: String
  /// "" if the user has none; changed through `RealmState.setEmail` alone, which keeps the index.
  fileprivate(set) var email: String
  /// Digits alone; "" if the user has none.
  fileprivate(set) var phone = ""
  var password: PasswordHash
  var updatedAt: MockInstant
  /// What an app keeps with the user (Supabase's `user_metadata`).
  var metadata: [String: JSONValue] = [:]
  var emailConfirmedAt: MockInstant?
  var phoneConfirmedAt: MockInstant?
  var confirmationSentAt: MockInstant?
  var lastSignInAt: MockInstant?
  /// Until then every sign-in, refresh and token of the user is refused.
  var bannedUntil: MockInstant?
  /// An address that waits for its confirmation, and since when.
  var newEmail: (address: String, sentAt: MockInstant)?
  /// The user as chirp sends it, made once.
  private(set) var publicJSON = Data()

  init(id: String, username: String, email: String, createdAt: MockInstant, password: PasswordHash) {
    self.id = id
    self.username = username
    self.email = email
    self.createdAt = createdAt
    self.password = password
    updatedAt = createdAt
    emailConfirmedAt = email.isEmpty ? nil : createdAt
    writePublicJSON()
  }

  /// The earliest confirmation of either address.
  var confirmedAt: MockInstant? {
    [emailConfirmedAt, phoneConfirmedAt].compactMap(\.self).min()
  }

  func isBanned(_ now: MockInstant) -> Bool { bannedUntil.map { now < $0 } ?? false }

  private mutating func writePublicJSON() {
    publicJSON =
      JSONWriter.object { json in
        json.member("id", id)
        json.member("username", username)
        json.member("email", email)
        json.member("createdAt", createdAt.wholeSecondText)
      }.data
  }

  fileprivate mutating func set(email: String) {
    self.email = email
    writePublicJSON()
  }

  fileprivate mutating func set(phone: String) { self.phone = phone }
}

extension RealmState {
  /// Gives a user another address; false if someone else has it.
  mutating func setEmail(_ email: String, of userID: String) -> Bool {
    let holder = userIDByEmail[email.lowercased()]
    guard let user = users[userID], email.isEmpty || holder == nil || holder == userID else { return false }
    userIDByEmail[user.email.lowercased()] = nil
    users[userID]?.set(email: email)
    if !email.isEmpty { userIDByEmail[email.lowercased()] = userID }
    return true
  }

  /// Gives a user another telephone number, digits alone; false if someone else has it.
  mutating func setPhone(_ phone: String, of userID: String) -> Bool {
    let holder = userIDByPhone[phone]
    guard let user = users[userID], phone.isEmpty || holder == nil || holder == userID else { return false }
    userIDByPhone[user.phone] = nil
    users[userID]?.set(phone: phone)
    if !phone.isEmpty { userIDByPhone[phone] = userID }
    return true
  }
}

/// Why a session is over.
public enum MockSessionEnd: String, Sendable, Hashable, CaseIterable {
  /// A logout with one of its refresh tokens.
  case logout
  /// A spent refresh token was presented.
  case reuse
  /// The admin API or the Swift API.
  case admin
  /// An authorization code that was presented a second time (RFC 6749 §4.1.2).
  case replay
  /// An action of a script.
  case script
}

/// A token family: what a login began and refreshes go on with.
struct SessionRecord: Sendable {
  let id: String
  /// "" for a session of an OAuth client alone, without a user.
  let userID: String
  /// The dialect that began it, with what its tokens tell.
  let kind: SessionKind
  /// What its next access token may do; a refresh may narrow it (OAuth 2).
  var scope: [String]
  /// 0 at the login, one more with each new pair.
  var generation = 0
  /// The pair that was issued last.
  var accessToken = ""
  var refreshToken = ""
  var endedBy: MockSessionEnd?
  /// Its access tokens work until they expire, though it has ended (policy `gotrue`).
  var accessOutlivesEnd = false
  /// All that were issued and are remembered, oldest first.
  var accessTokens: [String] = []
  var refreshTokens: [String] = []

  init(id: String, userID: String, kind: SessionKind) {
    self.id = id
    self.userID = userID
    self.kind = kind
    scope = if case .oauth(let grant) = kind { grant.scope } else { [] }
  }

  static let rememberedAccessTokens = 256
  static let rememberedRefreshTokens = 1024
}

/// What a dialect's sessions have beyond the others'.
enum SessionKind: Sendable {
  /// chirp, envelope, or made without a login.
  case plain
  /// Supabase: how the user proved to be one, and when (`amr`).
  case supabase(method: String, at: MockInstant)
  /// OAuth 2: which client, and what it may do.
  case oauth(OAuthGrant)
}

/// What a client was allowed.
struct OAuthGrant: Sendable {
  let clientID: String
  let scope: [String]
  /// When the user signed in; nil for the client itself.
  let authenticatedAt: MockInstant?
}

/// An access token.
struct AccessRecord: Sendable {
  let sessionID: String
  let userID: String
  let generation: Int
  let issuedAt: MockInstant
  let expiresAt: MockInstant
  /// What it may do (OAuth 2).
  let scope: [String]
  var isRevoked = false
}

/// A refresh token.
struct RefreshRecord: Sendable {
  let sessionID: String
  let generation: Int
  /// The token that it was exchanged for.
  let parent: String?
  let issuedAt: MockInstant
  let expiresAt: MockInstant
  var spentAt: MockInstant?
  var isRevoked = false
}

/// A pair, as a login or a refresh gives it.
struct TokenGrant: Sendable {
  let accessToken: String
  let refreshToken: String
  /// What is left of the access token's life.
  let expiresIn: Duration
  let sessionID: String
  let generation: Int
}

/// A post of the feed.
struct FeedItem: Sendable {
  let number: Int
  let author: String
  let text: String
  let createdAt: MockInstant

  func write(to writer: inout JSONWriter) {
    writer.object { json in
      json.member("id", "post-\(number)")
      json.member("author", author)
      json.member("text", text)
      json.member("createdAt", createdAt.wholeSecondText)
    }
  }
}

/// A realm's clock.
struct RealmClock: Sendable {
  var mode: MockClockMode
  private var time: MockInstant
  private var reading: Duration

  init(mode: MockClockMode, start: MockInstant, reading: Duration) {
    self.mode = mode
    time = start
    self.reading = reading
  }

  /// The realm's time at a reading of the time source's boot clock: nobody can set that one, so a client's wrong wall clock
  /// never reaches the server.
  func now(reading: Duration) -> MockInstant {
    mode == .virtual ? time : time.adding(reading - self.reading)
  }

  mutating func set(_ time: MockInstant, reading: Duration) {
    self.time = time
    self.reading = reading
  }
}

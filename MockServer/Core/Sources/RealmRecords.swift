import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A user of a realm.
struct UserRecord: Sendable {
  let id: String
  let username: String
  let email: String
  let createdAt: MockInstant
  let password: PasswordHash
  /// Until when the account is banned, if it is; `MockInstant.latest` is for ever.
  var bannedUntil: MockInstant?
  /// The user as chirp sends it, made once.
  let publicJSON: Data

  init(id: String, username: String, email: String, createdAt: MockInstant, password: PasswordHash) {
    self.id = id
    self.username = username
    self.email = email
    self.createdAt = createdAt
    self.password = password
    publicJSON =
      JSONWriter.object { json in
        json.member("id", id)
        json.member("username", username)
        json.member("email", email)
        json.member("createdAt", createdAt.wholeSecondText)
      }.data
  }
}

extension UserRecord {
  /// Whether the account may be used: to sign in, to refresh, with an access token.
  func isBanned(at now: MockInstant) -> Bool { bannedUntil.map { now < $0 } ?? false }
}

/// Why a session is over.
public enum MockSessionEnd: String, Sendable, Hashable, CaseIterable {
  /// A logout with one of its refresh tokens.
  case logout
  /// A spent refresh token was presented.
  case reuse
  /// The admin API or the Swift API.
  case admin
  /// An action of a script.
  case script
}

/// A token family: what a login began and refreshes go on with.
struct SessionRecord: Sendable {
  let id: String
  let userID: String
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

  init(id: String, userID: String) {
    self.id = id
    self.userID = userID
  }

  static let rememberedAccessTokens = 256
  static let rememberedRefreshTokens = 1024
}

/// An access token.
struct AccessRecord: Sendable {
  let sessionID: String
  let userID: String
  let generation: Int
  let issuedAt: MockInstant
  let expiresAt: MockInstant
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

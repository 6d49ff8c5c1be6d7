#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A session with all of its tokens that are remembered, as their standing: none of them can be read here.
public struct MockFamily: Sendable, Hashable {
  /// One token.
  public struct Token: Sendable, Hashable {
    /// 0 is the login's, one more with each new pair.
    public var generation: Int
    /// The generation of the refresh token that it was exchanged for; nil for the login's, and for access tokens.
    public var parent: Int?
    /// When it was issued, on the realm's clock.
    public var issuedAt: Date
    /// When it expires.
    public var expiresAt: Date
    /// When it was exchanged, if it was.
    public var spentAt: Date?
    /// Whether it was revoked by itself; the end of its session is another matter.
    public var isRevoked: Bool
    /// Whether it is the one that was issued last.
    public var isCurrent: Bool
  }

  /// The session.
  public var session: MockSession
  /// The refresh tokens, oldest first; 1,024 at most.
  public var refreshTokens: [Token]
  /// The access tokens, oldest first; 256 at most.
  public var accessTokens: [Token]

  func write(to writer: inout JSONWriter) {
    writer.object { json in
      json.key("session")
      session.write(to: &json)
      json.key("refreshTokens")
      json.array(refreshTokens) { $1.write(to: &$0) }
      json.key("accessTokens")
      json.array(accessTokens) { $1.write(to: &$0) }
    }
  }
}

extension MockFamily.Token {
  func write(to writer: inout JSONWriter) {
    writer.object { json in
      json.member("generation", generation)
      if let parent { json.member("parent", parent) }
      json.member("issuedAt", MockInstant(issuedAt).text)
      json.member("expiresAt", MockInstant(expiresAt).text)
      if let spentAt { json.member("spentAt", MockInstant(spentAt).text) }
      json.member("revoked", isRevoked)
      json.member("current", isCurrent)
    }
  }
}

extension RealmState {
  /// A session and its tokens; nil for an id that nobody has.
  func family(ofSession id: String, now: MockInstant) -> MockFamily? {
    guard let record = sessions[id] else { return nil }
    let refreshTokens = record.refreshTokens.compactMap { text -> MockFamily.Token? in
      guard let token = refresh[text] else { return nil }
      return MockFamily.Token(
        generation: token.generation, parent: token.parent.flatMap { refresh[$0]?.generation },
        issuedAt: token.issuedAt.date, expiresAt: token.expiresAt.date, spentAt: token.spentAt?.date,
        isRevoked: token.isRevoked, isCurrent: text == record.refreshToken)
    }
    let accessTokens = record.accessTokens.compactMap { text -> MockFamily.Token? in
      guard let token = access[text] else { return nil }
      return MockFamily.Token(
        generation: token.generation, issuedAt: token.issuedAt.date, expiresAt: token.expiresAt.date,
        isRevoked: token.isRevoked, isCurrent: text == record.accessToken)
    }
    return MockFamily(
      session: MockSession(record, in: self, now: now), refreshTokens: refreshTokens, accessTokens: accessTokens)
  }
}

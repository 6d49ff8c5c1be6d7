import Groundwork

// What every dialect does with users and tokens; the dialects only read and write their own wire formats.
extension RealmState {
  // MARK: Users

  enum UserRefusal: Error {
    case emailTaken, usernameTaken
  }

  mutating func insertUser(
    username: String, email: String, password: String, now: MockInstant
  ) -> Result<UserRecord, UserRefusal> {
    if !email.isEmpty, userIDByEmail[email.lowercased()] != nil { return .failure(.emailTaken) }
    if userIDByName[username.lowercased()] != nil { return .failure(.usernameTaken) }
    let user = UserRecord(
      id: random.uuid(), username: username, email: email, createdAt: now,
      password: PasswordHash(password, salt: random.uuid()))
    users[user.id] = user
    userIDs.append(user.id)
    if !email.isEmpty { userIDByEmail[email.lowercased()] = user.id }
    userIDByName[username.lowercased()] = user.id
    return .success(user)
  }

  func user(email: String) -> UserRecord? { userIDByEmail[email.lowercased()].flatMap { users[$0] } }
  func user(username: String) -> UserRecord? { userIDByName[username.lowercased()].flatMap { users[$0] } }

  // MARK: Sessions

  /// What a session of a dialect has beyond the others', if it is made without a login.
  func kind(of dialect: MockDialect, now: MockInstant) -> SessionKind {
    switch dialect {
    case .supabase: return .supabase(method: "password", at: now)
    case .oauth2:
      let client = oauth.clients.first { $0.secret == nil } ?? oauth.clients.first ?? MockOAuthClient(id: "chirp")
      return .oauth(OAuthGrant(clientID: client.id, scope: client.scopes, authenticatedAt: now))
    case .chirp, .envelope, .none: return .plain
    }
  }

  /// Begins a session.
  mutating func issue(
    for userID: String, kind: SessionKind = .plain, accessTTL: Duration? = nil, refreshTTL: Duration? = nil,
    now: MockInstant
  ) -> TokenGrant {
    var session = SessionRecord(id: random.uuid(), userID: userID, kind: kind)
    users[userID]?.lastSignInAt = now
    sessionIDs.append(session.id)
    let grant = newPair(for: &session, parent: nil, accessTTL: accessTTL, refreshTTL: refreshTTL, now: now)
    sessions[session.id] = session
    forgetOldSessions()
    return grant
  }

  /// A new access token and a new refresh token.
  private mutating func newPair(
    for session: inout SessionRecord, parent: String?, accessTTL: Duration? = nil, refreshTTL: Duration? = nil,
    now: MockInstant
  ) -> TokenGrant {
    if parent != nil { session.generation += 1 }
    session.refreshToken = newRefreshToken(session.kind)
    refresh[session.refreshToken] = RefreshRecord(
      sessionID: session.id, generation: session.generation, parent: parent, issuedAt: now,
      expiresAt: now.adding(refreshTTL ?? policy.refreshTTL))
    session.refreshTokens.append(session.refreshToken)
    if session.refreshTokens.count > SessionRecord.rememberedRefreshTokens {
      refresh[session.refreshTokens.removeFirst()] = nil
    }
    return newAccessToken(for: &session, ttl: accessTTL, now: now)
  }

  private mutating func newAccessToken(
    for session: inout SessionRecord, ttl: Duration? = nil, now: MockInstant
  ) -> TokenGrant {
    let lifetime = ttl ?? policy.accessTTL
    session.accessToken = accessTokenText(for: session, lifetime: lifetime, now: now)
    access[session.accessToken] = AccessRecord(
      sessionID: session.id, userID: session.userID, generation: session.generation, issuedAt: now,
      expiresAt: now.adding(lifetime), scope: session.scope)
    session.accessTokens.append(session.accessToken)
    if session.accessTokens.count > SessionRecord.rememberedAccessTokens {
      access[session.accessTokens.removeFirst()] = nil
    }
    return TokenGrant(
      accessToken: session.accessToken, refreshToken: session.refreshToken, expiresIn: lifetime,
      sessionID: session.id, generation: session.generation)
  }

  private mutating func forgetOldSessions() {
    while sessions.count > max(configuration.maximumSessions, 1), forgottenSessions < sessionIDs.count {
      let id = sessionIDs[forgottenSessions]
      forgottenSessions += 1
      guard let session = sessions.removeValue(forKey: id) else { continue }
      for token in session.accessTokens { access[token] = nil }
      for token in session.refreshTokens { refresh[token] = nil }
    }
    if forgottenSessions > 1024, forgottenSessions * 2 > sessionIDs.count {
      sessionIDs.removeFirst(forgottenSessions)
      forgottenSessions = 0
    }
  }

  /// Why a refresh token gets nothing: what chirp's `detail` says.
  enum GrantRefusal: String, Error {
    case unknown, revoked, expired, reused, banned

    var outcome: MockOutcome {
      switch self {
      case .unknown: .unknownGrant
      case .revoked: .revokedGrant
      case .expired: .expiredGrant
      case .reused: .reuseDetected
      case .banned: .banned
      }
    }
  }

  struct RefreshSuccess {
    let grant: TokenGrant
    let outcome: MockOutcome
    /// The generation of the token that was presented.
    let presented: Int
  }

  struct RefreshFailure: Error {
    let refusal: GrantRefusal
    var sessionID: String?
    var generation: Int?
  }

  /// Exchanges a refresh token, as the policy says.
  mutating func exchange(_ token: String, now: MockInstant) -> Result<RefreshSuccess, RefreshFailure> {
    // The session is taken out and put back, so that its token lists are changed in place.
    guard let record = refresh[token], var session = sessions.removeValue(forKey: record.sessionID) else {
      return .failure(RefreshFailure(refusal: .unknown))
    }
    defer { sessions[session.id] = session }
    func refused(_ refusal: GrantRefusal) -> Result<RefreshSuccess, RefreshFailure> {
      .failure(RefreshFailure(refusal: refusal, sessionID: record.sessionID, generation: record.generation))
    }
    func granted(_ grant: TokenGrant, _ outcome: MockOutcome) -> Result<RefreshSuccess, RefreshFailure> {
      .success(RefreshSuccess(grant: grant, outcome: outcome, presented: record.generation))
    }
    if users[session.userID]?.isBanned(now) == true { return refused(.banned) }
    if session.endedBy != nil || record.isRevoked { return refused(.revoked) }
    let current = refresh[session.refreshToken]
    let standing: MockRotation.Standing =
      record.spentAt == nil ? .active : current?.parent == token ? .parentOfCurrent : .older
    if standing == .active, now >= record.expiresAt { return refused(.expired) }
    let sinceSpent = record.spentAt.map { now.duration(since: $0) } ?? .zero
    switch policy.rotation.decide(standing, sinceSpent: sinceSpent, grace: policy.grace) {
    case .keep:
      session.generation += 1
      return granted(newAccessToken(for: &session, now: now), .refreshed)
    case .rotate:
      if record.spentAt == nil { refresh[token]?.spentAt = now }
      return granted(newPair(for: &session, parent: token, now: now), .rotated)
    case .repeatCurrent:
      guard let current, !current.isRevoked else { return refused(.revoked) }
      guard now < current.expiresAt else { return refused(.expired) }
      if let access = access[session.accessToken], !access.isRevoked, now < access.expiresAt {
        let grant = TokenGrant(
          accessToken: session.accessToken, refreshToken: session.refreshToken,
          expiresIn: access.expiresAt.duration(since: now), sessionID: session.id, generation: access.generation)
        return granted(grant, .repeated)
      }
      return granted(newAccessToken(for: &session, now: now), .repeated)
    case .reuse:
      session.endedBy = .reuse
      session.accessOutlivesEnd = policy.rotation == .gotrue
      return refused(.reused)
    }
  }

  // MARK: Ending

  /// Ends a session; false if it had ended, or there is none.
  @discardableResult
  mutating func end(_ sessionID: String, by cause: MockSessionEnd) -> Bool {
    guard let session = sessions[sessionID], session.endedBy == nil else { return false }
    sessions[sessionID]?.endedBy = cause
    return true
  }

  /// Revokes the access tokens of a session; how many worked until now is not told.
  mutating func revokeAccess(of sessionID: String) {
    for token in sessions[sessionID]?.accessTokens ?? [] { access[token]?.isRevoked = true }
  }

  /// Ends the session that a refresh token belongs to.
  mutating func endSession(withRefreshToken token: String, by cause: MockSessionEnd) -> (
    sessionID: String?, ended: Bool
  ) {
    guard let record = refresh[token] else { return (nil, false) }
    return (record.sessionID, end(record.sessionID, by: cause))
  }
}

import Groundwork

/// What the server calls itself: as it was called, so that a client behind any address can follow.
struct RealmOrigin: Sendable {
  private var host = "localhost"
  private var isSecure = false

  /// Takes the address from a request that names one.
  mutating func note(_ request: MockRequest) {
    guard let named = request.header("Host"), named == host || Self.isHost(named) else { return }
    isSecure = request.isSecure
    if host != named { host = named }
  }

  /// A `Host` ends up in documents and pages: no letter in it that could mean more there.
  private static func isHost(_ text: String) -> Bool {
    (1...255).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._:[]".utf8.contains(byte)
        }
      }
  }

  /// Scheme and authority, without a path.
  var text: String { "\(isSecure ? "https" : "http")://\(host)" }
}

// Access tokens: their making, and what a request's bearer token is worth.
extension RealmState {
  /// The realm's address: the issuer of its JWTs, and what its metadata begin with.
  var issuer: String { name == "default" ? origin.text : "\(origin.text)/r/\(name)" }

  mutating func newRefreshToken(_ kind: SessionKind) -> String {
    guard case .supabase = kind else { return random.token(prefix: Self.refreshPrefix) }
    return random.letters(12)
  }

  /// An access token of the session's kind and the policy's make.
  mutating func accessTokenText(for session: SessionRecord, lifetime: Duration, now: MockInstant) -> String {
    let algorithm: JWTAlgorithm?
    if case .supabase = session.kind {
      algorithm = policy.tokens.algorithm ?? .hs256
    } else {
      algorithm = policy.tokens.algorithm
    }
    if let algorithm {
      let claims = claims(of: session, lifetime: lifetime, now: now, id: random.uuid())
      let type = if case .oauth = session.kind { "at+jwt" } else { "JWT" }
      if let token = JWT.make(algorithm, keys: keys, type: type, claims: claims) { return token }
    }
    return random.token(prefix: Self.accessPrefix)
  }

  private func claims(
    of session: SessionRecord, lifetime: Duration, now: MockInstant, id: String
  ) -> JSONWriter {
    // A server whose clock is wrong writes wrong times.
    let told = now.adding(policy.clockSkew)
    let user = users[session.userID]
    return JSONWriter.object { json in
      func times() {
        json.member("iat", Int(told.seconds))
        json.member("exp", Int(told.adding(lifetime).seconds))
        json.member("jti", id)
        json.member("session_id", session.id)
      }
      switch session.kind {
      case .plain:
        json.member("iss", issuer)
        json.member("sub", session.userID)
        json.member("aud", issuer)
        times()
        json.member("username", user?.username ?? "")
        json.member("email", user?.email ?? "")
      case .supabase(let method, let since):
        json.member("iss", "\(issuer)/auth/v1")
        json.member("sub", session.userID)
        json.member("aud", "authenticated")
        times()
        json.member("email", user?.email ?? "")
        json.member("phone", user?.phone ?? "")
        json.key("app_metadata")
        Supabase.appMetadata(of: user, to: &json)
        json.key("user_metadata")
        json.value(.object(user?.metadata ?? [:]))
        json.member("role", "authenticated")
        json.member("aal", "aal1")
        json.key("amr")
        json.array([method]) { json, method in
          json.object { json in
            json.member("method", method)
            json.member("timestamp", Int(since.adding(policy.clockSkew).seconds))
          }
        }
        json.member("is_anonymous", false)
      case .oauth(let grant):
        // RFC 9068 §2.2.
        json.member("iss", issuer)
        json.member("sub", session.userID.isEmpty ? grant.clientID : session.userID)
        json.member("aud", issuer)
        json.member("client_id", grant.clientID)
        json.member("scope", session.scope.joined(separator: " "))
        times()
      }
    }
  }

  // MARK: Bearers

  /// Why a bearer token is refused.
  enum BearerRefusal: Error {
    case missing
    /// Never issued, or long forgotten.
    case unknown
    /// A JWT that is not the realm's, or not for it; in the words of Supabase's server.
    case flawed(String)
    /// Its session is gone.
    case noSession
    /// It belongs to a client alone, where a user is needed.
    case noUser
    case expired(AccessRecord)
    case revoked(AccessRecord)
    case banned(AccessRecord)
  }

  func authenticate(_ request: MockRequest, now: MockInstant) -> Result<AccessRecord, BearerRefusal> {
    guard let token = Self.bearer(of: request) else { return .failure(.missing) }
    return authenticate(token, now: now)
  }

  /// What a token is worth now.
  ///
  /// One that the realm remembers is known byte for byte; of any other JWT the signature is checked, so that the refusal can
  /// say what is wrong with it.
  func authenticate(_ token: String, now: MockInstant) -> Result<AccessRecord, BearerRefusal> {
    if let record = access[token], let session = sessions[record.sessionID] {
      return standing(of: record, session, now: now)
    }
    guard JWT.resembles(token) else { return .failure(.unknown) }
    do throws(JWT.Flaw) {
      return authenticate(try JWT.read(token, keys: keys).claims, now: now)
    } catch {
      switch error {
      case .malformed(let what): return .failure(.flawed("token is malformed: \(what)"))
      case .algorithm(let name):
        return .failure(.flawed("token signature is invalid: signing method \(name.prefix(16)) is invalid"))
      case .signature: return .failure(.flawed("token signature is invalid: signature is invalid"))
      }
    }
  }

  private func standing(
    of record: AccessRecord, _ session: SessionRecord, now: MockInstant
  ) -> Result<AccessRecord, BearerRefusal> {
    if record.isRevoked || session.endedBy != nil && !session.accessOutlivesEnd { return .failure(.revoked(record)) }
    if now >= record.expiresAt { return .failure(.expired(record)) }
    guard let user = users[record.userID] else { return record.userID.isEmpty ? .failure(.noUser) : .failure(.unknown) }
    return user.isBanned(now) ? .failure(.banned(record)) : .success(record)
  }

  /// The claims of a token that is well signed, but that the realm does not remember.
  private func authenticate(
    _ claims: [String: JSONValue], now: MockInstant
  ) -> Result<AccessRecord, BearerRefusal> {
    func refuse(_ what: String) -> Result<AccessRecord, BearerRefusal> {
      .failure(.flawed("token has invalid claims: \(what)"))
    }
    let clock = Double(now.adding(policy.clockSkew).seconds)
    guard let subject = claims["sub"]?.string, !subject.isEmpty else {
      return .failure(.flawed("invalid claim: missing sub claim"))
    }
    guard let expiry = claims["exp"]?.number else { return refuse("token has no expiry") }
    guard clock < expiry else { return refuse("token is expired") }
    if let start = claims["nbf"]?.number, clock < start { return refuse("token is not valid yet") }
    if let made = claims["iat"]?.number, clock < made { return refuse("token used before issued") }
    guard let named = claims["iss"]?.string, [issuer, "\(issuer)/auth/v1"].contains(named) else {
      return refuse("token has invalid issuer")
    }
    let audiences = claims["aud"]?.array?.compactMap(\.string) ?? [claims["aud"]?.string].compactMap(\.self)
    guard audiences.contains(where: { $0 == issuer || $0 == "authenticated" }) else {
      return refuse("token has invalid audience")
    }
    guard let id = claims["session_id"]?.string, let session = sessions[id], session.userID == subject else {
      return .failure(.noSession)
    }
    let left = Duration.clamped(seconds: expiry - clock)
    let record = AccessRecord(
      sessionID: id, userID: subject, generation: session.generation, issuedAt: now,
      expiresAt: now.adding(left), scope: claims["scope"]?.string?.split(separator: " ").map(String.init) ?? [])
    return standing(of: record, session, now: now)
  }

  /// The token of `Authorization: Bearer TOKEN` (RFC 6750 §2.1); the scheme's case does not matter.
  static func bearer(of request: MockRequest) -> String? {
    guard let value = request.header("Authorization") else { return nil }
    let bytes = value.utf8
    guard bytes.count > 7 else { return nil }
    let split = bytes.index(bytes.startIndex, offsetBy: 7)
    guard value[..<split].equalsIgnoringCase("Bearer ") else { return nil }
    let token = value[split...].trimmedOfSpaces
    return token.isEmpty ? nil : String(token)
  }
}

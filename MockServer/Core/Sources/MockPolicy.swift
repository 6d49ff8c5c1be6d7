/// What a refresh does to the refresh token, and what a spent one gets.
public enum MockRotation: String, Sendable, Hashable, CaseIterable {
  /// The refresh token stays the same.
  case none
  /// Every refresh spends the token; a spent one revokes the whole family (RFC 9700 §4.14.2).
  case strict
  /// As strict, but a spent token gets the current pair once more while its grace window is open: a lost answer is survived.
  case grace
  /// As strict, but the parent of the current token gets the current pair, however late.
  case parentOK = "parent-ok"
  /// As Supabase's auth server: the parent gets the current pair; an older one gets a new child within the grace window,
  /// and revokes the family later.
  case gotrue
}

extension MockRotation {
  /// How a presented refresh token stands to its family.
  enum Standing: Sendable, Hashable {
    /// It has not been spent.
    case active
    /// It is spent, and the current token came from it.
    case parentOfCurrent
    /// It is spent, and older than that.
    case older
  }

  /// What to do with it.
  enum Decision: Sendable, Hashable {
    /// A new access token; the refresh token stays.
    case keep
    /// A new pair; the presented token is spent.
    case rotate
    /// The current pair once more.
    case repeatCurrent
    /// Reuse: the family ends.
    case reuse
  }

  /// The policies as one table.
  ///
  /// | | active | parent of the current | older |
  /// | --- | --- | --- | --- |
  /// | none | keep | repeat | repeat |
  /// | strict | rotate | reuse | reuse |
  /// | grace | rotate | within the window: repeat, else reuse | within the window: repeat, else reuse |
  /// | parent-ok | rotate | repeat | reuse |
  /// | gotrue | rotate | repeat | within the window: rotate, else reuse |
  ///
  /// `none` spends nothing: a spent token there dates from before the policy was changed. The window is open while less
  /// than `grace` has passed since the token was spent.
  func decide(_ standing: Standing, sinceSpent: Duration, grace: Duration) -> Decision {
    let inWindow = sinceSpent < grace
    switch (self, standing) {
    case (.none, .active): return .keep
    case (.none, .parentOfCurrent), (.none, .older): return .repeatCurrent
    case (.strict, .active), (.grace, .active), (.parentOK, .active), (.gotrue, .active): return .rotate
    case (.strict, .parentOfCurrent), (.strict, .older): return .reuse
    case (.grace, .parentOfCurrent), (.grace, .older): return inWindow ? .repeatCurrent : .reuse
    case (.parentOK, .parentOfCurrent), (.gotrue, .parentOfCurrent): return .repeatCurrent
    case (.parentOK, .older): return .reuse
    case (.gotrue, .older): return inWindow ? .rotate : .reuse
    }
  }
}

/// How often some operations may be called in a realm: a fixed window, on the realm's clock.
public struct MockRateLimit: Sendable, Hashable {
  /// How many calls a window has.
  public var limit: Int
  /// How long a window is.
  public var window: Duration
  /// The operations that count, together.
  public var operations: Set<MockOperation>

  /// Makes a limit; for logins alone unless stated.
  public init(limit: Int, per window: Duration, operations: Set<MockOperation> = [.login]) {
    self.limit = limit
    self.window = window
    self.operations = operations
  }
}

/// Which of its error shapes the Supabase dialect uses.
public enum MockSupabaseErrors: String, Sendable, Hashable, CaseIterable {
  /// `{"code","error_code","msg"}`, or `{"code","message"}` for a request with `X-Supabase-Api-Version: 2024-01-01` or later.
  case current
  /// As older servers: `{"error":"invalid_grant","error_description"}` from the token endpoint, `{"code","msg"}` elsewhere.
  case oauth
}

/// An ID token that a client must refuse: each is as it should be but for this.
public enum MockIDTokenFlaw: String, Sendable, Hashable, CaseIterable {
  /// `aud` names another client.
  case audience
  /// `iss` names another server.
  case issuer
  /// The signature's last byte is changed.
  case signature
  /// `alg` is `none`, and there is no signature.
  case unsigned = "alg-none"
  /// `exp` has passed.
  case expired
  /// `iat` and `nbf` are an hour away.
  case early = "not-yet-valid"
  /// `nonce` is another than the request's.
  case nonce
  /// `sub` is another user's than that of the userinfo endpoint.
  case subject
  /// `kid` names a key that the JWKS does not have.
  case key
  /// There is none, though `openid` was granted.
  case missing
}

/// How a realm treats tokens and time; changeable while it runs.
public struct MockPolicy: Sendable, Hashable {
  /// How long an access token works.
  public var accessTTL: Duration
  /// How long a refresh token works; each rotation begins it anew.
  public var refreshTTL: Duration
  /// What a refresh does to the refresh token.
  public var rotation: MockRotation
  /// The window of `grace` and `gotrue`.
  public var grace: Duration
  /// What access tokens are made of.
  public var tokens: MockTokenKind
  /// Whether a user may sign in at once; else the address has to be confirmed first.
  public var autoconfirm: Bool
  /// How Supabase's dialect words its errors.
  public var supabaseErrors: MockSupabaseErrors
  /// What is wrong with the ID tokens of the OAuth 2 dialect, if anything is.
  public var idTokenFlaw: MockIDTokenFlaw?
  /// How far the time that the server tells (`Date`) is ahead of the realm's clock; negative: behind.
  public var clockSkew: Duration
  /// The rate limit, if there is one.
  public var rateLimit: MockRateLimit?
  /// Which web pages may call the dialects; nil: none, as browsers have it. The admin API never takes part.
  public var cors: MockCORS?

  /// Makes a policy; the defaults are those of `mock-server serve`.
  public init(
    accessTTL: Duration = .seconds(15 * 60), refreshTTL: Duration = .seconds(30 * 86400),
    rotation: MockRotation = .strict, grace: Duration = .seconds(10), clockSkew: Duration = .zero,
    rateLimit: MockRateLimit? = nil, cors: MockCORS? = nil, tokens: MockTokenKind = .opaque, autoconfirm: Bool = true,
    supabaseErrors: MockSupabaseErrors = .current, idTokenFlaw: MockIDTokenFlaw? = nil
  ) {
    self.accessTTL = accessTTL
    self.refreshTTL = refreshTTL
    self.rotation = rotation
    self.grace = grace
    self.clockSkew = clockSkew
    self.rateLimit = rateLimit
    self.cors = cors
    self.tokens = tokens
    self.autoconfirm = autoconfirm
    self.supabaseErrors = supabaseErrors
    self.idTokenFlaw = idTokenFlaw
  }
}

public import Groundwork

/// What a request asks for, by the same name in every dialect.
public enum MockOperation: String, Sendable, Hashable, CaseIterable {
  case register, login, refresh, logout, me, feed, post
  /// Changes to one's own account: `PUT /auth/v1/user`.
  case updateUser = "update-user"
  /// Mails with a code, and what is made of the code.
  case otp, recover, resend, verify
  /// What a server tells of itself.
  case health, settings
  case keys = "jwks"
  case metadata
  /// OAuth 2: a person agrees in a browser, or for a device.
  case authorize, device
  /// OAuth 2: what a token is worth.
  case introspect
  /// The calls of a service-role key, for any user.
  case adminUsers = "admin-users"
  /// Nothing that the server knows, or no proper request.
  case unknown
}

/// How long an answer takes.
public enum MockDelay: Sendable, Hashable {
  /// Always so long.
  case fixed(Duration)
  /// Anything between, each as likely.
  case uniform(min: Duration, max: Duration)
  /// As real servers are: mostly near the median, with a long tail.
  case lognormal(median: Duration, sigma: Double)
}

/// How an answer breaks (`break` in an ACTION).
public enum MockBreak: String, Sendable, Hashable, CaseIterable {
  /// FIN.
  case close
  /// RST.
  case reset
  /// `Content-Length` promises the whole body, FIN comes after a part of it.
  case truncate
  /// The body is the first half of its JSON.
  case malformed
  /// The body is JSON whose values have other types than the dialect says.
  case wrongType = "wrong-type"
  /// The body is JSON of 64 MiB.
  case huge
  /// Bytes that are no HTTP.
  case garbage
  /// The body comes a byte every 100 ms.
  case drip
  /// Plaintext into the TLS stream.
  case tls
}

/// When a fault happens.
public enum MockPhase: String, Sendable, Hashable, CaseIterable {
  /// The operation is not done.
  case before
  /// The operation is done, then the answer goes wrong or gets lost.
  case afterCommit = "after-commit"
  /// The operation is done and a part of the answer's body gets through.
  case midBody = "mid-body"
}

/// What an ACTION revokes of the session that the request belongs to.
public enum MockRevokeTarget: String, Sendable, Hashable, CaseIterable {
  /// Its access tokens; it can still be refreshed.
  case access
  /// The session itself.
  case session
}

/// One step of a script. Empty, it is the real answer.
///
/// - The operation is done if `phase` is `after-commit` or `mid-body`, or if neither `status`, `body` nor `break` is given.
/// - `status`, `body` and `headers` then replace that much of the answer.
/// - A `delay` or `hold` keeps the answer back, not the operation: the state changes at once. With `phase: before` said in so
///   many words, the operation itself waits.
/// - `revoke` comes before the operation, or after it with `after-commit` and `mid-body`.
public struct MockAction: Sendable, Hashable {
  /// The answer's status, 200 to 599; alone, the body is the dialect's own error body for it.
  public var status: Int?
  /// The answer's body: text goes out as it is, anything else as JSON.
  public var body: JSONValue?
  /// Header fields that are added to the answer, or replace those of the same name.
  public var headers: [MockRequest.Field]
  /// How long the answer takes.
  public var delay: MockDelay?
  /// Keeps the answer back until this name is released; the delay follows.
  public var hold: String?
  /// How the answer breaks.
  public var breaks: MockBreak?
  /// When; nil is `before`, but lets a delayed or held operation happen at once.
  public var phase: MockPhase?
  /// How much of the body gets through with `mid-body` or `truncate`; nil: half of it.
  public var after: Int?
  /// What is revoked.
  public var revoke: MockRevokeTarget?
  /// For how many requests.
  public var times: Int

  /// Makes an action.
  public init(
    status: Int? = nil, body: JSONValue? = nil, headers: [MockRequest.Field] = [], delay: MockDelay? = nil,
    hold: String? = nil, breaks: MockBreak? = nil, phase: MockPhase? = nil, after: Int? = nil,
    revoke: MockRevokeTarget? = nil, times: Int = 1
  ) {
    self.status = status
    self.body = body
    self.headers = headers
    self.delay = delay
    self.hold = hold
    self.breaks = breaks
    self.phase = phase
    self.after = after
    self.revoke = revoke
    self.times = times
  }

  /// The real answer.
  public static let real = MockAction()
  /// Done, answer lost: the case behind most lost sessions.
  public static let loseAnswer = MockAction(breaks: .close, phase: .afterCommit)
  /// An answer of this status, with the dialect's error body.
  public static func status(_ status: Int, times: Int = 1) -> MockAction { MockAction(status: status, times: times) }
  /// The real answer, kept back until `release(hold:)`.
  public static func hold(_ name: String) -> MockAction { MockAction(hold: name) }
  /// The real answer, later.
  public static func delay(_ delay: MockDelay) -> MockAction { MockAction(delay: delay) }
  /// A broken answer.
  public static func breaks(_ how: MockBreak, phase: MockPhase? = nil) -> MockAction {
    MockAction(breaks: how, phase: phase)
  }
}

/// What the next requests of one kind get.
public struct MockScript: Sendable, Hashable {
  /// Which requests.
  public enum Target: Sendable, Hashable {
    /// Those of one operation, in any dialect.
    case operation(MockOperation)
    /// Those of one method and path, say `POST` and `/auth/refresh`; asked before the operation's script.
    case endpoint(method: String, path: String)

    /// The name under which `GET /__mock/state` has it.
    public var text: String {
      switch self {
      case .operation(let operation): operation.rawValue
      case .endpoint(let method, let path): "\(method) \(path)"
      }
    }
  }

  /// What comes when the actions are used up.
  public enum Then: String, Sendable, Hashable, CaseIterable {
    /// The real answers.
    case real
    /// The actions again, from the first.
    case `repeat`
    /// 500 `script_exhausted`: the test has miscounted.
    case fail
  }

  /// Which requests.
  public var target: Target
  /// The actions, in the order of the requests' arrival.
  public var actions: [MockAction]
  /// What comes after them.
  public var then: Then

  /// Makes a script.
  public init(_ target: Target, _ actions: [MockAction], then: Then = .real) {
    self.target = target
    self.actions = actions
    self.then = then
  }
}

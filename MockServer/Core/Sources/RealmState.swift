import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// All that a realm is: a value behind the realm's lock. Nothing in here blocks, waits or reads a clock.
struct RealmState: Sendable {
  /// A request on its way through the realm.
  struct Call: Sendable {
    let request: MockRequest
    let path: String
    let query: Substring
    let now: MockInstant
    let route: Route?
    /// The script that it nearly was for.
    var nearMiss: MockNearMiss?

    /// In whose shape an error goes out: also where no endpoint is, or no proper request.
    var dialect: MockDialect {
      if let route { return route.dialect }
      if path.hasPrefix("/auth/v1/") { return .supabase }
      if path.hasPrefix("/oauth2/") || path.hasPrefix("/.well-known/") { return .oauth2 }
      return path.hasPrefix("/envelope/") ? .envelope : .none
    }

    var operation: MockOperation { route.map { $0.allows(request.method) ? $0.operation : .unknown } ?? .unknown }
  }

  /// An answer, and what the journal has to know about it.
  struct Answer: Sendable {
    var reply: MockReply
    var outcome: MockOutcome
    var sessionID: String?
    var generation: Int?
  }

  /// What is to be done once the lock is open again.
  struct Effects: Sendable {
    var deliveries: [(@Sendable (MockDelivery) -> Void, MockDelivery)] = []
    var completions: [(@Sendable (Int) -> Void, Int)] = []
    /// Wake the realm after so long, by this number.
    var wake: (id: Int, after: Duration)?
    /// Event streams that are too slow to keep.
    var finished: [@Sendable () -> Void] = []
  }

  let name: String
  var configuration: MockServerConfiguration
  /// The boot clock's reading at this step, and when a request came last.
  var reading: Duration
  var lastUsed: Duration
  let keys: RealmKeys
  /// By what address the realm was last called: what its JWTs and documents call it.
  var origin = RealmOrigin()
  var policy: MockPolicy
  var clock: RealmClock
  var random: SeededRandom

  var users: [String: UserRecord] = [:]
  var userIDs: [String] = []
  var userIDByEmail: [String: String] = [:]
  var userIDByName: [String: String] = [:]
  var userIDByPhone: [String: String] = [:]

  var sessions: [String: SessionRecord] = [:]
  var sessionIDs: [String] = []
  /// How many of `sessionIDs` have fallen out.
  var forgottenSessions = 0
  var access: [String: AccessRecord] = [:]
  var refresh: [String: RefreshRecord] = [:]

  var feed: [FeedItem] = []
  var lastPost = 0
  var idempotency = IdempotencyTable()
  var rateWindow: (startedAt: MockInstant, count: Int)?

  var scripts = ScriptTable()
  var waiting = WaitingRoom()
  var mails = MailTable()
  var oauth: OAuthTable
  var journal: Journal
  var exchanges = ExchangeRing()
  var events = EventHub()
  /// The wake that was asked for, and when it will come.
  var plannedWake: (id: Int, due: MockInstant, plannedAt: MockInstant)?
  var lastWake = 0
  private var dateHeader: (second: Int64, field: MockRequest.Field)?

  init(
    name: String, configuration: MockServerConfiguration, now: MockInstant, reading: Duration, seed: UInt64,
    sharedKeys: ServerKeys
  ) {
    self.name = name
    self.configuration = configuration
    keys = RealmKeys(seed: seed, shared: sharedKeys)
    oauth = OAuthTable(clients: configuration.clients)
    policy = configuration.policy
    let start = configuration.startsAt.map(MockInstant.init) ?? now
    clock = RealmClock(mode: configuration.clock, start: start, reading: reading)
    self.reading = reading
    lastUsed = reading
    random = SeededRandom(seed: seed)
    journal = Journal(capacity: configuration.journalCapacity)
    for user in configuration.users {
      // One that comes twice is left out; `MockServerConfiguration.check()` refuses it beforehand.
      _ = insertUser(username: user.username, email: user.email, password: user.password, now: start)
    }
    seedFeed(count: configuration.feedItems, now: start)
    for script in configuration.scripts { scripts.set(script) }
  }

  /// Takes a request: answers it at once, or keeps the answer back.
  mutating func receive(
    _ call: Call, deliver: @escaping @Sendable (MockDelivery) -> Void, _ effects: inout Effects
  ) -> MockDelivery? {
    lastUsed = reading
    if let malformation = call.request.malformation {
      let answer = Answer(
        reply: render(call, malformation.status, "malformed_request", malformation.reason), outcome: .malformed)
      return finish(call, answer, &effects)
    }
    if let answer = preflight(call) { return finish(call, answer, &effects) }
    switch scripts.next(operation: call.operation, method: call.request.method, path: call.path) {
    case .none:
      var call = call
      call.nearMiss = scripts.nearMiss(of: call, seq: journal.lastSeq + 1)
      return finish(call, perform(call), &effects)
    case .exhausted(let target):
      let answer = Answer(
        reply: render(call, 500, "script_exhausted", "The script for \"\(target)\" is used up."),
        outcome: .scriptExhausted)
      return finish(call, answer, &effects)
    case .action(let action):
      return run(action, for: call, deliver: deliver, &effects)
    }
  }

  /// Does what a request asks for.
  mutating func perform(_ call: Call) -> Answer {
    guard let route = call.route else {
      return Answer(
        reply: render(call, 404, "not_found", "There is no such endpoint."), outcome: .notFound)
    }
    guard route.allows(call.request.method) else {
      var reply = render(call, 405, "method_not_allowed", "This endpoint answers \(route.allow) only.")
      reply.headers.append(MockRequest.Field("Allow", route.allow))
      return Answer(reply: reply, outcome: .methodNotAllowed)
    }
    if let seconds = spendRate(route.operation, now: call.now) {
      var reply = render(call, 429, "rate_limited", "Too many tries. Try again later.")
      reply.headers.append(MockRequest.Field("Retry-After", String(seconds)))
      return Answer(reply: reply, outcome: .rateLimited)
    }
    switch route.dialect {
    case .supabase: return performSupabase(call, route)
    case .oauth2: return performOAuth(call, route)
    case .envelope: return performEnvelope(call, route)
    case .chirp, .none: return performChirp(call, route)
    }
  }

  /// An error in the shape of the dialect that the request's path belongs to.
  func render(_ call: Call, _ status: Int, _ code: String, _ reason: String) -> MockReply {
    switch call.dialect {
    case .supabase: supabaseError(call, status, Supabase.code(for: status, code), Supabase.message(for: code, reason))
    case .oauth2: OAuth.error(status, OAuth.code(for: status, code), reason)
    case .envelope: Envelope.error(status, reason)
    case .chirp, .none: Chirp.error(status, code, reason)
    }
  }

  /// Adds what every answer has, and writes the journal.
  mutating func finish(
    _ call: Call, _ answer: Answer, fault: MockBreak? = nil, wire: WireFault? = nil, settling: MockJournalEntry? = nil,
    _ effects: inout Effects
  ) -> MockDelivery {
    let requestID = settling?.requestID ?? requestID(of: call)
    var entry = settling ?? newEntry(call, requestID: requestID)
    entry.status = answer.reply.status
    entry.outcome = answer.outcome
    entry.sessionID = answer.sessionID
    entry.generation = answer.generation
    entry.fault = fault
    record(entry, of: call, settling: settling, &effects)
    var reply = answer.reply
    if !reply.headers.contains(where: { $0.name.equalsIgnoringCase("Date") }) {
      reply.headers.append(date(at: call.now))
    }
    reply.headers.append(MockRequest.Field("X-Request-ID", requestID))
    share(&reply, with: call.request)
    exchanges.keep(call.request, reply, under: settling?.seq ?? journal.lastSeq)
    return MockDelivery(reply: reply, fault: wire)
  }

  mutating func newEntry(_ call: Call, requestID: String) -> MockJournalEntry {
    let method = Secrets.isSuspicious(call.request.method) ? "***" : String(call.request.method.prefix(32))
    let path = masked(call.path, known: call.route != nil)
    return MockJournalEntry(
      seq: 0, at: call.now.date, realm: name, dialect: call.route?.dialect ?? .none, operation: call.operation,
      method: method, path: path, status: 0, outcome: .pending, malformed: call.request.malformation?.reason,
      attempt: journal.attempt(of: call.request, path: call.path), requestID: requestID, nearMiss: call.nearMiss)
  }

  /// Writes an entry, or its later outcome, and tells those who wait.
  mutating func record(
    _ entry: MockJournalEntry, of call: Call, settling: MockJournalEntry?, _ effects: inout Effects
  ) {
    var written = entry
    let done: [(Journal.Waiter, Int)]
    if let settling {
      done = journal.settle(settling, as: entry)
    } else {
      (written, done) = journal.append(entry)
    }
    if entry.outcome != .pending {
      let failed = entry.fault != nil || [401, 408, 425, 429].contains(entry.status) || entry.status >= 500
      journal.noteFailure(of: call.request, path: call.path, attempt: entry.attempt, failed: failed)
    }
    for (waiter, count) in done { effects.completions.append((waiter.complete, count)) }
    events.publish(.request(written), &effects)
  }

  /// The id of a request that the journal does not have yet.
  func requestID(of call: Call) -> String { acceptableRequestID(call.request) ?? "r" + String(journal.lastSeq + 1) }

  func acceptableRequestID(_ request: MockRequest) -> String? {
    guard let id = request.header("X-Request-ID"), (1...128).contains(id.utf8.count),
      id.utf8.allSatisfy({ 0x21...0x7E ~= $0 }), !Secrets.isSuspicious(id), access[id] == nil, refresh[id] == nil
    else { return nil }
    return id
  }

  /// The `Date` header (RFC 9110 §6.6.1), made once a second; skewed as the policy says.
  private mutating func date(at now: MockInstant) -> MockRequest.Field {
    let told = policy.clockSkew == .zero ? now : now.adding(policy.clockSkew)
    if let dateHeader, dateHeader.second == told.seconds { return dateHeader.field }
    let field = MockRequest.Field("Date", told.httpDate)
    dateHeader = (told.seconds, field)
    return field
  }

  /// A path as the journal has it: at most 256 bytes, and `***` for each part of it that is or looks like a token.
  private func masked(_ path: String, known: Bool) -> String {
    guard !known else { return path }
    let text = path.utf8.count > 256 ? String(decoding: path.utf8.prefix(256), as: UTF8.self) : path
    // Tokens of other dialects are short: they are looked up.
    return text.split(separator: "/", omittingEmptySubsequences: false).map { part in
      let plain = part.percentDecoded ?? String(part)
      return access[plain] != nil || refresh[plain] != nil || Secrets.isSuspicious(plain) ? "***" : String(part)
    }.joined(separator: "/")
  }

  static let accessPrefix = "at_"
  static let refreshPrefix = "rt_"

  /// Counts a call against the rate limit; the seconds until the window ends if it is used up.
  private mutating func spendRate(_ operation: MockOperation, now: MockInstant) -> Int64? {
    guard let limit = policy.rateLimit, limit.operations.contains(operation) else { return nil }
    if let window = rateWindow, now >= window.startedAt, now < window.startedAt.adding(limit.window) {
      guard window.count >= limit.limit else {
        rateWindow = (window.startedAt, window.count + 1)
        return nil
      }
      let left = window.startedAt.adding(limit.window).duration(since: now).saturatedMicroseconds
      return max((left + 999_999) / 1_000_000, 1)
    }
    guard limit.limit > 0 else { return max((limit.window.saturatedMicroseconds / 1_000_000), 1) }
    rateWindow = (now, 1)
    return nil
  }
}

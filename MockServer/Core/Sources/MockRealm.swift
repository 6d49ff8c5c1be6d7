import Groundwork

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// One independent server inside a `MockAuthServer`: own users, sessions, clock, scripts and journal.
///
/// Everything that the admin API does can be done here, typed. All calls may come from any thread; each is one step, and
/// answers that a call sets free are delivered before it returns.
public final class MockRealm: Sendable {
  /// The realm's name, as in `/r/NAME/…`.
  public let name: String
  private let state: Guarded<RealmState>
  private let machinery: ServerMachinery

  init(name: String, machinery: ServerMachinery) {
    self.name = name
    self.machinery = machinery
    state = Guarded(Self.fresh(name, machinery))
  }

  private static func fresh(_ name: String, _ machinery: ServerMachinery) -> RealmState {
    let reading = machinery.time.sinceBoot
    return RealmState(
      name: name, configuration: machinery.configuration.forRealm(name),
      now: machinery.started.adding(reading - machinery.startReading), reading: reading,
      seed: machinery.seed(for: name),
      sharedKeys: machinery.keys)
  }

  // MARK: Requests

  /// Takes a request whose path has lost the realm's prefix.
  func receive(
    _ request: MockRequest, path: String, query: Substring, deliver: @escaping @Sendable (MockDelivery) -> Void
  ) {
    let route = request.malformation == nil ? Route.find(request, path: path, query: query) : nil
    let delivery = step { state, now, effects in
      let call = RealmState.Call(request: request, path: path, query: query, now: now, route: route)
      return state.receive(call, deliver: deliver, &effects)
    }
    if let delivery { deliver(delivery) }
  }

  /// Does something with the state, then what follows from it, outside the lock.
  @discardableResult
  func step<Success: Sendable, Failure: Error>(
    _ body: (inout RealmState, MockInstant, inout RealmState.Effects) throws(Failure) -> Success
  ) throws(Failure) -> Success {
    let reading = machinery.time.sinceBoot
    let (success, effects) = try state.withLock { state throws(Failure) in
      var effects = RealmState.Effects()
      state.reading = reading
      let success = try body(&state, state.clock.now(reading: reading), &effects)
      return (success, effects)
    }
    carryOut(effects)
    return success
  }

  private func carryOut(_ effects: RealmState.Effects) {
    for (deliver, delivery) in effects.deliveries { deliver(delivery) }
    for (complete, count) in effects.completions { complete(count) }
    for finish in effects.finished { finish() }
    if let (id, after) = effects.wake {
      machinery.schedule(after: after) { [self] in
        step { state, now, effects in state.wake(id, now: now, &effects) }
      }
    }
  }

  // MARK: Clock

  /// What time it is in the realm.
  public var now: Date { step { _, now, _ in now }.date }

  /// Moves the realm's clock ahead (or back); answers whose delay is over then are delivered, in their order.
  public func advance(by duration: Duration) {
    setClock { $0.adding(duration) }
  }

  /// Sets the realm's clock; between 1970 and the end of 9999.
  public func setClock(to date: Date) {
    setClock { _ in MockInstant(date) }
  }

  /// Lets the clock stand still, or run again from where it is.
  public func setClockMode(_ mode: MockClockMode) {
    let reading = machinery.time.sinceBoot
    step { state, now, effects in
      state.clock.set(now, reading: reading)
      state.clock.mode = mode
      state.wake(nil, now: now, &effects)
      state.events.publish(.changed(.clock), &effects)
    }
  }

  func setClock(_ change: @Sendable (MockInstant) -> MockInstant) {
    let reading = machinery.time.sinceBoot
    step { state, now, effects in
      let later = change(now)
      state.clock.set(later, reading: reading)
      state.wake(nil, now: later, &effects)
      state.events.publish(.changed(.clock), &effects)
    }
  }

  // MARK: Users and sessions

  /// Adds a user.
  ///
  /// - Throws: `MockServerError`, code `invalidRequest` for a value that a registration would refuse too, `taken` if the email
  ///   or the username has an account.
  @discardableResult
  public func addUser(username: String, email: String, password: String) throws(MockServerError) -> MockUser {
    try addUsers([MockSeedUser(username: username, email: email, password: password)])[0]
  }

  /// Adds users, all or none.
  func addUsers(_ seeds: [MockSeedUser]) throws(MockServerError) -> [MockUser] {
    for seed in seeds { try seed.check() }
    return try step { state, now, effects throws(MockServerError) in
      let before = state
      var added: [MockUser] = []
      for seed in seeds {
        switch state.insertUser(username: seed.username, email: seed.email, password: seed.password, now: now) {
        case .success(let user): added.append(MockUser(user))
        case .failure(let refusal):
          state = before
          let what = refusal == .emailTaken ? "email \"\(seed.email)\"" : "username \"\(seed.username)\""
          throw MockServerError(.taken, "the \(what) has an account already")
        }
      }
      state.events.publish(.changed(.users), &effects)
      return added
    }
  }

  /// Makes a session without a login, expired if a lifetime is zero or less.
  ///
  /// - Parameters:
  ///   - user: an email or an id.
  ///   - dialect: whose kind of tokens they are; the values are chirp's in any case.
  ///   - accessTTL: what the access token has left; nil for the policy's lifetime.
  ///   - refreshTTL: what the refresh token has left; nil for the policy's lifetime.
  /// - Throws: `MockServerError`, code `unknownUser`.
  public func mintSession(
    user: String, dialect: MockDialect = .chirp, accessTTL: Duration? = nil, refreshTTL: Duration? = nil
  ) throws(MockServerError) -> MockMintedSession {
    try step { state, now, effects throws(MockServerError) in
      let found = try state.requiredUser(user)
      let kind = state.kind(of: dialect, now: now)
      let grant = state.issue(for: found.id, kind: kind, accessTTL: accessTTL, refreshTTL: refreshTTL, now: now)
      state.events.publish(.changed(.sessions), &effects)
      return MockMintedSession(grant)
    }
  }

  /// Revokes tokens or ends sessions, and tells how many were still good for something.
  @discardableResult
  public func revoke(_ what: MockRevocation) -> Int {
    step { state, now, effects in
      let count = state.revoke(what)
      state.events.publish(.changed(.sessions), &effects)
      return count
    }
  }

  /// Bans a user for so long, on the realm's clock; zero lifts the ban.
  ///
  /// Until then every sign-in, refresh and token of theirs is refused.
  /// - Parameter user: an email or an id.
  /// - Throws: `MockServerError`, code `unknownUser`.
  @discardableResult
  public func ban(user: String, for duration: Duration) throws(MockServerError) -> MockUser {
    try step { state, now, effects throws(MockServerError) in
      let id = try state.requiredUser(user).id
      state.ban(id, until: duration > .zero ? now.adding(duration) : nil, now: now)
      state.events.publish(.changed(.users), &effects)
      return MockUser(try state.requiredUser(id))
    }
  }

  /// Deletes a user for good, and ends their sessions; tells how many that were.
  ///
  /// - Parameter user: an email or an id.
  /// - Throws: `MockServerError`, code `unknownUser`.
  @discardableResult
  public func deleteUser(_ user: String) throws(MockServerError) -> Int {
    try step { state, _, effects throws(MockServerError) in
      let id = try state.requiredUser(user).id
      let count = state.endSessions(of: id, by: .admin)
      _ = state.removeUser(id)
      state.events.publish(.changed(.users), &effects)
      return count
    }
  }

  /// The clients of the OAuth 2 dialect; what has been issued to one that goes lives on.
  public var clients: [MockOAuthClient] {
    get { step { state, _, _ in state.oauth.clients } }
    set {
      step { state, _, effects in
        state.oauth.clients = newValue
        state.events.publish(.changed(.policy), &effects)
      }
    }
  }

  /// The messages that the realm would have sent, oldest first: confirmations, sign-in codes; the last 1,000.
  public var mails: [MockMail] { step { state, _, _ in state.mails.sent } }

  /// The keys of the realm as a Supabase project, and the secret of its HS256 tokens. They follow from the seed.
  public var keys: MockRealmKeys {
    step { state, _, _ in
      MockRealmKeys(
        anonKey: state.apiKey(.anon), serviceRoleKey: state.apiKey(.serviceRole), jwtSecret: state.keys.secret)
    }
  }

  // MARK: Policy and scripts

  /// The realm's policy; a change holds from the next request on.
  public var policy: MockPolicy {
    get { step { state, _, _ in state.policy } }
    set {
      step { state, _, effects in
        state.policy = newValue
        state.events.publish(.changed(.policy), &effects)
      }
    }
  }

  /// Sets a script, in the place of the one for the same requests; one without actions takes it away.
  public func script(_ script: MockScript) {
    step { state, _, effects in
      state.scripts.set(script)
      state.events.publish(.changed(.scripts), &effects)
    }
  }

  /// Sets a script for an operation.
  public func script(_ operation: MockOperation, _ actions: MockAction..., then: MockScript.Then = .real) {
    script(MockScript(.operation(operation), actions, then: then))
  }

  /// Takes all scripts away.
  public func removeScripts() {
    step { state, _, effects in
      state.scripts.removeAll()
      state.events.publish(.changed(.scripts), &effects)
    }
  }

  /// Releases answers that a script holds, oldest first, and tells how many.
  @discardableResult
  public func release(hold name: String, count: Int? = nil) -> Int {
    step { state, now, effects in state.release(name, count: count, now: now, &effects) }
  }

  /// Makes the realm as new. Answers that are kept back are lost: their connections close.
  public func reset() {
    let fresh = Self.fresh(name, machinery)
    step { state, _, effects in
      for ticket in state.waiting.takeAll() {
        let reply = Chirp.error(503, "reset", "The realm was reset.")
        effects.deliveries.append((ticket.deliver, MockDelivery(reply: reply, fault: .close(afterBodyBytes: nil))))
      }
      var new = fresh
      new.events = state.events
      new.journal = state.journal
      new.journal.clear()
      new.lastWake = state.lastWake
      state = new
      state.events.publish(.changed(.reset), &effects)
    }
  }

  /// Ends the realm: as `reset`, and those who follow its events see the end.
  func close() {
    reset()
    step { state, _, effects in state.events.removeAll(&effects) }
  }

  // MARK: Looking

  /// The realm as `GET /__mock/state` shows it: no token and no password in it.
  public var snapshot: MockRealmState {
    step { state, now, _ in MockRealmState(state, now: now) }
  }

  /// The journal's entries after a number, oldest first.
  public func journal(since seq: Int = 0) -> [MockJournalEntry] {
    step { state, _, _ in state.journal.entries(since: seq) }
  }

  func journalPage(since seq: Int) -> (entries: [MockJournalEntry], dropped: Int) {
    step { state, _, _ in (state.journal.entries(since: seq), state.journal.dropped) }
  }

  /// How many requests match; exact, also when their entries have fallen out of the journal.
  public func count(_ filter: MockJournalFilter) -> Int {
    step { state, _, _ in state.journal.count(filter) }
  }

  /// How many requests of an operation there were, with a certain outcome if one is given.
  public func count(_ operation: MockOperation, _ outcome: MockOutcome? = nil) -> Int {
    count(MockJournalFilter(operation: operation, outcome: outcome))
  }

  /// Waits until a count is reached, and tells it; at the time-out (in real time), or when the task is cancelled, as it is then.
  public func waitForCount(
    _ filter: MockJournalFilter, atLeast target: Int, timeout: Duration = .seconds(5)
  ) async -> Int {
    let waiter = Guarded<WaiterState>(WaiterState())
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let id = wait(for: filter, toReach: target, timeout: timeout) { continuation.resume(returning: $0) }
        let isCancelled = waiter.withLock { state in
          state.id = id
          return state.isCancelled
        }
        if isCancelled, let id { giveUp(waiter: id) }
      }
    } onCancel: {
      let id = waiter.withLock { state in
        state.isCancelled = true
        return state.id
      }
      if let id { giveUp(waiter: id) }
    }
  }

  private struct WaiterState {
    var id: Int?
    var isCancelled = false
  }

  /// Calls `complete` once, with the count: when it is reached, or at the time-out.
  @discardableResult
  func wait(
    for filter: MockJournalFilter, toReach target: Int, timeout: Duration, _ complete: @escaping @Sendable (Int) -> Void
  ) -> Int? {
    let (id, count) = step { state, _, _ in state.journal.wait(for: filter, toReach: target, complete) }
    guard let id else {
      complete(count)
      return nil
    }
    machinery.schedule(after: timeout) { [self] in giveUp(waiter: id) }
    return id
  }

  private func giveUp(waiter id: Int) {
    step { state, _, effects in
      guard let (waiter, count) = state.journal.giveUp(waiter: id) else { return }
      effects.completions.append((waiter.complete, count))
    }
  }

  /// Every journal entry and state change from now on; a reader that falls 1,024 behind is cut off.
  public func events() -> AsyncStream<MockEvent> {
    follow { $0 }
  }

  /// The same, as the bytes of server-sent events.
  func eventBytes() -> AsyncStream<Data> {
    follow(first: Data(": following\n\n".utf8)) { $0.serverSentEvent }
  }

  private func follow<Element: Sendable>(
    first: Element? = nil, _ transform: @escaping @Sendable (MockEvent) -> Element
  ) -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingOldest(1024))
    if let first { continuation.yield(first) }
    let follower = EventHub.Follower(
      take: { event in
        guard case .enqueued = continuation.yield(transform(event)) else { return false }
        return true
      },
      finish: { continuation.finish() })
    let id = step { state, _, _ in state.events.add(follower) }
    continuation.onTermination = { [weak self] _ in
      self?.step { state, _, _ in state.events.remove(id) }
    }
    return stream
  }
}

import AuthModels
import AuthStorage
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A session that this process may use.
struct LiveSession: Sendable {
  /// The newest record.
  var record: SessionRecord
  /// The session id as text, made once: the tag of every request (S18).
  let tag: String
  /// What the store still holds, while the newest record could not be saved (S13).
  var storedBase: SessionRecord?
  /// How long its token is good for.
  var age: TokenAge
  /// An intent of an earlier life is pending: retried before the token is used (S16).
  var needsRecovery = false
  /// The server's refusal of the refresh token, while it cannot be written down (S10, S11, S21).
  var refusal: KnownRefusal?
  /// Endpoints that refused the current access token (S9).
  var refusedBy: Set<String> = []
}

/// The little of a live session that the hot path needs: copying all of it would cost more than the rest of the call.
struct ReadyToken: Sendable {
  let accessToken: String
  let age: TokenAge

  /// Nil if the session's token may not be used before an unfinished refresh was retried (S16).
  init?(_ live: LiveSession) {
    guard !live.needsRecovery else { return nil }
    accessToken = live.record.accessToken
    age = live.age
  }
}

/// What this process knows of the slot's session: a pure state machine, state × event → state + what to tell.
///
/// It holds no task and no clock, and does no I/O; `SessionEngine` keeps it behind its lock and calls it with the time.
struct SessionMachine: Sendable {
  private(set) var state = SessionState.unknown
  private(set) var sequence: UInt64 = 0
  private(set) var live: LiveSession? { didSet { ready = live.flatMap(ReadyToken.init) } }
  /// What the hot path reads of `live`; nil if that may not be used as it is.
  private(set) var ready: ReadyToken?
  /// "Not before", on the axis of `sinceBoot`, with what went wrong, if this process has seen it (S12).
  private(set) var cooldown: (until: Duration, cause: APIError?)?
  private(set) var unclassified = 0
  /// Sessions that this process has seen ending, the newest last: their late answers and late records are nothing (S18, S20).
  private(set) var endings: [(id: SessionID, error: SessionError)] = []
  /// Endpoints that refused a fresh token, until when they cause no refresh (S9).
  private var pausedEndpoints: [String: Duration] = [:]
  /// When fresh tokens were refused (S12).
  private var freshRefusals: [Duration] = []

  /// What happened.
  enum Event: Sendable {
    /// The store was read: at launch, or because another process changed it (S17).
    case read(SlotState)
    case unreadable(StoreError)
    case signedIn(SessionRecord)
    case signedOut(SessionID, SignedOutReason)
    case flightEnded(RefreshOutcome, of: SessionID)
    /// A record that could not be saved has been saved.
    case saved(SessionRecord)
    case learnedUser(SessionUser, of: SessionID)
    /// A sign-in failed, and the store may hold its session: that is never followed (S21).
    case discarded(SessionID)
  }

  /// Changes the state and returns what to tell.
  mutating func handle(_ event: Event, at now: ClockReading, options: SessionOptions) -> [SessionEvent] {
    let before = state
    let events: [SessionEvent]
    switch event {
    case .read(let slot): events = read(slot, now, options)
    case .unreadable(let error):
      // A session in use goes on being used from memory, and one that is known to be over stays so (S21).
      switch state {
      case .unknown, .unavailable: state = .unavailable(error)
      case .signedIn, .signedOut: break
      }
      events = []
    case .signedIn(let record): events = signedIn(record, now, options)
    case .signedOut(let id, let reason): events = end(id, reason)
    case .flightEnded(let outcome, let id): events = flightEnded(outcome, id, now, options)
    case .saved(let record):
      guard var live, live.record.accessToken == record.accessToken, live.storedBase != nil else { return [] }
      live.record = record
      live.storedBase = nil
      self.live = live
      summarize()
      events = [.persistenceRecovered(record.sessionID)]
    case .learnedUser(let user, let id):
      guard live?.record.sessionID == id else { return [] }
      live?.record.user = user
      summarize()
      events = []
    case .discarded(let id):
      remember(id, .ended(.elsewhere))
      events = []
    }
    if state != before { sequence += 1 }
    return events
  }

  // MARK: Events

  private mutating func read(_ slot: SlotState, _ now: ClockReading, _ options: SessionOptions) -> [SessionEvent] {
    guard let record = slot.record, !hasEnded(record.sessionID) else {
      guard let live else {
        if case .signedOut(let reason) = state, reason != .neverSignedIn { return [] }
        state = .signedOut(SignedOutReason(slot.lastSignOut))
        return []
      }
      return slot.record == nil ? end(live.record.sessionID, elsewhere(slot.lastSignOut)) : []
    }
    let needsRecovery = slot.intent?.version == record.version
    guard let live else {
      let isNews = if case .signedOut = state { true } else { false }
      install(record, now, options)
      adoptCooldown(slot.cooldown, now)
      self.live?.needsRecovery = needsRecovery
      return isNews ? [.signedIn(record.sessionID)] : []
    }
    guard live.record.sessionID == record.sessionID else { return replace(with: record, now, options) }
    guard record.stamp > live.record.stamp, record.accessToken != live.record.accessToken, live.storedBase == nil else {
      return []
    }
    adopt(record, now, options)
    return [.adopted(record.sessionID)]
  }

  private mutating func adopt(_ record: SessionRecord, _ now: ClockReading, _ options: SessionOptions) {
    cooldown = nil
    unclassified = 0
    install(record, now, options)
  }

  private mutating func signedIn(
    _ record: SessionRecord, _ now: ClockReading, _ options: SessionOptions
  ) -> [SessionEvent] {
    // A sign-in that was saved after this one has been told already: the store's order holds, not the order of arrival.
    if let live, live.record.sessionID != record.sessionID, live.record.stamp > record.stamp { return [] }
    guard !hasEnded(record.sessionID) else { return [] }
    var events: [SessionEvent] = []
    if let old = live?.record.sessionID, old != record.sessionID {
      remember(old, .replaced)
      events.append(.replaced(old, by: record.sessionID))
    }
    forgetTrouble()
    install(record, now, options)
    return events + [.signedIn(record.sessionID)]
  }

  private mutating func flightEnded(
    _ outcome: RefreshOutcome, _ id: SessionID, _ now: ClockReading, _ options: SessionOptions
  ) -> [SessionEvent] {
    // The session may have ended or been replaced while the flight was in the air (S18, S19).
    guard let current = live?.record, current.sessionID == id else { return [] }
    live?.needsRecovery = false
    switch outcome {
    case .renewed(let record, let stored, let error):
      guard record.stamp >= current.stamp else { return [] }
      adopt(record, now, options)
      live?.storedBase = stored
      summarize()
      var events: [SessionEvent] = [.refreshed(id)]
      if let error { events.append(.persistenceFailed(id, error)) }
      return events
    case .adopted(let record):
      guard record.stamp > current.stamp else { return [] }
      adopt(record, now, options)
      return [.adopted(id)]
    case .replaced(let record):
      return replace(with: record, now, options)
    case .gone(let note):
      return end(id, elsewhere(note))
    case .refused(let refusal, _, let error):
      let events = end(id, .refreshRefused(code: refusal.code, requestID: refusal.requestID))
      return events + (error.map { [.persistenceFailed(id, $0)] } ?? [])
    case .unended(let refusal, let error):
      // S11: nobody ends a session without having looked whether it is still the same.
      live?.refusal = refusal
      return [.refreshFailing(id, .storage(error))]
    case .noRefreshToken(let record):
      // Nothing can renew it: once its token is known to be dead, the session is over, with a reason (amplify-swift#3943).
      let age = TokenAge(record, at: now, options: options)
      guard !age.works(at: now.sinceBoot) else { return [] }
      return end(id, .refreshRefused(code: "no_refresh_token", requestID: nil))
    case .passing(let failure, let saved):
      let next = saved ?? RefreshCooldown.next(after: nil, failure: failure, wall: now.wall, options: options)
      unclassified = next.unclassified
      let error = SessionError.refreshFailed(failure.error, retryAfter: .clamped(seconds: next.duration))
      cooldown = (now.sinceBoot + .clamped(seconds: next.duration), failure.error)
      summarize()
      let warning: [SessionEvent] = unclassified >= 5 ? [.unclassifiedRefreshAnswers(id, count: unclassified)] : []
      return [.refreshFailing(id, error)] + warning
    case .coolingDown(let saved, let remaining):
      unclassified = saved.unclassified
      cooldown = (now.sinceBoot + remaining, nil)
      summarize()
      return []
    case .failed(let error):
      return [.refreshFailing(id, error)]
    }
  }

  private mutating func replace(
    with record: SessionRecord, _ now: ClockReading, _ options: SessionOptions
  ) -> [SessionEvent] {
    guard !hasEnded(record.sessionID) else { return [] }
    let old = live?.record.sessionID
    if let old { remember(old, .replaced) }
    forgetTrouble()
    install(record, now, options)
    return old.map { [.replaced($0, by: record.sessionID)] } ?? []
  }

  private mutating func end(_ id: SessionID, _ reason: SignedOutReason) -> [SessionEvent] {
    guard live?.record.sessionID == id else {
      if live == nil { state = .signedOut(reason) }
      return []
    }
    remember(id, .ended(reason))
    live = nil
    forgetTrouble()
    state = .signedOut(reason)
    return [.signedOut(id, reason)]
  }

  // MARK: Parts

  private mutating func install(_ record: SessionRecord, _ now: ClockReading, _ options: SessionOptions) {
    live = LiveSession(
      record: record, tag: record.sessionID.uuidString, storedBase: nil,
      age: TokenAge(record, at: now, options: options))
    summarize()
  }

  private mutating func summarize() {
    guard let live else { return }
    let record = live.record
    state = .signedIn(
      SessionSummary(
        id: record.sessionID, slot: record.slot, profile: record.profile, user: record.user, issuedAt: record.issuedAt,
        accessTokenExpiry: record.lifetime.flatMap(TokenAge.usableLifetime).map {
          record.issuedAt.addingTimeInterval($0.inSeconds)
        },
        hasRefreshToken: record.refreshToken != nil, stamp: record.stamp, isUnsaved: live.storedBase != nil,
        unclassifiedRefreshAnswers: unclassified))
  }

  private mutating func forgetTrouble() {
    cooldown = nil
    unclassified = 0
    pausedEndpoints = [:]
    freshRefusals = []
  }

  private mutating func adoptCooldown(_ saved: RefreshCooldown?, _ now: ClockReading) {
    guard cooldown == nil, let saved, let remaining = saved.remaining(at: now.wall) else { return }
    unclassified = saved.unclassified
    cooldown = (now.sinceBoot + remaining, nil)
  }

  /// What a caller gets that wants a refresh before the next one is due, or nil if one may begin (S12).
  func coolingDownError(at now: Duration) -> SessionError? {
    guard let cooldown, cooldown.until > now else { return nil }
    return .coolingDown(cooldown.until - now, cause: cooldown.cause)
  }

  private mutating func remember(_ id: SessionID, _ error: SessionError) {
    endings.append((id, error))
    if endings.count > 64 { endings.removeFirst() }
  }

  private func elsewhere(_ note: SignOutNote?) -> SignedOutReason {
    // What another process did is "elsewhere" to this one; a refusal is a refusal wherever it was heard.
    note?.reason == .refreshRefused ? SignedOutReason(note) : .elsewhere
  }

  func hasEnded(_ id: SessionID) -> Bool {
    endings.contains { $0.id == id }
  }

  /// What a caller of a session that is not the current one gets (S18).
  func errorForEnded(_ id: SessionID) -> SessionError {
    if let ending = endings.last(where: { $0.id == id }) { return ending.error }
    if live != nil { return .replaced }
    if case .signedOut(let reason) = state { return .ended(reason) }
    return .ended(.elsewhere)
  }

  /// The same, by the tag that the caller's request carries.
  func errorForEnded(tag: String) -> SessionError {
    UUID(uuidString: tag).map(errorForEnded) ?? .ended(.elsewhere)
  }

  // MARK: S8, S9, S12: what a 401 may cause

  /// Why a 401 gets no refresh, or that it gets one.
  enum UnauthorizedVerdict: Sendable {
    case resend(LiveSession)
    case refresh
    case report
    case breakerOpen
  }

  mutating func judgeUnauthorized(
    refusedToken: String, endpoint: String, alreadyRefreshed: Bool, at now: Duration, options: SessionOptions
  ) -> UnauthorizedVerdict {
    guard let live else { return .report }
    // S8: the 401 is about a token that has been replaced meanwhile.
    if live.record.accessToken != refusedToken { return .resend(live) }
    self.live?.refusedBy.insert(endpoint)
    // S4: at most one refresh per request.
    if alreadyRefreshed {
      noteFreshRefusal(endpoint, at: now, options: options)
      return .report
    }
    pausedEndpoints = pausedEndpoints.filter { $0.value > now }
    let others = self.live?.refusedBy.contains { $0 != endpoint } ?? false
    if pausedEndpoints[endpoint] != nil, !others { return .report }
    freshRefusals.removeAll { $0 <= now - options.breakerWindow }
    if freshRefusals.count >= options.breakerLimit { return .breakerOpen }
    return .refresh
  }

  /// S9: an endpoint took a resent request's token: its trouble, and the breaker's count, are over.
  mutating func noteResendAccepted(_ endpoint: String) {
    pausedEndpoints[endpoint] = nil
    freshRefusals = []
  }

  /// S9: an endpoint refused a token that a peer had left here, or that another caller's refresh had bought: the next 401 may refresh.
  mutating func noteRefusal(of token: String, _ endpoint: String) {
    guard live?.record.accessToken == token else { return }
    live?.refusedBy.insert(endpoint)
  }

  /// S9: an endpoint refused a token that was fresh.
  mutating func noteFreshRefusal(_ endpoint: String, at now: Duration, options: SessionOptions) {
    pausedEndpoints[endpoint] = now + options.endpointPause
    freshRefusals.append(now)
    if freshRefusals.count > 64 { freshRefusals.removeFirst() }
    live?.refusedBy.insert(endpoint)
  }
}

extension Duration {
  /// Whole seconds, at least one, for messages.
  var roundedUpText: String {
    "\(max(1, Int64(inSeconds.rounded(.up)))) s"
  }
}

import AuthModels
public import AuthNetworking
import AuthStorage
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension SessionEngine {
  // MARK: The hot path

  /// A token that is good for more than the leeway, or than `minimumLifetime` if that is more (S1, S2, D3.3, D4.8).
  ///
  /// The usual call touches neither disk nor actor. Otherwise it waits for one refresh, shared with every other caller (S6); if that
  /// fails for a passing reason while the current token still works, the current token is the answer (S5). If the server gives less life
  /// than asked for, so does this call, and an event says so. Bound: `lockWait` + `refreshBound` + the store's own.
  ///
  /// - Throws: `SessionError`; `CancellationError` as soon as the task is cancelled, which never harms the refresh (S7).
  public func validAccessToken(minimumLifetime: Duration? = nil) async throws -> String {
    let now = time.sinceBoot
    if let token = core.withLock({ readyToken(&$0, at: now, minimumLifetime) }) { return token }
    return try await usableSession(minimumLifetime).live.record.accessToken
  }

  /// The access token if it may be used as it is, and the check of S17 started if it is due.
  private func readyToken(_ core: inout Core, at now: Duration, _ minimumLifetime: Duration?) -> String? {
    guard let ready = core.machine.ready, ready.age.isGood(at: now, minimum: minimumLifetime) else { return nil }
    if now >= core.nextChangeCheck {
      core.nextChangeCheck = now + options.changeCheckInterval
      if !core.isCheckingForChanges {
        core.isCheckingForChanges = true
        startChangeCheck()
      }
    }
    return ready.accessToken
  }

  private enum Need: Sendable {
    case use(LiveSession)
    case refresh(RefreshFlight)
    case fail(SessionError)
  }

  /// The session with a token to use now, refreshed first if need be.
  private func usableSession(_ minimumLifetime: Duration?) async throws -> (live: LiveSession, isRefreshed: Bool) {
    try await ensureRestored()
    await followOthersWhileCoolingDown()
    let need = core.withLock { core -> Need in
      guard let live = core.machine.live else { return .fail(Self.errorWithoutSession(core.machine.state)) }
      let now = time.sinceBoot
      if !live.needsRecovery, live.age.isGood(at: now, minimum: minimumLifetime) { return .use(live) }
      if let error = core.machine.coolingDownError(at: now) {
        return live.age.works(at: now) ? .use(live) : .fail(error)
      }
      return .refresh(self.flight(for: live, in: &core))
    }
    let flight: RefreshFlight
    switch need {
    case .use(let live): return (live, false)
    case .fail(let error): throw error
    case .refresh(let joined): flight = joined
    }
    let outcome = try await flight.result.value()
    if let error = error(of: outcome, flight) {
      let fallback = core.withLock { core -> LiveSession? in
        guard outcome.isPassing, let live = core.machine.live, live.record.sessionID == flight.base.sessionID,
          live.age.works(at: time.sinceBoot)
        else { return nil }
        return live
      }
      guard let fallback else { throw error }
      return (fallback, false)
    }
    let renewed = try core.withLock { core throws(SessionError) -> LiveSession in
      guard let live = core.machine.live, live.record.sessionID == flight.base.sessionID else {
        throw core.machine.errorForEnded(flight.base.sessionID)
      }
      return live
    }
    if !renewed.age.isGood(at: time.sinceBoot, minimum: minimumLifetime) {
      tell(.lifetimeShorterThanAsked(renewed.record.sessionID))
    }
    // Adopted tokens may be as old as their peer left them: a 401 to one of them still gets its refresh (S4, S9).
    return (renewed, outcome.isRenewal)
  }

  /// A peer may have succeeded where this process has to wait: looked for before a caller is turned away (S12, S17).
  private func followOthersWhileCoolingDown() async {
    let isDue = core.withLock { core -> Bool in
      let now = time.sinceBoot
      guard let until = core.machine.cooldown?.until, until > now, now >= core.nextChangeCheck,
        !core.isCheckingForChanges
      else { return false }
      core.nextChangeCheck = now + options.changeCheckInterval
      core.isCheckingForChanges = true
      return true
    }
    if isDue { await checkForChanges() }
  }

  /// What a caller that waited for the flight gets; nil if there are new tokens.
  private func error(of outcome: RefreshOutcome, _ flight: RefreshFlight) -> SessionError? {
    guard case .gone = outcome else { return outcome.error }
    // The machine may know more than the flight saw: that the session was replaced, or who ended it (S18).
    return core.withLock { $0.machine.errorForEnded(flight.base.sessionID) }
  }

  static func errorWithoutSession(_ state: SessionState) -> SessionError {
    switch state {
    case .unavailable(let error): .storage(error)
    case .signedOut(let reason): .notLoggedIn(reason)
    case .unknown, .signedIn: .notLoggedIn(.neverSignedIn)
    }
  }

  /// Refreshes now, however good the token is (D3.3); joins a refresh that is under way (S6).
  ///
  /// While a back-off runs it fails fast and sends nothing; the error says when the next try is due, and its `apiError` what the last one
  /// met (S12). Bound: as `validAccessToken`.
  ///
  /// - Throws: `SessionError`; `CancellationError`.
  public func refresh() async throws {
    try await ensureRestored()
    let flight = try core.withLock { core throws(SessionError) -> RefreshFlight in
      guard let live = core.machine.live else { throw Self.errorWithoutSession(core.machine.state) }
      if let error = core.machine.coolingDownError(at: time.sinceBoot) { throw error }
      return self.flight(for: live, in: &core, waits: true)
    }
    let (landed, outcome) = try await landing(of: flight)
    if let error = error(of: outcome, landed) { throw error }
  }

  /// How a flight ended, for a caller that cannot do without new tokens: a retry that left a peer's refresh alone (S16) is followed by
  /// a flight that waits for it. Never two flights at once that spend one token (S6).
  private func landing(of flight: RefreshFlight) async throws -> (RefreshFlight, RefreshOutcome) {
    let outcome = try await flight.result.value()
    guard flight.isRecovery, case .failed(let error) = outcome, error.code == .busy else { return (flight, outcome) }
    let next = core.withLock { core -> RefreshFlight? in
      guard let live = core.machine.live, live.record.sessionID == flight.base.sessionID else { return nil }
      return self.flight(for: live, in: &core, waits: true)
    }
    guard let next else { return (flight, outcome) }
    return (next, try await next.result.value())
  }
}

extension SessionEngine: RequestAuthorizer {
  /// The token for a new request, and the session that it belongs to from now on (S1, S18).
  ///
  /// Bound: as `validAccessToken`.
  public func authorize() async throws -> RequestAuthorization {
    let now = time.sinceBoot
    let ready = core.withLock { core -> LiveSession? in
      readyToken(&core, at: now, nil) == nil ? nil : core.machine.live
    }
    if let ready { return RequestAuthorization(ready) }
    let (live, isRefreshed) = try await usableSession(nil)
    return RequestAuthorization(live, isFreshlyRefreshed: isRefreshed)
  }

  /// What a 401 leads to (S8, S9): a resend with newer tokens, bought first if need be, or nil if it is to be reported as it is.
  ///
  /// Bound: as `validAccessToken`.
  public func authorizeAfterUnauthorized(
    _ refused: RequestAuthorization, endpoint: String
  ) async throws -> RequestAuthorization? {
    // S17: also a 401 that will cost no refresh may be about a session that another process has ended.
    await checkForChanges()
    let now = time.sinceBoot
    let step = try core.withLock { core throws(SessionError) -> UnauthorizedStep in
      guard let live = core.machine.live, live.tag == refused.session else {
        throw core.machine.errorForEnded(tag: refused.session)
      }
      let verdict = core.machine.judgeUnauthorized(
        refusedToken: refused.accessToken, endpoint: endpoint, alreadyRefreshed: refused.isFreshlyRefreshed, at: now,
        options: options)
      switch verdict {
      case .resend(let live): return .resend(live)
      case .report: return .report
      case .breakerOpen: throw .tooManyRefreshes
      case .refresh:
        if let error = core.machine.coolingDownError(at: now) { throw error }
        return .refresh(flight(for: live, in: &core, waits: true))
      }
    }
    switch step {
    case .report: return nil
    case .resend(let live): return RequestAuthorization(live)
    case .refresh(let flight):
      let (landed, outcome) = try await landing(of: flight)
      if case .noRefreshToken = outcome, case .signedIn = snapshot.state { return nil }
      if let error = error(of: outcome, landed) { throw error }
      return try core.withLock { core throws(SessionError) in
        guard let live = core.machine.live, live.tag == refused.session else {
          throw core.machine.errorForEnded(tag: refused.session)
        }
        return RequestAuthorization(live, isFreshlyRefreshed: outcome.isRenewal)
      }
    }
  }

  private enum UnauthorizedStep: Sendable {
    case report
    case resend(LiveSession)
    case refresh(RefreshFlight)
  }

  /// How the server took a request that was sent again (S9).
  ///
  /// Bound: returns at once.
  public func noteResend(_ authorization: RequestAuthorization, endpoint: String, accepted: Bool) async {
    let now = time.sinceBoot
    core.withLock { core in
      guard let live = core.machine.live, live.tag == authorization.session else { return }
      if accepted {
        core.machine.noteResendAccepted(endpoint)
      } else if !authorization.isFreshlyRefreshed {
        core.machine.noteRefusal(of: authorization.accessToken, endpoint)
      } else {
        core.machine.noteFreshRefusal(endpoint, at: now, options: options)
      }
    }
  }

  public func checkStillCurrent(_ authorization: RequestAuthorization) throws {
    try core.withLock { core throws(SessionError) in
      guard core.machine.live?.tag == authorization.session else {
        throw core.machine.errorForEnded(tag: authorization.session)
      }
    }
  }
}

extension RequestAuthorization {
  init(_ live: LiveSession, isFreshlyRefreshed: Bool = false) {
    self.init(
      accessToken: live.record.accessToken, tokenType: live.record.tokenType, session: live.tag,
      isFreshlyRefreshed: isFreshlyRefreshed)
  }
}

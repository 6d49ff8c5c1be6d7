import AuthModels
import AuthStorage
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A refresh in the air: keyed by the session and the refresh token it spends (S6), waited for by any number of callers.
final class RefreshFlight: Sendable {
  /// The session and the tokens that it works with.
  let base: SessionRecord
  /// What the store holds, if `base` could not be saved (S13).
  let storedBase: SessionRecord?
  /// Whether it only finishes what an earlier life of this program began, while the token still works (S16).
  let isRecovery: Bool
  /// A refusal of an earlier flight that could not be written down (S10, S11).
  let refusal: KnownRefusal?
  /// The token that it spends, once it has looked what stands in the store: that may be newer than `base`'s.
  let spends = Guarded<String?>(nil)
  let result = SharedResult<RefreshOutcome>()

  init(_ live: LiveSession, isRecovery: Bool) {
    base = live.record
    storedBase = live.storedBase
    refusal = live.refusal
    self.isRecovery = isRecovery
  }
}

extension RefreshOutcome {
  /// What a caller that waited gets; nil if there are new tokens. All callers of a flight get the same (S10).
  var error: SessionError? {
    switch self {
    case .renewed, .adopted: nil
    case .replaced: .replaced
    case .gone(let note): .ended(note.map { SignedOutReason($0) } ?? .elsewhere)
    case .refused(let refusal, _, _):
      .notLoggedIn(.refreshRefused(code: refusal.code, requestID: refusal.requestID))
    case .unended(_, let error): .storage(error)
    case .passing(let failure, let cooldown):
      .refreshFailed(failure.error, retryAfter: cooldown.map { .clamped(seconds: $0.duration) })
    case .coolingDown(_, let remaining): .coolingDown(remaining, cause: nil)
    case .noRefreshToken: .notLoggedIn(.refreshRefused(code: "no_refresh_token", requestID: nil))
    case .failed(let error): error
    }
  }

  /// Whether there are tokens that this flight has bought, not found.
  var isRenewal: Bool {
    guard case .renewed = self else { return false }
    return true
  }

  /// Whether the current token may be used instead while it works (S5).
  var isPassing: Bool {
    switch self {
    case .passing, .coolingDown, .failed, .noRefreshToken, .unended: true
    case .renewed, .adopted, .replaced, .gone, .refused: false
    }
  }
}

extension SessionEngine {
  /// The flight that spends this session's refresh token: the one in the air, or a new one. Called with the lock held.
  ///
  /// - Parameter waits: the caller cannot do without new tokens, so a peer's refresh is waited for; otherwise a retry of what an
  ///   earlier life began leaves a living owner alone (S16). Such a retry that is in the air is joined all the same (S6): `landing`.
  func flight(for live: LiveSession, in core: inout Core, waits: Bool = false) -> RefreshFlight {
    let inTheAir = core.flights.first { flight in
      flight.base.sessionID == live.record.sessionID
        && [flight.base.refreshToken, flight.spends.withLock { $0 }].contains(live.record.refreshToken)
    }
    if let inTheAir { return inTheAir }
    let flight = RefreshFlight(
      live, isRecovery: !waits && live.needsRecovery && live.age.isGood(at: time.sinceBoot))
    core.flights.append(flight)
    tasks.start { await self.run(flight) }
    return flight
  }

  /// Starts a flight that nobody waits for.
  func startFlight() {
    core.withLock { core in
      guard let live = core.machine.live else { return }
      if let cooldown = core.machine.cooldown, cooldown.until > time.sinceBoot { return }
      _ = flight(for: live, in: &core)
    }
  }

  /// Performs the machine's effects, each an await of its own, until it is done.
  private func run(_ flight: RefreshFlight) async {
    var machine = RefreshMachine(base: flight.base, storedBase: flight.storedBase, refusal: flight.refusal)
    var lock = core.withLock { core -> (any RefreshLock)? in
      guard flight.storedBase != nil else { return nil }
      defer { core.retainedLock = nil }
      return core.retainedLock
    }
    var sending = Sending()
    var effect = machine.start()
    while true {
      if case .done(let outcome) = effect {
        if sending.isShielded { options.refreshShield.lower() }
        await finish(flight, outcome, lock: lock)
        return
      }
      let event = await perform(effect, of: flight, lock: &lock, sending: &sending)
      effect = machine.handle(event)
      options.probe?(EngineStep(event, effect))
    }
  }

  /// What the tries of one flight share.
  private struct Sending {
    var isShielded = false
    var deadline: Duration?
    var sentAt: ClockReading?
  }

  private func perform(
    _ effect: RefreshMachine.Effect, of flight: RefreshFlight, lock: inout (any RefreshLock)?, sending: inout Sending
  ) async -> RefreshMachine.Event {
    switch effect {
    case .acquireLock:
      guard lock == nil else { return .lock(.success(())) }
      do {
        lock = try await store.acquireRefreshLock(slot, bound: flight.isRecovery ? .zero : options.lockWait)
        return .lock(.success(()))
      } catch {
        return .lock(.failure(error))
      }
    case .saveEarlier(let new, let base):
      let saved = await save(new, over: base)
      switch saved {
      case .success((let record, let outcome)):
        if let record { handle(.saved(record)) }
        return .savedEarlier(.success(outcome), record: record)
      case .failure(let error): return .savedEarlier(.failure(error), record: nil)
      }
    case .begin(let base):
      // A sign-out that could not reach the store ends the session all the same (S20).
      guard isCurrent(base.sessionID) else { return .began(.success(.gone(nil))) }
      let (attempt, time, options) = (options.makeID(), time, options)
      do {
        // The time of the transaction, not of its asking: this process may be stopped in between, and a peer refresh (S4).
        let (_, outcome) = try await store.update(slot) {
          SlotTransactions.begin(&$0, base: base, attempt: attempt, now: ClockReading(time), options: options)
        }
        guard case .begun(let record) = outcome else { return .began(.success(outcome)) }
        switch register(flight, spending: record) {
        case .spend: return .began(.success(outcome))
        case .join(let other): return .joined(await joinedOutcome(other))
        case .adopt(let newer): return .joined(.adopted(newer))
        }
      } catch {
        return .began(.failure(error))
      }
    case .send(let base):
      if sending.isShielded {
        // S17: before a second try too; the first may have taken its time.
        await checkForChanges()
      } else {
        sending.isShielded = true
        options.refreshShield.raise()
      }
      let now = time.sinceBoot
      let deadline = sending.deadline ?? now + options.refreshBound
      sending.deadline = deadline
      return await send(base, within: deadline - now, &sending)
    case .commit(let grant, let base):
      let new = base.renewed(by: grant, sentAt: sending.sentAt ?? ClockReading(time), now: ClockReading(time))
      guard isCurrent(base.sessionID) else {
        await revokeNow(PendingRevocation(new, id: options.makeID()))
        return .committed(.success(.gone(nil)), new: new)
      }
      switch await save(new, over: base) {
      case .success((let record, let outcome)): return .committed(.success(outcome), new: record ?? new)
      case .failure(let error): return .committed(.failure(error), new: new)
      }
    case .postpone(let failure, let base):
      guard isCurrent(base.sessionID) else { return .postponed(.success(.gone(nil))) }
      let (time, options) = (time, options)
      do {
        let (_, outcome) = try await store.update(slot) {
          SlotTransactions.postpone(&$0, base: base, failure: failure, now: ClockReading(time), options: options)
        }
        return .postponed(.success(outcome))
      } catch {
        return .postponed(.failure(error))
      }
    case .end(let refusal, let base):
      let note = SignOutNote(
        .refreshRefused, serverCode: refusal.code, requestID: refusal.requestID, at: time.wallClock)
      do {
        let (_, outcome) = try await store.update(slot) { SlotTransactions.end(&$0, base: base, note: note) }
        return .ended(.success(outcome))
      } catch {
        return .ended(await look(base, unwritten: error))
      }
    case .done:
      return .lock(.success(()))
    }
  }

  private enum Registration {
    case spend
    case join(RefreshFlight)
    case adopt(SessionRecord)
  }

  /// S6: the flight spends this record's token from now on, unless another flight of this process does already, or has done so since the
  /// store was read: where a lock excludes nobody, two flights that set out with different tokens may find the same one there.
  private func register(_ flight: RefreshFlight, spending record: SessionRecord) -> Registration {
    core.withLock { core in
      let other = core.flights.first { other in
        other !== flight && other.base.sessionID == record.sessionID
          && other.spends.withLock { $0 } == record.refreshToken
      }
      if let other { return .join(other) }
      if let live = core.machine.live, live.record.sessionID == record.sessionID,
        live.record.stamp > record.stamp || live.storedBase?.refreshToken == record.refreshToken
      {
        return .adopt(live.record)
      }
      flight.spends.withLock { $0 = record.refreshToken }
      return .spend
    }
  }

  private func joinedOutcome(_ flight: RefreshFlight) async -> RefreshOutcome {
    do {
      let outcome = try await flight.result.value()
      if case .renewed(let record, _, _) = outcome { return .adopted(record) }
      return outcome
    } catch {
      return .failed(.refreshFailed(nil, message: "The refresh was interrupted."))
    }
  }

  /// S11: a store that cannot be written may still show whether the refused tokens are the session's.
  private func look(
    _ base: SessionRecord, unwritten error: StoreError
  ) async -> Result<SlotTransactions.EndOutcome, StoreError> {
    do throws(StoreError) {
      return .success(SlotTransactions.end(try await store.read(slot), base: base, unwritten: error))
    } catch {
      return .failure(error)
    }
  }

  /// Sends the refresh, and takes silence past the bound for a lost answer (S12, S15).
  private func send(
    _ base: SessionRecord, within bound: Duration, _ sending: inout Sending
  ) async -> RefreshMachine.Event {
    guard let refreshToken = base.refreshToken else {
      return .answered(.refused(RefreshRefusal(code: "no_refresh_token")))
    }
    let answer = await firstWithin(bound, time: time, tasks: tasks) { () -> (RefreshAnswer, sentAt: ClockReading)? in
      // Both in the very step that sends: a sign-out may have returned since the intent was written, or between two tries; and a
      // process that was stopped just before must not take the new tokens for old ones.
      guard self.isCurrent(base.sessionID) else { return nil }
      let sentAt = ClockReading(self.time)
      return (await self.backend.refresh(refreshToken: refreshToken), sentAt)
    }
    switch answer {
    case .some((let answer, let sentAt)?):
      sending.sentAt = sentAt
      return .answered(answer)
    case .some(nil): return .sessionOver
    case nil:
      let silence = TransportError(
        .timedOut, mayHaveBeenSent: true, message: "The server did not answer the refresh in time.")
      return .answered(.passing(PassingFailure(error: APIError(silence), isAmbiguous: true)))
    }
  }

  private func isCurrent(_ id: SessionID) -> Bool {
    core.withLock { $0.machine.live?.record.sessionID == id }
  }

  func save(
    _ new: SessionRecord, over base: SessionRecord
  ) async -> Result<(SessionRecord?, SlotTransactions.CommitOutcome), StoreError> {
    let orphan = options.makeID()
    do {
      let (state, outcome) = try await store.update(slot) {
        SlotTransactions.commit(&$0, new: new, base: base, orphan: orphan)
      }
      switch outcome {
      case .gone, .replaced: tasks.start { await self.flushRevocations() }
      case .committed, .superseded: break
      }
      return .success((state.record?.sessionID == new.sessionID ? state.record : nil, outcome))
    } catch {
      return .failure(error)
    }
  }

  /// Installs the outcome, gives the lock back or keeps it (S13), and answers everyone who waits.
  private func finish(_ flight: RefreshFlight, _ outcome: RefreshOutcome, lock: (any RefreshLock)?) async {
    var unsaved: (new: SessionRecord, base: SessionRecord)?
    if case .renewed(let record, let base?, _) = outcome { unsaved = (record, base) }
    if case .failed = outcome, let storedBase = flight.storedBase { unsaved = (flight.base, storedBase) }
    let now = ClockReading(time)
    let keepsLock = core.withLock { core -> Bool in
      core.flights.removeAll { $0 === flight }
      _ = feed(.flightEnded(outcome, of: flight.base.sessionID), to: &core, at: now)
      guard let unsaved, core.machine.live?.record.accessToken == unsaved.new.accessToken, let lock else {
        return false
      }
      core.retainedLock = lock
      return true
    }
    flight.result.resolve(outcome)
    if keepsLock, let unsaved {
      startSaving(unsaved.new, over: unsaved.base)
    } else {
      await lock?.release()
    }
    switch outcome {
    case .refused(let refusal, let base, _?):
      let note = SignOutNote(
        .refreshRefused, serverCode: refusal.code, requestID: refusal.requestID, at: time.wallClock)
      // Compared again at each try: a peer that keeps to no lock may save newer tokens at any time.
      startRemoving(base.sessionID) { _ = SlotTransactions.end(&$0, base: base, note: note) }
    case .unended: startEnding(flight.base.sessionID)
    default: break
    }
  }
}

extension SessionRecord {
  /// The record after a refresh: a new pair, the same session; a refresh token that did not come is the old one (RFC 6749 §6, Auth0.swift#144).
  func renewed(by grant: TokenGrant, sentAt: ClockReading, now: ClockReading) -> SessionRecord {
    var record = self
    record.accessToken = grant.response.accessToken
    record.refreshToken = grant.response.refreshToken ?? refreshToken
    record.scope = grant.response.scope ?? scope
    record.user = grant.user ?? user
    record.stampTimes(grant, sentAt: sentAt, now: now)
    return record
  }

  /// A session's first record.
  init(
    _ grant: TokenGrant, id: SessionID, slot: SessionSlot, dialect: AuthDialect, sentAt: ClockReading, now: ClockReading
  ) {
    self.init(
      sessionID: id, slot: slot, profile: dialect.rawValue, accessToken: grant.response.accessToken,
      refreshToken: grant.response.refreshToken, tokenType: grant.response.tokenType, scope: grant.response.scope,
      issuedAt: sentAt.wall, lifetime: nil, bootID: sentAt.bootID, sinceBootAtIssue: 0, serverSkew: nil,
      user: grant.user)
    stampTimes(grant, sentAt: sentAt, now: now)
  }

  // The token's life is counted from when it was asked for: the server's own count began later, never earlier (S4).
  private mutating func stampTimes(_ grant: TokenGrant, sentAt: ClockReading, now: ClockReading) {
    tokenType = grant.response.tokenType
    lifetime = grant.response.expiresIn.flatMap { TokenAge.usableLifetime($0)?.inSeconds }
    issuedAt = sentAt.wall
    bootID = sentAt.bootID
    sinceBootAtIssue = sentAt.sinceBoot.inSeconds
    serverSkew = grant.serverDate.map { $0.timeIntervalSince(now.wall) }
  }
}

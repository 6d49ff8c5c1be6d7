public import AuthModels
import AuthStorage
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension SessionEngine {
  // MARK: Signing in

  /// Signs in and makes the new session the current one (D1.3, D4.1).
  ///
  /// A session that stood in the slot is replaced and revoked. If the new one cannot be saved, its tokens are revoked and the call
  /// fails (S21), unless the store shows that it was saved in spite of its error; if the task is cancelled or somebody signs out before it is saved, likewise. Bound: the transport's time-out + the
  /// store's own + `revocationBound`.
  ///
  /// - Returns: the user, where the dialect tells at once.
  /// - Throws: `APIError` (kind `invalidCredentials` for wrong ones), `SessionError`, `CancellationError`.
  @discardableResult
  public func signIn(_ credentials: Credentials) async throws -> SessionUser? {
    let start = SignInStart(signOuts: core.withLock { $0.signOuts }, sentAt: ClockReading(time))
    let grant = try await backend.signIn(credentials)
    return try await install(grant, start)
  }

  /// Makes an account (D1.6, D4.6); where the server gives a session along, it becomes the current one.
  ///
  /// Bound: as `signIn`.
  ///
  /// - Throws: as `signIn`; `APIError` with `fields` where the server names them (D1.7).
  @discardableResult
  public func signUp(_ registration: Registration) async throws -> SignUpOutcome {
    let start = SignInStart(signOuts: core.withLock { $0.signOuts }, sentAt: ClockReading(time))
    switch try await backend.signUp(registration) {
    case .registered(let user): return .registered(user)
    case .confirmationRequired(let email): return .confirmationRequired(email: email)
    case .session(let grant): return .signedIn(try await install(grant, start))
    }
  }

  /// Makes tokens that were bought elsewhere the current session (D1.3, `didLogin`).
  ///
  /// Bound: the store's own + `revocationBound`.
  ///
  /// - Throws: `SessionError`.
  public func signIn(with grant: TokenGrant) async throws {
    let start = SignInStart(signOuts: core.withLock { $0.signOuts }, sentAt: ClockReading(time))
    _ = try await install(grant, start)
  }

  private struct SignInStart: Sendable {
    var signOuts: UInt64
    var sentAt: ClockReading
  }

  private func install(_ grant: TokenGrant, _ start: SignInStart) async throws -> SessionUser? {
    let record = SessionRecord(
      grant, id: options.makeID(), slot: slot, dialect: backend.dialect, sentAt: start.sentAt, now: ClockReading(time))
    let isCancelled = Task.isCancelled
    // A task of its own: once the tokens are here, the caller's cancellation must not leave them half saved.
    let result = await tasks.start {
      await self.saveSignIn(record, grant.connection, start, isCancelled: isCancelled)
    }.value
    try result.get()
    return record.user
  }

  private func saveSignIn(
    _ record: SessionRecord, _ connection: String?, _ start: SignInStart, isCancelled: Bool
  ) async -> Result<Void, any Error> {
    guard !isCancelled else {
      await revokeNow(PendingRevocation(record, id: options.makeID()))
      return .failure(CancellationError())
    }
    guard core.withLock({ $0.signOuts == start.signOuts }) else {
      await revokeNow(PendingRevocation(record, id: options.makeID()))
      return .failure(SessionError.ended(.byUser))
    }
    let revocation = options.makeID()
    let now = time.wallClock
    do throws(StoreError) {
      let (state, _) = try await store.update(slot) { change in
        if let old = change.state.record {
          change.revocations.append(PendingRevocation(old, id: revocation, since: now))
        }
        change.state = SlotState(record: record, connection: connection)
      }
      guard let saved = state.record, saved.sessionID == record.sessionID else {
        throw StoreError(.unavailable, "The store did not keep the new session.")
      }
      begin(saved)
      return .success(())
    } catch {
      return await settle(record, afterFailedSave: error)
    }
  }

  /// Makes a session that was saved the current one.
  private func begin(_ saved: SessionRecord) {
    var orphans: [RefreshFlight] = []
    handle(.signedIn(saved)) { core in
      orphans = core.flights.filter { $0.base.sessionID != saved.sessionID }
      core.flights.removeAll { $0.base.sessionID != saved.sessionID }
    }
    for flight in orphans { flight.result.resolve(.replaced(saved)) }
  }

  /// S21: a save that failed may have been committed all the same. What the store shows, holds: the sign-in has succeeded, or its tokens
  /// are revoked. If it shows nothing, they are revoked too, and what may stand there is never used here, and removed as soon as it can be.
  private func settle(
    _ record: SessionRecord, afterFailedSave error: StoreError
  ) async -> Result<Void, any Error> {
    do throws(StoreError) {
      if let saved = try await store.read(slot).record, saved.sessionID == record.sessionID {
        begin(saved)
        return .success(())
      }
    } catch {
      // A check beside another call may have seen more (S17).
      let isFollowed = core.withLock { core -> Bool in
        guard core.machine.live?.record.sessionID != record.sessionID else { return true }
        _ = feed(.discarded(record.sessionID), to: &core, at: ClockReading(time))
        return false
      }
      if isFollowed { return .success(()) }
      tell(.persistenceFailed(record.sessionID, error))
      startRemoving(record.sessionID) {
        _ = SlotTransactions.remove(&$0, sessionID: record.sessionID, note: nil, revocation: nil)
      }
    }
    await revokeNow(PendingRevocation(record, id: options.makeID()))
    return .failure(SessionError.storage(error))
  }

  // MARK: The user

  /// Who is signed in: from the record, or asked of the server and kept (S22).
  ///
  /// Bound: twice (`lockWait` + `refreshBound` + the transport's time-out) + the store's own.
  ///
  /// - Parameter fresh: asks the server in any case.
  /// - Throws: `SessionError`, `APIError`, `CancellationError`.
  public func currentUser(fresh: Bool = false) async throws -> SessionUser {
    try await ensureRestored()
    let live = try core.withLock { core throws(SessionError) -> LiveSession in
      guard let live = core.machine.live else { throw Self.errorWithoutSession(core.machine.state) }
      return live
    }
    if !fresh, let user = live.record.user { return user }
    let user = try await backend.user(authorizedBy: self)
    let id = live.record.sessionID
    guard core.withLock({ $0.machine.live?.record.sessionID == id }) else { return user }
    handle(.learnedUser(user, of: id))
    do {
      _ = try await store.update(slot) { change in
        if change.state.record?.sessionID == id { change.state.record?.user = user }
      }
    } catch {
      // The user is known here; that it could not be written down is told, and costs one call at the next start.
      tell(.persistenceFailed(id, error))
    }
    return user
  }
}

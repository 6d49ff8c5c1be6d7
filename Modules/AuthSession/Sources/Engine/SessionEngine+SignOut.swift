import AuthModels
import AuthStorage
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension SessionEngine {
  // MARK: Signing out

  /// Signs out: here at once, then in the store, then at the server (S20, D3.8, D4.7).
  ///
  /// When it returns, this process uses nothing of the session any more. Without network it succeeds with `revoked` false, and a later
  /// networked call revokes. Cancelling the caller does not cut it short. Bound: the store's own + `revocationBound`. With `others` this session
  /// stays, and the user's other ones end, where the dialect has that scope.
  ///
  /// - Throws: `SessionError`: `storage` if the session could not be removed from the store (here it is over all the same, the server is
  ///   told, and removing is retried); `sessionReplaced` if another session stands in the slot, which stays and is followed.
  @discardableResult
  public func signOut(scope: SignOutScope = .local) async throws -> SignOutResult {
    guard scope != .others else {
      try await backend.signOutOthers(authorizedBy: self)
      return SignOutResult(wasSignedIn: true, revoked: true)
    }
    return try await tasks.start { await self.performSignOut(scope) }.value.get()
  }

  /// Signs out whatever session stands in the slot, also one that another process has made since this engine last looked.
  ///
  /// `signOut` ends the session that this engine knows, and no other; this is for a person who wants nobody to be signed in.
  /// Bound: nine times that of `signOut`, if others keep signing in.
  ///
  /// - Throws: as `signOut`; `sessionReplaced` if others sign in faster than this can sign out.
  @discardableResult
  public func signOutWhoever(scope: SignOutScope = .local) async throws -> SignOutResult {
    for _ in 0..<8 {
      do {
        return try await signOut(scope: scope)
      } catch let error as SessionError where error.code == .sessionReplaced {
        continue
      }
    }
    return try await signOut(scope: scope)
  }

  private func performSignOut(_ scope: SignOutScope) async -> Result<SignOutResult, SessionError> {
    await restore()
    let now = ClockReading(time)
    let (live, state, lock, flights) = core.withLock {
      core -> (LiveSession?, SessionState, (any RefreshLock)?, [RefreshFlight]) in
      core.signOuts += 1
      guard let live = core.machine.live else { return (nil, core.machine.state, nil, []) }
      _ = feed(.signedOut(live.record.sessionID, .byUser), to: &core, at: now)
      defer {
        core.retainedLock = nil
        core.flights = []
      }
      return (live, core.machine.state, core.retainedLock, core.flights)
    }
    guard let live else {
      if case .unavailable(let error) = state { return .failure(.storage(error)) }
      return .success(SignOutResult(wasSignedIn: false, revoked: false))
    }
    let note = SignOutNote(.byUser, at: now.wall)
    for flight in flights { flight.result.resolve(.gone(note)) }
    let revocation = PendingRevocation(live.record, id: options.makeID(), since: now.wall, scope: scope)
    let removed = await remove(live.record, note: note, revocation: revocation)
    await lock?.release()
    switch removed {
    case .failure(let error):
      tell(.persistenceFailed(live.record.sessionID, error))
      startRemoving(live.record.sessionID) {
        _ = SlotTransactions.remove(&$0, sessionID: live.record.sessionID, note: note, revocation: nil)
      }
      await revokeNow(revocation)
      return .failure(.storage(error))
    case .success(.replaced(let record)):
      handle(.read(SlotState(record: record)))
      await revokeNow(revocation)
      return .failure(.replaced)
    case .success(.removed), .success(.absent):
      let revoked = await revokeFromOutbox(revocation.id, bound: options.revocationBound)
      return .success(SignOutResult(wasSignedIn: true, revoked: revoked))
    }
  }

  private func remove(
    _ record: SessionRecord, note: SignOutNote, revocation: PendingRevocation
  ) async -> Result<SlotTransactions.RemoveOutcome, StoreError> {
    do {
      let (_, outcome) = try await store.update(slot) {
        SlotTransactions.remove(&$0, sessionID: record.sessionID, note: note, revocation: revocation)
      }
      // Read back: "deleted" is what the store shows, not what it says (cli/cli#13111, Valet#52).
      if try await store.read(slot).record?.sessionID == record.sessionID {
        return .failure(StoreError(.unavailable, "The store still holds the session that was removed."))
      }
      return .success(outcome)
    } catch {
      return .failure(error)
    }
  }

  // MARK: Revoking

  /// Tells the server of sign-outs that it has not heard of (S20): call it after a networked call's own output.
  ///
  /// Revocations older than a day are dropped. Never throws and never signs anyone out; what fails stays for the next time. Bound: `flushBound`.
  public func flushRevocations() async {
    _ = await revokeFromOutbox(nil, bound: options.flushBound)
  }

  /// Revokes rows of the outbox, one or all of this engine's server and dialect; true if each is done with.
  private func revokeFromOutbox(_ only: UUID?, bound: Duration) async -> Bool {
    let done = await firstWithin(bound, time: time, tasks: tasks) { await self.revokeRows(only) }
    return done ?? false
  }

  private func revokeRows(_ only: UUID?) async -> Bool {
    do {
      let rows = try await store.pendingRevocations().filter { row in
        row.slot.server == slot.server && row.profile == backend.dialect.rawValue && (only == nil || row.id == only)
      }
      var isComplete = only == nil || !rows.isEmpty
      for row in rows {
        let age = time.wallClock.timeIntervalSince(row.since)
        let isStale = age > options.revocationLifetime.inSeconds
        let outcome = isStale ? .unsupported : await backend.revoke(row)
        switch outcome {
        case .revoked: try await store.removePendingRevocations([row.id])
        case .unsupported, .rejected:
          try await store.removePendingRevocations([row.id])
          isComplete = false
        case .failed: isComplete = false
        }
      }
      return isComplete
    } catch {
      // The rows stay where they are.
      return false
    }
  }

  /// Revokes tokens that stand in no outbox, best effort (S19, S21).
  func revokeNow(_ tokens: PendingRevocation) async {
    _ = await firstWithin(options.revocationBound, time: time, tasks: tasks) { await self.backend.revoke(tokens) }
  }
}

import AuthModels
import AuthStorage
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What could not be written is written later: rotated tokens (S13), the end of a session that the server refused (S10), and the removal of
/// one that is over (S20, S21).
extension SessionEngine {
  /// Retries to save tokens that are in use from memory, until it succeeds or they are no longer the current ones.
  func startSaving(_ new: SessionRecord, over base: SessionRecord) {
    let generation = core.withLock { core -> UInt64 in
      core.saves += 1
      return core.saves
    }
    tasks.start { await self.keepSaving(new, over: base, generation: generation) }
  }

  private func keepSaving(_ new: SessionRecord, over base: SessionRecord, generation: UInt64) async {
    var delay = Duration.milliseconds(250)
    while await pause(delay) {
      delay = min(delay * 2, .seconds(30))
      let isWanted = core.withLock { core in
        core.saves == generation && core.machine.live?.storedBase != nil
          && core.machine.live?.record.accessToken == new.accessToken
      }
      guard isWanted else { break }
      if case .success((let record, let outcome)) = await save(new, over: base) {
        finishSaving(record, outcome, of: base.sessionID)
        break
      }
    }
    let lock = core.withLock { core -> (any RefreshLock)? in
      // Whatever became of the tokens, nobody retries to save them any more: the lock has no other keeper.
      guard core.saves == generation else { return nil }
      defer { core.retainedLock = nil }
      return core.retainedLock
    }
    await lock?.release()
  }

  private func finishSaving(
    _ record: SessionRecord?, _ outcome: SlotTransactions.CommitOutcome, of id: SessionID
  ) {
    switch outcome {
    case .committed:
      if let record { handle(.saved(record)) }
    case .superseded(let record): handle(.flightEnded(.adopted(record), of: id))
    case .replaced(let record): handle(.flightEnded(.replaced(record), of: id))
    case .gone(let note): handle(.flightEnded(.gone(note), of: id))
    }
  }

  /// Retries to end a session that the server has refused, for as long as it is the current one: each try looks again first (S11), and
  /// sends nothing (S10).
  func startEnding(_ id: SessionID) {
    let isFirst = core.withLock { core -> Bool in
      defer { core.ending = id }
      return core.ending != id
    }
    guard isFirst else { return }
    tasks.start {
      var delay = Duration.milliseconds(250)
      while await self.pause(delay) {
        delay = min(delay * 2, .seconds(30))
        let flight = self.core.withLock { core -> RefreshFlight? in
          guard let live = core.machine.live, live.record.sessionID == id, let refusal = live.refusal,
            refusal.token == live.record.refreshToken
          else {
            core.ending = nil
            return nil
          }
          return self.flight(for: live, in: &core, waits: true)
        }
        guard let flight else { return }
        do { _ = try await flight.result.value() } catch { return }
      }
    }
  }

  /// Retries to remove a session that is over, for as long as it stands in the store.
  ///
  /// This process knows that it is over and does not use it whatever the store says.
  ///
  /// - Parameter remove: the removal, which compares before it takes anything away.
  func startRemoving(_ id: SessionID, _ remove: @escaping @Sendable (inout SlotChange) -> Void) {
    tasks.start {
      var delay = Duration.milliseconds(250)
      while await self.pause(delay) {
        delay = min(delay * 2, .seconds(30))
        do {
          _ = try await self.store.update(self.slot, remove)
          return self.tell(.persistenceRecovered(id))
        } catch {
          continue
        }
      }
    }
  }

  /// Waits; false if there is no point in going on.
  private func pause(_ duration: Duration) async -> Bool {
    do {
      try await time.sleep(for: duration)
      return true
    } catch {
      return false
    }
  }
}

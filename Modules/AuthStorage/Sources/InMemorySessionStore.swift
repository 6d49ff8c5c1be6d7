public import Groundwork

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A session store in memory that several engines share as if they were processes.
///
/// Each "process" gets a connection of its own from ``connection(as:)``; all connections see one set of slots, one
/// outbox and one refresh lock a slot. The lock is waited for on the injected clock, by asking again and again as a
/// file lock is, so that a test or a simulator sees the same steps as on disk. It is gone when its handle is dropped,
/// released, or its owner is killed (``releaseLocks(heldBy:)``). Nothing throws but `acquireRefreshLock`.
public final class InMemorySessionStore: SessionStore {
  private struct Contents {
    var slots: [SessionSlot: SlotState] = [:]
    var outbox: [PendingRevocation] = []
    var stampCounter: UInt64 = 0
    var changes: UInt64 = 0
    var lastSignedIn: SessionSlot?
    var locks: [SessionSlot: LockHolder] = [:]
    var grants: UInt64 = 0
  }

  private struct LockHolder {
    var owner: String
    var grant: UInt64
  }

  /// A lock that is held; dropping it gives it back, as a dying process would.
  private final class Lock: RefreshLock {
    let contents: Guarded<Contents>
    let slot: SessionSlot
    let grant: UInt64

    init(contents: Guarded<Contents>, slot: SessionSlot, grant: UInt64) {
      self.contents = contents
      self.slot = slot
      self.grant = grant
    }

    deinit { giveBack() }

    func release() async { giveBack() }

    // A handle whose owner was killed may outlive the next holder's grant: only its own grant is taken back.
    private func giveBack() {
      contents.withLock { contents in
        if contents.locks[slot]?.grant == grant { contents.locks[slot] = nil }
      }
    }
  }

  private let contents: Guarded<Contents>
  private let time: any TimeSource
  /// Who takes locks through this connection.
  public let owner: String

  /// Makes an empty store; its bounds and ages are measured by `time`.
  public convenience init(time: any TimeSource) {
    self.init(contents: Guarded(Contents()), time: time, owner: "main")
  }

  private init(contents: Guarded<Contents>, time: any TimeSource, owner: String) {
    self.contents = contents
    self.time = time
    self.owner = owner
  }

  /// The same store as another process would see it: shared contents, locks under the name `owner`.
  ///
  /// Pass a `time` of its own for a process whose clock differs.
  public func connection(as owner: String, time: (any TimeSource)? = nil) -> InMemorySessionStore {
    InMemorySessionStore(contents: contents, time: time ?? self.time, owner: owner)
  }

  /// Gives back every lock that `owner` holds, as the system does when a process dies (S15).
  public func releaseLocks(heldBy owner: String) {
    contents.withLock { contents in
      contents.locks = contents.locks.filter { $0.value.owner != owner }
    }
  }

  /// Who holds the slot's refresh lock, if anyone does.
  public func lockHolder(of slot: SessionSlot) -> String? {
    contents.withLock { $0.locks[slot]?.owner }
  }

  public func read(_ slot: SessionSlot) async -> SlotState {
    contents.withLock { $0.slots[slot] ?? SlotState() }
  }

  public func update<Outcome: Sendable>(
    _ slot: SessionSlot, _ body: @escaping @Sendable (inout SlotChange) -> Outcome
  ) async -> (state: SlotState, outcome: Outcome) {
    let now = time.wallClock
    return contents.withLock { contents -> (state: SlotState, outcome: Outcome) in
      let old = contents.slots[slot] ?? SlotState()
      var change = SlotChange(state: old)
      let outcome = body(&change)
      var counter = contents.stampCounter
      let new = change.state.committed(over: old, in: slot, counter: &counter)
      let switches = change.becomesCurrent && contents.lastSignedIn != slot
      guard new != old || switches || !change.revocations.isEmpty else { return (old, outcome) }
      contents.stampCounter = counter
      contents.slots[slot] = new.isEmpty ? nil : new
      contents.outbox.removeAll { $0.isOverdue(at: now) }
      let ids = change.revocations.map(\.id)
      contents.outbox.removeAll { ids.contains($0.id) }
      contents.outbox += change.revocations
      contents.changes &+= 1
      if switches || new.record != nil && new.record?.sessionID != old.record?.sessionID {
        contents.lastSignedIn = slot
      }
      return (new, outcome)
    }
  }

  public func acquireRefreshLock(
    _ slot: SessionSlot, bound: Duration
  ) async throws(StoreError) -> any RefreshLock {
    let lock = try await LockPolling().wait(for: bound, on: time) { () throws(StoreError) -> Lock? in
      let grant = contents.withLock { contents -> UInt64? in
        guard contents.locks[slot] == nil else { return nil }
        contents.grants &+= 1
        contents.locks[slot] = LockHolder(owner: owner, grant: contents.grants)
        return contents.grants
      }
      return grant.map { Lock(contents: contents, slot: slot, grant: $0) }
    }
    guard let lock else { throw .refreshLockBusy(after: bound) }
    return lock
  }

  public func changeCounter() async -> UInt64 {
    contents.withLock { $0.changes }
  }

  public func pendingRevocations() async -> [PendingRevocation] {
    let now = time.wallClock
    return contents.withLock { contents in
      contents.outbox.removeAll { $0.isOverdue(at: now) }
      return contents.outbox.sorted { $0.since < $1.since }
    }
  }

  public func removePendingRevocations(_ ids: [PendingRevocation.ID]) async {
    contents.withLock { contents in
      let before = contents.outbox.count
      contents.outbox.removeAll { ids.contains($0.id) }
      if contents.outbox.count != before { contents.changes &+= 1 }
    }
  }

  public func slots() async -> [SessionSlot] {
    contents.withLock { contents in
      contents.slots.filter { $0.value.holdsSessionOrNote }.map(\.key).sorted { $0.isOrdered(before: $1) }
    }
  }

  public func lastSignedIn() async -> SessionSlot? {
    contents.withLock { $0.lastSignedIn }
  }
}

internal import AuthModels
internal import AuthStorage
internal import Groundwork

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A process's store, with faults.
struct FaultyStore: SessionStore {
  let base: any SessionStore
  let faults: Set<ClientFault>
  /// What the process saw first, for one that looks no more.
  private let pinned = Guarded<SlotState?>(nil)
  /// What stands in for a store that cannot be read.
  private let empty = InMemorySessionStore(time: SystemClock())

  init(base: any SessionStore, faults: Set<ClientFault>) {
    self.base = base
    self.faults = faults
  }

  func read(_ slot: SessionSlot) async throws(StoreError) -> SlotState {
    if faults.contains(.othersNeverNoticed), let seen = pinned.withLock({ $0 }) { return seen }
    var state: SlotState
    do throws(StoreError) {
      state = try await base.read(slot)
    } catch {
      guard faults.contains(.unreadableIsSignedOut) else { throw error }
      state = SlotState()
    }
    if faults.contains(.reasonForgotten) { state.lastSignOut = nil }
    if faults.contains(.othersNeverNoticed) { pinned.withLock { if $0 == nil { $0 = state } } }
    return state
  }

  func update<Outcome: Sendable>(
    _ slot: SessionSlot, _ body: @escaping @Sendable (inout SlotChange) -> Outcome
  ) async throws(StoreError) -> (state: SlotState, outcome: Outcome) {
    let (faults, seen) = (faults, faults.contains(.othersNeverNoticed) ? pinned.withLock { $0 } : nil)
    do throws(StoreError) {
      let result = try await base.update(slot) { change -> (SlotState, Outcome) in
        let before = change.state
        if let seen { change.state = seen }
        if faults.contains(.reasonForgotten) { change.state.lastSignOut = nil }
        let outcome = body(&change)
        let wanted = change.state
        Self.spoil(&change, before: before, faults)
        return (wanted, outcome)
      }
      var state = result.state
      // Whoever forgets to save believes that it has saved.
      if faults.contains(.rotationNotSaved), let wanted = result.outcome.0.record {
        var record = wanted
        if let stamp = state.record?.stamp { record.stamp = stamp }
        state.record = record
      }
      if faults.contains(.othersNeverNoticed) {
        let committed = state
        pinned.withLock { $0 = committed }
      }
      return (state, result.outcome.1)
    } catch {
      guard faults.contains(.unreadableIsSignedOut) else { throw error }
      return await empty.update(slot, body)
    }
  }

  private static func spoil(_ change: inout SlotChange, before: SlotState, _ faults: Set<ClientFault>) {
    if faults.contains(.noIntent) { change.state.intent = nil }
    if faults.contains(.noBackOff) { change.state.cooldown = nil }
    if faults.contains(.reasonForgotten) { change.state.lastSignOut = nil }
    if faults.contains(.rotationNotSaved), let old = before.record, let new = change.state.record,
      old.sessionID == new.sessionID
    {
      change.state.record = old
    }
    if faults.contains(.signOutKeepsTheTokens), change.state.record == nil { change.state.record = before.record }
  }

  func acquireRefreshLock(_ slot: SessionSlot, bound: Duration) async throws(StoreError) -> any RefreshLock {
    if faults.contains(.noLock) || faults.contains(.noSingleFlight) || faults.contains(.endsWithoutLooking) {
      return NoLock()
    }
    return try await base.acquireRefreshLock(slot, bound: bound)
  }

  func changeCounter() async throws(StoreError) -> UInt64 {
    faults.contains(.othersNeverNoticed) ? 0 : try await base.changeCounter()
  }

  func pendingRevocations() async throws(StoreError) -> [PendingRevocation] { try await base.pendingRevocations() }

  func removePendingRevocations(_ ids: [PendingRevocation.ID]) async throws(StoreError) {
    try await base.removePendingRevocations(ids)
  }

  func slots() async throws(StoreError) -> [SessionSlot] { try await base.slots() }

  func lastSignedIn() async throws(StoreError) -> SessionSlot? { try await base.lastSignedIn() }

  private struct NoLock: RefreshLock {
    func release() async {}
  }
}

/// A token store that keeps no expiry.
struct ForgetfulTokenStore: TokenStore {
  let base: any TokenStore

  func save(_ bundle: TokenBundle) async throws {
    try await base.save(
      TokenBundle(accessToken: bundle.accessToken, refreshToken: bundle.refreshToken, accessTokenExpiry: nil))
  }

  func load() async throws -> TokenBundle? { try await base.load() }

  func clear() async throws { try await base.clear() }
}

import AuthModels
public import Groundwork

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A session store over any plain ``TokenStore``: what lets the engine run on a store that somebody else wrote (D1.2).
///
/// A bundle holds one pair and its expiry, so there is one slot; everything else that a session store keeps lives in
/// this value and is gone at exit. Use one adapter for one token store in a process. All calls may come from any task.
///
/// | rule | over a plain token store |
/// | --- | --- |
/// | S4 age by a clock nobody can set | from the first load on; across a restart the wall clock alone |
/// | S6–S11, S14, S18, S19 | hold within the process |
/// | S11, S17 changes by other processes | noticed, since every read loads; another sign-in cannot be told from a rotation, so it is adopted |
/// | S12 cooldown across processes | in memory only |
/// | S13 saved before use | as far as the store's `save` is durable and whole |
/// | S15 one refresh across processes | no: the lock excludes the tasks of this process only, and compare-and-swap is not atomic |
/// | S16 intent before the refresh | in memory only: a kill in mid-refresh leaves the old pair and no trace of the attempt |
/// | S20 outbox of revocations | in memory only: a sign-out offline is not revoked after a restart |
/// | S21 distinct errors | a `StoreError` passes as it is, cancellation is `cancelled`, any other error is `unavailable` |
/// | S22 why signed out | in memory only |
public final class TokenStoreSessionAdapter: SessionStore {
  private let store: any TokenStore
  private let slot: SessionSlot
  private let profile: String
  private let time: any TimeSource
  private let gate = SerialGate()
  private let memory: InMemorySessionStore

  /// Makes the adapter; `slot` and `profile` are what its records say of themselves.
  public init(
    store: any TokenStore, slot: SessionSlot, profile: String = "chirp", time: any TimeSource
  ) {
    self.store = store
    self.slot = slot
    self.profile = profile
    self.time = time
    memory = InMemorySessionStore(time: time)
  }

  public func read(_ slot: SessionSlot) async throws(StoreError) -> SlotState {
    guard slot == self.slot else { return SlotState() }
    return try await gate.pass { () throws(StoreError) -> SlotState in try await current() }
  }

  /// As ``SessionStore/update(_:_:)``; a slot that is not the adapter's own throws `notFound`, since a plain store has
  /// no second place.
  public func update<Outcome: Sendable>(
    _ slot: SessionSlot, _ body: @escaping @Sendable (inout SlotChange) -> Outcome
  ) async throws(StoreError) -> (state: SlotState, outcome: Outcome) {
    guard slot == self.slot else {
      throw StoreError(
        .notFound, "A plain token store holds one account only.",
        hint: "Use a session store, such as SQLiteSessionStore, for several accounts.")
    }
    return try await gate.pass { () throws(StoreError) -> (state: SlotState, outcome: Outcome) in
      let old = try await current()
      var change = SlotChange(state: old)
      let outcome = body(&change)
      let wanted = change.state.record?.bundle
      if wanted != old.record?.bundle { try await put(wanted) }
      let made = change
      let committed = await memory.update(slot) { change in
        change = made
      }
      return (committed.state, outcome)
    }
  }

  public func acquireRefreshLock(
    _ slot: SessionSlot, bound: Duration
  ) async throws(StoreError) -> any RefreshLock {
    try await memory.acquireRefreshLock(slot, bound: bound)
  }

  public func changeCounter() async throws(StoreError) -> UInt64 {
    _ = try await read(slot)
    return await memory.changeCounter()
  }

  public func pendingRevocations() async -> [PendingRevocation] {
    await memory.pendingRevocations()
  }

  public func removePendingRevocations(_ ids: [PendingRevocation.ID]) async {
    await memory.removePendingRevocations(ids)
  }

  public func slots() async throws(StoreError) -> [SessionSlot] {
    _ = try await read(slot)
    return await memory.slots()
  }

  public func lastSignedIn() async throws(StoreError) -> SessionSlot? {
    _ = try await read(slot)
    return await memory.lastSignedIn()
  }

  /// What the token store holds now, with what memory knows of it.
  private func current() async throws(StoreError) -> SlotState {
    let bundle = try await loadBundle()
    let known = await memory.read(slot)
    if let bundle, let former = known.record?.bundle, bundle.holdsSamePair(as: former) { return known }
    if bundle == nil, known.record == nil { return known }
    let found = bundle.map { bundle in
      SessionRecord(
        bundle: bundle, sessionID: known.record?.sessionID ?? UUID(), slot: slot, profile: profile,
        at: TimeReading(time))
    }
    let now = time.wallClock
    return await memory.update(slot) { change in
      guard var found else {
        change.state = SlotState(lastSignOut: SignOutNote(.elsewhere, at: now))
        return
      }
      if let former = change.state.record {
        found.profile = former.profile
        found.tokenType = former.tokenType
        found.user = former.user
      }
      change.state.record = found
      change.state.lastSignOut = nil
    }.state
  }

  private func loadBundle() async throws(StoreError) -> TokenBundle? {
    do {
      return try await store.load()
    } catch {
      throw StoreError(tokenStoreError: error)
    }
  }

  private func put(_ bundle: TokenBundle?) async throws(StoreError) {
    do {
      if let bundle {
        try await store.save(bundle)
      } else {
        try await store.clear()
      }
    } catch {
      throw StoreError(tokenStoreError: error)
    }
  }
}

extension StoreError {
  /// A third party's error: kept if it is ours, else only its type is told, since its text may hold a secret.
  package init(tokenStoreError error: any Error) {
    switch error {
    case let error as StoreError: self = error
    case let error as KeychainError: self = error.storeError
    case is CancellationError: self = StoreError(.cancelled, "The token store's call was cancelled.")
    default: self = StoreError(.unavailable, "The token store failed (\(type(of: error))).")
    }
  }
}

extension TokenBundle {
  /// Whether both are the same pair; a store may round the expiry, which makes it no other bundle.
  func holdsSamePair(as other: TokenBundle) -> Bool {
    guard accessToken == other.accessToken, refreshToken == other.refreshToken else { return false }
    switch (accessTokenExpiry, other.accessTokenExpiry) {
    case (nil, nil): return true
    case (let mine?, let others?): return abs(mine.timeIntervalSince(others)) <= 1
    default: return false
    }
  }
}

public import AuthStorage
import Groundwork

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Any session store with faults put in its way: the nth call of an operation fails, or stops until it is let go; all
/// are counted.
public final class FaultySessionStore: SessionStore {
  /// What can be made to fail.
  public enum Operation: Sendable, Hashable, CaseIterable {
    case read, update, lock, changeCounter, pendingRevocations, removePendingRevocations, slots, lastSignedIn
  }

  /// When a fault takes hold of an update.
  public enum Phase: Sendable, Hashable {
    /// Nothing was done.
    case before
    /// The change is committed, and the caller is told that it is not.
    case afterCommit
  }

  private struct Fault {
    var error: StoreError
    var phase: Phase
  }

  private struct State {
    var counts: [Operation: Int] = [:]
    var faults: [Operation: [Int: Fault]] = [:]
    var standing: [Operation: StoreError] = [:]
    var isHeld: Set<Operation> = []
    var held: [Operation: [CheckedContinuation<Void, Never>]] = [:]
    var arrivals: [(operation: Operation, count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let store: any SessionStore
  private let state = Guarded(State())

  /// Puts itself before `store`; without faults it changes nothing.
  public init(_ store: any SessionStore) {
    self.store = store
  }

  /// Makes the `n`th call of the operation from now on (1 = the next) fail with `error`.
  public func fail(_ operation: Operation, call n: Int = 1, with error: StoreError, phase: Phase = .before) {
    state.withLock { state in
      let index = (state.counts[operation] ?? 0) + n
      state.faults[operation, default: [:]][index] = Fault(error: error, phase: phase)
    }
  }

  /// Makes every call of the operation fail with `error` until it is called again with nil.
  public func failAll(_ operation: Operation, with error: StoreError?) {
    state.withLock { $0.standing[operation] = error }
  }

  /// Stops every call of the operation before it does anything, until ``release(_:)``.
  public func hold(_ operation: Operation) {
    state.withLock { state in
      _ = state.isHeld.insert(operation)
    }
  }

  /// Lets the stopped calls go on, and stops no more.
  public func release(_ operation: Operation) {
    let waiting = state.withLock { state in
      state.isHeld.remove(operation)
      return state.held.removeValue(forKey: operation) ?? []
    }
    for continuation in waiting { continuation.resume() }
  }

  /// How often the operation was called, failed and held calls included.
  public func count(of operation: Operation) -> Int {
    state.withLock { $0.counts[operation] ?? 0 }
  }

  /// Waits until the operation has been called `count` times in all; held calls count when they arrive.
  public func waitForCalls(of operation: Operation, count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if (state.counts[operation] ?? 0) >= count { return true }
        state.arrivals.append((operation, count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  public func read(_ slot: SessionSlot) async throws(StoreError) -> SlotState {
    try await enter(.read)
    return try await store.read(slot)
  }

  public func update<Outcome: Sendable>(
    _ slot: SessionSlot, _ body: @escaping @Sendable (inout SlotChange) -> Outcome
  ) async throws(StoreError) -> (state: SlotState, outcome: Outcome) {
    let late = try await enter(.update)
    let result = try await store.update(slot, body)
    if let late { throw late }
    return result
  }

  public func acquireRefreshLock(
    _ slot: SessionSlot, bound: Duration
  ) async throws(StoreError) -> any RefreshLock {
    try await enter(.lock)
    return try await store.acquireRefreshLock(slot, bound: bound)
  }

  public func changeCounter() async throws(StoreError) -> UInt64 {
    try await enter(.changeCounter)
    return try await store.changeCounter()
  }

  public func pendingRevocations() async throws(StoreError) -> [PendingRevocation] {
    try await enter(.pendingRevocations)
    return try await store.pendingRevocations()
  }

  public func removePendingRevocations(_ ids: [PendingRevocation.ID]) async throws(StoreError) {
    let late = try await enter(.removePendingRevocations)
    try await store.removePendingRevocations(ids)
    if let late { throw late }
  }

  public func slots() async throws(StoreError) -> [SessionSlot] {
    try await enter(.slots)
    return try await store.slots()
  }

  public func lastSignedIn() async throws(StoreError) -> SessionSlot? {
    try await enter(.lastSignedIn)
    return try await store.lastSignedIn()
  }

  /// Counts the call, waits while the operation is held, and throws its fault; a fault that comes after the commit is
  /// returned.
  @discardableResult
  private func enter(_ operation: Operation) async throws(StoreError) -> StoreError? {
    let (index, arrived) = state.withLock { state in
      let index = (state.counts[operation] ?? 0) + 1
      state.counts[operation] = index
      let arrived = state.arrivals.filter { $0.operation == operation && $0.count <= index }.map(\.continuation)
      state.arrivals.removeAll { $0.operation == operation && $0.count <= index }
      return (index, arrived)
    }
    for continuation in arrived { continuation.resume() }
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.isHeld.contains(operation) else { return true }
        state.held[operation, default: []].append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
    let (fault, standing) = state.withLock { state in
      (state.faults[operation]?.removeValue(forKey: index), state.standing[operation])
    }
    if let standing { throw standing }
    guard let fault else { return nil }
    if fault.phase == .before { throw fault.error }
    return fault.error
  }
}

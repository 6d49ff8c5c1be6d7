internal import AuthModels
internal import AuthNetworking
internal import AuthStorage
internal import Groundwork

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Whether a client process still lives: a killed one sends nothing, stores nothing and waits for nothing.
///
/// Its tasks cannot be taken away from it; they run out against seams that do nothing any more.
final class KillSwitch: Sendable {
  private struct State {
    var isKilled = false
    var locks: [any RefreshLock] = []
  }

  private let state = Guarded(State())

  var isKilled: Bool { state.withLock { $0.isKilled } }

  /// Kills the process: its locks go with it, as the system sees to it.
  func kill() async {
    let locks = state.withLock { state in
      state.isKilled = true
      defer { state.locks = [] }
      return state.locks
    }
    for lock in locks { await lock.release() }
  }

  /// Remembers a lock that the process holds; a dead process holds none.
  func hold(_ lock: any RefreshLock) async {
    let isDead = state.withLock { state in
      if !state.isKilled { state.locks.append(lock) }
      return state.isKilled
    }
    if isDead { await lock.release() }
  }
}

/// A process's network: can be cut, is dead after a kill, and remembers the tokens that came through.
struct ProcessTransport: HTTPTransport {
  let base: any HTTPTransport
  let life: KillSwitch
  let isOffline: Guarded<Bool>
  let tokens: TokenLog
  let process: String

  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    try check()
    if isOffline.withLock({ $0 }) {
      throw TransportError(
        .cannotConnect, mayHaveBeenSent: false, message: "there is no network: the scenario has cut it")
    }
    let response = try await base.send(request)
    tokens.note(response.body, process: process)
    try check()
    return response
  }

  private func check() throws(TransportError) {
    if life.isKilled { throw TransportError(.cancelled, mayHaveBeenSent: true, message: "the process was killed") }
  }
}

/// A process's view of the store: dead after a kill, and what it commits is noted.
struct ProcessStore: SessionStore {
  let base: any SessionStore
  let life: KillSwitch
  let log: StoreLog
  /// What the store answers to everything, if it is to fail.
  let fault: Guarded<StoreError.Code?>

  private func check(writes: Bool = false) throws(StoreError) {
    if life.isKilled { throw StoreError(.unavailable, "the process was killed") }
    guard let code = fault.withLock({ $0 }) else { return }
    // A disk that is full, and a store that may only be read, can be read.
    if writes || code != .full && code != .readOnly { throw StoreError(code, "the scenario lets the store fail") }
  }

  func read(_ slot: SessionSlot) async throws(StoreError) -> SlotState {
    try check()
    return try await base.read(slot)
  }

  func update<Outcome: Sendable>(
    _ slot: SessionSlot, _ body: @escaping @Sendable (inout SlotChange) -> Outcome
  ) async throws(StoreError) -> (state: SlotState, outcome: Outcome) {
    try check(writes: true)
    let result = try await base.update(slot, body)
    log.note(result.state)
    return result
  }

  func acquireRefreshLock(_ slot: SessionSlot, bound: Duration) async throws(StoreError) -> any RefreshLock {
    try check()
    let lock = try await base.acquireRefreshLock(slot, bound: bound)
    await life.hold(lock)
    try check()
    return lock
  }

  func changeCounter() async throws(StoreError) -> UInt64 {
    try check()
    return try await base.changeCounter()
  }

  func pendingRevocations() async throws(StoreError) -> [PendingRevocation] {
    try check()
    return try await base.pendingRevocations()
  }

  func removePendingRevocations(_ ids: [PendingRevocation.ID]) async throws(StoreError) {
    try check()
    try await base.removePendingRevocations(ids)
  }

  func slots() async throws(StoreError) -> [SessionSlot] {
    try check()
    return try await base.slots()
  }

  func lastSignedIn() async throws(StoreError) -> SessionSlot? {
    try check()
    return try await base.lastSignedIn()
  }
}

/// A process's clock: the machine's, until the process is killed.
struct ProcessClock: TimeSource {
  let machine: any TimeSource
  let life: KillSwitch

  var wallClock: Date { machine.wallClock }
  var sinceBoot: Duration { machine.sinceBoot }
  var bootID: String { machine.bootID }

  func sleep(for duration: Duration) async throws {
    if life.isKilled { throw CancellationError() }
    try await machine.sleep(for: duration)
    if life.isKilled { throw CancellationError() }
  }
}

import AuthStorage
import Groundwork

/// The shared store as one process reaches it: each access is a point at which the process may be overtaken or killed, before it
/// and after it; the store may fail; and once the process is dead nothing happens any more.
struct ProcessStore: SessionStore {
  static let lockTag = 1

  let world: World
  let process: SimulatedProcess
  let memory: InMemorySessionStore

  private func attempt<Success: Sendable>(
    _ access: Faults.StoreAccess, before: KillPoint, _ body: () async -> Success, after: (Success) -> KillPoint
  ) async throws(StoreError) -> Success {
    try await stop(at: before)
    let fault = world.faults.storeFault(access, by: process.id)
    let isWrite = access == .write || access == .outbox
    if let fault, !fault.isAfterCommit {
      world.monitor.storeFailed(process, fault.error, isWrite: isWrite, isAfterCommit: false)
      throw fault.error
    }
    let success = await body()
    let point = after(success)
    try await stop(at: point)
    // Seldom others get many turns before this process goes on: what was true at the access may not be so any more.
    if world.faults.intensity > 0, !world.faults.isStopped,
      world.choices.chance(point == .afterSignIn ? 40 : world.lockExcludes ? 4 : 10)
    {
      for _ in 0..<12 { try await stop(at: point) }
    }
    if let error = world.faults.lateFault(by: process.id) ?? fault?.error {
      world.monitor.storeFailed(process, error, isWrite: isWrite, isAfterCommit: true)
      throw error
    }
    return success
  }

  /// Gives the turn away at a point; a process that was killed there goes no further.
  private func stop(at point: KillPoint) async throws(StoreError) {
    guard process.isAlive else { throw Faults.killed }
    process.enter(point)
    world.reached(point, by: process)
    await world.scheduler.pause(process.id)
    process.leave(point)
    guard process.isAlive else { throw Faults.killed }
  }

  func read(_ slot: SessionSlot) async throws(StoreError) -> SlotState {
    try await attempt(.read, before: .beforeRead) {
      let state = await memory.read(slot)
      world.monitor.saw(process, state)
      return state
    } after: { _ in
      .afterRead
    }
  }

  func update<Outcome: Sendable>(
    _ slot: SessionSlot, _ body: @escaping @Sendable (inout SlotChange) -> Outcome
  ) async throws(StoreError) -> (state: SlotState, outcome: Outcome) {
    let result = try await attempt(.write, before: .beforeUpdate) {
      await memory.update(slot) { change in
        let old = change.state
        return (old: old, outcome: body(&change))
      }
    } after: { result in
      world.monitor.committed(process, old: result.outcome.old, new: result.state)
    }
    return (result.state, result.outcome.outcome)
  }

  func acquireRefreshLock(_ slot: SessionSlot, bound: Duration) async throws(StoreError) -> any RefreshLock {
    world.monitor.triedLock(process)
    try await stop(at: .lockWait)
    if let fault = world.faults.storeFault(.lock, by: process.id) {
      world.monitor.storeFailed(process, fault.error, isWrite: false, isAfterCommit: false)
      throw fault.error
    }
    let deadline = world.scheduler.now + bound
    while true {
      guard process.isAlive else { throw Faults.killed }
      if Task.isCancelled { throw StoreError(.cancelled, "The wait for the lock was cancelled.") }
      do {
        let lock: any RefreshLock =
          world.lockExcludes ? try await memory.acquireRefreshLock(slot, bound: .zero) : EmptyLock()
        world.monitor.hasLock(process, true)
        let held = HeldLock(lock: lock, process: process, world: world)
        try await stop(at: .afterLock)
        return held
      } catch {
        let left = deadline - world.scheduler.now
        guard error.code == .busy, left > .zero else { throw error }
        world.coverage.note(.lockWaited)
        process.enter(.lockWait)
        defer { process.leave(.lockWait) }
        do {
          // Polling, in whatever phase: whoever waits is woken when the lock may be free, in any order.
          try await world.scheduler.sleep(for: left, lane: process.id, tag: Self.lockTag)
        } catch is Killed {
          throw Faults.killed
        } catch {
          throw StoreError(.cancelled, "The wait for the lock was cancelled.")
        }
      }
    }
  }

  func changeCounter() async throws(StoreError) -> UInt64 {
    try await attempt(.read, before: .beforeRead) {
      await memory.changeCounter()
    } after: { _ in
      .afterRead
    }
  }

  func pendingRevocations() async throws(StoreError) -> [PendingRevocation] {
    try await attempt(.read, before: .outbox) {
      await memory.pendingRevocations()
    } after: { _ in
      .outbox
    }
  }

  func removePendingRevocations(_ ids: [PendingRevocation.ID]) async throws(StoreError) {
    try await attempt(.outbox, before: .outbox) {
      await memory.removePendingRevocations(ids)
    } after: { _ in
      .outbox
    }
  }

  func slots() async throws(StoreError) -> [SessionSlot] {
    try await attempt(.read, before: .beforeRead) {
      await memory.slots()
    } after: { _ in
      .afterRead
    }
  }

  func lastSignedIn() async throws(StoreError) -> SessionSlot? {
    try await attempt(.read, before: .beforeRead) {
      await memory.lastSignedIn()
    } after: { _ in
      .afterRead
    }
  }
}

/// A lock on a file system that takes no notice of it.
private struct EmptyLock: RefreshLock {
  func release() async {}
}

/// A refresh lock that a process holds; whoever waits hears of its end, however it comes about.
private final class HeldLock: RefreshLock {
  private let lock: any RefreshLock
  private let process: SimulatedProcess
  private let world: World
  private let isReleased = Guarded(false)

  init(lock: any RefreshLock, process: SimulatedProcess, world: World) {
    self.lock = lock
    self.process = process
    self.world = world
  }

  deinit { tell() }

  func release() async {
    // A dead process gives nothing back: the system has done that.
    guard process.isAlive else { return }
    await lock.release()
    tell()
  }

  private func tell() {
    let isFirst = isReleased.withLock { isReleased in
      defer { isReleased = true }
      return !isReleased
    }
    guard isFirst, process.isAlive else { return }
    world.monitor.hasLock(process, false)
    world.scheduler.wake(tag: ProcessStore.lockTag)
  }
}

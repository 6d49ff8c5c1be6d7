import AuthStorage
import Groundwork

extension SessionStoreContract {
  /// The checks of the refresh lock.
  public static let lockChecks: [ContractCheck<Subject>] = [
    ContractCheck("one refresh lock a slot: a second taker gets busy when its bound is over (S15)") { subject in
      let lock = try await subject.store.acquireRefreshLock(subject.slot, bound: .seconds(20))
      for taker in [subject.peer, subject.store] {
        let start = subject.time.sinceBoot
        try await requireError(.busy, "a second taker") {
          _ = try await taker.acquireRefreshLock(subject.slot, bound: .milliseconds(40))
        }
        let waited = subject.time.sinceBoot - start
        try require(waited >= .milliseconds(40), "the taker gave up after \(waited.text), before its bound")
      }
      await lock.release()
      let second = try await subject.peer.acquireRefreshLock(subject.slot, bound: .zero)
      await second.release()
    },
    ContractCheck("a bound of zero asks once") { subject in
      let lock = try await subject.store.acquireRefreshLock(subject.slot, bound: .zero)
      try await requireError(.busy, "a second taker") {
        _ = try await subject.peer.acquireRefreshLock(subject.slot, bound: .zero)
      }
      await lock.release()
    },
    ContractCheck("releasing twice is no error and takes nothing from the next holder") { subject in
      let first = try await subject.store.acquireRefreshLock(subject.slot, bound: .zero)
      await first.release()
      let second = try await subject.peer.acquireRefreshLock(subject.slot, bound: .zero)
      await first.release()
      try await requireError(.busy, "a third taker") {
        _ = try await subject.store.acquireRefreshLock(subject.slot, bound: .zero)
      }
      await second.release()
    },
    ContractCheck("a handle that is dropped gives its lock back") { subject in
      try await takeAndDrop(subject)
      let lock = try await subject.peer.acquireRefreshLock(subject.slot, bound: .seconds(5))
      await lock.release()
    },
    ContractCheck("a waiter gets the lock once it is free") { subject in
      let lock = try await subject.store.acquireRefreshLock(subject.slot, bound: .zero)
      async let next = subject.peer.acquireRefreshLock(subject.slot, bound: .seconds(1_000_000))
      await lock.release()
      await (try next).release()
    },
    ContractCheck("a cancelled waiter returns at once with `cancelled`") { subject in
      let lock = try await subject.store.acquireRefreshLock(subject.slot, bound: .zero)
      let waiter = TaskStarter().start { () -> StoreError.Code? in
        do {
          await (try subject.peer.acquireRefreshLock(subject.slot, bound: .seconds(1_000_000_000))).release()
          return nil
        } catch {
          return (error as? StoreError)?.code
        }
      }
      waiter.cancel()
      let code = await waiter.value
      try require(code == .cancelled, "a cancelled waiter got \(code.map { "\($0)" } ?? "the lock")")
      await lock.release()
    },
    ContractCheck("the lock of one slot does not hold up another, nor any read or write") { subject in
      let lock = try await subject.store.acquireRefreshLock(subject.slot, bound: .zero)
      let made = record(subject.slot, "one")
      _ = try await subject.peer.update(subject.slot) { $0.state.record = made }
      try require(
        try await subject.store.read(subject.slot).record?.sessionID == made.sessionID,
        "a write under another's lock was lost")
      if subject.holdsManySlots {
        let other = SessionSlot(server: subject.slot.server, account: "other")
        let second = try await subject.peer.acquireRefreshLock(other, bound: .zero)
        await second.release()
      }
      await lock.release()
    },
    ContractCheck("the lock excludes: eight tasks of two handles are never in it together") { subject in
      let inside = Guarded(0)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<8 {
          let store = task.isMultiple(of: 2) ? subject.store : subject.peer
          group.addTask {
            for _ in 0..<5 {
              let lock = try await store.acquireRefreshLock(subject.slot, bound: .seconds(1_000_000))
              let count = inside.withLock { count in
                count += 1
                return count
              }
              try require(count == 1, "\(count) tasks hold one lock")
              await Task.yield()
              inside.withLock { $0 -= 1 }
              await lock.release()
            }
          }
        }
        try await group.waitForAll()
      }
    },
  ]

  private static func takeAndDrop(_ subject: Subject) async throws {
    _ = try await subject.store.acquireRefreshLock(subject.slot, bound: .zero)
  }

  static func requireError(
    _ code: StoreError.Code, _ what: String, _ body: () async throws -> Void
  ) async throws {
    do {
      try await body()
    } catch let error as StoreError {
      return try require(error.code == code, "\(what) got \(error.code), not \(code)")
    }
    throw ContractFailure("\(what) succeeded where \(code) is due")
  }
}

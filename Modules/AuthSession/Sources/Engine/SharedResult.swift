import Groundwork

/// A value that comes once and that any number of tasks wait for.
///
/// Every waiter gets exactly one answer; a cancelled one gets `CancellationError` at once and the others never notice (S7).
final class SharedResult<Value: Sendable>: Sendable {
  private struct State: Sendable {
    var value: Value?
    var waiters: [UInt64: CheckedContinuation<Value?, Never>] = [:]
    var cancelled: Set<UInt64> = []
    var nextWaiter: UInt64 = 0
  }

  private let state = Guarded(State())

  /// Sets the value; the first one stands.
  func resolve(_ value: Value) {
    let waiters = state.withLock { state -> [CheckedContinuation<Value?, Never>] in
      guard state.value == nil else { return [] }
      state.value = value
      defer { state.waiters = [:] }
      return state.waiters.sorted { $0.key < $1.key }.map(\.value)
    }
    for waiter in waiters { waiter.resume(returning: value) }
  }

  /// Waits for the value.
  func value() async throws -> Value {
    let id = state.withLock { state -> UInt64 in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    let value: Value? = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let ready = state.withLock { state -> Value?? in
          if state.cancelled.remove(id) != nil { return .some(nil) }
          if let value = state.value { return .some(value) }
          state.waiters[id] = continuation
          return nil
        }
        if let ready { continuation.resume(returning: ready) }
      }
    } onCancel: {
      let waiter = state.withLock { state -> CheckedContinuation<Value?, Never>? in
        if let waiter = state.waiters.removeValue(forKey: id) { return waiter }
        if state.value == nil { state.cancelled.insert(id) }
        return nil
      }
      waiter?.resume(returning: nil)
    }
    guard let value else { throw CancellationError() }
    return value
  }
}

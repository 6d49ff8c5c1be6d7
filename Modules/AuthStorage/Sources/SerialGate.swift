import Groundwork

/// Lets one caller at a time through a stretch that awaits, in the order they came.
///
/// An actor does not do that: it takes the next call in at every `await`. Waiting here is not cancellable, since what
/// is guarded is one call of a store and a caller that came has to have its answer.
final class SerialGate: Sendable {
  private struct State {
    var isTaken = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Guarded(State())

  /// Runs `body` when it is this caller's turn.
  func pass<Success: Sendable>(
    _ body: () async throws(StoreError) -> Success
  ) async throws(StoreError) -> Success {
    await enter()
    defer { leave() }
    return try await body()
  }

  private func enter() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.isTaken {
          state.waiters.append(continuation)
          return false
        }
        state.isTaken = true
        return true
      }
      if isFree { continuation.resume() }
    }
  }

  private func leave() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard !state.waiters.isEmpty else {
        state.isTaken = false
        return nil
      }
      return state.waiters.removeFirst()
    }
    next?.resume()
  }
}

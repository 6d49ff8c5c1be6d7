internal import AuthModels
internal import AuthNetworking
internal import Groundwork

/// Who waits for an answer: is answered exactly once, by whoever is first, the answer, a failure or the cancellation.
final class CurlWaiter: Sendable {
  typealias Outcome = Result<HTTPResponse, TransportError>

  private struct State {
    var continuation: CheckedContinuation<Outcome, Never>?
    var outcome: Outcome?
  }

  private let state = Guarded(State())

  /// Whether nobody has answered yet.
  var isWaiting: Bool { state.withLock { $0.outcome == nil } }

  /// Takes the waiter, or answers it at once.
  ///
  /// - Returns: whether the answer is still to come.
  func wait(_ continuation: CheckedContinuation<Outcome, Never>) -> Bool {
    let outcome = state.withLock { state -> Outcome? in
      if state.outcome == nil { state.continuation = continuation }
      return state.outcome
    }
    guard let outcome else { return true }
    continuation.resume(returning: outcome)
    return false
  }

  /// Answers, unless someone has.
  func finish(_ outcome: Outcome) {
    let continuation = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
      guard state.outcome == nil else { return nil }
      state.outcome = outcome
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume(returning: outcome)
  }
}

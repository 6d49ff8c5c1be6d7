import AuthModels
import AuthNetworking
import Groundwork

/// One request on its way: ends exactly once, by an answer, an error, the time-out or cancellation, whichever comes first.
final class Exchange: Sendable {
  typealias Outcome = Result<HTTPResponse, TransportError>

  private struct State {
    var outcome: Outcome?
    var continuation: CheckedContinuation<Outcome, Never>?
    var timer: Task<Void, Never>?
  }

  private let state = Guarded(State())

  /// Whether it has ended.
  var isOver: Bool { state.withLock { $0.outcome != nil } }

  /// Ends it, if it has not ended yet.
  func end(_ outcome: Outcome) {
    let (continuation, timer) = state.withLock { state -> (CheckedContinuation<Outcome, Never>?, Task<Void, Never>?) in
      guard state.outcome == nil else { return (nil, nil) }
      state.outcome = outcome
      defer {
        state.continuation = nil
        state.timer = nil
      }
      return (state.continuation, state.timer)
    }
    timer?.cancel()
    continuation?.resume(returning: outcome)
  }

  /// Keeps the task that ends it at the time-out, to be cancelled when it ends before.
  func keep(timer: Task<Void, Never>) {
    let isOver = state.withLock { state in
      if state.outcome == nil { state.timer = timer }
      return state.outcome != nil
    }
    if isOver { timer.cancel() }
  }

  /// Waits for the end; to be called once.
  func value() async -> Outcome {
    if let outcome = state.withLock({ $0.outcome }) { return outcome }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let outcome = state.withLock { state in
          if state.outcome == nil { state.continuation = continuation }
          return state.outcome
        }
        if let outcome { continuation.resume(returning: outcome) }
      }
    } onCancel: {
      end(.failure(.cancelledInFlight))
    }
  }
}

extension TransportError {
  static let cancelledInFlight = TransportError(
    .cancelled, mayHaveBeenSent: true, message: "The request was cancelled.")
}

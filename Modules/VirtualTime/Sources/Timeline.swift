import Groundwork

/// The instants that all clocks of one test share, and who sleeps until when.
///
/// It moves only when told: by `advance`, or by the executor that drives it when nothing is left to run.
final class Timeline: Sendable {
  /// Everybody who waits, and the instant it is.
  fileprivate struct State {
    var now: Duration = .zero
    var isFinished = false
    var lastID: UInt64 = 0
    var queue = SleeperQueue()
    var waiting: [UInt64: CheckedContinuation<Void, any Error>] = [:]
    var cancelledEarly: Set<UInt64> = []
    var onNewSleeper: (@Sendable () -> Void)?
  }

  private let state = Guarded(State())

  /// The instant it is.
  var now: Duration { state.withLock { $0.now } }

  /// How many sleep.
  var sleeperCount: Int { state.withLock { $0.waiting.count } }

  /// Calls `action` whenever somebody went to sleep: an executor that had nothing to do looks again.
  func onNewSleeper(_ action: @escaping @Sendable () -> Void) {
    state.withLock { $0.onNewSleeper = action }
  }

  /// Waits until `now` has grown by `duration`.
  func sleep(for duration: Duration) async throws {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let (isRefused, notify) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
          guard state.cancelledEarly.remove(id) == nil, !state.isFinished else { return (true, nil) }
          // Far beyond any test, and far from what a sum of durations could overflow.
          state.queue.insert(id, deadline: state.now + min(duration, .seconds(1_000_000_000_000)))
          state.waiting[id] = continuation
          return (false, state.onNewSleeper)
        }
        if isRefused { continuation.resume(throwing: CancellationError()) }
        notify?()
      }
    } onCancel: {
      cancel(id)
    }
    // A cancellation that lost the race against the wake-up has left its mark.
    state.withLock { _ = $0.cancelledEarly.remove(id) }
  }

  /// Jumps to the next deadline and wakes everyone who is due then, in the order in which they went to sleep.
  ///
  /// - Returns: false if nobody sleeps.
  func jumpToNextSleeper() -> Bool {
    let due = state.withLock { state -> [CheckedContinuation<Void, any Error>] in
      guard let deadline = state.nextDeadline() else { return [] }
      state.now = max(state.now, deadline)
      return state.takeDue()
    }
    for continuation in due { continuation.resume() }
    return !due.isEmpty
  }

  /// Moves on by `duration`, deadline by deadline, waking sleepers in order.
  func advance(by duration: Duration) {
    let due = state.withLock { state -> [CheckedContinuation<Void, any Error>] in
      state.now += max(duration, .zero)
      return state.takeDue()
    }
    for continuation in due { continuation.resume() }
  }

  /// Ends all waiting with `CancellationError`, now and for ever, so that no task is left behind.
  func finish() {
    let left = state.withLock { state -> [CheckedContinuation<Void, any Error>] in
      state.isFinished = true
      let left = state.waiting.sorted { $0.key < $1.key }.map(\.value)
      state.waiting.removeAll()
      state.queue = SleeperQueue()
      return left
    }
    for continuation in left { continuation.resume(throwing: CancellationError()) }
  }

  private func cancel(_ id: UInt64) {
    let continuation = state.withLock { state in
      guard let continuation = state.waiting.removeValue(forKey: id) else {
        state.cancelledEarly.insert(id)
        return nil as CheckedContinuation<Void, any Error>?
      }
      return continuation
    }
    continuation?.resume(throwing: CancellationError())
  }
}

extension Timeline.State {
  /// The earliest deadline of anyone who still waits.
  fileprivate mutating func nextDeadline() -> Duration? {
    while let first = queue.first {
      if waiting[first.id] != nil { return first.deadline }
      queue.removeFirst()
    }
    return nil
  }

  /// Removes everyone whose deadline has come.
  fileprivate mutating func takeDue() -> [CheckedContinuation<Void, any Error>] {
    var due: [CheckedContinuation<Void, any Error>] = []
    while let deadline = nextDeadline(), deadline <= now, let first = queue.first {
      queue.removeFirst()
      if let continuation = waiting.removeValue(forKey: first.id) { due.append(continuation) }
    }
    return due
  }
}

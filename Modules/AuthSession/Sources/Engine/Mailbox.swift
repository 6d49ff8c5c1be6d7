import Groundwork

/// One subscriber's bounded queue (S23): the oldest goes first when it is full, and the reader is told how many went.
final class Mailbox<Element: Sendable>: Sendable {
  private struct State: Sendable {
    var elements: [Element] = []
    var missed = 0
    var isFinished = false
    var reader: CheckedContinuation<Void, Never>?
  }

  private let state = Guarded(State())
  private let limit: Int
  private let missed: (@Sendable (Int) -> Element)?

  /// - Parameter missed: makes the element that tells of dropped ones; nil where the latest is all that counts.
  init(limit: Int, missed: (@Sendable (Int) -> Element)?) {
    self.limit = max(1, limit)
    self.missed = missed
  }

  func post(_ element: Element) {
    wake { state in
      guard !state.isFinished else { return }
      if state.elements.count >= limit {
        state.elements.removeFirst()
        state.missed += 1
      }
      state.elements.append(element)
    }
  }

  func finish() {
    wake { $0.isFinished = true }
  }

  /// The next element, or nil when the queue is finished and empty, or the reader is cancelled.
  func next() async -> Element? {
    while !Task.isCancelled {
      let (element, isFinished) = state.withLock { state -> (Element?, Bool) in
        if state.missed > 0, let missed {
          defer { state.missed = 0 }
          return (missed(state.missed), false)
        }
        guard state.elements.isEmpty else { return (state.elements.removeFirst(), false) }
        return (nil, state.isFinished)
      }
      if let element { return element }
      if isFinished { return nil }
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let resumeNow = state.withLock { state -> Bool in
            guard state.elements.isEmpty, !state.isFinished, state.reader == nil, !Task.isCancelled else { return true }
            state.reader = continuation
            return false
          }
          if resumeNow { continuation.resume() }
        }
      } onCancel: {
        wake { _ in }
      }
    }
    return nil
  }

  private func wake(_ change: (inout State) -> Void) {
    let reader = state.withLock { state -> CheckedContinuation<Void, Never>? in
      change(&state)
      defer { state.reader = nil }
      return state.reader
    }
    reader?.resume()
  }
}

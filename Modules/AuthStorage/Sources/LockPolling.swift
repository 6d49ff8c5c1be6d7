package import Groundwork

/// How a lock is waited for without blocking a thread: ask, sleep on the injected clock, ask again (S15).
package struct LockPolling: Sendable {
  /// The first pause.
  package var first: Duration = .milliseconds(1)
  /// Pauses double until they are this long.
  package var longest: Duration = .milliseconds(10)

  /// Makes the usual back-off, 1 → 10 ms.
  package init(first: Duration = .milliseconds(1), longest: Duration = .milliseconds(10)) {
    self.first = first
    self.longest = longest
  }

  /// Asks until `attempt` gives something, for at most `bound`; a bound of zero asks once.
  ///
  /// - Returns: nil when the bound is over.
  /// - Throws: `StoreError.cancelled` when the task is cancelled, and what `attempt` throws.
  package func wait<Lock: Sendable>(
    for bound: Duration, on time: any TimeSource, _ attempt: () async throws(StoreError) -> Lock?
  ) async throws(StoreError) -> Lock? {
    let start = time.sinceBoot
    var pause = first
    while true {
      if Task.isCancelled { throw StoreError(.cancelled, "The wait for the store's lock was cancelled.") }
      if let lock = try await attempt() { return lock }
      let left = bound - (time.sinceBoot - start)
      guard left > .zero else { return nil }
      do {
        try await time.sleep(for: min(pause, left))
      } catch {
        throw StoreError(.cancelled, "The wait for the store's lock was cancelled.")
      }
      pause = min(pause * 2, longest)
    }
  }
}

extension StoreError {
  /// The refresh lock's bound is over (S15).
  package static func refreshLockBusy(after bound: Duration) -> StoreError {
    StoreError(
      .busy, "Another process has been refreshing this session for more than \(bound.text).",
      hint: "Try again; if it stays so, look for a stopped process that uses the same account.")
  }
}

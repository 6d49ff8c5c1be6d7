import AuthStorage
import Groundwork

/// Keeps a session fresh without waiting for a call: optional, and off unless started (S15).
///
/// It refreshes a little before the leeway, at a moment that differs from process to process, and goes on with back-off after any
/// passing failure, for as long as there is a session; a sign-in while it runs is noticed (supabase-swift#630).
public final class AutoRefresh: Sendable {
  private let engine: SessionEngine
  private let running = Guarded<Task<Void, Never>?>(nil)

  /// Makes it, stopped.
  public init(engine: SessionEngine) {
    self.engine = engine
  }

  deinit {
    stop()
  }

  /// Starts; starting twice is no error.
  public func start() {
    running.withLock { task in
      guard task == nil else { return }
      let engine = engine
      task = engine.tasks.start { await Self.run(engine) }
    }
  }

  /// Stops; a refresh that is under way goes on (S7). Stopping twice is no error.
  public func stop() {
    running.withLock { task in
      task?.cancel()
      task = nil
    }
  }

  private static func run(_ engine: SessionEngine) async {
    await engine.restore()
    while !Task.isCancelled {
      guard let wait = engine.timeUntilAutoRefresh() else {
        // No session, or one whose end nobody knows: wait for another state.
        await engine.nextState()
        continue
      }
      do {
        try await engine.time.sleep(for: wait)
        try await engine.refreshIfDue()
      } catch is CancellationError {
        return
      } catch {
        // Told as an event; the cooldown of the failed flight sets the next wait.
        continue
      }
    }
  }
}

extension SessionEngine {
  /// How long until the token is due, less a jitter of up to a tenth of the leeway; nil if there is nothing to renew.
  func timeUntilAutoRefresh() -> Duration? {
    core.withLock { core in
      guard let live = core.machine.live, live.record.refreshToken != nil, let expiry = live.age.expiry else {
        return nil
      }
      let now = time.sinceBoot
      let jitter = live.age.leeway / 10 * options.random()
      let due = expiry - live.age.leeway - jitter - now
      let cooling = (core.machine.cooldown?.until ?? now) - now
      // At least a moment between two tries, whatever the figures say.
      return max(due, cooling, .milliseconds(100))
    }
  }

  func refreshIfDue() async throws {
    let isDue = core.withLock { core -> Bool in
      guard let live = core.machine.live, let expiry = live.age.expiry else { return false }
      return expiry - live.age.leeway - live.age.leeway / 10 <= time.sinceBoot
    }
    if isDue { try await refresh() }
  }

  /// Waits for a state other than the current one.
  func nextState() async {
    var isFirst = true
    for await _ in states() {
      if !isFirst { return }
      isFirst = false
    }
  }
}

import Groundwork

/// Notices what other processes do to the session while nobody uses it here: optional, and off unless started (S17).
///
/// A program that uses its session follows others by itself, within a second, since each call asks the store beside itself. One that
/// stands idle with a screen open starts this, so that a sign-out or another user's sign-in in another window or at a terminal shows at once, and
/// stops it when it goes to the background. It asks the store's change counter, twice a second unless
/// `SessionOptions.changeCheckInterval` says otherwise; what that costs stands with `SessionStore.changeCounter()`. A store that
/// cannot be asked signs nobody out, and is asked again at the next turn.
public final class ChangeWatch: Sendable {
  private let engine: SessionEngine
  private let running = Guarded<Task<Void, Never>?>(nil)

  /// Makes it, stopped.
  public init(engine: SessionEngine) {
    self.engine = engine
  }

  deinit {
    stop()
  }

  /// Starts, with a first look at once; starting twice is no error.
  public func start() {
    running.withLock { task in
      guard task == nil else { return }
      let engine = engine
      task = engine.tasks.start { await Self.run(engine) }
    }
  }

  /// Stops; stopping twice is no error.
  public func stop() {
    running.withLock { task in
      task?.cancel()
      task = nil
    }
  }

  private static func run(_ engine: SessionEngine) async {
    await engine.restore()
    while !Task.isCancelled {
      await engine.checkForChanges()
      do {
        try await engine.time.sleep(for: engine.options.changeCheckInterval)
      } catch {
        // Stopped.
        return
      }
    }
  }
}

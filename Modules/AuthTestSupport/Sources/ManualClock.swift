public import Groundwork

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A clock that moves only when a test moves it.
///
/// `sinceBoot` and the wall clock advance together; the wall clock can also be set alone, as a person or a time server would (S4).
/// Sleepers wake in the order of their deadlines, those of one instant in the order in which they went to sleep. A test waits for
/// `sleepers(atLeast:)` before it advances, instead of hoping that the code under test already sleeps.
public final class ManualClock: TimeSource {
  private struct Sleeper {
    var id: Int
    var deadline: Duration
    var continuation: CheckedContinuation<Void, any Error>
  }

  private struct Watcher {
    var count: Int
    var continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var sinceBoot: Duration
    var wallClock: Date
    var nextID = 0
    var sleepers: [Sleeper] = []
    var cancelled: Set<Int> = []
    var watchers: [Watcher] = []
  }

  private let state: Guarded<State>
  /// Names this start of the pretended machine.
  public let bootID: String

  /// Makes a clock.
  ///
  /// - Parameters:
  ///   - wallClock: the first reading of the wall clock; 2026-01-01T00:00:00Z unless given.
  ///   - sinceBoot: the first reading of the other one.
  ///   - bootID: another name pretends that the machine was started again.
  public init(
    wallClock: Date = Date(timeIntervalSince1970: 1_767_225_600), sinceBoot: Duration = .seconds(1000),
    bootID: String = "manual-boot"
  ) {
    state = Guarded(State(sinceBoot: sinceBoot, wallClock: wallClock))
    self.bootID = bootID
  }

  public var wallClock: Date { state.withLock { $0.wallClock } }
  public var sinceBoot: Duration { state.withLock { $0.sinceBoot } }

  /// Sets the wall clock alone; nobody wakes.
  public func setWallClock(_ date: Date) {
    state.withLock { $0.wallClock = date }
  }

  /// Moves both clocks on and wakes whoever's time has come.
  public func advance(by duration: Duration) {
    let due = state.withLock { state -> [Sleeper] in
      state.sinceBoot += duration
      state.wallClock = state.wallClock.addingTimeInterval(duration.inSeconds)
      let now = state.sinceBoot
      let due = state.sleepers.filter { $0.deadline <= now }.sorted { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
      state.sleepers.removeAll { $0.deadline <= now }
      return due
    }
    for sleeper in due { sleeper.continuation.resume() }
  }

  /// Moves on to the next sleeper's deadline, if anyone sleeps.
  ///
  /// - Returns: how far the clock moved; nil if nobody sleeps.
  @discardableResult
  public func advanceToNextSleeper() -> Duration? {
    let distance = state.withLock { state in
      state.sleepers.map(\.deadline).min().map { $0 - state.sinceBoot }
    }
    guard let distance else { return nil }
    advance(by: max(distance, .zero))
    return distance
  }

  /// How many tasks sleep now.
  public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// Waits until at least so many tasks sleep at once.
  public func sleepers(atLeast count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.sleepers.count >= count { return true }
        state.watchers.append(Watcher(count: count, continuation: continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  public func sleep(for duration: Duration) async throws {
    try Task.checkCancellation()
    guard duration > .zero else { return }
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    defer { state.withLock { _ = $0.cancelled.remove(id) } }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let outcome = state.withLock { state -> (wasCancelled: Bool, watchers: [Watcher]) in
          if state.cancelled.remove(id) != nil { return (true, []) }
          state.sleepers.append(
            Sleeper(id: id, deadline: state.sinceBoot + duration, continuation: continuation))
          let count = state.sleepers.count
          let reached = state.watchers.filter { $0.count <= count }
          state.watchers.removeAll { $0.count <= count }
          return (false, reached)
        }
        if outcome.wasCancelled { continuation.resume(throwing: CancellationError()) }
        for watcher in outcome.watchers { watcher.continuation.resume() }
      }
    } onCancel: {
      let sleeper = state.withLock { state -> Sleeper? in
        guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else {
          state.cancelled.insert(id)
          return nil
        }
        return state.sleepers.remove(at: index)
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }
}

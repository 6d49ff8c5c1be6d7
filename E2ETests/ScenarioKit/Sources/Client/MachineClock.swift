package import Groundwork
internal import VirtualTime

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// The clock of the machine that a scenario's client processes run on.
package protocol MachineClock: TimeSource {
  /// Moves the wall clock alone.
  func jumpWallClock(by duration: Duration)
  /// Restarts the machine: another boot id, and time since boot begins at zero.
  func restartMachine(bootID: String)
}

extension VirtualClock: MachineClock {}

/// The real clock, which a scenario can move on: sleepers whose time has come by that wake at once.
package final class AdvancingClock: MachineClock {
  private struct State {
    var advanced: Duration = .zero
    var wallJump: Duration = .zero
    var bootID: String
    var bootReading: Duration
    var nextListener = 0
    var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
  }

  private let system = SystemClock()
  private let state: Guarded<State>

  /// Makes a clock that shows the real time until it is moved.
  package init() {
    state = Guarded(State(bootID: system.bootID, bootReading: .zero))
  }

  package var wallClock: Date {
    let (advanced, jump) = state.withLock { ($0.advanced, $0.wallJump) }
    return system.wallClock + advanced.inSeconds + jump.inSeconds
  }

  package var sinceBoot: Duration {
    let (advanced, boot) = state.withLock { ($0.advanced, $0.bootReading) }
    return system.sinceBoot + advanced - boot
  }

  package var bootID: String { state.withLock { $0.bootID } }

  package func sleep(for duration: Duration) async throws {
    try Task.checkCancellation()
    let end = reading + min(duration, .seconds(1_000_000_000))
    while reading < end {
      let (id, changes) = listen()
      defer { state.withLock { $0.listeners[id] = nil } }
      let left = end - reading
      guard left > .zero else { return }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { [system] in try await system.sleep(for: left) }
        group.addTask { for await _ in changes { return } }
        try await group.next()
        group.cancelAll()
      }
      try Task.checkCancellation()
    }
  }

  /// Lets time pass.
  package func advance(by duration: Duration) {
    let listeners = state.withLock { state in
      state.advanced += duration
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.yield() }
  }

  package func jumpWallClock(by duration: Duration) {
    state.withLock { $0.wallJump += duration }
  }

  package func restartMachine(bootID: String) {
    let now = reading
    state.withLock { state in
      state.bootID = bootID
      state.bootReading = now
    }
  }

  /// A reading that neither jumps nor restarts.
  private var reading: Duration { system.sinceBoot + state.withLock { $0.advanced } }

  private func listen() -> (Int, AsyncStream<Void>) {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    let id = state.withLock { state in
      state.nextListener += 1
      state.listeners[state.nextListener] = continuation
      return state.nextListener
    }
    return (id, stream)
  }
}

import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The clocks of the machine that all processes run on: they can be set, and start anew with it.
final class Machine: Sendable {
  private struct State: Sendable {
    var wallAtZero = Date(timeIntervalSince1970: 1_893_456_000)
    var bootInstant: Duration = .seconds(-3600)
    var boots = 1
  }

  let scheduler: Scheduler
  private let state = Guarded(State())

  init(scheduler: Scheduler) { self.scheduler = scheduler }

  var wallClock: Date {
    let now = scheduler.now
    return state.withLock { $0.wallAtZero + now.inSeconds }
  }

  var sinceBoot: Duration {
    let now = scheduler.now
    return state.withLock { now - $0.bootInstant }
  }

  var boots: Int { state.withLock { $0.boots } }

  /// Sets the wall clock off by so much (S4).
  func jumpWallClock(by seconds: Double) {
    state.withLock { $0.wallAtZero += seconds }
  }

  /// Another boot id, and `sinceBoot` from zero.
  func restart() {
    let now = scheduler.now
    state.withLock { state in
      state.boots += 1
      state.bootInstant = now
    }
  }
}

/// The machine's clocks as one process reads them; a dead one reads on and sleeps no more.
struct ProcessClock: TimeSource {
  let machine: Machine
  let lane: LaneID

  var wallClock: Date { machine.wallClock }
  var sinceBoot: Duration { machine.sinceBoot }
  var bootID: String { "boot-\(machine.boots)" }

  func sleep(for duration: Duration) async throws {
    try await machine.scheduler.sleep(for: duration, lane: lane)
  }
}

/// The server's own clock: nobody sets it.
struct ServerClock: TimeSource {
  let scheduler: Scheduler

  var wallClock: Date { Date(timeIntervalSince1970: 1_893_456_000) + scheduler.now.inSeconds }
  var sinceBoot: Duration { scheduler.now + .seconds(1_000_000) }
  var bootID: String { "server" }

  func sleep(for duration: Duration) async throws {
    try await scheduler.sleep(for: duration, lane: Scheduler.world)
  }
}

public import Groundwork

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A clock that stands still until it is told to move.
///
/// A test or the simulator moves it by `advance`, or leaves that to a `VirtualTimeExecutor`, which jumps to the next sleeper
/// whenever nothing is left to run. Clocks made by `anotherMachine` share its instants and sleepers, but each has a wall clock
/// and a boot id of its own: client, server and a second device in one test. All members may be called from any thread.
public final class VirtualClock: TimeSource {
  /// What one machine believes about the time.
  private struct Machine {
    /// The wall clock's reading at the timeline's zero.
    var wallAtZero: Date
    var bootID: String
    /// The instant at which this machine was started.
    var bootInstant: Duration
  }

  let timeline: Timeline
  private let machine: Guarded<Machine>

  /// Makes a clock with a timeline of its own; the machine has been up for an hour.
  ///
  /// - Parameter wallClock: what the wall clock shows first; 2030-01-01T00:00:00Z unless told otherwise.
  public convenience init(
    wallClock: Date = Date(timeIntervalSince1970: 1_893_456_000), bootID: String = "virtual-boot-1"
  ) {
    self.init(timeline: Timeline(), wallClock: wallClock, bootID: bootID)
  }

  private init(timeline: Timeline, wallClock: Date, bootID: String) {
    self.timeline = timeline
    let now = timeline.now
    machine = Guarded(
      Machine(
        wallAtZero: wallClock - now.inSeconds, bootID: bootID, bootInstant: now - .seconds(3600)))
  }

  /// Makes a clock on the same timeline with a wall clock and a boot id of its own.
  public func anotherMachine(wallClock: Date? = nil, bootID: String) -> VirtualClock {
    VirtualClock(timeline: timeline, wallClock: wallClock ?? self.wallClock, bootID: bootID)
  }

  /// The instant on the shared timeline: zero when its first clock was made.
  public var elapsed: Duration { timeline.now }

  /// How many tasks sleep on the timeline.
  public var sleeperCount: Int { timeline.sleeperCount }

  public var wallClock: Date {
    let wallAtZero = machine.withLock { $0.wallAtZero }
    return wallAtZero + timeline.now.inSeconds
  }

  public var sinceBoot: Duration {
    let bootInstant = machine.withLock { $0.bootInstant }
    return timeline.now - bootInstant
  }

  public var bootID: String { machine.withLock { $0.bootID } }

  public func sleep(for duration: Duration) async throws {
    try Task.checkCancellation()
    guard duration > .zero else { return }
    try await timeline.sleep(for: duration)
  }

  /// Lets time pass: the clock moves on by `duration`, and whoever is due by then wakes, in order of deadlines.
  ///
  /// Under a `VirtualTimeExecutor` prefer to sleep for the duration: then tasks that wake on the way run at their own instants.
  public func advance(by duration: Duration) { timeline.advance(by: duration) }

  /// Sets the wall clock, as a user or a time server would: `sinceBoot` and sleepers do not notice (S4).
  public func setWallClock(_ date: Date) {
    let now = timeline.now
    machine.withLock { $0.wallAtZero = date - now.inSeconds }
  }

  /// Moves the wall clock by so much, either way.
  public func jumpWallClock(by duration: Duration) {
    machine.withLock { $0.wallAtZero += duration.inSeconds }
  }

  /// Restarts the machine: another boot id, and `sinceBoot` begins at zero.
  public func restartMachine(bootID: String) {
    let now = timeline.now
    machine.withLock { machine in
      machine.bootID = bootID
      machine.bootInstant = now
    }
  }

  /// Wakes every sleeper with `CancellationError`, also those to come, so that no task is left behind when a test ends.
  public func finish() { timeline.finish() }
}

import Groundwork
import Testing
import VirtualTime

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("A virtual clock")
struct VirtualClockTests {
  @Test("stands still until it is advanced, and moves both readings together")
  func advances() {
    let clock = VirtualClock()
    let (wall, boot) = (clock.wallClock, clock.sinceBoot)
    #expect(clock.wallClock == wall)
    clock.advance(by: .seconds(90))
    #expect(clock.wallClock == wall + 90)
    #expect(clock.sinceBoot == boot + .seconds(90))
  }

  @Test("a set wall clock moves no reading since boot (S4)")
  func wallClockJumps() {
    let clock = VirtualClock()
    let (wall, boot) = (clock.wallClock, clock.sinceBoot)
    clock.jumpWallClock(by: .seconds(365 * 86400))
    #expect(clock.wallClock == wall + 365 * 86400)
    #expect(clock.sinceBoot == boot)
    clock.setWallClock(Date(timeIntervalSince1970: 1000))
    clock.advance(by: .seconds(5))
    #expect(clock.wallClock == Date(timeIntervalSince1970: 1005))
    #expect(clock.sinceBoot == boot + .seconds(5))
  }

  @Test("a restarted machine has another boot id and begins to count at zero (S4)")
  func restarts() {
    let clock = VirtualClock()
    clock.advance(by: .seconds(10))
    clock.restartMachine(bootID: "second")
    #expect(clock.bootID == "second")
    #expect(clock.sinceBoot == .zero)
    clock.advance(by: .seconds(3))
    #expect(clock.sinceBoot == .seconds(3))
  }

  @Test("two machines share the instants and not the wall clock")
  func machines() {
    let client = VirtualClock()
    let server = client.anotherMachine(bootID: "server")
    client.jumpWallClock(by: .seconds(-3600))
    client.advance(by: .seconds(60))
    #expect(server.wallClock.timeIntervalSince(client.wallClock) == 3600)
    #expect(server.elapsed == client.elapsed)
  }

  @Test("a sleep of zero or less returns at once, unless the task is cancelled")
  func sleepsOfNothing() async throws {
    let clock = VirtualClock()
    try await clock.sleep(for: .zero)
    try await clock.sleep(for: .seconds(-1))
    let cancelled = TaskStarter().start { () async -> Bool in
      withUnsafeCurrentTask { $0?.cancel() }
      do {
        try await clock.sleep(for: .zero)
        return false
      } catch { return error is CancellationError }
    }
    #expect(await cancelled.value)
  }

  @Test("a cancelled sleeper wakes at once with CancellationError, the others sleep on")
  func cancellation() async {
    let clock = VirtualClock()
    let sleeper = TaskStarter().start { () async -> Bool in
      do {
        try await clock.sleep(for: .seconds(10))
        return false
      } catch { return error is CancellationError }
    }
    let other = TaskStarter().start { () async -> Bool in
      do {
        try await clock.sleep(for: .seconds(10))
        return true
      } catch { return false }
    }
    while clock.sleeperCount < 2 { await Task.yield() }
    sleeper.cancel()
    #expect(await sleeper.value)
    #expect(clock.sleeperCount == 1)
    clock.advance(by: .seconds(10))
    #expect(await other.value)
  }

  @Test("a finished clock lets nobody sleep any more")
  func finish() async {
    let clock = VirtualClock()
    let sleeper = TaskStarter().start { () async -> Bool in
      do {
        try await clock.sleep(for: .seconds(10))
        return false
      } catch { return error is CancellationError }
    }
    while clock.sleeperCount < 1 { await Task.yield() }
    clock.finish()
    #expect(await sleeper.value)
    await #expect(throws: CancellationError.self) { try await clock.sleep(for: .seconds(1)) }
  }
}

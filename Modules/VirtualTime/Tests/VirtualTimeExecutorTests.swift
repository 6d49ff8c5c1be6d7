#if !canImport(Darwin)
  import Dispatch
  import Groundwork
  import Testing
  import VirtualTime

  @Suite("A virtual time executor")
  struct VirtualTimeExecutorTests {
    /// Sleeps and notes its name with the instant.
    private static func nap(
      _ name: String, _ seconds: Int, _ clock: VirtualClock, _ log: Guarded<[String]>
    ) async {
      do {
        try await clock.sleep(for: .seconds(seconds))
        log.withLock { $0.append("\(name)@\(clock.elapsed.text)") }
      } catch {
        log.withLock { $0.append("\(name) cancelled@\(clock.elapsed.text)") }
      }
    }

    @Test("wakes sleepers in the order of their deadlines, equals in the order of going to sleep")
    func order() async throws {
      let log = try await withVirtualTime { clock, tasks in
        let log = Guarded<[String]>([])
        let naps = [("a", 30), ("b", 10), ("c", 20), ("d", 10)].map { name, seconds in
          tasks.start { await Self.nap(name, seconds, clock, log) }
        }
        for nap in naps { await nap.value }
        return log.withLock { $0 }
      }
      #expect(log == ["b@10s", "d@10s", "c@20s", "a@30s"])
    }

    @Test("a task that is started by a woken task runs at that instant, before time goes on")
    func nested() async throws {
      let log = try await withVirtualTime { clock, tasks in
        let log = Guarded<[String]>([])
        let outer = tasks.start {
          await Self.nap("outer", 5, clock, log)
          await tasks.start { await Self.nap("inner", 5, clock, log) }.value
        }
        let late = tasks.start { await Self.nap("late", 11, clock, log) }
        await outer.value
        await late.value
        return log.withLock { $0 }
      }
      #expect(log == ["outer@5s", "inner@10s", "late@11s"])
    }

    @Test("a cancelled sleeper leaves at the instant of the cancellation")
    func cancellation() async throws {
      let log = try await withVirtualTime { clock, tasks in
        let log = Guarded<[String]>([])
        let sleeper = tasks.start { await Self.nap("sleeper", 100, clock, log) }
        await Self.nap("canceller", 7, clock, log)
        sleeper.cancel()
        await sleeper.value
        await Self.nap("end", 1, clock, log)
        return log.withLock { $0 }
      }
      #expect(log == ["canceller@7s", "sleeper cancelled@7s", "end@8s"])
    }

    @Test("runs the same way 1,000 times, actors and task groups included")
    func deterministic() async throws {
      actor Counter {
        var value = 0
        func next() -> Int {
          value += 1
          return value
        }
      }
      func trace() async throws -> [String] {
        try await withVirtualTime { clock, tasks in
          let log = Guarded<[String]>([])
          let counter = Counter()
          await withTaskGroup(of: Void.self) { group in
            for index in 0..<8 {
              group.addTask {
                let number = await counter.next()
                await Self.nap("\(index)-\(number)", (index * 5) % 7, clock, log)
                let again = await counter.next()
                log.withLock { $0.append("\(index)-\(again)") }
              }
            }
          }
          return log.withLock { $0 }
        }
      }
      let first = try await trace()
      #expect(first.count == 16)
      for _ in 0..<1000 {
        let next = try await trace()
        try #require(next == first)
      }
    }

    @Test("100,000 sleeps of an hour end, eleven years later by the clock and at once for whoever runs the test")
    func manySleeps() async throws {
      let elapsed = try await withVirtualTime { clock, _ in
        for _ in 0..<100_000 { try await clock.sleep(for: .seconds(3600)) }
        return clock.elapsed
      }
      #expect(elapsed == .seconds(360_000_000))
    }

    @Test("the clock does not jump while it is held, and goes on when it is released")
    func holds() async throws {
      let executor = VirtualTimeExecutor()
      let log = Guarded<[String]>([])
      executor.hold()
      let nap = executor.tasks.start { await Self.nap("nap", 10, executor.clock, log) }
      while executor.clock.sleeperCount == 0 { await Task.yield() }
      // A whole round through the executor changes nothing as long as it is held.
      await executor.tasks.start {}.value
      #expect(executor.clock.elapsed == .zero)
      executor.release()
      await nap.value
      #expect(log.withLock { $0 } == ["nap@10s"])
    }

    @Test("work on another thread is waited for under withHold")
    func outsideWork() async throws {
      let executor = VirtualTimeExecutor()
      let instants = await executor.tasks.start { () async -> [Duration] in
        let background = executor.tasks.start { await Self.nap("far", 1000, executor.clock, Guarded([])) }
        let before = executor.clock.elapsed
        await executor.withHold {
          await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume() }
          }
        }
        let after = executor.clock.elapsed
        background.cancel()
        return [before, after]
      }.value
      #expect(instants == [.zero, .zero])
    }

    /// Each call between two methods may queue on the main actor anew.
    @MainActor
    private final class Nested {
      func outer() async { await middle() }
      func middle() async { await inner() }
      func inner() async {}
    }

    @Test("waits for the main actor before it jumps, if told to, however deep the calls there are")
    func mainActor() async throws {
      for _ in 0..<300 {
        let instants = try await withVirtualTime(waitsForMainActor: true) { clock, tasks in
          let far = tasks.start { await Self.nap("far", 1000, clock, Guarded([])) }
          let nested = await MainActor.run { Nested() }
          let first = tasks.start {
            await nested.outer()
            return clock.elapsed
          }
          let second = tasks.start {
            await nested.outer()
            return clock.elapsed
          }
          let instants = [await first.value, await second.value]
          far.cancel()
          return instants
        }
        try #require(instants == [.zero, .zero])
      }
    }

    @Test("the injected choice decides who runs next")
    func choice() async throws {
      func trace(_ choose: (@Sendable (Int) -> Int)?) async -> [String] {
        let executor = VirtualTimeExecutor(choose: choose)
        let log = Guarded<[String]>([])
        return await executor.tasks.start {
          let all = ["a", "b", "c"].map { name in executor.tasks.start { log.withLock { $0.append(name) } } }
          for task in all { await task.value }
          return log.withLock { $0 }
        }.value
      }
      #expect(await trace(nil) == ["a", "b", "c"])
      #expect(await trace { $0 - 1 } == ["c", "b", "a"])
      #expect(await trace { _ in 99 } == ["a", "b", "c"])
    }

    @Test("run(until:) returns once the instant has come, and what was due before has run")
    func runUntil() async throws {
      let executor = VirtualTimeExecutor()
      let log = Guarded<[String]>([])
      executor.hold()
      let naps = [5, 15].map { seconds in
        executor.tasks.start { await Self.nap("nap", seconds, executor.clock, log) }
      }
      while executor.clock.sleeperCount < 2 { await Task.yield() }
      executor.release()
      await executor.run(until: .seconds(10))
      #expect(log.withLock { $0.first } == "nap@5s")
      #expect(executor.clock.elapsed >= .seconds(10))
      for nap in naps { await nap.value }
    }

    @Test("what the body throws comes out, and nobody is left asleep")
    func throwing() async throws {
      struct Stop: Error {}
      let leftovers = Guarded<[String]>([])
      await #expect(throws: Stop.self) {
        try await withVirtualTime { clock, tasks -> Void in
          _ = tasks.start { await Self.nap("left", 10, clock, leftovers) }
          await Task.yield()
          throw Stop()
        }
      }
      while leftovers.withLock({ $0.isEmpty }) { await Task.yield() }
      #expect(leftovers.withLock { $0 } == ["left cancelled@0s"])
    }
  }
#endif

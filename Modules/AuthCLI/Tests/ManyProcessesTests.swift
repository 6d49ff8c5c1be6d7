import AuthCLI
import MockServerCore
import Testing

#if canImport(Glibc)
  import Glibc

  /// Many real processes on one store, and real kills: what the simulator proves of the engine, tried on the built program.
  ///
  /// `make kill-trials` runs them 50 times each and prints a table; `make test` runs each a few times.
  @Suite(.serialized, .timeLimit(.minutes(60)))
  struct ManyProcessesTests {
    /// How many times each kill is tried; a number stands in `CHIRP_KILL_TRIALS` for the long run.
    private static let trials = getenv("CHIRP_KILL_TRIALS").flatMap { Int(String(cString: $0)) }
    static let isLongRun = trials != nil

    @Test("20 processes, 10 calls each, on an expired token: one refresh, and every call succeeds (S15)")
    func oneRefreshForAll() async throws {
      try await ProcessWorld.run(policy: MockPolicy(rotation: .strict), clock: .virtual) { world in
        try await world.login()
        world.realm.advance(by: world.realm.policy.accessTTL + .seconds(1))
        let failures = try await withThrowingTaskGroup(of: [String].self) { group in
          for _ in 0..<20 {
            group.addTask {
              var failures: [String] = []
              for _ in 0..<10 {
                let outcome = try await world.chirp("api", "GET", "/me")
                if outcome.code != 0 || !outcome.output.contains("anna@example.com") {
                  failures.append("exit \(outcome.code): \(outcome.error)")
                }
              }
              return failures
            }
          }
          return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(failures.isEmpty)
        #expect(world.realm.count(.refresh) == 1)
        #expect(world.realm.count(.refresh, .rotated) == 1)
        #expect(world.realm.count(.me, .ok) == 200)
        #expect(try await world.chirp("refresh").code == 0, "the stored refresh token is the server's current one")
      }
    }

    @Test(
      "killed in mid-refresh: the session lives, or under strict rotation ends in one clean sign-out (S16)",
      arguments: [MockRotation.grace, .strict])
    func killed(rotation: MockRotation) async throws {
      // Each point has a world of its own, so the points can be tried at the same time.
      let count = Self.trials ?? 2
      let rows = try await withThrowingTaskGroup(of: (Int, String).self) { group in
        for (index, point) in KillPoint.allCases.enumerated() {
          group.addTask { (index, try await row(of: count, at: point, under: rotation)) }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      guard Self.isLongRun else { return }
      print("\(rotation) | trials | lives | signed out | violations | slowest recovery")
      for (_, row) in rows.sorted(by: { $0.0 < $1.0 }) { print(row) }
    }

    private func row(of count: Int, at point: KillPoint, under rotation: MockRotation) async throws -> String {
      var (lives, signedOut, violations, slowest) = (0, 0, 0, Duration.zero)
      try await ProcessWorld.run(policy: MockPolicy(rotation: rotation), clock: .virtual) { world in
        let trial = KillTrial(world: world, point: point, rotation: rotation)
        for _ in 0..<count {
          do {
            let outcome = try await trial.run()
            if outcome.end == .lives { lives += 1 } else { signedOut += 1 }
            slowest = max(slowest, outcome.recovery)
          } catch let violation as KillTrial.Violation {
            violations += 1
            Issue.record(violation)
          }
        }
      }
      let milliseconds = slowest / .milliseconds(1)
      return "\(point) | \(count) | \(lives) | \(signedOut) | \(violations) | \(Int(milliseconds)) ms"
    }

    @Test("Ctrl-C in mid-refresh ends with 130 and loses nothing (S16)", arguments: [MockRotation.grace, .strict])
    func interrupted(rotation: MockRotation) async throws {
      try await ProcessWorld.run(policy: MockPolicy(rotation: rotation), clock: .virtual) { world in
        try await world.login()
        let rounds = Self.trials ?? 2
        var interrupted = 0
        for round in 1...rounds {
          world.realm.advance(by: world.realm.policy.accessTTL + .seconds(1))
          world.realm.script(.refresh, .hold("answer"))
          let before = world.realm.count(.refresh)
          let process = try ChirpProcess(["api", "GET", "/me"], environment: world.environment, onTerminal: false)
          _ = await world.realm.waitForCount(
            MockJournalFilter(operation: .refresh), atLeast: before + 1, timeout: .seconds(30))
          process.send(SIGINT)
          await process.waitUntilSignalsAreTaken()
          world.realm.release(hold: "answer")
          let outcome = try await process.finish()
          // A signal that is taken when the call is done comes too late: then the answer must be there, whole.
          let isDone = outcome.code == 0 && outcome.output.contains("anna@example.com")
          #expect(outcome.code == 130 || isDone, "round \(round): exit \(outcome.code): \(outcome.error)")
          if outcome.code == 130 { interrupted += 1 }
          #expect(try await world.chirp("api", "GET", "/me").code == 0, "round \(round)")
          #expect(world.realm.count(.refresh) == before + 1, "the new pair was saved before the process ended")
        }
        #expect(interrupted > rounds / 2, "Ctrl-C came too late in \(rounds - interrupted) of \(rounds) rounds")
        #expect(try await world.chirp("refresh").code == 0)
        if Self.isLongRun { print("\(rotation) | Ctrl-C | \(rounds) rounds | \(interrupted) exits with 130") }
      }
    }

    @Test(
      "a stopped process is not robbed of its refresh: others are busy, and all go on when it does (S15)",
      .enabled(if: isLongRun, "the wait for a stopped process is 20 s: make kill-trials"),
      arguments: [MockRotation.grace, .strict])
    func stopped(rotation: MockRotation) async throws {
      try await ProcessWorld.run(policy: MockPolicy(rotation: rotation), clock: .virtual) { world in
        try await world.login()
        world.realm.advance(by: world.realm.policy.accessTTL + .seconds(1))
        world.realm.script(.refresh, .hold("answer"))
        let process = try ChirpProcess(["api", "GET", "/me"], environment: world.environment, onTerminal: false)
        _ = await world.realm.waitForCount(
          MockJournalFilter(operation: .refresh), atLeast: 1, timeout: .seconds(30))
        process.send(SIGSTOP)
        #expect(await process.waitForStop())
        // The server has rotated, and its answer waits in the stopped process's socket: nobody else has the new pair.
        world.realm.release(hold: "answer")
        let start = ContinuousClock.now
        let other = try await world.chirp("api", "GET", "/me")
        let wait = ContinuousClock.now - start
        #expect(other.code == 5, "\(other.error)")
        #expect(wait > .seconds(19) && wait < .seconds(35), "\(wait)")
        #expect(world.realm.count(.refresh) == 1)
        process.send(SIGCONT)
        let outcome = try await process.finish()
        #expect(outcome.code == 0, "\(outcome.error)")
        #expect(try await world.chirp("api", "GET", "/me").code == 0)
        #expect(world.realm.count(.refresh) == 1)
        #expect(try await world.chirp("refresh").code == 0)
      }
    }
  }
#endif

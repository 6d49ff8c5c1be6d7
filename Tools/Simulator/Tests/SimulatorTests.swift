import Groundwork
import Testing

@testable import SimulatorKit

@Suite("Schedules of the session engine")
struct EngineScheduleTests {
  @Test("Five hundred seeds violate no invariant, and reach what they are there to reach")
  func seeds() {
    let report = Campaign(Setup(), seeds: 1...500, workers: 2).run()
    #expect(report.findings.map(\.violation) == [])
    #expect(report.passed == 500)
    for mark in [Mark.killed, .answerLost, .revokedSession, .cancelled, .intentWritten, .refused, .signOut] {
      #expect(report.coverage.count(mark) > 0, "\(mark.rawValue)")
    }
    #expect(report.coverage.transitions.contains { $0.name == "committed → done" })
  }

  @Test("A seed gives the same schedule each time, step by step")
  func repeats() {
    for seed in UInt64(1)...20 {
      let first = Schedule(Setup(), seed: seed, isTraced: true).run()
      let second = Schedule(Setup(), seed: seed, isTraced: true).run()
      #expect(first.choices == second.choices)
      #expect(first.trace == second.trace)
      let replayed = Schedule(Setup(), seed: seed, choices: first.choices, isTraced: true).run()
      #expect(replayed.trace == first.trace)
    }
  }

  @Test("The result of a campaign does not depend on the number of threads")
  func threads() {
    let one = Campaign(Setup(subject: .naive), seeds: 1...60, workers: 1).run()
    let two = Campaign(Setup(subject: .naive), seeds: 1...60, workers: 2).run()
    #expect(one.steps == two.steps)
    #expect(one.findings.map(\.violation) == two.findings.map(\.violation))
    #expect(one.findings.map(\.seed) == two.findings.map(\.seed))
  }

  @Test("Two processes, strict rotation: what is fixed stays fixed")
  func fixed() {
    let outcome = Schedule(Setup(processes: 2, policy: .strict), seed: 3, isTraced: true).run()
    #expect(outcome.processCount == 2)
    #expect(outcome.diagram.text.contains("rotation strict"))
  }
}

@Suite("The documents' own design")
struct NaiveScheduleTests {
  @Test("The simulator finds its faults, and shrinks one to a schedule that still shows it")
  func faults() throws {
    let setup = Setup(subject: .naive)
    let report = Campaign(setup, seeds: 1...100, workers: 2).run()
    let kinds = Set(report.findings.map(\.violation.kind))
    #expect(kinds.contains("sign-out on a passing failure"))
    #expect(kinds.contains("refresh token spent twice by two processes"))
    let finding = try #require(report.findings.first { $0.violation.kind == "sign-out on a passing failure" })
    let shrunk = Campaign.shrink(setup, finding)
    #expect(shrunk.choices.count { $0 != 0 } < finding.choices.count { $0 != 0 })
    let again = Schedule(
      setup, seed: finding.seed, choices: shrunk.choices, isTraced: true, ending: .at(kind: finding.violation.kind)
    ).run()
    #expect(again.violations.contains { $0.kind == finding.violation.kind })
    #expect(again.diagram.text.contains("VIOLATION of (5)"))
    #expect(again.diagram.svg.hasPrefix("<svg"))
  }
}

@Suite("Choices")
struct ChoicesTests {
  @Test("A list that is used up goes on with the calm choice")
  func calm() {
    let choices = Choices(seed: 1, script: [2, 7])
    #expect(choices.pick(5) == 2)
    #expect(choices.pick(5) == 2)
    #expect(choices.pick(5) == 0)
    #expect(choices.taken == [2, 2, 0])
  }

  @Test("A list is written and read: zeros are left out, and those at the end go")
  func text() {
    #expect(ChoiceList.text([0, 3, 0, 0, 12, 0]) == ".3...12")
    #expect(ChoiceList.parse(".3...12") == [0, 3, 0, 0, 12])
    #expect(ChoiceList.parse("x") == nil)
    #expect(ChoiceList.parse("70000") == nil)
  }

  @Test("Weights: never one of weight zero")
  func weights() {
    let choices = Choices(seed: 9, script: nil)
    for _ in 0..<500 { #expect(choices.pick(weights: [1, 0, 3]) != 1) }
  }
}

@Suite("The scheduler")
struct SchedulerTests {
  @Test("Killing a lane ends its sleeps at once, and its later ones")
  func kill() {
    let scheduler = Scheduler()
    let lane = LaneExecutor(lane: 1, scheduler: scheduler)
    let seen = Guarded<[String]>([])
    lane.tasks.start {
      for _ in 0..<2 {
        do { try await scheduler.sleep(for: .seconds(60), lane: 1) } catch {
          seen.withLock { $0.append("\(type(of: error))") }
        }
      }
    }
    let choices = Choices(seed: 0, script: [])
    #expect(scheduler.step(choices))
    scheduler.kill(1)
    while scheduler.step(choices) {}
    #expect(seen.withLock { $0 } == ["Killed", "Killed"])
    #expect(scheduler.now == .zero)
  }

  @Test("A stopped lane waits, and the others go on")
  func pause() {
    let scheduler = Scheduler()
    let seen = Guarded<[Int]>([])
    for lane in [1, 2] {
      LaneExecutor(lane: lane, scheduler: scheduler).tasks.start { seen.withLock { $0.append(lane) } }
    }
    scheduler.setPaused(true, 1)
    let choices = Choices(seed: 0, script: [])
    while scheduler.step(choices) {}
    #expect(seen.withLock { $0 } == [2])
    scheduler.setPaused(false, 1)
    while scheduler.step(choices) {}
    #expect(seen.withLock { $0 } == [2, 1])
  }
}

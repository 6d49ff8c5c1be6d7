import AuthStorage
import Groundwork
import MockServerCore

/// One schedule, from its first choice to its end.
package struct Schedule: Sendable {
  /// What came of it.
  package struct Outcome: Sendable {
    /// The invariants that were violated.
    package var violations: [Violation]
    /// Every choice that was made.
    package var choices: [UInt16]
    /// What was reached.
    package var coverage: Coverage
    /// Its steps: jobs, timers, jumps of the clock.
    package var steps: Int
    /// The virtual time that passed.
    package var elapsed: Duration
    var trace: [TraceEvent]
    var processCount: Int
    var title: String
  }

  /// What ends a schedule before its own end.
  package enum Ending: Sendable, Hashable {
    /// The first violation.
    case atFirst
    /// The first violation of this kind; others are let pass.
    case at(kind: String)
    /// Nothing: all kinds of violations are looked for.
    case atEnd
  }

  /// More than any schedule needs: beyond it something turns in circles.
  private static let stepLimit = 60_000

  private let world: World
  private let ending: Ending
  private let script: Script

  /// Prepares a schedule.
  ///
  /// - Parameters:
  ///   - choices: what to choose; nil draws from the seed.
  ///   - ending: what ends it early.
  package init(
    _ setup: Setup, seed: UInt64, choices: [UInt16]? = nil, isTraced: Bool = false, ending: Ending = .atFirst
  ) {
    world = World(setup, choices: Choices(seed: seed, script: choices), seed: seed, isTraced: isTraced)
    self.ending = ending
    script = Script(world: world)
  }

  /// Runs it, on this thread.
  package func run() -> Outcome {
    world.trace.add(.banner, title)
    script.begin()
    var disturbance = Disturbances(world: world, script: script)
    var isStuck = false
    var checked = Duration.zero
    while !script.isDone {
      if isOver { break }
      disturbance.step()
      guard world.scheduler.step(world.choices) else {
        isStuck = true
        break
      }
      world.lookAround()
      // Waits grow with time alone, and most steps take none.
      if world.scheduler.now != checked {
        checked = world.scheduler.now
        world.monitor.checkWaits(paused: world.scheduler.isPaused)
      }
      if world.scheduler.steps > Self.stepLimit {
        world.monitor.fail(8, "no end", "the schedule has taken \(Self.stepLimit) steps and goes on")
        break
      }
    }
    if isStuck {
      world.monitor.nothingLeft()
      if !world.monitor.hasViolation {
        world.monitor.fail(
          7, "a task that never ends", "nothing is left to run, and the schedule's own script still waits")
      }
    }
    if world.scheduler.escaped > 0 {
      world.monitor.fail(7, "a job on another thread", "\(world.scheduler.escaped) jobs have escaped the scheduler")
    }
    let choices = world.choices.taken
    let outcome = Outcome(
      violations: world.monitor.violations, choices: choices, coverage: world.coverage.total,
      steps: world.scheduler.steps, elapsed: world.scheduler.now, trace: world.trace.all,
      processCount: world.processCount, title: title)
    drain()
    return outcome
  }

  private var isOver: Bool {
    switch ending {
    case .atFirst: world.monitor.hasViolation
    case .at(let kind): world.monitor.hasViolation && world.monitor.violations.contains { $0.kind == kind }
    case .atEnd: false
    }
  }

  private var title: String {
    "\(world.setup.subject.rawValue), rotation \(world.policy.rawValue), access tokens live \(world.accessTTL.text)"
      + (world.strangeLifetime.map { ", the server says expiresIn: \($0)" } ?? "")
      + (world.lockExcludes ? "" : ", the lock excludes nobody")
      + (world.refusesSpentOnly ? ", spent tokens are just refused" : "")
      + ", faults: \(["none", "seldom", "often"][world.faults.intensity])"
  }

  /// Kills what lives and lets every task run out, so that nothing is left behind.
  private func drain() {
    world.calm()
    script.cancel()
    world.end()
    var left = 100_000
    while left > 0, world.scheduler.step(world.choices) { left -= 1 }
  }
}

/// What happens to the world from outside: the next disturbance is so many steps away.
private struct Disturbances {
  let world: World
  let script: Script
  private var stepsLeft: Int?

  init(world: World, script: Script) {
    self.world = world
    self.script = script
    stepsLeft = Self.gap(world)
  }

  private static func gap(_ world: World) -> Int? {
    let gap = world.choices.pick(90)
    return gap == 0 ? nil : gap
  }

  mutating func step() {
    for process in world.killDoomed() { script.restart(process) }
    guard let left = stepsLeft, !world.faults.isStopped else { return }
    guard left <= 1 else {
      stepsLeft = left - 1
      return
    }
    disturb()
    stepsLeft = Self.gap(world)
  }

  private func disturb() {
    let choices = world.choices
    let living = world.living
    let durations: [Duration] = [.milliseconds(300), .seconds(4), .seconds(40)]
    switch choices.pick(weights: [19, 19, 4, 7, 7, 9, 7, 7, 7, world.lockExcludes ? 16 : 40]) {
    case 0:
      guard !living.isEmpty else { return }
      let process = living[choices.pick(living.count)]
      world.kill(process)
      script.restart(process)
    case 1: world.arm(KillPoint.allCases[choices.pick(KillPoint.allCases.count)])
    case 2: reboot()
    case 3: jumpClock()
    case 4: revoke(session: true)
    case 5: revoke(session: false)
    case 6:
      let errors = [Faults.full, Faults.readOnly, Faults.locked, Faults.unavailable]
      let index = choices.pick(errors.count)
      world.faults.breakStore(errors[index], for: durations[choices.pick(durations.count)])
      world.coverage.note(index < 2 ? .storeRefusesWrites : .storeLocked)
      world.trace.add(.banner, "the store is \(errors[index].code.rawValue) for a while")
    case 7:
      world.faults.goOffline(for: durations[choices.pick(durations.count)])
      world.trace.add(.banner, "the network goes down for a while")
    case 8:
      guard !living.isEmpty else { return }
      script.stop(living[choices.pick(living.count)], for: durations[choices.pick(durations.count)])
    default: script.scene()
    }
  }

  private func reboot() {
    world.coverage.note(.reboot)
    world.coverage.note(.clockMoved)
    world.trace.add(.banner, "the machine restarts")
    let living = world.living
    for process in living { world.kill(process) }
    world.machine.restart()
    for process in living { script.restart(process) }
  }

  private func jumpClock() {
    let jumps: [Double] = [3600, -3600, 365 * 86400, -365 * 86400, 5, -5]
    let jump = jumps[world.choices.pick(jumps.count)]
    world.machine.jumpWallClock(by: jump)
    world.coverage.note(.wallJump)
    world.coverage.note(.clockMoved)
    world.trace.add(.banner, "the wall clock is moved by \(Int(jump)) s")
  }

  private func revoke(session: Bool) {
    let realm = world.server.realm()
    guard let last = realm.snapshot.sessions.last(where: \.alive) else { return }
    if session {
      realm.revoke(.session(last.id))
      world.coverage.note(.revokedSession)
    } else {
      realm.revokeAccessTokens(of: last.id)
      world.coverage.note(.revokedAccess)
    }
    world.trace.add(.banner, session ? "the server revokes the session" : "the server revokes the access tokens")
  }
}

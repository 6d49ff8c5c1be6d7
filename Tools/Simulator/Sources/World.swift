import AuthNetworking
import AuthStorage
import Groundwork
import MockServerCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Which design is put to the test.
package enum SubjectKind: String, Sendable, CaseIterable {
  /// The session engine.
  case engine
  /// The documents' own design, as it reads.
  case naive
}

/// How the server treats a spent refresh token.
package enum RotationKind: String, Sendable, CaseIterable {
  case strict
  case grace
}

/// What is fixed for a schedule; the rest is chosen.
package struct Setup: Sendable, Hashable {
  /// The design under test.
  package var subject: SubjectKind
  /// How many processes; nil: 1 to 3, chosen.
  package var processes: Int?
  /// The server's policy; nil: chosen.
  package var policy: RotationKind?
  /// Whether the refresh lock keeps others out; nil: chosen.
  package var lockExcludes: Bool?

  /// Fixes what is given.
  package init(
    subject: SubjectKind = .engine, processes: Int? = nil, policy: RotationKind? = nil, lockExcludes: Bool? = nil
  ) {
    self.subject = subject
    self.processes = processes
    self.policy = policy
    self.lockExcludes = lockExcludes
  }

  /// What a command line needs besides the seed to run the same schedule.
  package var arguments: String {
    (subject == .engine ? "" : " --subject \(subject.rawValue)") + (processes.map { " --processes \($0)" } ?? "")
      + (policy.map { " --policy \($0.rawValue)" } ?? "")
      + (lockExcludes.map { " --lock \($0 ? "holds" : "nobody")" } ?? "")
  }
}

/// One machine, one store, one server and some processes.
final class World: Sendable {
  static let users = ["anna@example.com", "ben@example.com"]
  static let password = "password123"
  static let slot = SessionSlot(server: "http://localhost:8080")

  let setup: Setup
  let choices: Choices
  let scheduler: Scheduler
  let machine: Machine
  let memory: InMemorySessionStore
  let server: MockAuthServer
  let faults: Faults
  let monitor: Monitor
  let trace: Trace
  let coverage = CoverageCounter()
  let processCount: Int
  let policy: RotationKind
  let accessTTL: Duration
  /// What the server says instead of a lifetime, if it is such a server.
  let strangeLifetime: String?
  /// Whether the refresh lock keeps others out; on some file systems a lock excludes nobody, and compare-and-swap is all there is.
  let lockExcludes: Bool
  /// Whether the server just refuses a spent token, and leaves its session alone.
  let refusesSpentOnly: Bool
  let baseURL: URL
  private let dice: Guarded<Dice>
  private let processes = Guarded<[SimulatedProcess]>([])
  private let armed = Guarded<KillPoint?>(nil)
  private let armedOutage = Guarded<Outage?>(nil)
  private let doomed = Guarded<[SimulatedProcess]>([])

  init(_ setup: Setup, choices: Choices, seed: UInt64, isTraced: Bool) {
    self.setup = setup
    self.choices = choices
    scheduler = Scheduler()
    machine = Machine(scheduler: scheduler)
    dice = Guarded(Dice(seed: seed ^ 0x5EED))
    baseURL = URL(string: Self.slot.server) ?? URL(filePath: "/")
    memory = InMemorySessionStore(time: ProcessClock(machine: machine, lane: Scheduler.world))
    trace = Trace(isOn: isTraced, scheduler: scheduler)
    policy = setup.policy ?? [.grace, .strict][choices.pick(2)]
    processCount = setup.processes ?? choices.pick(weights: [40, 45, 15]) + 1
    let lifetimes: [Duration] = [.seconds(900), .seconds(60), .seconds(20)]
    accessTTL = lifetimes[choices.pick(weights: [50, 30, 20])]
    strangeLifetime = [nil, "null", "-1", "0", "1000000000000000000"][choices.pick(weights: [92, 2, 2, 2, 2])]
    let holds = processCount == 1 || !choices.chance(28)
    lockExcludes = setup.lockExcludes ?? holds
    refusesSpentOnly = !lockExcludes && choices.chance(50)
    faults = Faults(
      intensity: choices.pick(weights: [20, 50, 30]), choices: choices, scheduler: scheduler, coverage: coverage)
    var configuration = MockServerConfiguration(
      policy: MockPolicy(accessTTL: accessTTL, rotation: policy == .strict ? .strict : .grace), seed: seed, feedItems: 0
    )
    configuration.users = Self.users.map {
      MockSeedUser(username: String($0.prefix { $0 != "@" }), email: $0, password: Self.password)
    }
    server = MockAuthServer(configuration: configuration, time: ServerClock(scheduler: scheduler), tasks: TaskStarter())
    monitor = Monitor(
      realm: server.realm(), machine: machine, trace: trace, coverage: coverage, usesLock: setup.subject == .engine,
      accessTTL: accessTTL, lockExcludes: lockExcludes,
      refusesSpentOnly: refusesSpentOnly)
  }

  // MARK: Chance that no schedule chooses

  func roll() -> Double { dice.withLock { $0.unit() } }

  func makeID() -> UUID {
    let (high, low) = dice.withLock { ($0.next(), $0.next()) }
    func byte(_ word: UInt64, _ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: word >> (index * 8)) }
    return UUID(
      uuid: (
        byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5), byte(high, 6),
        byte(high, 7),
        byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3), byte(low, 4), byte(low, 5), byte(low, 6), byte(low, 7)
      ))
  }

  // MARK: Processes

  var living: [SimulatedProcess] { processes.withLock { $0 }.filter(\.isAlive) }

  /// Starts a process in a column of its own, or the next life of one that was killed.
  func start(column: Int) -> SimulatedProcess {
    let (id, life) = processes.withLock { processes in
      (processes.count, processes.count { $0.column == column } + 1)
    }
    let process = SimulatedProcess(id: id, column: column, life: life, machine: machine)
    processes.withLock { $0.append(process) }
    let subject: any Subject =
      switch setup.subject {
      case .engine: EngineSubject(world: self, process: process)
      case .naive: NaiveSubject(world: self, process: process)
      }
    process.subject = subject
    monitor.started(process)
    if faults.isStopped || choices.chance(50) { subject.observe() }
    return process
  }

  /// Kills a process: its seams do nothing from now on, its timers fire, its lock is given back by the system.
  func kill(_ process: SimulatedProcess) {
    guard process.isAlive else { return }
    for point in process.points { coverage.note(point) }
    coverage.note(.killed)
    trace.add(
      .note(.process(process.column)),
      "\(process.name) is killed: \(process.points.map(\.rawValue).joined(separator: "; "))")
    bury(process)
  }

  private func bury(_ process: SimulatedProcess) {
    process.die()
    monitor.killed(process)
    memory.releaseLocks(heldBy: process.name)
    process.subject?.close()
    scheduler.kill(process.id)
    scheduler.wake(tag: ProcessStore.lockTag)
  }

  /// The next process that comes to this point is killed there.
  func arm(_ point: KillPoint) { armed.withLock { $0 = point } }

  /// A store that fails one process from a point on.
  struct Outage: Sendable {
    var point: KillPoint
    var error: StoreError
    var duration: Duration
    /// Whether the access that came to the point fails as well, though it is committed.
    var isAfterCommit = false
  }

  /// The next process that comes to the outage's point suffers it.
  func arm(_ outage: Outage) { armedOutage.withLock { $0 = outage } }

  /// A process has come to a point at which it gives the turn away.
  func reached(_ point: KillPoint, by process: SimulatedProcess) {
    let outage = armedOutage.withLock { armed -> Outage? in
      guard armed?.point == point else { return nil }
      defer { armed = nil }
      return armed
    }
    if let outage {
      faults.begin(outage, of: process.id)
      trace.add(
        .note(.process(process.column)),
        "to \(process.name) the store is \(outage.error.code.rawValue) for \(outage.duration.text)")
    }
    let isMeant = armed.withLock { armed in
      guard armed == point else { return false }
      armed = nil
      return true
    }
    if isMeant { doomed.withLock { $0.append(process) } }
  }

  /// Kills whoever has come to the armed point; returns them.
  func killDoomed() -> [SimulatedProcess] {
    let processes = doomed.withLock { doomed in
      defer { doomed = [] }
      return doomed
    }
    for process in processes { kill(process) }
    return processes
  }

  /// No more faults; whoever was stopped goes on.
  func calm() {
    faults.stop()
    armed.withLock { $0 = nil }
    armedOutage.withLock { $0 = nil }
    doomed.withLock { $0 = [] }
  }

  /// Ends all processes, so that nothing is left behind.
  func end() {
    for process in living { bury(process) }
    for process in processes.withLock({ $0 }) { process.subject = nil }
  }

  /// Checks after each step: what a process believes changes in its own jobs alone, or as the world acts on it.
  func lookAround() {
    guard let lane = scheduler.lastLane else { return }
    for process in processes.withLock({ $0 }) where process.isAlive && (lane == process.id || lane == Scheduler.world) {
      if let subject = process.subject { monitor.look(at: process, subject.sight) }
    }
  }
}

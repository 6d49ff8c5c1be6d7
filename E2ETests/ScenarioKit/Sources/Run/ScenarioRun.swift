internal import CheckedYAML
internal import Groundwork

/// Runs one scenario in one world: step by step, stopping at the first that is not as expected, then the final checks.
struct ScenarioRun {
  let scenario: Scenario
  let world: any ScenarioWorld
  /// Tells the runner where the run is, in case it hangs.
  let progress: Guarded<String>
  /// What could not be judged, since the client does not tell it.
  let unjudged = Guarded<Set<Facet>>([])
  var report: ScenarioReport
  private var background: [String: Task<[Outcome], Never>] = [:]
  private var backgroundProcess: [String: String] = [:]

  init(_ scenario: Scenario, in world: any ScenarioWorld, driver: String, progress: Guarded<String>) {
    self.scenario = scenario
    self.world = world
    self.progress = progress
    report = ScenarioReport(scenario: scenario, driver: driver, result: .passed)
  }

  /// Runs everything and tells how it went.
  mutating func run() async -> ScenarioReport {
    do throws(WorldError) {
      try await prepare()
      for step in scenario.steps {
        progress.withLock { $0 = "\(scenario.file):\(step.mark.line) \(step.title)" }
        try await run(step)
        guard report.failures.isEmpty else { break }
      }
      if report.failures.isEmpty {
        progress.withLock { $0 = "\(scenario.file): the final checks" }
        await world.settle()
        try await checkTheEnd()
      }
      report.journal = try await world.admin.journal()
    } catch {
      fail(at: progress.withLock { $0 }, expected: ScenarioReport.Failure.workingRig, seen: error.message)
    }
    for task in background.values { task.cancel() }
    if !report.failures.isEmpty { report.result = .failed }
    report.unjudged = unjudged.withLock { $0 }.map(\.rawValue).sorted()
    return report
  }

  mutating func fail(at place: String, expected: String, seen: String) {
    report.failures.append(ScenarioReport.Failure(place: place, expected: expected, seen: seen))
  }

  private func prepare() async throws(WorldError) {
    let admin = world.admin
    let policy = world.prepared(scenario.policy, for: scenario)
    if policy.object?.isEmpty == false { try await admin.call("PUT", "policy", policy) }
    if !scenario.users.isEmpty {
      let users = scenario.users.map { user -> JSONValue in
        ["username": .string(user.name), "email": .string(user.email), "password": .string(user.password)]
      }
      try await admin.call("POST", "users", .array(users))
    }
    try await world.prepare()
    for script in scenario.scripts { try await admin.call("PUT", "scripts", script.body) }
  }

  private mutating func run(_ step: Step) async throws(WorldError) {
    let before = world.elapsed
    var seen: [Outcome] = []
    if let name = step.background {
      background[name] = world.tasks.start { [world] in await Self.performAtOnce(step, in: world) }
      backgroundProcess[name] = step.process
    } else {
      for _ in 0..<step.times { seen += try await perform(step) }
    }
    let place = "\(scenario.file):\(step.mark.line) \(step.title)"
    let failures = report.failures.count
    for mismatch in try await mismatches(step, seen: seen, before: before) {
      fail(at: place, expected: mismatch.expected, seen: mismatch.seen)
    }
    let summary = seen.isEmpty ? (step.background == nil ? "done" : "running") : Self.summary(seen)
    report.steps.append(
      ScenarioReport.StepRecord(
        title: step.title, line: step.mark.line, seen: summary, passed: report.failures.count == failures,
        journalCount: try await world.admin.journal().last?.sequence ?? 0))
  }

  /// Equal outcomes are told once.
  private static func summary(_ outcomes: [Outcome]) -> String {
    guard outcomes.count > 1 else { return outcomes.first?.summary ?? "" }
    var counts: [(String, Int)] = []
    for outcome in outcomes {
      if let index = counts.firstIndex(where: { $0.0 == outcome.summary }) {
        counts[index].1 += 1
      } else {
        counts.append((outcome.summary, 1))
      }
    }
    return counts.map { "\($0.1) × \($0.0)" }.joined(separator: "; ")
  }

  private mutating func perform(_ step: Step) async throws(WorldError) -> [Outcome] {
    let admin = world.admin
    switch step.verb {
    case .check: return []
    case .advance(let duration): try await world.advance(by: duration)
    case .serverClock(let duration): try await admin.call("POST", "clock", ["advance": .string(duration.text)])
    case .revoke(let what): try await revoke(what, process: step.process)
    case .script(let scripts):
      for script in scripts { try await admin.call("PUT", "scripts", script.body) }
    case .policy(let policy): try await admin.call("PUT", "policy", policy)
    case .release(let hold, let count):
      var body: [String: JSONValue] = ["hold": .string(hold)]
      if let count { body["count"] = .number(Double(count)) }
      try await admin.call("POST", "release", .object(body))
    case .wait(let counts):
      for (operation, count) in counts.sorted(by: { $0.key < $1.key }) {
        let seen = try await admin.wait(for: operation, count: count, timeout: world.elapsed == nil ? "10s" : "1h")
        if seen < count {
          fail(
            at: "\(scenario.file):\(step.mark.line) \(step.title)", expected: "\(count) × \(operation) to come",
            seen: "\(seen) within 10 s")
        }
      }
    case .project(let file, let texts):
      try ProjectFiles.check(file, has: texts, near: scenario.file, isEmpty: world.filesAreEmpty)
    case .relaunch, .reboot, .kill, .offline, .clientClock, .storeFault:
      if case .kill = step.verb { forget(step.process) }
      try await world.change(step.verb, of: step.process)
    case .until(let belief):
      // The step's own check tells what is still missing if this was not long enough.
      for _ in 0..<500 {
        if try await mismatches(belief, of: step.process).isEmpty || Task.isCancelled { break }
        await world.pause()
      }
    case .await(let name):
      guard let task = background.removeValue(forKey: name) else {
        throw WorldError("\"\(name)\" is not in the background any more")
      }
      return await task.value
    case .cancel(let name): background[name]?.cancel()
    default: return await Self.performAtOnce(step, in: world)
    }
    return []
  }

  /// What a killed process was doing ends nowhere.
  private mutating func forget(_ process: String) {
    for (name, owner) in backgroundProcess where owner == process { background[name] = nil }
  }

  private static func performAtOnce(_ step: Step, in world: any ScenarioWorld) async -> [Outcome] {
    let (verb, process) = (step.verb, step.process)
    guard step.parallel > 1 else { return [await world.perform(verb, as: process)] }
    return await withTaskGroup(of: Outcome.self) { group in
      for _ in 0..<step.parallel { group.addTask { await world.perform(verb, as: process) } }
      var outcomes: [Outcome] = []
      for await outcome in group { outcomes.append(outcome) }
      return outcomes
    }
  }

  private func revoke(_ what: Verb.Revocation, process: String) async throws(WorldError) {
    let body: JSONValue
    switch what {
    case .all: body = ["all": true]
    case .access: body = ["access": .string(try await world.token(.access, of: process))]
    case .refresh: body = ["refresh": .string(try await world.token(.refresh, of: process))]
    case .session:
      guard let newest = try await world.admin.sessions().live.last else {
        throw WorldError("no session is alive to revoke")
      }
      body = ["session": .string(newest)]
    }
    try await world.admin.call("POST", "revoke", body)
  }
}

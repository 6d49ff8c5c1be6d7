internal import Groundwork

/// Runs scenarios under drivers, several at once, each within a bound of real time.
package struct Runner: Sendable {
  /// How many run at once.
  package var jobs: Int
  /// How long one may take, in real time.
  package var timeLimit: Duration
  /// What each driver lacks.
  package var limits: DriverLimits
  /// The last word on each report, such as a baseline's.
  package var judge: @Sendable (ScenarioReport) -> ScenarioReport = { $0 }
  /// Tells of each report as it comes, from one task at a time.
  package var onReport: @Sendable (ScenarioReport) -> Void

  private let clock = SystemClock()

  /// Makes a runner.
  package init(
    jobs: Int, timeLimit: Duration = .seconds(30), limits: DriverLimits,
    onReport: @escaping @Sendable (ScenarioReport) -> Void = { _ in }
  ) {
    self.jobs = jobs
    self.timeLimit = timeLimit
    self.limits = limits
    self.onReport = onReport
  }

  /// Runs every scenario under every driver.
  ///
  /// - Returns: the reports, driver by driver, in the order of the scenarios.
  package func run(_ scenarios: [Scenario], drivers: [any ScenarioDriver]) async -> [ScenarioReport] {
    var reports: [ScenarioReport] = []
    for driver in drivers { reports += await run(scenarios, driver: driver) }
    return reports
  }

  private func run(_ scenarios: [Scenario], driver: any ScenarioDriver) async -> [ScenarioReport] {
    let width = max(1, min(jobs, driver.maximumJobs ?? jobs))
    return await withTaskGroup(of: (Int, ScenarioReport).self) { group in
      var reports: [Int: ScenarioReport] = [:]
      var next = 0
      while next < scenarios.count || reports.count < next {
        if next < scenarios.count, next - reports.count < width {
          let (index, scenario) = (next, scenarios[next])
          group.addTask { (index, await run(scenario, driver: driver, realm: "\(driver.limitsName)-\(index + 1)")) }
          next += 1
        } else if let (index, report) = await group.next() {
          let judged = judge(report)
          onReport(judged)
          reports[index] = judged
        }
      }
      return reports.sorted { $0.key < $1.key }.map(\.value)
    }
  }

  /// Runs one scenario under one driver; whatever happens, it comes back within the bound.
  package func run(_ scenario: Scenario, driver: any ScenarioDriver, realm: String) async -> ScenarioReport {
    let reason =
      scenario.skip ?? limits.reason(driver: driver.limitsName, scenario: scenario) ?? driver.lacks(scenario)
    if let reason {
      return ScenarioReport(scenario: scenario, driver: driver.name, result: .skipped, skipReason: reason)
    }
    let start = clock.sinceBoot
    let progress = Guarded("\(scenario.file): the start")
    var report = await bounded(scenario, driver: driver, progress: progress) {
      do throws(WorldError) {
        return try await driver.withWorld(for: scenario, realm: realm) { world in
          var run = ScenarioRun(scenario, in: world, driver: driver.name, progress: progress)
          return await run.run()
        }
      } catch {
        return Self.broken(
          scenario, driver, at: progress.withLock { $0 }, expected: "a world to run in", seen: error.message)
      }
    }
    report.seconds = (clock.sinceBoot - start).inSeconds
    return report
  }

  private static func broken(
    _ scenario: Scenario, _ driver: any ScenarioDriver, at place: String, expected: String, seen: String
  ) -> ScenarioReport {
    var report = ScenarioReport(scenario: scenario, driver: driver.name, result: .failed)
    report.failures = [ScenarioReport.Failure(place: place, expected: expected, seen: seen)]
    return report
  }

  /// Whichever comes first: the report, or the end of the time limit. What hangs is cancelled and left behind.
  private func bounded(
    _ scenario: Scenario, driver: any ScenarioDriver, progress: Guarded<String>,
    _ body: @escaping @Sendable () async -> ScenarioReport
  ) async -> ScenarioReport {
    let (stream, continuation) = AsyncStream.makeStream(of: ScenarioReport.self)
    let tasks = TaskStarter()
    let run = tasks.start { continuation.yield(await body()) }
    let timeLimit = self.timeLimit + driver.allowance(for: scenario)
    let alarm = tasks.start { [clock] in
      do { try await clock.sleep(for: timeLimit) } catch { return }
      continuation.yield(
        Self.broken(
          scenario, driver, at: progress.withLock { $0 }, expected: "an end within \(timeLimit.text) of real time",
          seen: "it hung here"))
    }
    defer {
      run.cancel()
      alarm.cancel()
      continuation.finish()
    }
    for await report in stream { return report }
    return Self.broken(
      scenario, driver, at: progress.withLock { $0 }, expected: "an end", seen: "the run was cancelled")
  }
}

/// A way to run scenarios.
package protocol ScenarioDriver: Sendable {
  /// The driver's name on the command line.
  var name: String { get }

  /// How many scenarios it runs at once at most, whatever `--jobs` says; nil for no limit of its own.
  var maximumJobs: Int? { get }

  /// The name under which `drivers.yaml` has its limits.
  var limitsName: String { get }

  /// Why it cannot run a scenario, beyond what `drivers.yaml` says of its kind; nil if it can.
  func lacks(_ scenario: Scenario) -> String?

  /// How much real time a scenario may take beyond the runner's limit, since the driver has to wait in it.
  func allowance(for scenario: Scenario) -> Duration

  /// Runs `body` in a new world for the scenario.
  ///
  /// - Parameter realm: a name of its own for the scenario's realm.
  func withWorld(
    for scenario: Scenario, realm: String, _ body: @escaping @Sendable (any ScenarioWorld) async -> ScenarioReport
  ) async throws(WorldError) -> ScenarioReport
}

extension ScenarioDriver {
  package var maximumJobs: Int? { nil }

  package var limitsName: String { name }

  package func lacks(_ scenario: Scenario) -> String? { nil }

  package func allowance(for scenario: Scenario) -> Duration { .zero }
}

/// How one scenario went under one driver.
package struct ScenarioReport: Sendable {
  /// What came out.
  package enum Result: String, Sendable {
    case passed, failed, skipped
    /// It failed, as the baseline says.
    case known
  }

  /// A step as it went.
  package struct StepRecord: Sendable {
    package var title: String
    package var line: Int
    package var seen: String
    package var passed: Bool
    /// The last journal entry when the step had ended.
    package var journalCount: Int
  }

  /// Something that was not as expected.
  package struct Failure: Sendable {
    /// `file:line`, and the step's text or the name of the final check.
    package var place: String
    package var expected: String
    package var seen: String

    /// Makes a failure.
    package init(place: String, expected: String, seen: String) {
      self.place = place
      self.expected = expected
      self.seen = seen
    }

    /// What is expected of the rig itself: no client is to blame if that fails.
    static let workingRig = "the rig to work"

    /// Whether the rig failed, and not the client.
    package var isOfTheRig: Bool { expected == Self.workingRig }
  }

  package var scenario: Scenario
  package var driver: String
  package var result: Result
  /// Why it was skipped, or why it is known to fail.
  package var skipReason: String?
  package var steps: [StepRecord] = []
  package var failures: [Failure] = []
  package var journal: [JournalEntry] = []
  /// What was expected and could not be judged, since the client does not tell it.
  package var unjudged: [String] = []
  /// Real time.
  package var seconds: Double = 0

  /// Makes a report.
  package init(scenario: Scenario, driver: String, result: Result, skipReason: String? = nil) {
    self.scenario = scenario
    self.driver = driver
    self.result = result
    self.skipReason = skipReason
  }
}

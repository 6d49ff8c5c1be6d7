internal import Groundwork

/// How a scenario about expiry runs with a client whose clock nobody can move: tokens live two seconds, and the rig waits.
///
/// A token's life is the client's own leeway and two seconds: within them it is good, after `wait` it has expired for client and
/// server alike. `advance` by a token's life or more becomes that wait; what happens within a life needs a clock that moves.
enum RealTime {
  /// For how long a fresh token is good in the client's eyes.
  private static let goodFor: Duration = .seconds(2)

  /// What access tokens live.
  static func lifetime(leeway: Duration) -> Duration { leeway + goodFor }

  /// How long an `advance` takes.
  static func wait(leeway: Duration) -> Duration { lifetime(leeway: leeway) + .milliseconds(300) }

  /// Whether time passes in a scenario.
  static func applies(to scenario: Scenario) -> Bool { !advances(scenario).isEmpty }

  /// Why a scenario cannot run in real time, or nil if it can.
  static func reason(against scenario: Scenario, leeway: Duration) -> String? {
    let life = scenario.policy["accessTTL"]?.string.flatMap { Duration(text: $0) } ?? .seconds(900)
    for advance in advances(scenario) {
      if advance < life {
        return "advance: time within a token's life needs a clock that can be moved"
      }
      if let limit = scenario.policy["refreshTTL"]?.string.flatMap({ Duration(text: $0) }), advance >= limit {
        return "advance: a refresh token's life is not shortened in real time"
      }
    }
    if applies(to: scenario), scenario.policy["grace"] != nil {
      return "advance: a grace window and an expiry in one scenario need a clock that can be moved"
    }
    return nil
  }

  private static func advances(_ scenario: Scenario) -> [Duration] {
    scenario.steps.compactMap { if case .advance(let duration) = $0.verb { duration } else { nil } }
  }
}

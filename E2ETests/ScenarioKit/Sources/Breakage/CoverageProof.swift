internal import Groundwork

/// Which scenario notices which breakage: what makes `covers` more than a word.
package struct CoverageProof: Sendable {
  /// A scenario's claim to cover an id, and the breakage of that id under which it fails.
  package struct Claim: Sendable {
    /// The id.
    package var id: String
    /// The scenario's file.
    package var file: String
    /// The breakage that it notices; nil if it notices none of this id.
    package var breakage: String?
    /// What it says then.
    package var seen: String
  }

  /// Every claim of the scenarios, in the order of the ids.
  package var claims: [Claim]
  /// How many runs it took.
  package var runs: Int

  /// The ids for which no scenario counts.
  package var gaps: [String] {
    RequirementIDs.all.filter { id in !claims.contains { $0.id == id && $0.breakage != nil } }
  }

  /// The claims that do not count.
  package var unproven: [Claim] { claims.filter { $0.breakage == nil } }

  /// The proof as lines: an id, who covers it, and under which breakage it fails.
  package var lines: [String] {
    var lines: [String] = []
    for id in RequirementIDs.all {
      let proven = claims.filter { $0.id == id && $0.breakage != nil }
      lines += proven.map { "\(id)\t\($0.file)\tfails under \($0.breakage ?? ""): \($0.seen)" }
      if proven.isEmpty { lines.append("\(id)\tno scenario fails under a breakage of it") }
    }
    return lines
  }

  /// Runs every scenario under the breakages of the ids that it covers, until one makes it fail.
  ///
  /// - Parameters:
  ///   - jobs: how many run at once.
  ///   - programs: the driver for scenarios that need the built programs; nil leaves them out. Client faults do not reach it.
  package static func run(
    _ scenarios: [Scenario], breakages: [Breakage], jobs: Int, programs: (any ScenarioDriver)? = nil,
    limits: DriverLimits
  ) async -> CoverageProof {
    await withTaskGroup(of: (index: Int, claims: [Claim], runs: Int).self) { group in
      var done: [Int: [Claim]] = [:]
      var runs = 0
      var next = 0
      while next < scenarios.count || done.count < next {
        if next < scenarios.count, next - done.count < jobs {
          let (index, scenario) = (next, scenarios[next])
          group.addTask {
            let (claims, runs) = await prove(scenario, breakages, programs: programs, limits: limits)
            return (index, claims, runs)
          }
          next += 1
        } else if let part = await group.next() {
          done[part.index] = part.claims
          runs += part.runs
        }
      }
      let order = Dictionary(
        RequirementIDs.all.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first })
      let claims = done.sorted { $0.key < $1.key }.flatMap(\.value)
      return CoverageProof(
        claims: claims.sorted { (order[$0.id] ?? 0, $0.file) < (order[$1.id] ?? 0, $1.file) }, runs: runs)
    }
  }

  private static func prove(
    _ scenario: Scenario, _ breakages: [Breakage], programs: (any ScenarioDriver)?, limits: DriverLimits
  ) async -> (claims: [Claim], runs: Int) {
    var noticed: [String: String] = [:]
    var tried: Set<String> = []
    let needsPrograms = !scenario.features.isDisjoint(with: [.programs, .exit])
    for id in scenario.covers {
      for breakage in breakages where breakage.breaks.contains(id) && !tried.contains(breakage.name) {
        guard !scenario.covers.contains(where: { $0 == id && claimed($0, noticed, breakages) }) else { break }
        let driver: any ScenarioDriver
        if needsPrograms {
          guard let programs, breakage.faults.isEmpty else { continue }
          driver = programs
        } else {
          driver = InProcessDriver(faults: breakage.faults)
        }
        tried.insert(breakage.name)
        let runner = Runner(jobs: 1, timeLimit: .seconds(10), limits: limits)
        let report = await runner.run(
          breakage.applied(to: scenario), driver: driver, realm: "broken-\(tried.count)-\(scenario.realmName)")
        if report.result == .failed, let first = report.failures.first {
          noticed[breakage.name] = "expected \(first.expected), seen \(first.seen)"
        }
      }
    }
    let claims = scenario.covers.map { id -> Claim in
      let breakage = breakages.first { $0.breaks.contains(id) && noticed[$0.name] != nil }
      return Claim(
        id: id, file: scenario.file, breakage: breakage?.name, seen: breakage.flatMap { noticed[$0.name] } ?? "")
    }
    return (claims, tried.count)
  }

  private static func claimed(_ id: String, _ noticed: [String: String], _ breakages: [Breakage]) -> Bool {
    breakages.contains { $0.breaks.contains(id) && noticed[$0.name] != nil }
  }
}

extension Scenario {
  /// A name for a realm that no other scenario's file has.
  fileprivate var realmName: String {
    String(file.map { $0.isLetter && $0.isASCII || $0.isNumber && $0.isASCII ? $0 : "-" }.suffix(40))
  }
}

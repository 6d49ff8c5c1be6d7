package import CheckedYAML
internal import Groundwork

/// Makes a scenario from a file's text: YAML, then shape, then what only the whole file can tell.
package enum ScenarioReader {
  /// Reads a scenario of one row, or says everything that is wrong with it.
  ///
  /// - Returns: the scenario if nothing is wrong; else diagnostics in the order of the file, each mistake once.
  package static func read(_ text: String, file: String) -> Result<Scenario, InvalidScenario> {
    readAll(text, file: file).flatMap { scenarios in
      guard let first = scenarios.first else {
        return .failure(
          InvalidScenario([Diagnostic(file: file, mark: Mark(line: 1, column: 1), message: "there is no scenario here")]
          ))
      }
      return .success(first)
    }
  }

  /// Reads the scenarios of a file: one, or one for each of its `rows`.
  ///
  /// - Parameter included: gives the text of a file that `include` names, or nil if it cannot be read.
  /// - Returns: the scenarios if nothing is wrong; else diagnostics in the order of the file, each mistake once.
  package static func readAll(
    _ text: String, file: String, included: (String) -> String? = { _ in nil }
  ) -> Result<[Scenario], InvalidScenario> {
    do throws(Diagnostic) {
      let root = try Template.including(try YAMLReader.read(text, file: file), file: file, included: included)
      var scenarios: [Scenario] = []
      for row in try Template.rows(of: root, file: file) {
        switch scenario(row.root, file: file) {
        case .success(var scenario):
          if let label = row.label { scenario.name += " (\(label))" }
          scenario.isRow = root["rows"] != nil
          scenarios.append(scenario)
        // What is wrong is wrong in each row.
        case .failure(let invalid): return .failure(invalid)
        }
      }
      return .success(scenarios)
    } catch {
      return .failure(InvalidScenario([error]))
    }
  }

  private static func scenario(_ root: YAMLNode, file: String) -> Result<Scenario, InvalidScenario> {
    let misshapen = ScenarioFormat.scenario.check(root, file: file)
    guard misshapen.isEmpty else { return .failure(InvalidScenario(misshapen)) }
    var reading = Reading(file: file, root: root)
    let scenario = reading.scenario()
    guard reading.found.isEmpty else { return .failure(InvalidScenario(reading.found)) }
    return .success(scenario)
  }
}

/// A file that is no scenario, and why.
package struct InvalidScenario: Error, Sendable {
  /// What is wrong, in the order of the file.
  package var diagnostics: [Diagnostic]

  package init(_ diagnostics: [Diagnostic]) {
    self.diagnostics = diagnostics.sorted { ($0.mark.line, $0.mark.column) < ($1.mark.line, $1.mark.column) }
  }
}

/// One pass over a well-shaped file: builds the scenario, and notes names that lead nowhere.
struct Reading {
  let file: String
  let root: YAMLNode
  var found: [Diagnostic] = []
  var profile = Scenario.Profile.loginForm
  var users: [Scenario.User] = []
  /// Accounts that the file's own steps make.
  var registered: [Scenario.User] = []
  /// Background steps that have begun.
  var started: Set<String> = []
  /// Background steps that are awaited or given up, and those of a client that is killed.
  var awaited: Set<String> = []
  /// Names of holds in any script.
  var holds: Set<String> = []
  /// Client processes that the steps name.
  var processes: Set<String> = ["main"]

  init(file: String, root: YAMLNode) {
    self.file = file
    self.root = root
  }

  mutating func fault(_ mark: Mark, _ message: String) {
    found.append(Diagnostic(file: file, mark: mark, message: message))
  }

  mutating func unknown(_ mark: Mark, _ noun: String, _ name: String, among known: [String]) {
    let hint = nearestName(to: name, among: known).map { "; did you mean \"\($0)\"?" }
    fault(
      mark,
      "there is no \(noun) \"\(name)\"\(hint ?? (known.isEmpty ? "" : ". Known: \(known.joined(separator: ", "))"))")
  }

  mutating func scenario() -> Scenario {
    profile = root["profile"]?.text.flatMap(Scenario.Profile.init) ?? .loginForm
    readUsers()
    for id in root["covers"]?.elements ?? [] where !RequirementIDs.all.contains(id.text ?? "") {
      unknown(id.mark, "requirement or rule", id.text ?? "", among: nearIDs(id.text ?? ""))
    }
    if let report = root["report"], report.text?.firstMatch(of: /^[\w.-]+\/[\w.-]+#[0-9]+$/) == nil,
      report.text?.hasPrefix("observed in ") != true
    {
      fault(report.mark, "a report is written owner/repository#number, or: observed in CLIENT VERSION")
    }
    collectHolds(root)
    let scripts = (root["script"]?.elements ?? []).map { script($0) }
    let steps = (root["steps"]?.elements ?? []).map { step($0) }
    checkBackground(steps)
    if let steps = root["steps"], steps.elements.isEmpty { fault(steps.mark, "a scenario needs a step at least") }
    var scenario = Scenario(
      file: file, name: root["name"]?.text ?? "", covers: root["covers"]?.texts ?? [], report: root["report"]?.text,
      profile: profile, needs: root["needs"]?.texts ?? [], skip: root["skip"]?.text,
      policy: root["server"].map { policy($0) } ?? [:], users: users,
      scripts: scripts, steps: steps, expect: finalExpectation(root["expect"] ?? root))
    if let client = root["client"] {
      scenario.client.keeps = client["keeps"]?.text.flatMap(Scenario.ClientKind.Keeps.init) ?? .session
      if let owner = client["session-of"] {
        scenario.client.holdsSessionOf = knownUser(owner)?.name
        if scenario.client.keeps != .twoItems {
          fault(owner.mark, "only a client that keeps two-items begins with a session")
        }
      }
      scenario.client.retries = client["retries"]?.flag ?? false
      scenario.client.usesFakeService = client["service"] != nil
    }
    scenario.isAlone = root["only"]?.flag ?? false
    scenario.notApplicable = root["notApplicable"]?.textTable ?? [:]
    return scenario
  }

  /// Only ids of the same document: "D3.55" is not near to "S5".
  private func nearIDs(_ id: String) -> [String] {
    let prefix = id.prefix { $0 != "." && $0.isLetter || $0.isNumber && id.contains(".") }
    let near = RequirementIDs.all.filter { $0.hasPrefix(prefix) }
    return near.isEmpty ? RequirementIDs.all : near
  }

  /// Whatever begins has to be looked at: by `await`, or never, because its client is killed.
  private mutating func checkBackground(_ steps: [Step]) {
    for (index, step) in steps.enumerated() {
      guard let name = step.background, !awaited.contains(name) else { continue }
      let isKilled = steps[index...].contains { later in
        if case .kill = later.verb { later.process == step.process } else { false }
      }
      let mark = root["steps"]?.elements[index]["start"]?.mark ?? step.mark
      if !isKilled { fault(mark, "the step \"\(name)\" in the background is never awaited") }
    }
  }

  private mutating func readUsers() {
    guard let node = root["users"] else { return }
    for element in node.elements {
      if let name = element.text { add(Self.user(name, nil), at: element.mark) }
    }
    for entry in node.entries { add(Self.user(entry.key, entry.value), at: entry.mark) }
  }

  private mutating func add(_ user: Scenario.User, at mark: Mark) {
    if users.contains(where: { $0.name == user.name }) {
      fault(mark, "the user \"\(user.name)\" stands here a second time")
    }
    users.append(user)
  }

  static func user(_ name: String, _ node: YAMLNode?) -> Scenario.User {
    Scenario.User(
      name: name, email: node?["email"]?.text ?? "\(name)@example.com",
      password: node?["password"]?.text ?? "pass-\(name)-word")
  }

  func policy(_ node: YAMLNode) -> JSONValue {
    var members = node.json.object ?? [:]
    // Durations go to the admin API as they are written.
    for (name, value) in members where name != "rateLimit" {
      if case .number = value { members[name] = node[name]?.text.map { .string($0) } }
      if case .string(let text) = value, text.hasPrefix("+") { members[name] = .string(String(text.dropFirst())) }
    }
    return .object(members)
  }

  private mutating func collectHolds(_ node: YAMLNode) {
    for element in node.elements { collectHolds(element) }
    for entry in node.entries {
      if entry.key == "hold", let name = entry.value.text { holds.insert(name) }
      if entry.key != "release" { collectHolds(entry.value) }
    }
  }

  mutating func script(_ node: YAMLNode) -> Scenario.Script {
    var body: [String: JSONValue] = [:]
    if let operation = node["operation"]?.text { body["operation"] = .string(operation) }
    if let endpoint = node["endpoint"] {
      if endpoint.text?.firstMatch(of: /^[A-Z]+ \/\S*$/) == nil {
        fault(endpoint.mark, "an endpoint is written METHOD /path")
      }
      body["endpoint"] = endpoint.text.map { .string($0) }
    }
    if let then = node["then"]?.text { body["then"] = .string(then) }
    body["actions"] = .array(
      (node["actions"]?.elements ?? []).map { action in
        guard action.text == nil else { return [:] }
        var members = action.json.object ?? [:]
        if let delay = action["delay"]?.text { members["delay"] = .string(delay) }
        if let hold = action["hold"]?.text { members["hold"] = .string(hold) }
        return .object(members)
      })
    return Scenario.Script(
      body: .object(body), target: node["operation"]?.text ?? node["endpoint"]?.text ?? "", mark: node.mark)
  }

  /// A user by name, or nil and a diagnostic.
  mutating func knownUser(_ node: YAMLNode) -> Scenario.User? {
    let name = node.text ?? ""
    if let user = (users + registered).first(where: { $0.name == name }) { return user }
    unknown(node.mark, "user", name, among: (users + registered).map(\.name))
    return nil
  }

  /// What a user types to sign in under this profile.
  func identifier(of user: Scenario.User) -> String { profile == .envelope ? user.name : user.email }
}

package import CheckedYAML
package import Groundwork

/// Something that is broken on purpose, and the ids that it breaks: a scenario that covers one of them has to notice.
package struct Breakage: Sendable {
  /// Its name.
  package var name: String
  /// What is broken, as a sentence.
  package var says: String
  /// The ids of requirements and rules that it breaks.
  package var breaks: [String]
  /// What the client does wrong.
  package var faults: Set<ClientFault>
  /// What the server's policy is instead.
  package var policy: [String: JSONValue]
  /// What the server does before anything that the scenario says.
  package var scripts: [Scenario.Script]

  /// The checked-in list.
  package static func checkedIn() throws(Diagnostic) -> [Breakage] {
    try list(String(decoding: PackageResources.breakages_yaml, as: UTF8.self), file: "breakages.yaml")
  }

  /// Reads a list of breakages.
  ///
  /// - Throws: what is wrong with it, with its place.
  package static func list(_ text: String, file: String) throws(Diagnostic) -> [Breakage] {
    let root = try YAMLReader.read(text, file: file)
    if let first = shape.check(root, file: file).first { throw first }
    var breakages: [Breakage] = []
    for entry in root.entries {
      var reading = Reading(file: file, root: entry.value)
      let ids = entry.value["breaks"]?.elements ?? []
      for id in ids where !RequirementIDs.all.contains(id.text ?? "") {
        throw Diagnostic(file: file, mark: id.mark, message: "there is no requirement or rule \"\(id.text ?? "")\"")
      }
      breakages.append(
        Breakage(
          name: entry.key, says: entry.value["says"]?.text ?? "", breaks: ids.compactMap(\.text),
          faults: entry.value["client"]?.text.flatMap(ClientFault.init).map { [$0] } ?? [],
          policy: entry.value["policy"].map { reading.policy($0).object ?? [:] } ?? [:],
          scripts: (entry.value["script"]?.elements ?? []).map { reading.script($0) }))
    }
    return breakages
  }

  private static let shape = Shape.table(
    .object(
      ObjectShape(
        "a breakage",
        [
          FieldShape("says", .text, "what is broken, as a sentence", isRequired: true),
          FieldShape("breaks", .list(.text), "the ids that it breaks", isRequired: true),
          FieldShape("client", .choice(ClientFault.allCases.map(\.rawValue)), "what the client does wrong"),
          FieldShape("policy", ScenarioFormat.policy, "the server's policy instead of the scenario's"),
          FieldShape("script", .list(ScenarioFormat.script), "what the server does instead of what the scenario says"),
        ], exclusive: ["client", "policy", "script"], needsOne: true)))

  /// The scenario as it is under this breakage.
  package func applied(to scenario: Scenario) -> Scenario {
    var scenario = scenario
    if !policy.isEmpty {
      scenario.policy = .object((scenario.policy.object ?? [:]).merging(policy) { _, mine in mine })
    }
    let targets = Set(scripts.map(\.target))
    scenario.scripts = scenario.scripts.filter { !targets.contains($0.target) } + scripts
    return scenario
  }
}

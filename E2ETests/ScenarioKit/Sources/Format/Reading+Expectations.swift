internal import CheckedYAML
internal import Groundwork

extension Reading {
  /// A step's expectation; a verb without one has to end `ok`.
  mutating func stepExpectation(_ node: YAMLNode?) -> StepExpectation {
    guard let node else { return StepExpectation(outcome: nil) }
    if let text = node.text { return StepExpectation(outcome: OutcomeKind(rawValue: text), isGiven: true) }
    var expect = StepExpectation(isGiven: true)
    expect.outcome = node["outcome"]?.text.flatMap(OutcomeKind.init)
    expect.outcomes = node["outcomes"]?.countTable
    for entry in node["outcomes"]?.entries ?? [] where OutcomeKind(rawValue: entry.key) == nil {
      unknown(entry.mark, "outcome", entry.key, among: OutcomeKind.allCases.map(\.rawValue))
    }
    expect.status = node["status"]?.integer
    expect.error = node["error"]?.text
    expect.message = node["message"]?.text
    expect.fields = node["fields"]?.textTable
    expect.retryAfter = node["retryAfter"]?.duration
    expect.body = node["body"]?.json
    if let requests = node["requests"] {
      checkOperations(requests, beyond: [])
      expect.requests = requests.countTable
    }
    expect.took = node["took"]?.duration
    expect.exitCode = node["exit"]?.integer
    expect.form = form(node)
    let client = self.client(node)
    // On a verb the user is the one in its answer; a step that only checks looks at the session.
    if client.state != nil || client.reason != nil || client.events != nil || client.user != nil {
      expect.client = client
    }
    return expect
  }

  private func form(_ node: YAMLNode) -> FormExpectation? {
    let names = [
      "screen", "title", "button", "caption", "spinner", "locked", "errors", "focus", "announced", "labels", "hints",
      "style",
    ]
    guard names.contains(where: { node[$0] != nil }) else { return nil }
    return FormExpectation(
      screen: node["screen"]?.text, title: node["title"]?.text, buttonTitle: node["caption"]?.text,
      isButtonEnabled: node["button"]?.text.map { $0 == "enabled" }, hasSpinner: node["spinner"]?.flag,
      isLocked: node["locked"]?.flag, errors: node["errors"]?.textTable, message: nil, focus: node["focus"]?.text,
      announced: node["announced"]?.text, captions: node["labels"]?.texts, hints: node["hints"]?.json,
      style: node["style"]?.json)
  }

  mutating func client(_ node: YAMLNode) -> ClientExpectation {
    if let user = node["user"] { _ = knownUser(user) }
    if node["reason"] != nil, let state = node["state"], state.text != "signedOut" {
      fault(state.mark, "only a client that is signedOut has a reason")
    }
    return ClientExpectation(
      state: node["state"]?.text ?? (node["reason"] == nil ? nil : "signedOut"), reason: node["reason"]?.text,
      user: node["user"]?.text, events: node["events"]?.texts)
  }

  /// The block at the end of the file.
  mutating func finalExpectation(_ node: YAMLNode) -> FinalExpectation {
    if let requests = node["requests"] { checkOperations(requests, beyond: []) }
    var clients: [String: ClientExpectation] = [:]
    if let main = node["client"] { clients["main"] = client(main) }
    for entry in node["clients"]?.entries ?? [] {
      if !processes.contains(entry.key) {
        unknown(entry.mark, "client process", entry.key, among: processes.sorted())
      }
      clients[entry.key] = client(entry.value)
    }
    if let user = node["store"]?["user"] { _ = knownUser(user) }
    let store = node["store"].map { store in
      StoreExpectation(
        isPresent: store["session"]?.text.map { $0 == "present" }, isSameSession: store["same-session"]?.flag,
        rotations: store["rotations"]?.integer, pendingRevocations: store["outbox"]?.integer,
        isPrivate: store["private"]?.flag, user: store["user"]?.text)
    }
    let server = node["server"].map { server in
      ServerExpectation(live: server["live"]?.integer, ended: server["ended"]?.integer, users: server["users"]?.texts)
    }
    return FinalExpectation(
      requests: node["requests"]?.countTable ?? [:], order: node["order"].map { order($0) }, clients: clients,
      store: store, server: server, allowsUnconsumed: node["unconsumed"] != nil, mark: node.mark)
  }

  /// `me x 50` stands for fifty times me.
  private mutating func order(_ node: YAMLNode) -> [String] {
    var order: [String] = []
    for element in node.elements {
      guard let match = (element.text ?? "").wholeMatch(of: /(\S+)(?: x ([0-9]{1,4}))?/) else {
        fault(element.mark, "an order lists operations: login, or me x 50")
        continue
      }
      let name = String(match.1)
      if !ScenarioFormat.operations.contains(name) {
        unknown(element.mark, "operation", name, among: ScenarioFormat.operations)
      }
      order += Array(repeating: name, count: match.2.flatMap { Int($0) } ?? 1)
    }
    return order
  }
}

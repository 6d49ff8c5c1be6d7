internal import CheckedYAML
internal import Groundwork

extension Reading {
  /// A step from its node.
  mutating func step(_ node: YAMLNode) -> Step {
    let process = node["as"]?.text ?? "main"
    processes.insert(process)
    let verb = verb(node)
    let background = node["start"]?.text
    if let name = node["start"] {
      if !verb.isClientVerb { fault(name.mark, "only what a client does can run in the background") }
      if !started.insert(name.text ?? "").inserted {
        fault(name.mark, "a step is already in the background as \"\(name.text ?? "")\"")
      }
    }
    let parallel = node["parallel"]?.integer ?? 1
    if parallel > 1, let mark = node["parallel"]?.mark, !verb.isClientVerb {
      fault(mark, "only what a client does can be done in parallel")
    }
    if background != nil, let expect = node["expect"] {
      fault(expect.mark, "a step in the background ends when it is awaited: expect stands there")
    }
    return Step(
      mark: node.mark, title: title(node), verb: verb, process: process, parallel: parallel,
      times: node["times"]?.integer ?? 1, background: background, expect: stepExpectation(node["expect"]))
  }

  private func title(_ node: YAMLNode) -> String {
    guard node.text == nil else { return node.text ?? "" }
    let verb = node.entries.first { ScenarioFormat.verbs.contains($0.key) }
    let modifiers = node.entries.filter { ["as", "parallel", "times", "start"].contains($0.key) }
    guard let verb else { return "check" }
    let shown = verb.value.isNothing ? verb.key : "\(verb.key) \(Self.shown(verb.value))"
    return ([shown] + modifiers.map { "\($0.key) \($0.value.text ?? "")" }).joined(separator: ", ")
  }

  /// A value in one short line; a typed password never shows.
  private static func shown(_ node: YAMLNode) -> String {
    switch node.content {
    case .scalar(let text, _): return text
    case .sequence(let elements): return "(\(elements.count))"
    case .mapping(let entries):
      let parts = entries.map { entry in
        entry.key == "password" ? "password ●●●" : "\(entry.key) \(shown(entry.value))"
      }
      return parts.joined(separator: ", ")
    }
  }

  private mutating func verb(_ node: YAMLNode) -> Verb {
    if let word = node.text { return bareVerb(word) }
    guard let entry = node.entries.first(where: { ScenarioFormat.verbs.contains($0.key) }) else { return .check }
    let value = entry.value
    if ScenarioFormat.bareVerbs.contains(entry.key) {
      if let text = value.text, !value.isNothing { fault(value.mark, "\(entry.key) takes nothing, found \"\(text)\"") }
      return bareVerb(entry.key)
    }
    switch entry.key {
    case "login", "switch": return signIn(entry.key, value)
    case "register": return registration(value)
    case "call": return call(value)
    case "store": return .storeFault(value.text == "ok" ? nil : value.text)
    case "project":
      return .project(file: value["file"]?.text ?? "", has: value["has"]?.texts ?? [])
    case "advance": return .advance(value.duration ?? .zero)
    case "server-clock": return .serverClock(value.duration ?? .zero)
    case "client-clock": return .clientClock(value.signedDuration ?? .zero)
    case "revoke": return .revoke(value.text.flatMap(Verb.Revocation.init) ?? .all)
    case "script": return .script(value.elements.map { script($0) })
    case "policy": return .policy(policy(value))
    case "release": return release(value)
    case "wait":
      checkOperations(value, beyond: [])
      return .wait(value.countTable)
    case "until": return .until(client(value))
    case "await", "cancel":
      let name = value.text ?? ""
      awaited.insert(name)
      if !started.contains(name) { unknown(value.mark, "step in the background called", name, among: started.sorted()) }
      return entry.key == "await" ? .await(name) : .cancel(name)
    case "open": return .open(value.text.flatMap(Verb.FormScreen.init) ?? .app)
    case "type":
      for field in value.entries { checkField(field.key, at: field.mark) }
      return .type(value.entries.map { ($0.key, $0.value.text ?? "") })
    case "leave", "return":
      checkField(value.text ?? "", at: value.mark)
      return entry.key == "leave" ? .leave(value.text ?? "") : .returnKey(value.text ?? "")
    default: return .tap(value.text.flatMap(Verb.FormButton.init) ?? .submit)
    }
  }

  private func bareVerb(_ word: String) -> Verb {
    switch word {
    case "refresh": .refresh
    case "auto": .auto
    case "logout": .logout
    case "token": .token
    case "restore": .restore
    case "relaunch": .relaunch
    case "reboot": .reboot
    case "kill": .kill
    case "offline": .offline(true)
    default: .offline(false)
    }
  }

  private mutating func signIn(_ verb: String, _ value: YAMLNode) -> Verb {
    let user: Scenario.User?
    if value.text != nil {
      user = knownUser(value)
    } else {
      user = value["user"].flatMap { knownUser($0) }
      if value["user"] == nil, value["as"] == nil || value["password"] == nil {
        fault(value.mark, "a sign-in needs a user, or both as and password")
      }
    }
    let identifier = value["as"]?.text ?? user.map { self.identifier(of: $0) } ?? ""
    let password = value["password"]?.text ?? user?.password ?? ""
    return verb == "switch"
      ? .switchUser(identifier: identifier, password: password) : .login(identifier: identifier, password: password)
  }

  private mutating func registration(_ value: YAMLNode) -> Verb {
    let user: Scenario.User
    if let name = value.text {
      user = Self.user(name, nil)
    } else {
      user = Scenario.User(
        name: value["username"]?.text ?? "", email: value["email"]?.text ?? "", password: value["password"]?.text ?? "")
    }
    registered.append(user)
    return .register(username: user.name, email: user.email, password: user.password)
  }

  private mutating func call(_ value: YAMLNode) -> Verb {
    guard let text = value.text else {
      return .call(
        method: value["method"]?.text ?? "GET", path: value["path"]?.text ?? "/", body: value["body"]?.json)
    }
    guard let match = text.wholeMatch(of: /([A-Z]+) (\/\S*)/) else {
      fault(value.mark, "a call is written METHOD /path")
      return .check
    }
    return .call(method: String(match.1), path: String(match.2), body: nil)
  }

  private mutating func release(_ value: YAMLNode) -> Verb {
    let node = value["hold"] ?? value
    let name = node.text ?? ""
    if !holds.contains(name) { unknown(node.mark, "hold", name, among: holds.sorted()) }
    return .release(hold: name, count: value["count"]?.integer)
  }

  private mutating func checkField(_ name: String, at mark: Mark) {
    let known = ["username", "email", "password"]
    if !known.contains(name) { unknown(mark, "field", name, among: known) }
  }

  mutating func checkOperations(_ node: YAMLNode, beyond more: [String]) {
    for entry in node.entries where !(ScenarioFormat.operations + more).contains(entry.key) {
      unknown(entry.mark, "operation", entry.key, among: ScenarioFormat.operations)
    }
  }
}

internal import Groundwork

/// Something that is not as it should be.
struct Mismatch {
  var expected: String
  var seen: String

  init(_ what: String, expected: String, seen: String) {
    self.expected = "\(what) \(expected)"
    self.seen = "\(what) \(seen)"
  }
}

extension ScenarioRun {
  /// What of a step's expectation does not hold.
  func mismatches(_ step: Step, seen: [Outcome], before: Duration?) async throws(WorldError) -> [Mismatch] {
    let expect = step.expect
    var found: [Mismatch] = []
    if let outcomes = expect.outcomes {
      let counts = Dictionary(seen.map { ($0.kind.rawValue, 1) }, uniquingKeysWith: +)
      if counts != outcomes {
        found.append(Mismatch("outcomes", expected: Self.text(outcomes), seen: Self.text(counts)))
      }
    } else {
      found += seen.flatMap { mismatches($0, expect, isAtScreen: step.isAtScreen) }.prefix(3)
    }
    if let took = expect.took, let before, let now = world.elapsed {
      let passed = now - before
      if passed < took - .seconds(1) || passed > took + .seconds(1) {
        found.append(Mismatch("took", expected: took.text, seen: passed.text))
      }
    }
    if let requests = expect.requests {
      let counts = Self.counts(try await world.admin.journal())
      for (operation, count) in requests.sorted(by: { $0.key < $1.key }) where counts[operation] ?? 0 != count {
        found.append(
          Mismatch("requests so far: \(operation)", expected: "\(count)", seen: "\(counts[operation] ?? 0)"))
      }
    }
    if case .until(let belief) = step.verb { found += try await mismatches(belief, of: step.process) }
    if let client = expect.client { found += try await mismatches(client, of: step.process) }
    if let form = expect.form { found += mismatches(form, try await world.form(step.process)) }
    if let message = expect.message, step.isAtScreen {
      let shown = try await world.form(step.process).message
      if shown != message { found.append(Mismatch("message", expected: "\"\(message)\"", seen: "\"\(shown)\"")) }
    }
    return found
  }

  private func mismatches(_ outcome: Outcome, _ expect: StepExpectation, isAtScreen: Bool) -> [Mismatch] {
    var found: [Mismatch] = []
    // A client verb has to end well unless the file says otherwise.
    let wanted = expect.outcome ?? .ok
    if outcome.kind != wanted {
      found.append(Mismatch("outcome", expected: wanted.rawValue, seen: outcome.summary))
    }
    if let status = expect.status, outcome.status != status {
      let seen = outcome.status.map { "\($0)" } ?? "of no answer: \(outcome.summary)"
      found.append(Mismatch("status", expected: "\(status)", seen: seen))
    }
    if let error = expect.error, outcome.error != error, tells(.errors) {
      found.append(Mismatch("error", expected: error, seen: outcome.error ?? "none"))
    }
    if let message = expect.message, !isAtScreen, (outcome.message ?? "") != message, tells(.messages) {
      found.append(Mismatch("message", expected: "\"\(message)\"", seen: "\"\(outcome.message ?? "")\""))
    }
    for (field, text) in (expect.fields ?? [:]).sorted(by: { $0.key < $1.key })
    where outcome.fields[field] ?? "" != text && tells(.fields) {
      found.append(
        Mismatch("field \(field)", expected: "\"\(text)\"", seen: "\"\(outcome.fields[field] ?? "")\""))
    }
    if let retryAfter = expect.retryAfter, outcome.retryAfter != retryAfter, tells(.retryAfter) {
      found.append(Mismatch("retryAfter", expected: retryAfter.text, seen: outcome.retryAfter?.text ?? "none"))
    }
    if let code = expect.exitCode, outcome.exitCode != code {
      found.append(Mismatch("exit", expected: "\(code)", seen: outcome.exitCode.map { "\($0)" } ?? "not a program"))
    }
    if let body = expect.body, !(outcome.body ?? .null).contains(body) {
      found.append(Mismatch("body", expected: "to have \(body.text)", seen: (outcome.body ?? .null).text))
    }
    return found
  }

  func mismatches(_ expect: ClientExpectation, of process: String) async throws(WorldError) -> [Mismatch] {
    let client = try await world.client(process)
    var found: [Mismatch] = []
    let name = process == "main" ? "client" : "client \(process)"
    if let state = expect.state, client.state != state {
      found.append(Mismatch("\(name): state", expected: state, seen: client.state))
    }
    if let reason = expect.reason, client.reason != reason, tells(.reason) {
      found.append(Mismatch("\(name): reason", expected: reason, seen: client.reason ?? "none"))
    }
    if let user = expect.user, !names(of: user).contains(where: client.userNames.contains), tells(.user) {
      found.append(Mismatch("\(name): user", expected: user, seen: client.userNames.first ?? "none"))
    }
    if let events = expect.events, client.events != events, tells(.events) {
      found.append(
        Mismatch(
          "\(name): events", expected: events.joined(separator: ", "),
          seen: client.events?.joined(separator: ", ") ?? "not seen"))
    }
    return found
  }

  /// Whether the clients tell it; what they do not tell is noted and not judged.
  func tells(_ facet: Facet) -> Bool {
    let tells = world.tells(facet)
    if !tells { unjudged.withLock { _ = $0.insert(facet) } }
    return tells
  }

  /// The names by which a user of the file may be known to a client.
  func names(of user: String) -> [String] {
    let known = scenario.users.first { $0.name == user }
    return [user, known?.email ?? "\(user)@example.com"]
  }

  private func mismatches(_ expect: FormExpectation, _ form: FormView) -> [Mismatch] {
    var found: [Mismatch] = []
    func compare(_ what: String, _ expected: String?, _ seen: String) {
      if let expected, expected != seen {
        found.append(Mismatch(what, expected: "\"\(expected)\"", seen: "\"\(seen)\""))
      }
    }
    func compare(_ what: String, _ expected: Bool?, _ seen: Bool) {
      if let expected, expected != seen { found.append(Mismatch(what, expected: "\(expected)", seen: "\(seen)")) }
    }
    compare("screen", expect.screen, form.screen)
    compare("title", expect.title, form.title)
    compare("caption", expect.buttonTitle, form.buttonTitle)
    compare("button enabled", expect.isButtonEnabled, form.isButtonEnabled)
    compare("spinner", expect.hasSpinner, form.hasSpinner)
    compare("locked", expect.isLocked, form.isLocked)
    if let hints = expect.hints, !form.hints.contains(hints) {
      found.append(Mismatch("hints", expected: "to have \(hints.text)", seen: form.hints.text))
    }
    if let style = expect.style, !form.style.contains(style) {
      found.append(Mismatch("style", expected: "to have \(style.text)", seen: form.style.text))
    }
    compare("focus", expect.focus, form.focus)
    compare("announced", expect.announced, form.announced)
    for (field, text) in (expect.errors ?? [:]).sorted(by: { $0.key < $1.key }) {
      compare("error under \(field)", text, form.errors[field] ?? "")
    }
    if let captions = expect.captions, captions != form.captions {
      found.append(
        Mismatch("labels", expected: captions.joined(separator: ", "), seen: form.captions.joined(separator: ", ")))
    }
    return found
  }

  static func counts(_ journal: [JournalEntry]) -> [String: Int] {
    Dictionary(journal.map { ($0.operation, 1) }, uniquingKeysWith: +)
  }

  static func text(_ counts: [String: Int]) -> String {
    counts.isEmpty
      ? "none" : counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
  }
}

extension Step {
  /// Whether it is about a screen: then the message is the one that the screen shows.
  var isAtScreen: Bool {
    if verb.isForm || expect.form != nil { return true }
    if case .check = verb { return expect.message != nil }
    return false
  }
}

extension JSONValue {
  /// Whether every member that `part` has is here too, with an equal value; lists have to be equal.
  func contains(_ part: JSONValue) -> Bool {
    guard case .object(let members) = part else { return self == part }
    return members.allSatisfy { name, value in self[name]?.contains(value) ?? false }
  }

  /// The value in one line.
  var text: String {
    switch self {
    case .null: "null"
    case .bool(let flag): "\(flag)"
    case .number(let number): Int(exactly: number).map { "\($0)" } ?? "\(number)"
    case .string(let text): "\"\(text)\""
    case .array(let elements): "[\(elements.map(\.text).joined(separator: ", "))]"
    case .object(let members):
      "{\(members.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.text)" }.joined(separator: ", "))}"
    }
  }
}

internal import CheckedYAML
internal import Groundwork

extension ScenarioRun {
  /// What has to hold when all steps are done.
  mutating func checkTheEnd() async throws(WorldError) {
    let expect = scenario.expect
    var found: [Mismatch] = []
    for (operation, count) in expect.requests.sorted(by: { $0.key < $1.key }) where count > 0 && world.elapsed == nil {
      // What comes over sockets may still be on its way.
      _ = try await world.admin.wait(for: operation, count: count, timeout: "2s")
    }
    let journal = try await world.admin.journal()
    let counts = Self.counts(journal)
    for operation in Set(counts.keys).union(expect.requests.keys).sorted() {
      let (wanted, seen) = (expect.requests[operation] ?? 0, counts[operation] ?? 0)
      if wanted != seen { found.append(Mismatch("requests: \(operation)", expected: "\(wanted)", seen: "\(seen)")) }
    }
    if let order = expect.order, journal.map(\.operation) != order {
      found.append(
        Mismatch(
          "order", expected: order.joined(separator: ", "),
          seen: journal.map(\.operation).joined(separator: ", ")))
    }
    if !expect.allowsUnconsumed {
      for left in try await world.admin.unconsumed() {
        found.append(Mismatch("script actions", expected: "all used", seen: left))
      }
    }
    for (process, client) in expect.clients.sorted(by: { $0.key < $1.key }) {
      found += try await mismatches(client, of: process)
    }
    if let store = expect.store { found += mismatches(store, try await world.store()) }
    if let server = expect.server {
      let sessions = try await world.admin.sessions()
      if let live = server.live, live != sessions.live.count {
        found.append(Mismatch("server: live sessions", expected: "\(live)", seen: "\(sessions.live.count)"))
      }
      if let ended = server.ended, ended != sessions.ended.count {
        found.append(Mismatch("server: ended sessions", expected: "\(ended)", seen: "\(sessions.ended.count)"))
      }
    }
    if let users = expect.server?.users {
      let seen = (try await world.admin.call("GET", "state")["users"]?.array ?? []).compactMap {
        $0["username"]?.string
      }
      if Set(users) != Set(seen) {
        found.append(
          Mismatch(
            "server: users", expected: users.joined(separator: ", "), seen: seen.joined(separator: ", ")))
      }
    }
    found += await leaks(journal)
    for mismatch in found {
      fail(
        at: "\(scenario.file):\(expect.mark.line) at the end", expected: mismatch.expected, seen: mismatch.seen)
    }
  }

  private func mismatches(_ expect: StoreExpectation, _ store: StoreView) -> [Mismatch] {
    var found: [Mismatch] = []
    if let isPresent = expect.isPresent, isPresent != store.isPresent {
      found.append(
        Mismatch(
          "store: session", expected: isPresent ? "present" : "absent", seen: store.isPresent ? "present" : "absent"))
    }
    if let isSame = expect.isSameSession, isSame != store.isSameSession, tells(.sameSession) {
      found.append(Mismatch("store: same session", expected: "\(isSame)", seen: "\(store.isSameSession)"))
    }
    if let rotations = expect.rotations, rotations != store.rotations, tells(.rotations) {
      found.append(
        Mismatch("store: rotations", expected: "\(rotations)", seen: store.rotations.map { "\($0)" } ?? "not seen"))
    }
    if let outbox = expect.pendingRevocations, outbox != store.pendingRevocations, tells(.outbox) {
      found.append(
        Mismatch("store: outbox", expected: "\(outbox)", seen: store.pendingRevocations.map { "\($0)" } ?? "not seen"))
    }
    if let isPrivate = expect.isPrivate, isPrivate != store.looseFiles?.isEmpty {
      found.append(
        Mismatch(
          "store: private", expected: "\(isPrivate)",
          seen: store.looseFiles.map { $0.isEmpty ? "true" : "false: \($0.joined(separator: ", "))" } ?? "not seen"))
    }
    if let user = expect.user, !names(of: user).contains(where: store.userNames.contains), tells(.user) {
      found.append(Mismatch("store: user", expected: user, seen: store.userNames.first ?? "none"))
    }
    return found
  }

  /// Secrets in anything that was said.
  private func leaks(_ journal: [JournalEntry]) async -> [Mismatch] {
    var secrets = Set(scenario.users.map { Secret("\($0.name)'s password", $0.password) })
    for step in scenario.steps {
      if case .register(_, _, let password) = step.verb { secrets.insert(Secret("a new user's password", password)) }
      if case .login(_, let password) = step.verb { secrets.insert(Secret("a typed password", password)) }
    }
    secrets.formUnion(await world.secrets())
    let outputs =
      await world.outputs() + [
        Output("the server's journal", journal.map(\.summary).joined(separator: "\n")),
        Output("this report", report.steps.map { "\($0.title) \($0.seen)" }.joined(separator: "\n")),
      ]
    var found: [Mismatch] = []
    for output in outputs {
      for secret in secrets.sorted(by: { $0.name < $1.name }) where output.bytes.contains(Array(secret.text.utf8)) {
        found.append(Mismatch("outputs", expected: "without secrets", seen: "\(secret.name) in \(output.place)"))
      }
    }
    return found
  }
}

extension [UInt8] {
  /// Whether these bytes stand anywhere in it.
  fileprivate func contains(_ needle: [UInt8]) -> Bool {
    guard let first = needle.first, needle.count <= count else { return false }
    var start = startIndex
    while let index = self[start...].firstIndex(of: first), index + needle.count <= count {
      if self[index..<(index + needle.count)].elementsEqual(needle) { return true }
      start = index + 1
    }
    return false
  }
}

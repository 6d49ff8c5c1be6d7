import AuthStorage
import CommandLineTable
import Groundwork

extension CommandContext {
  /// `chirp store info`
  func storeInfo() async throws {
    let diagnosis = try await diagnosis(asksNobody: true)
    if let problem = diagnosis.problems.first { throw StoreError(problem) }
    let info = diagnosis.info
    var lines = ["Store      \(diagnosis.folder)"]
    if let version = info.schemaVersion { lines.append("Version    \(version)") }
    if let source = info.keySource {
      lines.append("Key        \(source)\(info.passphraseCost.map { " (scrypt, N = 2^\($0))" } ?? "")")
    }
    if let size = info.databaseSize { lines.append("Size       \(size) bytes") }
    if let sessions = info.sessions, let accounts = info.accounts {
      lines.append("Sessions   \(sessions), of \(accounts) accounts")
    }
    if let rows = info.pendingRevocations { lines.append("To revoke  \(rows)") }
    if info.databaseSize == nil { lines.append("There is no store here yet; the first sign-in makes it.") }
    try await output.data(info.json(folder: diagnosis.folder), lines)
  }

  /// `chirp store rekey`
  func rekeyStore() async throws {
    let store = try await sealedStore()
    // The guard first: the new data key is never sealed by the old one.
    try await store.renewGuard()
    try await store.renewDataKey()
    let source = try await store.keySourceInUse() ?? "none"
    try await output.done(
      .object(["rekeyed": true, "keySource": .string(source)]),
      "The store has a new key, and a new guard of it (\(source)). Everybody stays signed in.")
  }

  /// `chirp store migrate`
  func migrateStore() async throws -> ExitCode {
    let kind: KeySourceKind? = try call.choice("to")
    switch (kind, call.text("from")) {
    case (nil, nil): throw call.usageError("Say what is to be moved: --to KEY-SOURCE, or --from DIR.")
    case (.some, .some): throw call.usageError("--to and --from exclude each other: move one at a time.")
    case (let kind?, nil): return try await changeKeySource(to: kind)
    case (nil, let folder?): return try await takeOver(folder)
    }
  }

  private func changeKeySource(to kind: KeySourceKind) async throws -> ExitCode {
    let store = try await sealedStore()
    let former = try await store.keySourceInUse() ?? "none"
    try await store.changeKeySource(
      to: try keySource(kind, newPassphraseFile: call.text("new-passphrase-file")))
    // Whoever knows the old guard, and a copy of the old file, knows the old data key.
    try await store.renewDataKey()
    try await output.done(
      .object(["from": .string(former), "to": .string(kind.rawValue)]),
      "The store's key is guarded by \(kind.rawValue) now, and not by \(former) any more. Everybody stays signed in.")
    return .success
  }

  private func takeOver(_ folder: String) async throws -> ExitCode {
    let destination = try await store()
    let source = try await parts.openStore(folder, try keySource())
    guard folder != destination.location else { throw call.usageError("--from \(folder) is the store itself.") }
    let outcomes = try await SessionMigration.moveAll(from: source.store, to: destination.store)
    var rows: [JSONValue] = []
    var lines: [String] = []
    for (slot, outcome) in outcomes {
      rows.append(
        .object([
          "server": .string(slot.server), "account": .string(slot.account), "outcome": .string(outcome.rawValue),
        ]))
      let what =
        switch outcome {
        case .moved: "moved"
        case .nothingToMove: "nothing to move"
        case .destinationInUse: "left where it is: another session stands here"
        }
      lines.append("\(slot.account)  \(slot.server)  \(what)")
    }
    if lines.isEmpty, !output.isJSON { output.say("There are no sessions in \(folder).") }
    try await output.data(.object(["sessions": .array(rows)]), lines)
    return outcomes.contains { $0.outcome == .destinationInUse } ? .failure : .success
  }

  /// `chirp doctor`
  func doctor() async throws -> ExitCode {
    var diagnosis = try await diagnosis(asksNobody: false)
    let planned = diagnosis.repairs
    var moved: [(from: String, to: String)] = []
    if call.flag("repair"), !planned.isEmpty {
      moved = try await storeDoctor().repair()
      diagnosis = try await self.diagnosis(asksNobody: false)
    }
    try await output.data(diagnosis.json(moved: moved), diagnosis.lines(moved: moved))
    return diagnosis.problems.first.map { StoreError($0).code.exit } ?? .success
  }

  private func storeDoctor() throws -> StoreDoctor {
    guard call.text("store") != "memory" else {
      throw call.usageError("--store memory: there is nothing on disk to look at.")
    }
    return StoreDoctor(folder: try stateFolder(), time: parts.time, keySource: try keySource())
  }

  /// What the doctor finds; a key is opened only where that needs nobody, or somebody can be asked.
  private func diagnosis(asksNobody: Bool) async throws -> StoreDiagnosis {
    let doctor = try storeDoctor()
    let closed = await doctor.examine(opensKey: false)
    return opensKey(of: closed, asksNobody: asksNobody) ? await doctor.examine() : closed
  }

  /// Whether the store's key can be had: without anybody, or by asking somebody who is there.
  func opensKey(of closed: StoreDiagnosis, asksNobody: Bool) -> Bool {
    switch closed.info.keySource.flatMap({ KeySourceKind(rawValue: $0) }) {
    case nil, .keyfile?: true
    case .passphrase?: PassphrasePrompt(parts: parts).hasFile || !asksNobody && console.inputIsTerminal
    case .secretService?: !asksNobody
    }
  }

  /// A failure with what helps against it where the command line is the cause: a server where nobody is signed in, a key source that is
  /// not the store's.
  func explained(_ failure: CommandFailure) async -> CommandFailure {
    if failure.kind == "session.notLoggedIn", call.source(of: "server") == .commandLine {
      // Without its server the hint would lead to another one.
      var failure = failure
      let account = call.text("account").map { " --account \($0)" } ?? ""
      failure.hint = "Sign in: chirp login --server \(call.text("server") ?? "URL")\(account)"
      return failure
    }
    guard failure.kind == "store.unavailable", let wanted = call.text("key-source"), let folder = folderIfKnown(),
      let kind = KeySourceKind(rawValue: wanted)
    else { return failure }
    let doctor = StoreDoctor(folder: folder, time: parts.time, keySource: KeyFileKeySource())
    guard let present = await doctor.examine(opensKey: false).info.keySource, present != kind.rawValue else {
      return failure
    }
    let leave = call.source(of: "key-source") == .environment ? "unset CHIRP_KEY_SOURCE" : "leave --key-source out"
    var failure = failure
    failure.hint =
      "To use the store as it is, \(leave). To change what guards it: chirp store migrate --to \(kind.rawValue)"
    return failure
  }

  private func folderIfKnown() -> String? {
    do {
      return try stateFolder()
    } catch {
      return nil
    }
  }

  /// The store on disk, for what only it can do.
  private func sealedStore() async throws -> SQLiteSessionStore {
    guard let store = try await store().store as? SQLiteSessionStore else {
      throw call.usageError("--store memory: this store has no key.")
    }
    return store
  }
}

extension StoreError {
  /// The error that a problem of a diagnosis is.
  fileprivate init(_ problem: StoreDiagnosis.Finding) {
    self.init(problem.code ?? .unavailable, problem.message, hint: problem.hint)
  }
}

extension StoreInfo {
  fileprivate func json(folder: String) -> JSONValue {
    var members: [String: JSONValue] = ["location": .string(folder), "exists": .bool(databaseSize != nil)]
    if let keySource { members["keySource"] = .string(keySource) }
    let numbers: [(String, Int64?)] = [
      ("schemaVersion", schemaVersion.map(Int64.init)), ("passphraseCost", passphraseCost.map(Int64.init)),
      ("databaseSize", databaseSize), ("sessions", sessions.map(Int64.init)), ("accounts", accounts.map(Int64.init)),
      ("pendingRevocations", pendingRevocations.map(Int64.init)),
    ]
    for case (let name, let number?) in numbers { members[name] = .number(Double(number)) }
    return .object(members)
  }
}

extension StoreDiagnosis {
  fileprivate func lines(moved: [(from: String, to: String)]) -> [String] {
    var lines: [String] = []
    for finding in findings {
      let mark =
        switch finding.severity {
        case .good: "ok       "
        case .note: "note     "
        case .problem: "PROBLEM  "
        }
      lines.append(mark + finding.message)
      if let hint = finding.hint { lines += hint.split(separator: "\n").map { "         \($0)" } }
    }
    for (from, to) in moved { lines.append("moved    \(from) to \(to)") }
    for case .moveAside(let path) in repairs { lines.append("repair   chirp doctor --repair moves \(path) aside") }
    if !moved.isEmpty, isHealthy { lines.append("Nothing was deleted. You can sign in again: chirp login") }
    return lines
  }

  fileprivate func json(moved: [(from: String, to: String)]) -> JSONValue {
    let findings: [JSONValue] = findings.map { finding in
      var members: [String: JSONValue] = [
        "check": .string(finding.check.rawValue), "severity": .string(finding.severity.rawValue),
        "message": .string(finding.message),
      ]
      if let code = finding.code { members["code"] = .string(code.rawValue) }
      if let hint = finding.hint { members["hint"] = .string(hint) }
      return .object(members)
    }
    let repairs: [JSONValue] = repairs.map { repair in
      switch repair {
      case .moveAside(let path): .object(["moveAside": .string(path)])
      }
    }
    return .object([
      "location": .string(folder), "healthy": .bool(isHealthy), "findings": .array(findings),
      "repairs": .array(repairs),
      "moved": .array(moved.map { .object(["from": .string($0.from), "to": .string($0.to)]) }),
    ])
  }
}

import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The part of `StoreDoctor` that touches the disk: an actor on a thread of its own.
actor StoreExamination {
  private let path: String
  private let keySource: any KeySource
  private let executor = ThreadExecutor()

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(path: String, keySource: any KeySource) {
    self.path = path
    self.keySource = keySource
  }

  /// Goes from the folder inwards; where one step fails, what lies behind it is not looked at.
  func run(opensKey: Bool) -> StoreDiagnosis {
    var diagnosis = StoreDiagnosis(folder: path)
    do throws(StoreError) {
      guard let folder = try SecureFolder.check(path) else {
        diagnosis.add(.folder, .note, "There is no store in \(path) yet; the first sign-in makes it.")
        return diagnosis
      }
      diagnosis.add(.folder, .good, "The folder \(folder) is yours alone.")
      let names = try Self.names(in: folder)
      try checkFiles(names, in: folder, &diagnosis)
      checkLock(names, in: folder, &diagnosis)
      guard diagnosis.isHealthy || diagnosis.problems.allSatisfy({ $0.check == .key }) else { return diagnosis }
      checkDatabase(names, in: folder, opensKey: opensKey, &diagnosis)
    } catch {
      diagnosis.add(.folder, error.explainingModes)
    }
    return diagnosis
  }

  /// Nil if another process holds the store's lock.
  func repair() throws(StoreError) -> [(from: String, to: String)]? {
    guard let folder = try SecureFolder.check(path) else { return [] }
    guard let lock = try FileLock.take("\(folder)/\(StoreFiles.lock)") else { return nil }
    defer { lock.giveBack() }
    var moved: [(from: String, to: String)] = []
    for case .moveAside(let file) in run(opensKey: true).repairs {
      let place = try Self.freeName(for: file)
      // The journal first: one that is left beside a new database would be rolled back into it.
      let journal = file + StoreFiles.journalSuffix
      if try SecureFile.check(journal) != nil {
        try SecureFile.move(journal, to: place + StoreFiles.journalSuffix)
        moved.append((journal, place + StoreFiles.journalSuffix))
      }
      try SecureFile.move(file, to: place)
      moved.append((file, place))
    }
    return moved
  }

  private static func freeName(for file: String) throws(StoreError) -> String {
    for number in 1...9999 {
      let name = "\(file)\(StoreFiles.asideMark)\(number)"
      let journal = name + StoreFiles.journalSuffix
      if try SecureFile.check(name) == nil, try SecureFile.check(journal) == nil { return name }
    }
    throw StoreError(
      .unavailable, "Too many damaged files were moved aside in \(file).", hint: "Remove those you do not need.")
  }

  private static func names(in folder: String) throws(StoreError) -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    } catch {
      throw StoreError(.unavailable, "The folder \(folder) cannot be listed.")
    }
  }
}

extension StoreExamination {
  private func checkFiles(_ names: [String], in folder: String, _ diagnosis: inout StoreDiagnosis) throws(StoreError) {
    var good = 0
    for name in names {
      let file = "\(folder)/\(name)"
      switch StoreFiles.kind(of: name) {
      case .unknown:
        diagnosis.add(.files, .note, "\(file) is no file of a session store.")
        continue
      case .aside:
        diagnosis.add(
          .files, .note, "\(file) was moved aside by a repair.", hint: "Remove it when you do not need it any more.")
      case .draft:
        diagnosis.add(.files, .note, "\(file) was left by a process that was killed; the next write replaces it.")
      case .journal:
        diagnosis.add(
          .files, .note, "\(file): a write is being made, or was cut off; whoever opens the store next rolls it back.")
      case .own: break
      }
      do throws(StoreError) {
        _ = try SecureFile.check(file)
        good += 1
      } catch {
        diagnosis.add(.files, error.explainingModes)
      }
    }
    if diagnosis.isHealthy { diagnosis.add(.files, .good, "\(good) files, each yours alone.") }
    checkKeyFile(folder, &diagnosis)
  }

  /// The key file by itself: a damaged one is moved aside with the database that it cannot open any more.
  private func checkKeyFile(_ folder: String, _ diagnosis: inout StoreDiagnosis) {
    let file = "\(folder)/\(StoreFiles.key)"
    do throws(StoreError) {
      _ = try KeyFileKeySource.Contents.read(file)
    } catch {
      // What is wrong with its mode has been said.
      guard error.code == .corrupted || error.code == .newerVersion else { return }
      diagnosis.add(.key, error)
      if error.code == .corrupted { diagnosis.repairs.append(.moveAside(path: file)) }
    }
  }

  private func checkLock(_ names: [String], in folder: String, _ diagnosis: inout StoreDiagnosis) {
    for name in names where name == StoreFiles.lock || name.hasPrefix(StoreFiles.refreshPrefix) {
      let file = "\(folder)/\(name)"
      do throws(StoreError) {
        if let lock = try FileLock.take(file) {
          lock.giveBack()
        } else {
          let holder = FileLock.holder(of: file).map { " (process \($0))" } ?? ""
          let what = name == StoreFiles.lock ? "writes the store" : "refreshes a session"
          diagnosis.add(
            .lock, .note, "Another process\(holder) \(what) just now.",
            hint: "If it stays so, that process was stopped: continue it, or end it.")
        }
      } catch {
        // A file system that is read-only takes no locks, and needs none to be read.
        if error.code != .readOnly { diagnosis.add(.lock, error) }
      }
    }
  }

  private func checkDatabase(
    _ names: [String], in folder: String, opensKey: Bool, _ diagnosis: inout StoreDiagnosis
  ) {
    let file = "\(folder)/\(StoreFiles.database)"
    do throws(StoreError) {
      guard let identity = try SecureFile.check(file) else {
        diagnosis.add(.database, .note, "There is no database yet; the first sign-in makes it.")
        return
      }
      diagnosis.info.databaseSize = identity.size
      guard identity.size > 0 else { throw .corruptedStore(file, "the file is empty") }
      let kind = try checkPages(file, &diagnosis)
      if kind != KeyFileKeySource().kind, names.contains(StoreFiles.key) {
        diagnosis.add(
          .key, .note, "\(folder)/\(StoreFiles.key) is a key file that this store does not use.",
          hint: "Remove it, if no copy of an older store needs it.")
      }
      guard opensKey else { return }
      try checkContents(file, folder, identity, kind, &diagnosis)
    } catch {
      diagnosis.add(.database, error)
      if error.code == .corrupted { diagnosis.repairs.append(.moveAside(path: file)) }
    }
  }

  /// The file as SQLite sees it; gives the kind of key source that is written in it.
  private func checkPages(_ file: String, _ diagnosis: inout StoreDiagnosis) throws(StoreError) -> String {
    let database = try SQLiteDatabase(path: file)
    let version = try database.integer("PRAGMA user_version").flatMap { Int(exactly: $0) }
    try StoreConnection.checkVersion(database)
    diagnosis.info.schemaVersion = version
    var verdict: String?
    try database.run("PRAGMA integrity_check(1)") { verdict = $0.text(0) }
    guard verdict == "ok" else { throw .corruptedStore(file, "its pages do not fit together") }
    diagnosis.add(.database, .good, "The database is whole: version \(version ?? 0).")
    let key = try StoreConnection.sealedKey(in: database)
    guard let source = key.source, let parameters = key.parameters else {
      throw .corruptedStore(file, "the key is missing")
    }
    diagnosis.info.keySource = StoreError.printable(source)
    if source == "passphrase" {
      diagnosis.info.passphraseCost = try PassphraseKeySource.Parameters(parameters, folder: path).log2N
    }
    return source
  }

  private func checkContents(
    _ file: String, _ folder: String, _ identity: SecureFile.Identity, _ kind: String,
    _ diagnosis: inout StoreDiagnosis
  ) throws(StoreError) {
    let store: StoreConnection
    do throws(StoreError) {
      store = try StoreConnection(path: file, folder: folder, identity: identity, keySource: keySource)
    } catch {
      diagnosis.add(.key, error)
      let isLost = error.code == .unavailable && kind == KeyFileKeySource().kind && keySource.source(for: kind) != nil
      if error.code == .corrupted || isLost { diagnosis.repairs.append(.moveAside(path: file)) }
      return
    }
    diagnosis.add(.key, .good, "The key opens; it is guarded by the key source `\(StoreError.printable(kind))`.")
    try store.database.beginReading()
    defer { store.database.rollBack() }
    let header = try store.header()
    var signedIn = 0
    for entry in header.entries.values.sorted(by: { $0.slot.isOrdered(before: $1.slot) }) {
      let state = try store.snapshot(entry.slot).state
      if state.record != nil { signedIn += 1 }
      if state.intent != nil {
        diagnosis.add(
          .sessions, .note,
          "A refresh of \(entry.slot.account) at \(entry.slot.server) was begun and not finished; the next call repeats it."
        )
      }
    }
    diagnosis.info.accounts = header.entries.values.filter(\.isListed).count
    diagnosis.info.sessions = signedIn
    diagnosis.add(.sessions, .good, "\(signedIn) of \(header.entries.count) accounts are signed in; each record opens.")
    let rows = try store.outbox(header)
    diagnosis.info.pendingRevocations = rows.count
    diagnosis.add(
      .outbox, .good,
      rows.isEmpty ? "Nothing is left to be revoked." : "\(rows.count) sign-outs have still to reach their server.")
  }
}

extension StoreError {
  /// With what it means that others could have looked in.
  fileprivate var explainingModes: StoreError {
    guard code == .insecurePermissions else { return self }
    var error = self
    error.message += " Whoever could open it may have read the session."
    error.hint = (hint.map { "\($0)\n" } ?? "") + "Then sign out everywhere, and in again, if others use this machine."
    return error
  }
}

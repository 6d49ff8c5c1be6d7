import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The part of `SQLiteSessionStore` that touches the disk: an actor on a thread of its own.
///
/// Every method runs to its end without awaiting, so each is one step for everybody else. What another process holds up
/// is reported as nil, and waited for outside, on the injected clock.
actor SQLiteStoreCore {
  private let path: String
  private let time: any TimeSource
  private var keySource: any KeySource
  private let executor = ThreadExecutor()
  private var connection: StoreConnection?
  private var queuePlace: FileLock?
  private var changes: UInt64 = 0
  private var opens = 0
  private var seen: (opens: Int, version: Int64)?

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(path: String, time: any TimeSource, keySource: any KeySource) {
    self.path = path
    self.time = time
    self.keySource = keySource
  }

  func read(_ slot: SessionSlot) throws(StoreError) -> SlotState {
    try access { (store) throws(StoreError) in try store.snapshot(slot).state } ?? SlotState()
  }

  /// Nil if another process holds the store's lock: `body` has not run then, and `queuePlace` is kept for the next try.
  func update<Outcome: Sendable>(
    _ slot: SessionSlot, _ body: @escaping @Sendable (inout SlotChange) -> Outcome
  ) throws(StoreError) -> (state: SlotState, outcome: Outcome)? {
    let isMissing = try connect() == nil
    var write = SlotWrite(slot: slot, now: time.wallClock, reserve: reservePath, body: body)
    // Signing out of a store that is not there needs no store, and no place that can be written.
    if isMissing, let outcome = write.outcomeOfNoChange() { return (SlotState(), outcome) }
    guard let lock = try lockStore() else { return nil }
    defer { lock.giveBack() }
    write.reserve = reservePath
    let committed = try access { (store) throws(StoreError) in
      do throws(StoreError) {
        return try write.commit(to: store)
      } catch {
        // The reserve is there for the save that follows an intent, and for signing out; an intent has no claim on it.
        guard error.code == .full, !write.makesIntent, try DiskReserve.spend(reservePath) else { throw error }
        return try write.commit(to: store)
      }
    }
    guard let committed else {
      throw StoreError(.unavailable, "The session store \(databasePath) was removed while it was being written.")
    }
    if committed.wrote { changes &+= 1 }
    return (committed.state, committed.outcome)
  }

  /// Gives the place in the queue to the next; for a writer that gives up.
  func leaveQueue() {
    queuePlace?.giveBack()
    queuePlace = nil
  }

  /// Makes the store if there is none yet; false if another process holds the store's lock.
  func prepare() throws(StoreError) -> Bool {
    if try connect() != nil { return true }
    guard let lock = try lockStore() else { return false }
    lock.giveBack()
    return true
  }

  /// Nil if another holds the slot's lock.
  func takeRefreshLock(_ slot: SessionSlot) throws(StoreError) -> FileLock? {
    let name = try access { (store) throws(StoreError) in try store.name(of: slot) }
    guard let name else { throw StoreError(.unavailable, "The session store \(databasePath) was removed meanwhile.") }
    return try FileLock.take("\(folder)/refresh-\(name.hexadecimal).lock")
  }

  func changeCounter() throws(StoreError) -> UInt64 {
    let version = try access { (store) throws(StoreError) in try store.database.integer("PRAGMA data_version") ?? 0 }
    let now = (opens: opens, version: version ?? -1)
    if let seen, seen != now { changes &+= 1 }
    seen = now
    return changes
  }

  /// The rows that may still be sent, oldest first, and the names of those whose day is over.
  func outbox() throws(StoreError) -> (rows: [PendingRevocation], overdue: [PendingRevocation.ID]) {
    let now = time.wallClock
    let rows = try access { (store) throws(StoreError) -> [PendingRevocation] in
      try store.database.beginReading()
      defer { store.database.rollBack() }
      return try store.outbox(try store.header())
    }
    guard let rows else { return ([], []) }
    return (
      rows.filter { !$0.isOverdue(at: now) }.sorted { $0.since < $1.since },
      rows.filter { $0.isOverdue(at: now) }.map(\.id)
    )
  }

  /// False if another process holds the store's lock.
  func removePendingRevocations(_ ids: [PendingRevocation.ID]) throws(StoreError) -> Bool {
    let known = try access { (store) throws(StoreError) in try store.header().outbox } ?? [:]
    guard ids.contains(where: { known[$0] != nil }) else { return true }
    guard let lock = try lockStore() else { return false }
    defer { lock.giveBack() }
    _ = try access { (store) throws(StoreError) in
      try store.database.transaction { () throws(StoreError) in
        var header = try store.header()
        for id in ids { try store.remove(id, header: &header) }
        try store.write(header)
      }
    }
    changes &+= 1
    return true
  }

  /// Changes the data key; false if another process holds the store's lock.
  func renewDataKey() throws(StoreError) -> Bool {
    try rekey { (store) throws(StoreError) in try store.renewDataKey(keySource) }
  }

  /// Changes what guards the data key; false if another process holds the store's lock.
  func renewGuard(movingTo target: (any KeySource)?) throws(StoreError) -> Bool {
    let isDone = try rekey { (store) throws(StoreError) in try store.renewGuard(keySource, movingTo: target) }
    if isDone, let target {
      keySource = target
      connection = nil
    }
    return isDone
  }

  private func rekey(_ body: (StoreConnection) throws(StoreError) -> Void) throws(StoreError) -> Bool {
    guard try connect() != nil else {
      throw StoreError(.notFound, "There is no session store in \(folder).", hint: "The first sign-in makes it.")
    }
    guard let lock = try lockStore() else { return false }
    defer { lock.giveBack() }
    guard try access(body) != nil else {
      throw StoreError(.unavailable, "The session store \(databasePath) was removed while it was being written.")
    }
    changes &+= 1
    return true
  }

  func keySourceInUse() throws(StoreError) -> String? {
    try access { (store) throws(StoreError) in try StoreConnection.sealedKey(in: store.database).source } ?? nil
  }

  func slots() throws(StoreError) -> [SessionSlot] {
    let header = try access { (store) throws(StoreError) in try store.header() }
    return (header?.entries.values.filter(\.isListed).map(\.slot) ?? []).sorted { $0.isOrdered(before: $1) }
  }

  func lastSignedIn() throws(StoreError) -> SessionSlot? {
    try access { (store) throws(StoreError) in try store.header() }?.lastSignedIn
  }
}

extension SQLiteStoreCore {
  /// Canonical once the store is open; before that, as it was given.
  private var folder: String {
    connection.map { String($0.database.path.dropLast(Self.databaseName.count + 1)) } ?? path
  }
  private var databasePath: String { "\(folder)/\(Self.databaseName)" }
  private var reservePath: String { "\(folder)/\(DiskReserve.fileName)" }

  private static let databaseName = StoreFiles.database

  /// Runs `body` on the open store; nil if there is none yet.
  private func access<Success>(
    _ body: (StoreConnection) throws(StoreError) -> Success
  ) throws(StoreError) -> Success? {
    guard let store = try connect() else { return nil }
    do throws(StoreError) {
      return try body(store)
    } catch {
      guard error.code == .corrupted || error.code == .unavailable else { throw error }
      // A newer version may have changed the tables under this connection. Opening it again tells one from the other.
      connection = nil
      _ = try connect()
      throw error
    }
  }

  /// The open store; opened again if its file is another one than before. Nil if there is no file.
  private func connect() throws(StoreError) -> StoreConnection? {
    if let connection {
      let found = try SecureFile.check(connection.database.path)
      if let found, found.inode == connection.identity.inode, found.device == connection.identity.device {
        return connection
      }
      self.connection = nil
    }
    guard let folder = try SecureFolder.check(path) else { return nil }
    let database = "\(folder)/\(Self.databaseName)"
    _ = try SecureFile.check(database + "-journal")
    guard let identity = try SecureFile.check(database) else { return nil }
    let made = try StoreConnection(path: database, folder: folder, identity: identity, keySource: keySource)
    connection = made
    opens += 1
    return made
  }

  /// The store's lock, with a store to go with it; nil if another process holds it.
  ///
  /// Whoever wants the lock first takes a place in the queue, a second lock, and keeps it until it has the first. So a
  /// process that writes in a tight loop cannot take the lock again and again past one that asks only every
  /// millisecond.
  private func lockStore() throws(StoreError) -> FileLock? {
    var folder = try SecureFolder.check(path)
    if folder == nil {
      try SecureFolder.make(path)
      folder = try SecureFolder.check(path)
    }
    guard let folder else { throw StoreError(.unavailable, "The folder \(path) was removed as soon as it was made.") }
    if queuePlace == nil { queuePlace = try FileLock.take("\(folder)/\(StoreFiles.queue)") }
    guard queuePlace != nil else { return nil }
    guard let lock = try FileLock.take("\(folder)/\(StoreFiles.lock)") else { return nil }
    leaveQueue()
    if try SecureFile.check("\(folder)/\(Self.databaseName)") == nil { try makeStore(in: folder) }
    return lock
  }

  /// Makes the database beside its place and moves it there whole, so that an empty or half-made one is never seen.
  private func makeStore(in folder: String) throws(StoreError) {
    let draft = "\(folder)/\(Self.databaseName)\(StoreFiles.draftSuffix)"
    for leftover in [draft, draft + "-journal"] { unlink(leftover) }
    guard let descriptor = try SecureFile.make(draft) else {
      throw StoreError(.unavailable, "The file \(draft) is in the way.")
    }
    close(descriptor)
    do throws(StoreError) {
      try StoreConnection.initialise(try SQLiteDatabase(path: draft), folder: folder, keySource: keySource)
    } catch {
      for leftover in [draft, draft + "-journal"] { unlink(leftover) }
      throw error
    }
    let place = "\(folder)/\(Self.databaseName)"
    // A journal without its database, which somebody moved by hand, would be rolled back into the new one.
    let journal = place + StoreFiles.journalSuffix
    if try SecureFile.check(journal) != nil {
      try SecureFile.move(journal, to: "\(folder)/\(StoreFiles.orphanedJournal)")
    }
    guard rename(draft, place) == 0 else { throw .system(errno, "The file \(place) cannot be made", writing: true) }
    try SecureFile.syncFolder(of: place)
  }
}

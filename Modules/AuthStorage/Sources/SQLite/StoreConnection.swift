#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An open store: the database and the keys to what is in it. Used on the store's own thread.
final class StoreConnection {
  static let applicationID: Int64 = 0x4368_7270  // "Chrp"
  static let schemaVersion: Int64 = 1
  static let magic = Array("chirp-store".utf8)
  static let mostChangesInARow = 100

  let database: SQLiteDatabase
  let identity: SecureFile.Identity
  let folder: String
  private let keySource: any KeySource
  private(set) var storeID: [UInt8]
  private(set) var keyID: [UInt8]
  private(set) var keys: StoreKeys
  private var names: [SessionSlot: [UInt8]] = [:]
  /// The key that is being opened, from the reading of its row to its success.
  private var tried: SealedKey?

  /// What a slot's row and the header say.
  struct Snapshot {
    var header: StoreHeader
    var state: SlotState
    /// How many bytes of plaintext stand in the slot's row, padding included.
    var size: Int
    var name: [UInt8]
  }

  /// Opens the file that `identity` describes.
  init(
    path: String, folder: String, identity: SecureFile.Identity, keySource: any KeySource
  ) throws(StoreError) {
    // SQLite takes an empty file for a new database. A store is moved to its place whole, so an empty one was emptied.
    guard identity.size > 0 else { throw .corruptedStore(path, "the file is empty") }
    let database = try SQLiteDatabase(path: path)
    guard let opened = try SecureFile.check(path), opened.inode == identity.inode, opened.device == identity.device
    else {
      throw StoreError(.unavailable, "The session store \(path) was replaced while it was being opened; try again.")
    }
    self.database = database
    self.identity = identity
    self.keySource = keySource
    self.folder = folder
    try Self.checkVersion(database)
    (storeID, keyID, keys) = try Self.openKey(in: database, keySource, folder)
  }

  /// Makes the tables and the first header in an empty database.
  static func initialise(_ database: SQLiteDatabase, folder: String, keySource: any KeySource) throws(StoreError) {
    let storeID = try Cipher.randomBytes(16)
    let keyID = try Cipher.randomBytes(16)
    let secret = try SecretBytes(randomCount: 2 * Cipher.keyCount)
    let context = keyContext(folder, storeID, keyID)
    let wrapped = try keySource.wrap(secret, for: context)
    let keys = StoreKeys(secret)
    var plain = StoreHeader().encoded()
    let header = try Cipher.seal(plain, key: keys.data, authenticating: headerBinding(storeID, keyID))
    plain.wipe()
    try database.transaction { () throws(StoreError) in
      try database.execute(
        """
        PRAGMA application_id=\(applicationID);
        PRAGMA user_version=\(schemaVersion);
        CREATE TABLE store(id INTEGER PRIMARY KEY CHECK(id=1), format INTEGER NOT NULL, store_id BLOB NOT NULL,
          key_id BLOB NOT NULL, key_source TEXT NOT NULL, key_parameters BLOB NOT NULL, wrapped_key BLOB NOT NULL,
          header BLOB NOT NULL);
        CREATE TABLE slots(id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, state BLOB NOT NULL);
        CREATE TABLE outbox(id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, row BLOB NOT NULL);
        """)
      try database.run(
        "INSERT INTO store VALUES(1, ?, ?, ?, ?, ?, ?, ?)",
        [
          .integer(schemaVersion), .blob(storeID), .blob(keyID), .text(wrapped.source), .blob(wrapped.parameters),
          .blob(wrapped.sealed), .blob(header),
        ])
    }
  }

  /// The slot as it stands, proved to be the one that the header speaks of. Consistent by itself: one statement, one
  /// snapshot.
  func snapshot(_ slot: SessionSlot) throws(StoreError) -> Snapshot {
    try whileKeysChange { () throws(StoreError) in try readSnapshot(slot) }
  }

  private func readSnapshot(_ slot: SessionSlot) throws(StoreError) -> Snapshot {
    let name = try name(of: slot)
    var found: (contents: SealedHeader, hasRow: Bool, state: [UInt8]?)?
    try database.run(
      "SELECT \(SealedHeader.columns), r.id, r.state FROM store s LEFT JOIN slots r ON r.name=?1 WHERE s.id=1",
      [.blob(name)]
    ) { row in
      let contents = SealedHeader(row, known: keyID)
      found = (contents, row.integer(SealedHeader.count) != 0, row.blob(SealedHeader.count + 1))
    }
    guard let found else { throw corrupted("the table of contents is missing") }
    let header = try openHeader(found.contents)
    guard let entry = header.entries[name] else {
      guard !found.hasRow else { throw corrupted("a session stands where none was put") }
      return Snapshot(header: header, state: SlotState(), size: 0, name: name)
    }
    guard let sealed = found.state else { throw corrupted("a session is missing") }
    guard var plain = Cipher.open(sealed, key: keys.data, authenticating: binding(of: entry, keyID: keyID)) else {
      throw corrupted("a session does not open")
    }
    defer { plain.wipe() }
    let state = try reading { () throws(SealedValueError) in try SlotState(encoded: plain) }
    return Snapshot(header: header, state: state, size: plain.count, name: name)
  }

  /// The header alone.
  func header() throws(StoreError) -> StoreHeader {
    try whileKeysChange { () throws(StoreError) in try readHeader() }
  }

  private func readHeader() throws(StoreError) -> StoreHeader {
    var found: SealedHeader?
    try database.run("SELECT \(SealedHeader.columns) FROM store s WHERE s.id=1") { row in
      found = SealedHeader(row, known: keyID)
    }
    guard let found else { throw corrupted("the table of contents is missing") }
    return try openHeader(found)
  }

  /// All rows of the outbox, each proved to be the one that the header speaks of. Call it within a transaction or after
  /// `header()` in one read transaction.
  func outbox(_ header: StoreHeader) throws(StoreError) -> [PendingRevocation] {
    var sealed: [(name: [UInt8], row: [UInt8])] = []
    try database.run("SELECT name, row FROM outbox ORDER BY id") { row in
      sealed.append((row.blob(0) ?? [], row.blob(1) ?? []))
    }
    guard sealed.count == header.outbox.count else { throw corrupted("a row of the outbox is missing or too many") }
    var rows: [PendingRevocation] = []
    for (name, box) in sealed {
      guard let id = UUID(bytes: name), let revision = header.outbox[id],
        var plain = Cipher.open(box, key: keys.data, authenticating: outboxBinding(name, revision, keyID: keyID))
      else { throw corrupted("a row of the outbox does not open") }
      defer { plain.wipe() }
      rows.append(try reading { () throws(SealedValueError) in try PendingRevocation(encoded: plain) })
    }
    return rows
  }

  /// Writes the slot's state and updates the header with it; the header is yet to be written.
  func write(_ state: SlotState, in slot: SessionSlot, over old: Snapshot, header: inout StoreHeader) throws(StoreError)
  {
    guard !state.isEmpty else {
      header.entries[old.name] = nil
      return try database.run("DELETE FROM slots WHERE name=?1", [.blob(old.name)])
    }
    header.revisionCounter &+= 1
    let entry = StoreHeader.Entry(
      slot: slot, sessionID: state.record?.sessionID, stamp: state.record?.stamp ?? 0,
      revision: header.revisionCounter, isListed: state.holdsSessionOrNote)
    var plain = state.encoded(over: old.size)
    defer { plain.wipe() }
    let sealed = try Cipher.seal(plain, key: keys.data, authenticating: binding(of: entry, keyID: keyID))
    let isNew = header.entries[old.name] == nil
    header.entries[old.name] = entry
    try database.run(
      isNew ? "INSERT INTO slots(name, state) VALUES(?1, ?2)" : "UPDATE slots SET state=?2 WHERE name=?1",
      [.blob(old.name), .blob(sealed)])
  }

  /// Adds a row to the outbox, or replaces the one of that id.
  func add(_ revocation: PendingRevocation, header: inout StoreHeader) throws(StoreError) {
    header.revisionCounter &+= 1
    header.outbox[revocation.id] = header.revisionCounter
    let name = revocation.id.bytes
    var plain = revocation.encoded()
    defer { plain.wipe() }
    let binding = outboxBinding(name, header.revisionCounter, keyID: keyID)
    let sealed = try Cipher.seal(plain, key: keys.data, authenticating: binding)
    try database.run("INSERT OR REPLACE INTO outbox(name, row) VALUES(?1, ?2)", [.blob(name), .blob(sealed)])
  }

  /// Removes a row of the outbox.
  func remove(_ id: PendingRevocation.ID, header: inout StoreHeader) throws(StoreError) {
    guard header.outbox.removeValue(forKey: id) != nil else { return }
    try database.run("DELETE FROM outbox WHERE name=?1", [.blob(id.bytes)])
  }

  func write(_ header: StoreHeader) throws(StoreError) {
    var plain = header.encoded()
    defer { plain.wipe() }
    let sealed = try Cipher.seal(plain, key: keys.data, authenticating: Self.headerBinding(storeID, keyID))
    try database.run("UPDATE store SET header=?1 WHERE id=1", [.blob(sealed)])
  }

  /// The name of the slot's row and of its lock: a hash under a key that never leaves the store, so that neither tells
  /// whose it is.
  func name(of slot: SessionSlot) throws(StoreError) -> [UInt8] {
    if let name = names[slot] { return name }
    let parts = [Array("slot".utf8), Array(slot.server.utf8), Array(slot.account.utf8)]
    let name = try Cipher.keyedName(.lengthPrefixed(parts), key: keys.names)
    names[slot] = name
    return name
  }

  /// Goes on with other keys: those that were just committed.
  func adopt(_ keys: StoreKeys, keyID: [UInt8]) {
    self.keys = keys
    self.keyID = keyID
  }

  func corrupted(_ reason: String) -> StoreError {
    .corruptedStore(database.path, reason)
  }
}

/// The two keys of a store: what seals, and what names.
struct StoreKeys {
  let data: SecretBytes
  /// Another key than `data`, which a change of the data key leaves as it is: locks must keep their names.
  let names: SecretBytes

  init(data: SecretBytes, names: SecretBytes) {
    self.data = data
    self.names = names
  }

  /// Cuts what a key source has opened.
  init(_ secret: SecretBytes) {
    data = secret.withBytes { SecretBytes($0.prefix(Cipher.keyCount)) }
    names = secret.withBytes { SecretBytes($0.dropFirst(Cipher.keyCount)) }
  }

  /// What a key source seals.
  var secret: SecretBytes {
    var both = data.withBytes { Array($0) } + names.withBytes { Array($0) }
    defer { both.wipe() }
    return SecretBytes(both)
  }
}

extension StoreConnection {
  static func checkVersion(_ database: SQLiteDatabase) throws(StoreError) {
    let version = try database.integer("PRAGMA user_version") ?? 0
    guard try database.integer("PRAGMA application_id") == applicationID else {
      throw .corruptedStore(database.path, "it is no session store")
    }
    guard version <= schemaVersion else { throw .newerStore(database.path, version) }
    guard version == schemaVersion else { throw .corruptedStore(database.path, "version \(version) was never written") }
    var mode: String?
    try database.run("PRAGMA journal_mode") { mode = $0.text(0) }
    guard mode == "delete" else { throw .corruptedStore(database.path, "its journal mode was changed") }
  }

  /// Reads, and reads again if another process changed the key between the reading of its row and its opening: its
  /// guard may have been replaced by then.
  private func whileKeysChange<Success>(
    _ read: () throws(StoreError) -> Success
  ) throws(StoreError) -> Success {
    for _ in 0..<Self.mostChangesInARow {
      tried = nil
      do throws(StoreError) {
        return try read()
      } catch {
        guard let tried, try Self.sealedKey(in: database) != tried else { throw error }
      }
    }
    return try read()
  }

  private func openHeader(_ found: SealedHeader) throws(StoreError) -> StoreHeader {
    guard found.format <= Self.schemaVersion else { throw .newerStore(database.path, found.format) }
    guard found.format == Self.schemaVersion, let sealed = found.header, found.keyID != nil else {
      throw corrupted("the table of contents is missing")
    }
    // Another process may have changed the data key since this one read it. The new key was read by the same statement
    // as the header, so that the two belong together however often it is changed.
    if let key = found.key {
      tried = key
      (storeID, keyID, keys) = try Self.open(key, keySource, database.path, folder)
      tried = nil
    }
    guard var plain = Cipher.open(sealed, key: keys.data, authenticating: Self.headerBinding(storeID, keyID)) else {
      throw corrupted("the table of contents does not open")
    }
    defer { plain.wipe() }
    return try reading { () throws(SealedValueError) in try StoreHeader(encoded: plain) }
  }

  private func reading<Value>(_ body: () throws(SealedValueError) -> Value) throws(StoreError) -> Value {
    do {
      return try body()
    } catch {
      switch error {
      case .malformed: throw corrupted("a sealed value cannot be read")
      case .newer: throw .newerStore(database.path, Self.schemaVersion + 1)
      }
    }
  }

  static func keyContext(_ folder: String, _ storeID: [UInt8], _ keyID: [UInt8]) -> KeySourceContext {
    KeySourceContext(folder: folder, binding: .lengthPrefixed([magic, [UInt8(schemaVersion)], storeID, keyID]))
  }

  static func headerBinding(_ storeID: [UInt8], _ keyID: [UInt8]) -> [UInt8] {
    .lengthPrefixed([magic, [UInt8(schemaVersion)], storeID, keyID, Array("header".utf8)])
  }

  func binding(of entry: StoreHeader.Entry, keyID: [UInt8]) -> [UInt8] {
    var stamp: [UInt8] = []
    stamp.append(bigEndian: entry.stamp)
    var revision: [UInt8] = []
    revision.append(bigEndian: entry.revision)
    return .lengthPrefixed([
      Self.magic, [UInt8(Self.schemaVersion)], storeID, keyID, Array("slot".utf8), Array(entry.slot.server.utf8),
      Array(entry.slot.account.utf8), entry.sessionID?.bytes ?? [], stamp, revision,
    ])
  }

  func outboxBinding(_ name: [UInt8], _ revision: UInt64, keyID: [UInt8]) -> [UInt8] {
    var number: [UInt8] = []
    number.append(bigEndian: revision)
    return .lengthPrefixed([
      Self.magic, [UInt8(Self.schemaVersion)], storeID, keyID, Array("outbox".utf8), name, number,
    ])
  }
}

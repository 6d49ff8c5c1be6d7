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

  let database: SQLiteDatabase
  let identity: SecureFile.Identity
  private let keySource: any KeySource
  private let folder: String
  private(set) var storeID: [UInt8] = []
  private(set) var keyID: [UInt8] = []
  private(set) var keys: StoreKeys
  private var names: [SessionSlot: [UInt8]] = [:]

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
    (storeID, keyID, keys) = try Self.readKeys(database, keySource, folder)
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
    let name = try name(of: slot)
    var found: (key: [UInt8]?, header: [UInt8]?, format: Int64, hasRow: Bool, state: [UInt8]?)?
    try database.run(
      """
      SELECT s.format, s.key_id, s.header, r.id, r.state FROM store s LEFT JOIN slots r ON r.name=?1 WHERE s.id=1
      """, [.blob(name)]
    ) { row in
      found = (row.blob(1), row.blob(2), row.integer(0), row.integer(3) != 0, row.blob(4))
    }
    guard let found else { throw corrupted("the table of contents is missing") }
    let header = try openHeader(found.header, keyID: found.key, format: found.format)
    guard let entry = header.entries[name] else {
      guard !found.hasRow else { throw corrupted("a session stands where none was put") }
      return Snapshot(header: header, state: SlotState(), size: 0, name: name)
    }
    guard let sealed = found.state else { throw corrupted("a session is missing") }
    guard var plain = Cipher.open(sealed, key: keys.data, authenticating: binding(of: entry)) else {
      throw corrupted("a session does not open")
    }
    defer { plain.wipe() }
    let state = try reading { () throws(SealedValueError) in try SlotState(encoded: plain) }
    return Snapshot(header: header, state: state, size: plain.count, name: name)
  }

  /// The header alone.
  func header() throws(StoreError) -> StoreHeader {
    var found: (format: Int64, key: [UInt8]?, header: [UInt8]?)?
    try database.run("SELECT format, key_id, header FROM store WHERE id=1") { row in
      found = (row.integer(0), row.blob(1), row.blob(2))
    }
    guard let found else { throw corrupted("the table of contents is missing") }
    return try openHeader(found.header, keyID: found.key, format: found.format)
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
        var plain = Cipher.open(box, key: keys.data, authenticating: outboxBinding(name, revision))
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
    let sealed = try Cipher.seal(plain, key: keys.data, authenticating: binding(of: entry))
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
    let sealed = try Cipher.seal(plain, key: keys.data, authenticating: outboxBinding(name, header.revisionCounter))
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

  func corrupted(_ reason: String) -> StoreError {
    .corruptedStore(database.path, reason)
  }
}

/// The two keys of a store: what seals, and what names.
struct StoreKeys {
  let data: SecretBytes
  /// Another key than `data`, which a change of the data key leaves as it is: locks must keep their names.
  let names: SecretBytes

  init(_ secret: SecretBytes) {
    data = secret.withBytes { SecretBytes($0.prefix(Cipher.keyCount)) }
    names = secret.withBytes { SecretBytes($0.dropFirst(Cipher.keyCount)) }
  }
}

extension StoreConnection {
  private static func checkVersion(_ database: SQLiteDatabase) throws(StoreError) {
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

  private static func readKeys(
    _ database: SQLiteDatabase, _ keySource: any KeySource, _ folder: String
  ) throws(StoreError) -> (storeID: [UInt8], keyID: [UInt8], keys: StoreKeys) {
    var found: (storeID: [UInt8]?, keyID: [UInt8]?, source: String?, parameters: [UInt8]?, sealed: [UInt8]?)?
    try database.run("SELECT store_id, key_id, key_source, key_parameters, wrapped_key FROM store WHERE id=1") { row in
      found = (row.blob(0), row.blob(1), row.text(2), row.blob(3), row.blob(4))
    }
    guard let storeID = found?.storeID, let keyID = found?.keyID, let source = found?.source,
      let parameters = found?.parameters, let sealed = found?.sealed
    else { throw .corruptedStore(database.path, "the key is missing") }
    guard source == keySource.kind else {
      throw StoreError(
        .unavailable,
        "The session store \(database.path) is sealed by the key source `\(printable(source))`, not by "
          + "`\(keySource.kind)`.",
        hint: "Use the key source that is written in the store; a store never changes it by itself.")
    }
    let wrapped = WrappedKey(source: source, parameters: parameters, sealed: sealed)
    let secret = try keySource.unwrap(wrapped, for: keyContext(folder, storeID, keyID))
    guard secret.count == 2 * Cipher.keyCount else {
      throw .corruptedStore(database.path, "the key has a wrong length")
    }
    return (storeID, keyID, StoreKeys(secret))
  }

  private func openHeader(_ sealed: [UInt8]?, keyID: [UInt8]?, format: Int64) throws(StoreError) -> StoreHeader {
    guard format <= Self.schemaVersion else { throw .newerStore(database.path, format) }
    guard format == Self.schemaVersion, let sealed, let keyID else {
      throw corrupted("the table of contents is missing")
    }
    // Another process may have changed the data key since this one read it.
    if keyID != self.keyID { (storeID, self.keyID, keys) = try Self.readKeys(database, keySource, folder) }
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

  private static func keyContext(_ folder: String, _ storeID: [UInt8], _ keyID: [UInt8]) -> KeySourceContext {
    KeySourceContext(folder: folder, binding: .lengthPrefixed([magic, [UInt8(schemaVersion)], storeID, keyID]))
  }

  private static func headerBinding(_ storeID: [UInt8], _ keyID: [UInt8]) -> [UInt8] {
    .lengthPrefixed([magic, [UInt8(schemaVersion)], storeID, keyID, Array("header".utf8)])
  }

  private func binding(of entry: StoreHeader.Entry) -> [UInt8] {
    var stamp: [UInt8] = []
    stamp.append(bigEndian: entry.stamp)
    var revision: [UInt8] = []
    revision.append(bigEndian: entry.revision)
    return .lengthPrefixed([
      Self.magic, [UInt8(Self.schemaVersion)], storeID, keyID, Array("slot".utf8), Array(entry.slot.server.utf8),
      Array(entry.slot.account.utf8), entry.sessionID?.bytes ?? [], stamp, revision,
    ])
  }

  private func outboxBinding(_ name: [UInt8], _ revision: UInt64) -> [UInt8] {
    var number: [UInt8] = []
    number.append(bigEndian: revision)
    return .lengthPrefixed([
      Self.magic, [UInt8(Self.schemaVersion)], storeID, keyID, Array("outbox".utf8), name, number,
    ])
  }

  /// A text from a file that anyone may have changed, fit for a message.
  private static func printable(_ text: String) -> String {
    String(
      text.unicodeScalars.prefix(40).map { $0.isASCII && $0.value > 0x20 && $0.value < 0x7f ? Character($0) : "?" })
  }
}

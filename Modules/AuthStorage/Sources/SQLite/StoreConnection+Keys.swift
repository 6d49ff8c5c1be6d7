/// How the store's one row says who can open it.
struct SealedKey: Equatable {
  var storeID: [UInt8]?
  var keyID: [UInt8]?
  var source: String?
  var parameters: [UInt8]?
  var sealed: [UInt8]?

  static let columns = "s.store_id, s.key_id, s.key_source, s.key_parameters, s.wrapped_key"

  init(_ row: SQLiteDatabase.Row, from column: Int32 = 0) {
    storeID = row.blob(column)
    keyID = row.blob(column + 1)
    source = row.text(column + 2)
    parameters = row.blob(column + 3)
    sealed = row.blob(column + 4)
  }

  /// The key as its source takes it; nil if a part of it is missing.
  var wrapped: WrappedKey? {
    guard let source, let parameters, let sealed else { return nil }
    return WrappedKey(source: source, parameters: parameters, sealed: sealed)
  }
}

/// The sealed table of contents, and the key it was sealed with if that is another one than the reader has.
struct SealedHeader {
  var format: Int64
  var header: [UInt8]?
  var keyID: [UInt8]?
  var key: SealedKey?

  static let columns = "s.format, s.header, \(SealedKey.columns)"
  static let count: Int32 = 7

  init(_ row: SQLiteDatabase.Row, known: [UInt8]) {
    format = row.integer(0)
    header = row.blob(1)
    keyID = row.blob(3)
    if keyID != known { key = SealedKey(row, from: 2) }
  }
}

extension StoreConnection {
  /// The key as it stands in the database, unopened.
  static func sealedKey(in database: SQLiteDatabase) throws(StoreError) -> SealedKey {
    var found: SealedKey?
    try database.run("SELECT \(SealedKey.columns) FROM store s WHERE s.id=1") { found = SealedKey($0) }
    guard let found else { throw .corruptedStore(database.path, "the key is missing") }
    return found
  }

  /// Opens the key as it stands; reads it again if another process changed it meanwhile and replaced its guard.
  static func openKey(
    in database: SQLiteDatabase, _ keySource: any KeySource, _ folder: String
  ) throws(StoreError) -> (storeID: [UInt8], keyID: [UInt8], keys: StoreKeys) {
    for _ in 0..<mostChangesInARow {
      let key = try sealedKey(in: database)
      do throws(StoreError) {
        return try open(key, keySource, database.path, folder)
      } catch {
        guard try sealedKey(in: database) != key else { throw error }
      }
    }
    return try open(try sealedKey(in: database), keySource, database.path, folder)
  }

  /// Opens the key by the source that the store names.
  static func open(
    _ key: SealedKey, _ keySource: any KeySource, _ path: String, _ folder: String
  ) throws(StoreError) -> (storeID: [UInt8], keyID: [UInt8], keys: StoreKeys) {
    guard let storeID = key.storeID, let keyID = key.keyID, let wrapped = key.wrapped else {
      throw .corruptedStore(path, "the key is missing")
    }
    guard let source = keySource.source(for: wrapped.source) else {
      throw .otherKeySource(path, wrapped.source, keySource.kind)
    }
    let secret = try source.unwrap(wrapped, for: keyContext(folder, storeID, keyID))
    guard secret.count == 2 * Cipher.keyCount else { throw .corruptedStore(path, "the key has a wrong length") }
    return (storeID, keyID, StoreKeys(secret))
  }

  /// Seals everything under a new data key, in one transaction: a kill at any moment leaves all of it under the old
  /// key, or all under the new one.
  ///
  /// The key of names stays as it is, so that rows and locks keep theirs. Call it under the store's lock.
  func renewDataKey(_ keySource: any KeySource) throws(StoreError) {
    let (keyID, keys) = try database.transaction { () throws(StoreError) in
      let header = try header()
      let source = try source(in: keySource)
      let keyID = try Cipher.randomBytes(16)
      let keys = StoreKeys(data: try SecretBytes(randomCount: Cipher.keyCount), names: self.keys.names)
      let context = Self.keyContext(folder, storeID, keyID)
      let wrapped = try source.wrap(keys.secret, for: context)
      try prove(wrapped, opensTo: keys.secret, by: source, context)
      try resealSlots(header, keys: keys, keyID: keyID)
      try resealOutbox(header, keys: keys, keyID: keyID)
      var plain = header.encoded()
      defer { plain.wipe() }
      let sealed = try Cipher.seal(plain, key: keys.data, authenticating: Self.headerBinding(storeID, keyID))
      try database.run(
        "UPDATE store SET key_id=?1, key_source=?2, key_parameters=?3, wrapped_key=?4, header=?5 WHERE id=1",
        [.blob(keyID), .text(wrapped.source), .blob(wrapped.parameters), .blob(wrapped.sealed), .blob(sealed)])
      return (keyID, keys)
    }
    adopt(keys, keyID: keyID)
  }

  /// Seals the data key anew, in one transaction: by another source, or by a new guard of the same one.
  ///
  /// The new guard is made first and read back, then the store is committed, then the old guard is removed: a kill at
  /// any moment leaves a store that one of the two opens. Call it under the store's lock.
  func renewGuard(_ keySource: any KeySource, movingTo target: (any KeySource)?) throws(StoreError) {
    let (old, wrapped, former) = try database.transaction { () throws(StoreError) in
      _ = try header()
      let former = try source(in: keySource)
      guard let old = try Self.sealedKey(in: database).wrapped else { throw corrupted("the key is missing") }
      let context = Self.keyContext(folder, storeID, keyID)
      let wrapped: WrappedKey
      if let target {
        wrapped = try target.wrap(keys.secret, for: context)
      } else {
        wrapped = try former.rewrap(keys.secret, replacing: old, for: context)
      }
      try prove(wrapped, opensTo: keys.secret, by: target ?? former, context)
      try database.run(
        "UPDATE store SET key_source=?1, key_parameters=?2, wrapped_key=?3 WHERE id=1",
        [.text(wrapped.source), .blob(wrapped.parameters), .blob(wrapped.sealed)])
      return (old, wrapped, former)
    }
    let context = Self.keyContext(folder, storeID, keyID)
    try (target ?? former).settle(wrapped, for: context)
    if old.source != wrapped.source || old.parameters != wrapped.parameters { try former.discard(old, for: context) }
  }

  /// The source that the store names, as it stands in this transaction.
  private func source(in keySource: any KeySource) throws(StoreError) -> any KeySource {
    guard let kind = try Self.sealedKey(in: database).source else { throw corrupted("the key is missing") }
    guard let source = keySource.source(for: kind) else {
      throw .otherKeySource(database.path, kind, keySource.kind)
    }
    return source
  }

  /// Reads the key back before anything depends on it.
  private func prove(
    _ wrapped: WrappedKey, opensTo secret: SecretBytes, by source: any KeySource, _ context: KeySourceContext
  ) throws(StoreError) {
    guard try source.unwrap(wrapped, for: context).isEqual(to: secret) else {
      throw StoreError(.unavailable, "The key source `\(source.kind)` gives back another key than it was given.")
    }
  }

  private func resealSlots(_ header: StoreHeader, keys: StoreKeys, keyID: [UInt8]) throws(StoreError) {
    var rows: [(name: [UInt8], state: [UInt8])] = []
    try database.run("SELECT name, state FROM slots") { rows.append(($0.blob(0) ?? [], $0.blob(1) ?? [])) }
    guard rows.count == header.entries.count else { throw corrupted("a session is missing or too many") }
    for (name, box) in rows {
      guard let entry = header.entries[name],
        var plain = Cipher.open(box, key: self.keys.data, authenticating: binding(of: entry, keyID: self.keyID))
      else { throw corrupted("a session does not open") }
      defer { plain.wipe() }
      let sealed = try Cipher.seal(plain, key: keys.data, authenticating: binding(of: entry, keyID: keyID))
      try database.run("UPDATE slots SET state=?2 WHERE name=?1", [.blob(name), .blob(sealed)])
    }
  }

  private func resealOutbox(_ header: StoreHeader, keys: StoreKeys, keyID: [UInt8]) throws(StoreError) {
    for revocation in try outbox(header) {
      let name = revocation.id.bytes
      let revision = header.outbox[revocation.id] ?? 0
      var plain = revocation.encoded()
      defer { plain.wipe() }
      let sealed = try Cipher.seal(
        plain, key: keys.data, authenticating: outboxBinding(name, revision, keyID: keyID))
      try database.run("UPDATE outbox SET row=?2 WHERE name=?1", [.blob(name), .blob(sealed)])
    }
  }
}

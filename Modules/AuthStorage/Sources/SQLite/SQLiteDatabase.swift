import CSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// One connection of SQLite, with the pragmas of the store's format. Used from one thread at a time.
final class SQLiteDatabase {
  /// A value as SQLite binds it.
  enum Value {
    case integer(Int64)
    case text(String)
    case blob([UInt8])
  }

  let path: String
  private let handle: OpaquePointer
  private var statements: [String: OpaquePointer] = [:]

  /// Opens the file, which must be there; no link is followed on the way.
  init(path: String) throws(StoreError) {
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE
    let code = sqlite3_open_v2(path, &handle, flags, nil)
    guard code == SQLITE_OK, let handle else {
      let error = Self.error(code, handle, path)
      sqlite3_close_v2(handle)
      throw error
    }
    self.path = path
    self.handle = handle
    sqlite3_extended_result_codes(handle, 1)
    sqlite3_busy_timeout(handle, 5000)
    try execute(
      """
      PRAGMA synchronous=EXTRA; PRAGMA secure_delete=ON; PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=OFF;
      PRAGMA cell_size_check=ON;
      """)
  }

  deinit {
    for statement in statements.values { sqlite3_finalize(statement) }
    sqlite3_close_v2(handle)
  }

  /// Runs statements that give no rows.
  func execute(_ sql: String) throws(StoreError) {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw Self.error(code, handle, path) }
  }

  /// Runs one statement, prepared once, and hands each row to `body`.
  func run(
    _ sql: String, _ values: [Value] = [], row body: (Row) -> Void = { _ in }
  ) throws(StoreError) {
    let statement = try prepared(sql)
    defer {
      sqlite3_reset(statement)
      sqlite3_clear_bindings(statement)
    }
    for (offset, value) in values.enumerated() {
      let index = Int32(offset + 1)
      let code =
        switch value {
        case .integer(let number): sqlite3_bind_int64(statement, index, number)
        case .text(let text): chirp_sqlite3_bind_text(statement, index, text, Int32(clamping: text.utf8.count))
        case .blob(let bytes): bind(bytes, statement, index)
        }
      guard code == SQLITE_OK else { throw Self.error(code, handle, path) }
    }
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: body(Row(statement: statement))
      case SQLITE_DONE: return
      case let code: throw Self.error(code, handle, path)
      }
    }
  }

  /// The single integer that a statement gives; nil if it gives no row.
  func integer(_ sql: String) throws(StoreError) -> Int64? {
    var found: Int64?
    try run(sql) { found = $0.integer(0) }
    return found
  }

  /// Begins a write transaction: no other connection writes until `commit` or `rollBack`.
  func begin() throws(StoreError) {
    try run("BEGIN IMMEDIATE")
  }

  /// Begins a read transaction: what is read until `rollBack` is of one moment.
  func beginReading() throws(StoreError) {
    try run("BEGIN")
  }

  /// Makes what was written since `begin` last.
  func commit() throws(StoreError) {
    try run("COMMIT")
  }

  /// Ends the transaction, if there is one, with nothing written.
  ///
  /// A failure such as a full disk may have rolled back already; if this fails too, the first error is the one to tell,
  /// and SQLite rolls the journal back at the next access.
  func rollBack() {
    if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
  }

  /// Runs `body` between `begin` and `commit`; whatever fails, nothing is left half done.
  func transaction<Success>(_ body: () throws(StoreError) -> Success) throws(StoreError) -> Success {
    try begin()
    do throws(StoreError) {
      let result = try body()
      try commit()
      return result
    } catch {
      rollBack()
      throw error
    }
  }

  private func prepared(_ sql: String) throws(StoreError) -> OpaquePointer {
    if let statement = statements[sql] { return statement }
    var statement: OpaquePointer?
    let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard code == SQLITE_OK, let statement else { throw Self.error(code, handle, path) }
    statements[sql] = statement
    return statement
  }

  private func bind(_ bytes: [UInt8], _ statement: OpaquePointer, _ index: Int32) -> Int32 {
    // A nil pointer, which an empty array may give, would bind NULL.
    guard !bytes.isEmpty else { return sqlite3_bind_zeroblob(statement, index, 0) }
    return chirp_sqlite3_bind_blob(statement, index, bytes, Int32(clamping: bytes.count))
  }

  /// One row, valid while `run` hands it out.
  struct Row {
    fileprivate let statement: OpaquePointer

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    func text(_ column: Int32) -> String? {
      sqlite3_column_text(statement, column).map { String(cString: $0) }
    }

    /// The bytes; nil for NULL and for anything that is no blob.
    func blob(_ column: Int32) -> [UInt8]? {
      guard sqlite3_column_type(statement, column) == SQLITE_BLOB else { return nil }
      let count = Int(sqlite3_column_bytes(statement, column))
      guard count > 0, let bytes = sqlite3_column_blob(statement, column) else { return [] }
      return Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }
  }
}

extension SQLiteDatabase {
  /// What a result code means for a store.
  private static func error(_ code: Int32, _ handle: OpaquePointer?, _ path: String) -> StoreError {
    let extended = handle.map { sqlite3_extended_errcode($0) } ?? code
    let system = handle.map { sqlite3_system_errno($0) } ?? 0
    let reason = String(cString: sqlite3_errstr(extended))
    let message = "The session store \(path): \(reason)."
    switch extended & 0xff {
    case SQLITE_FULL:
      return StoreError(.full, message, hint: "Free some space, then try again.")
    case SQLITE_READONLY:
      return StoreError(.readOnly, message, hint: "Make the store's folder and its files writable for yourself.")
    case SQLITE_BUSY, SQLITE_LOCKED:
      return StoreError(.locked, message, hint: "Another process is using the store; try again.")
    case SQLITE_NOTADB, SQLITE_CORRUPT, SQLITE_ERROR, SQLITE_SCHEMA, SQLITE_MISMATCH, SQLITE_CONSTRAINT, SQLITE_TOOBIG,
      SQLITE_FORMAT, SQLITE_EMPTY:
      // The statements are fixed: where one of them does not fit, the file is not what was written.
      return .corruptedStore(path, reason)
    case SQLITE_CANTOPEN where extended == SQLITE_CANTOPEN | (6 << 8):
      return StoreError(.insecurePermissions, message, hint: "Put a real file where the link is.")
    case SQLITE_CANTOPEN, SQLITE_IOERR:
      guard system != 0, system != ENOENT else { return StoreError(.unavailable, message) }
      return .system(system, "The session store \(path) cannot be used", writing: true)
    default:
      return StoreError(.unavailable, message)
    }
  }
}

extension StoreError {
  static func corruptedStore(_ path: String, _ reason: String) -> StoreError {
    StoreError(
      .corrupted, "The session store \(path) is damaged (\(reason)); it was left as it is.",
      hint: "Move it aside, then sign in again: mv \(shellQuoted(path)) \(shellQuoted(path + ".damaged"))")
  }

  static func newerStore(_ path: String, _ version: Int64) -> StoreError {
    StoreError(
      .newerVersion, "The session store \(path) has version \(version): a newer version of this program wrote it.",
      hint: "Use that version; the store was left as it is.")
  }
}

import CSQLite

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One table, one row, no encryption, no locks of its own: what SQLite alone takes with the session store's pragmas.
final class BareSQLite {
  private let database: OpaquePointer
  private let begin: OpaquePointer
  private let update: OpaquePointer
  private let commit: OpaquePointer
  private let select: OpaquePointer

  /// Makes the database at `path` with one row.
  init(_ path: String) throws(BenchError) {
    var handle: OpaquePointer?
    guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil) == SQLITE_OK, let handle
    else { throw BenchError("SQLite cannot open \(path).") }
    let setUp = """
      PRAGMA journal_mode=DELETE; PRAGMA synchronous=EXTRA; PRAGMA secure_delete=ON; PRAGMA temp_store=MEMORY;
      PRAGMA trusted_schema=OFF; PRAGMA busy_timeout=5000;
      CREATE TABLE record (id INTEGER PRIMARY KEY, sealed BLOB NOT NULL); INSERT INTO record VALUES (1, x'00');
      """
    guard sqlite3_exec(handle, setUp, nil, nil, nil) == SQLITE_OK else {
      let message = String(cString: sqlite3_errmsg(handle))
      sqlite3_close(handle)
      throw BenchError("SQLite cannot set \(path) up: \(message).")
    }
    database = handle
    begin = try Self.prepare(handle, "BEGIN IMMEDIATE")
    update = try Self.prepare(handle, "UPDATE record SET sealed = ? WHERE id = 1")
    commit = try Self.prepare(handle, "COMMIT")
    select = try Self.prepare(handle, "SELECT sealed FROM record WHERE id = 1")
  }

  deinit {
    for statement in [begin, update, commit, select] { sqlite3_finalize(statement) }
    sqlite3_close(database)
  }

  /// Writes the row in a transaction of its own.
  func save(_ bytes: [UInt8]) throws(BenchError) {
    try step(begin, until: SQLITE_DONE)
    bytes.withUnsafeBytes { buffer in
      _ = chirp_sqlite3_bind_blob(update, 1, buffer.baseAddress, Int32(clamping: buffer.count))
    }
    try step(update, until: SQLITE_DONE)
    try step(commit, until: SQLITE_DONE)
  }

  /// Reads the row.
  func load() throws(BenchError) -> [UInt8] {
    guard sqlite3_step(select) == SQLITE_ROW else { throw failure }
    defer { sqlite3_reset(select) }
    let count = Int(sqlite3_column_bytes(select, 0))
    guard let bytes = sqlite3_column_blob(select, 0) else { return [] }
    return [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
  }

  private var failure: BenchError { BenchError("SQLite: \(String(cString: sqlite3_errmsg(database))).") }

  private func step(_ statement: OpaquePointer, until expected: Int32) throws(BenchError) {
    defer { sqlite3_reset(statement) }
    guard sqlite3_step(statement) == expected else { throw failure }
  }

  private static func prepare(_ database: OpaquePointer, _ sql: String) throws(BenchError) -> OpaquePointer {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
      throw BenchError("SQLite: \(String(cString: sqlite3_errmsg(database))).")
    }
    return statement
  }
}

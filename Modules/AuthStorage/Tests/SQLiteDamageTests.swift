import AuthModels
import AuthStorage
import AuthTestSupport
import CSQLite
import Foundation
import Groundwork
import Testing

/// Damage is told as damage, never as "signed out", and leaves the file as it is (S21).
@Suite struct SQLiteDamageTests {
  private static let other = SessionSlot(server: "https://other.example.com:443", account: "other")

  @Test(
    "a file that was cut, emptied or overwritten is `corrupted`, and its bytes stay",
    arguments: [
      "empty", "1 byte", "half a header", "one page", "all but one page", "text", "zeros", "random",
    ])
  func damagedFile(kind: String) async throws {
    try await StoreFixture.lend { fixture in
      try await fixture.signIn()
      let whole = try fixture.folder.bytes("sessions.db")
      let damaged: [UInt8] =
        switch kind {
        case "empty": []
        case "1 byte": Array(whole.prefix(1))
        case "half a header": Array(whole.prefix(50))
        case "one page": Array(whole.prefix(4096))
        case "all but one page": Array(whole.dropLast(4096))
        case "text": Array(String(repeating: "{\"accessToken\": null}\n", count: 400).utf8)
        case "zeros": Array(repeating: 0, count: whole.count)
        default: (0..<whole.count).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
        }
      try fixture.folder.overwrite("sessions.db", damaged)
      for store in [fixture.reopened(), fixture.store] {
        let reading = try await StoreFixture.error { _ = try await store.read(StoreFixture.slot) }
        #expect(reading.code == .corrupted, "\(reading)")
        let writing = try await StoreFixture.error {
          _ = try await store.update(StoreFixture.slot) { $0.state = SlotState() }
        }
        #expect(writing.code == .corrupted, "\(writing)")
      }
      #expect(try fixture.folder.bytes("sessions.db") == damaged)
    }
  }

  @Test("one flipped bit anywhere gives an error or the true session, never another one and never none")
  func flippedBits() async throws {
    try await StoreFixture.lend { fixture in
      let saved = try await fixture.signIn()
      let whole = try fixture.folder.bytes("sessions.db")
      var refused = 0
      // Every byte of the file's head, and each 37th of the rest: a prime step meets fields of every kind.
      let offsets = Array(0..<100) + Array(stride(from: 100, to: whole.count, by: 37))
      for offset in offsets {
        var damaged = whole
        damaged[offset] ^= 1 << UInt8(offset % 8)
        try fixture.folder.overwrite("sessions.db", damaged)
        let store = fixture.reopened()
        do throws(StoreError) {
          let found = try await store.read(StoreFixture.slot)
          #expect(found == saved, "byte \(offset) changed the session")
        } catch {
          refused += 1
          let allowed: [StoreError.Code] = [.corrupted, .newerVersion, .unavailable]
          #expect(allowed.contains(error.code), "byte \(offset): \(error)")
        }
        let after = try fixture.folder.bytes("sessions.db")
        #expect(after == damaged, "reading changed the file that was damaged at byte \(offset)")
      }
      #expect(refused > 60, "flips in sealed data have to be found; \(refused) were")
    }
  }

  @Test("a byte that is flipped anywhere in the sealed record is `corrupted`")
  func everyByteOfTheRecord() async throws {
    try await StoreFixture.lend { fixture in
      try await fixture.signIn()
      let whole = try fixture.folder.bytes("sessions.db")
      var sealed: [UInt8] = []
      var handle: OpaquePointer?
      try #require(sqlite3_open(fixture.folder.store + "/sessions.db", &handle) == SQLITE_OK)
      var statement: OpaquePointer?
      try #require(sqlite3_prepare_v2(handle, "SELECT state FROM slots", -1, &statement, nil) == SQLITE_OK)
      try #require(sqlite3_step(statement) == SQLITE_ROW)
      let bytes = try #require(sqlite3_column_blob(statement, 0))
      sealed = Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, 0))))
      sqlite3_finalize(statement)
      sqlite3_close(handle)
      let place = try #require(Data(whole).range(of: Data(sealed)), "the row is whole in one page")
      // Each seventh, and the ends; `make fuzz` flips all of them.
      let ends = Array(place.prefix(32)) + Array(place.suffix(32))
      for offset in Array(stride(from: place.lowerBound, to: place.upperBound, by: 7)) + ends {
        var damaged = whole
        damaged[offset] ^= 1 << UInt8(offset % 8)
        try fixture.folder.overwrite("sessions.db", damaged)
        #expect(try await fixture.readError().code == .corrupted, "byte \(offset - place.lowerBound) of \(place.count)")
      }
      try fixture.folder.overwrite("sessions.db", whole)
      #expect(try await fixture.reopened().read(StoreFixture.slot).record != nil)
    }
  }

  @Test(
    "a flip of any bit of the sealed row, the header or the wrapped key is `corrupted`",
    arguments: [
      ("slots", "state"), ("store", "header"), ("store", "wrapped_key"), ("store", "store_id"), ("store", "key_id"),
      ("slots", "name"),
    ])
  func flippedColumn(table: String, column: String) async throws {
    try await StoreFixture.lend { fixture in
      try await fixture.signIn()
      for position in [1, 5, 16] {
        try fixture.sql("CREATE TABLE IF NOT EXISTS keep AS SELECT \(column) AS v FROM \(table)")
        try fixture.sql(
          "UPDATE \(table) SET \(column)=CAST(substr(\(column),1,\(position - 1)) || "
            + "CASE WHEN hex(substr(\(column),\(position),1))='00' THEN x'01' ELSE x'00' END || "
            + "substr(\(column),\(position + 1)) AS BLOB)")
        #expect(try await fixture.readError().code == .corrupted, "position \(position)")
        try fixture.sql("UPDATE \(table) SET \(column)=(SELECT v FROM keep); DROP TABLE keep")
        #expect(try await fixture.reopened().read(StoreFixture.slot).record != nil, "put back, it is whole again")
      }
    }
  }

  @Test(
    "a row copied or swapped from another account, put back from before, or deleted, is `corrupted`",
    arguments: [
      "copied", "swapped", "rolled back", "deleted", "header rolled back", "intent removed",
    ])
  func movedRows(kind: String) async throws {
    try await StoreFixture.lend { fixture in
      let first = StoreFixture.record()
      try await fixture.signIn(first)
      try await fixture.signIn(StoreFixture.record(Self.other, access: "other"))
      try fixture.sql(
        "CREATE TABLE old_slots AS SELECT * FROM slots; CREATE TABLE old_store AS SELECT * FROM store")
      if kind == "intent removed" {
        _ = try await fixture.store.update(StoreFixture.slot) { change in
          change.state.intent = RefreshIntent(version: first.version, attempt: UUID(), startedAt: Date())
        }
      } else {
        _ = try await fixture.store.update(StoreFixture.slot) { $0.state.record?.accessToken = "rotated" }
      }
      switch kind {
      case "copied": try fixture.sql("UPDATE slots SET state=(SELECT state FROM slots WHERE id=2) WHERE id=1")
      case "swapped":
        try fixture.sql(
          "UPDATE slots SET name=x'00' WHERE id=1; UPDATE slots SET name=(SELECT name FROM old_slots WHERE id=1) WHERE id=2;"
            + "UPDATE slots SET name=(SELECT name FROM old_slots WHERE id=2) WHERE id=1")
      case "rolled back", "intent removed":
        try fixture.sql("UPDATE slots SET state=(SELECT state FROM old_slots WHERE id=1) WHERE id=1")
      case "deleted": try fixture.sql("DELETE FROM slots WHERE id=1")
      default: try fixture.sql("UPDATE store SET header=(SELECT header FROM old_store)")
      }
      #expect(try await fixture.readError().code == .corrupted)
      let open = try await StoreFixture.error { _ = try await fixture.store.read(StoreFixture.slot) }
      #expect(open.code == .corrupted, "an open store notices as well")
    }
  }

  @Test("an outbox row that was deleted, doubled or put back is `corrupted`", arguments: ["deleted", "swapped"])
  func outboxDamage(kind: String) async throws {
    try await StoreFixture.lend { fixture in
      let rows = (0..<2).map { index in
        PendingRevocation(
          id: UUID(), slot: StoreFixture.slot, profile: "chirp", accessToken: nil, refreshToken: "r\(index)",
          since: fixture.clock.wallClock)
      }
      _ = try await fixture.store.update(StoreFixture.slot) { $0.revocations = rows }
      #expect(try await fixture.reopened().pendingRevocations().count == 2)
      try fixture.sql(
        kind == "deleted"
          ? "DELETE FROM outbox WHERE id=1" : "UPDATE outbox SET row=(SELECT row FROM outbox WHERE id=1) WHERE id=2")
      let store = fixture.reopened()
      #expect(try await StoreFixture.error { _ = try await store.pendingRevocations() }.code == .corrupted)
    }
  }

  @Test("a store of a newer version is refused and left as it is, also by a process that has it open")
  func newerVersion() async throws {
    try await StoreFixture.lend { fixture in
      try await fixture.signIn()
      try fixture.sql("PRAGMA user_version=2; ALTER TABLE slots RENAME TO sessions")
      let before = try fixture.folder.bytes("sessions.db")
      #expect(try await fixture.readError().code == .newerVersion)
      let open = try await StoreFixture.error { _ = try await fixture.store.read(StoreFixture.slot) }
      #expect(open.code == .newerVersion)
      let writing = try await StoreFixture.error {
        _ = try await fixture.store.update(StoreFixture.slot) { $0.state = SlotState() }
      }
      #expect(writing.code == .newerVersion)
      #expect(try fixture.folder.bytes("sessions.db") == before)
    }
  }

  @Test("someone else's database is no session store")
  func foreignDatabase() async throws {
    try await StoreFixture.lend { fixture in
      try await fixture.signIn()
      try fixture.sql("PRAGMA application_id=7")
      #expect(try await fixture.readError().code == .corrupted)
      try fixture.sql("PRAGMA application_id=\(0x4368_7270); PRAGMA user_version=0")
      #expect(try await fixture.readError().code == .corrupted)
    }
  }

  @Test(
    "a key file that is missing, damaged, another store's or newer is told apart",
    arguments: [
      ("missing", StoreError.Code.unavailable), ("another", .corrupted), ("damaged", .corrupted), ("cut", .corrupted),
      ("empty", .corrupted), ("longer", .corrupted), ("newer", .newerVersion),
    ])
  func keyFile(kind: String, code: StoreError.Code) async throws {
    try await StoreFixture.lend { fixture in
      try await fixture.signIn()
      var key = try fixture.folder.bytes("key")
      #expect(key.count == 92)
      switch kind {
      case "missing": #expect(unlink(fixture.folder.store + "/key") == 0)
      case "another":
        try await StoreFixture.lend { other in
          try await other.signIn()
          key = try other.folder.bytes("key")
        }
      case "damaged": key[40] ^= 1
      case "cut": key.removeLast()
      case "empty": key = []
      case "longer": key.append(0)
      default: key[8] = 2
      }
      if kind != "missing" { try fixture.folder.overwrite("key", key) }
      let error = try await fixture.readError()
      #expect(error.code == code, "\(error)")
      let store = fixture.reopened()
      let writing = try await StoreFixture.error {
        _ = try await store.update(StoreFixture.slot) { $0.state = SlotState() }
      }
      #expect(writing.code == code, "a write makes no new key: \(writing)")
    }
  }

  @Test("a store never changes its key source by itself")
  func otherKeySource() async throws {
    try await StoreFixture.lend { fixture in
      try await fixture.signIn()
      let store = SQLiteSessionStore(folder: fixture.folder.store, time: fixture.clock, keySource: OtherKeySource())
      let error = try await StoreFixture.error { _ = try await store.read(StoreFixture.slot) }
      #expect(error.code == .unavailable && error.message.contains("`keyfile`"), "\(error)")
    }
  }

  private struct OtherKeySource: KeySource {
    var kind: String { "other" }

    func wrap(_ key: SecretBytes, for context: KeySourceContext) throws(StoreError) -> WrappedKey {
      throw StoreError(.cancelled, "not to be called")
    }

    func unwrap(_ key: WrappedKey, for context: KeySourceContext) throws(StoreError) -> SecretBytes {
      throw StoreError(.cancelled, "not to be called")
    }
  }
}

import AuthModels
import AuthStorage
import AuthTestSupport
import Foundation
import Groundwork
import Testing

/// The doctor says what is wrong, changes nothing by looking, and makes sign-in work again where the store is lost.
@Suite struct DoctorTests {
  private static func doctor(
    _ fixture: StoreFixture, _ source: any KeySource = KeyFileKeySource()
  ) -> StoreDoctor {
    StoreDoctor(folder: fixture.folder.store, time: fixture.clock, keySource: source)
  }

  private static func files(_ fixture: StoreFixture) throws -> [String: [UInt8]] {
    Dictionary(
      uniqueKeysWithValues: try fixture.folder.names().map { ($0, try fixture.folder.bytes($0)) })
  }

  @Test("no store, and a whole one: nothing has to be done")
  func healthy() async throws {
    try await StoreFixture.lend { fixture in
      let nothing = await Self.doctor(fixture).examine()
      #expect(nothing.isHealthy && nothing.repairs.isEmpty && nothing.info.keySource == nil)
      #expect(try await Self.doctor(fixture).repair().isEmpty)
      #expect(!FileManager.default.fileExists(atPath: fixture.folder.store), "looking makes nothing")

      let saved = try await fixture.signIn()
      let row = PendingRevocation(
        id: UUID(), slot: StoreFixture.slot, profile: "chirp", accessToken: nil, refreshToken: "r",
        since: fixture.clock.wallClock)
      let version = try #require(saved.record?.version)
      _ = try await fixture.store.update(StoreFixture.slot) { change in
        change.state.intent = RefreshIntent(version: version, attempt: UUID(), startedAt: Date())
        change.revocations = [row]
      }
      let before = try Self.files(fixture)
      let whole = await Self.doctor(fixture).examine()
      #expect(whole.isHealthy && whole.repairs.isEmpty, "\(whole.problems)")
      #expect(whole.info.schemaVersion == 1 && whole.info.keySource == "keyfile" && whole.info.passphraseCost == nil)
      #expect(whole.info.sessions == 1 && whole.info.accounts == 1 && whole.info.pendingRevocations == 1)
      #expect(whole.info.databaseSize == before["sessions.db"].map { Int64($0.count) })
      #expect(whole.findings.contains { $0.check == .sessions && $0.severity == .note }, "the unfinished refresh")
      #expect(try await Self.doctor(fixture).repair().isEmpty)
      #expect(try Self.files(fixture) == before, "neither looking nor repairing changes a whole store")
      let closed = await Self.doctor(fixture).examine(opensKey: false)
      #expect(closed.isHealthy && closed.info.keySource == "keyfile" && closed.info.sessions == nil)
      for text in [StoreFixture.accessToken, StoreFixture.refreshToken] { #expect(!"\(whole)".contains(text)) }
    }
  }

  @Test(
    "a damaged store is found, moved aside and never deleted; sign-in works again",
    arguments: [
      "empty", "text", "cut", "flipped row", "flipped header", "deleted row", "damaged key file", "lost key file",
      "another key file", "outbox",
    ])
  func damaged(kind: String) async throws {
    try await StoreFixture.lend { fixture in
      try await fixture.signIn()
      let row = PendingRevocation(
        id: UUID(), slot: StoreFixture.slot, profile: "chirp", accessToken: nil, refreshToken: "r",
        since: fixture.clock.wallClock)
      _ = try await fixture.store.update(StoreFixture.slot) { $0.revocations = [row] }
      let whole = try fixture.folder.bytes("sessions.db")
      var key = try fixture.folder.bytes("key")
      switch kind {
      case "empty": try fixture.folder.overwrite("sessions.db", [])
      case "text": try fixture.folder.overwrite("sessions.db", Array(repeating: 0x41, count: 5000))
      case "cut": try fixture.folder.overwrite("sessions.db", Array(whole.dropLast(4096)))
      case "flipped row": try fixture.sql("UPDATE slots SET state=zeroblob(length(state))")
      case "flipped header": try fixture.sql("UPDATE store SET header=zeroblob(length(header))")
      case "deleted row": try fixture.sql("DELETE FROM slots")
      case "outbox": try fixture.sql("DELETE FROM outbox")
      case "damaged key file":
        key[40] ^= 1
        try fixture.folder.overwrite("key", key)
      case "lost key file": #expect(unlink(fixture.folder.store + "/key") == 0)
      default:
        try await StoreFixture.lend { other in
          try await other.signIn()
          key = try other.folder.bytes("key")
        }
        try fixture.folder.overwrite("key", key)
      }
      let before = try Self.files(fixture)
      let doctor = Self.doctor(fixture)
      let diagnosis = await doctor.examine()
      #expect(!diagnosis.isHealthy)
      #expect(diagnosis.problems.allSatisfy { $0.code == (kind == "lost key file" ? .unavailable : .corrupted) })
      #expect(diagnosis.repairs.contains(.moveAside(path: try Self.canonical(fixture) + "/sessions.db")))
      #expect(try Self.files(fixture) == before, "looking changes nothing")

      let moved = try await doctor.repair()
      #expect(moved.count == (kind == "damaged key file" ? 2 : 1))
      let after = try Self.files(fixture)
      #expect(after["sessions.db.damaged-1"] == before["sessions.db"], "moved, not deleted")
      if kind == "damaged key file" { #expect(after["key.damaged-1"] == key) }
      #expect(await doctor.examine().isHealthy)

      let record = StoreFixture.record(access: "again")
      _ = try await fixture.store.update(StoreFixture.slot) { $0.state = SlotState(record: record) }
      #expect(try await fixture.reopened().read(StoreFixture.slot).record?.accessToken == "again")
      #expect(await doctor.examine().isHealthy)
      #expect(try await doctor.repair().isEmpty)
    }
  }

  @Test("a second repair takes another name")
  func twice() async throws {
    try await StoreFixture.lend { fixture in
      for round in 1...2 {
        let record = StoreFixture.record()
        _ = try await fixture.reopened().update(StoreFixture.slot) { $0.state = SlotState(record: record) }
        try fixture.folder.overwrite("sessions.db", Array(repeating: UInt8(round), count: 5000))
        #expect(try await Self.doctor(fixture).repair().count == 1)
        #expect(try fixture.folder.bytes("sessions.db.damaged-\(round)").first == UInt8(round))
      }
    }
  }

  @Test("loose modes are explained and left alone: others may have read it already")
  func looseModes() async throws {
    try await StoreFixture.lend { fixture in
      try await fixture.signIn()
      for (file, loose, proper) in [
        ("", mode_t(0o755), mode_t(0o700)), ("/sessions.db", 0o644, 0o600), ("/key", 0o640, 0o600),
      ] {
        #expect(chmod(fixture.folder.store + file, loose) == 0)
        let diagnosis = await Self.doctor(fixture).examine()
        let problem = try #require(diagnosis.problems.first)
        #expect(problem.code == .insecurePermissions && problem.message.contains("may have read"))
        #expect(problem.hint?.contains("chmod") == true)
        #expect(diagnosis.repairs.isEmpty)
        if file.isEmpty {
          let error = try await StoreFixture.error { _ = try await Self.doctor(fixture).repair() }
          #expect(error.code == .insecurePermissions)
        } else {
          #expect(try await Self.doctor(fixture).repair().isEmpty)
        }
        #expect(chmod(fixture.folder.store + file, proper) == 0)
      }
      #expect(await Self.doctor(fixture).examine().isHealthy)
    }
  }

  @Test("what only the user can mend is left alone: a newer version, a mistyped passphrase, another key source")
  func notOurs() async throws {
    try await StoreFixture.lend { fixture in
      try await fixture.signIn()
      try fixture.sql("PRAGMA user_version=2")
      let newer = await Self.doctor(fixture).examine()
      #expect(newer.problems.map(\.code) == [.newerVersion] && newer.repairs.isEmpty)
      try fixture.sql("PRAGMA user_version=1")
      let cost = try #require(PassphraseKeySource.Cost(log2N: 16))
      try await fixture.store.changeKeySource(
        to: PassphraseKeySource(SecretBytes(Array("right".utf8)), cost: cost))
      let foreign = await Self.doctor(fixture).examine()
      #expect(foreign.problems.map(\.code) == [.unavailable] && foreign.repairs.isEmpty)
      let wrong = await Self.doctor(fixture, PassphraseKeySource(SecretBytes(Array("wrong".utf8)))).examine()
      #expect(wrong.problems.map(\.code) == [.wrongPassphrase] && wrong.repairs.isEmpty)
      #expect(wrong.info.passphraseCost == 16 && wrong.info.keySource == "passphrase")
      #expect(try await Self.doctor(fixture).repair().isEmpty)
      #expect(try fixture.folder.names().contains { $0.contains("damaged") } == false)
    }
  }

  @Test("strange files, leftovers and a process that writes are told, with the process's id")
  func notes() async throws {
    try await StoreFixture.lend { fixture in
      try await fixture.signIn()
      for name in ["notes.txt", "sessions.db.new", "sessions.db.damaged-7"] {
        let descriptor = open(fixture.folder.store + "/" + name, O_WRONLY | O_CREAT, 0o600)
        try #require(descriptor >= 0)
        close(descriptor)
      }
      let child = try ChildProcess(["flock", "--no-fork", fixture.folder.store + "/store.lock", "sleep", "1000"])
      var diagnosis = await Self.doctor(fixture).examine()
      while !diagnosis.findings.contains(where: { $0.check == .lock }) {
        await Task.yield()
        diagnosis = await Self.doctor(fixture).examine()
      }
      #expect(diagnosis.isHealthy)
      let notes = diagnosis.findings.filter { $0.severity == .note }
      #expect(notes.contains { $0.message.contains("notes.txt is no file") })
      #expect(notes.contains { $0.message.contains("sessions.db.new was left") })
      #expect(notes.contains { $0.message.contains("sessions.db.damaged-7 was moved aside") })
      #expect(notes.contains { $0.check == .lock && $0.message.contains("process \(child.id)") })
      let error = try await StoreFixture.error { _ = try await Self.doctor(fixture).repair() }
      #expect(error.code == .locked)
    }
  }

  @Test("a journal goes aside with its database; one that is left without it is not rolled back into a new one")
  func journals() async throws {
    try await StoreFixture.lend { fixture in
      try await fixture.signIn()
      let journal = Array(repeating: UInt8(0x5a), count: 600)
      let place = fixture.folder.store + "/sessions.db-journal"
      func leaveJournal() throws {
        let descriptor = open(place, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        try #require(descriptor >= 0)
        #expect(write(descriptor, journal, journal.count) == journal.count)
        close(descriptor)
      }
      // Emptied: SQLite, which would take the journal for its own, is not asked about such a file.
      try fixture.folder.overwrite("sessions.db", [])
      try leaveJournal()
      #expect(try await Self.doctor(fixture).repair().count == 2)
      #expect(try fixture.folder.bytes("sessions.db.damaged-1-journal") == journal)
      try leaveJournal()
      let record = StoreFixture.record(access: "again")
      _ = try await fixture.store.update(StoreFixture.slot) { $0.state = SlotState(record: record) }
      #expect(try await fixture.reopened().read(StoreFixture.slot).record?.accessToken == "again")
      #expect(try fixture.folder.bytes("sessions.db.damaged-journal") == journal)
    }
  }

  private static func canonical(_ fixture: StoreFixture) throws -> String {
    let path = try #require(realpath(fixture.folder.store, nil))
    defer { free(path) }
    return String(cString: path)
  }
}

import AuthModels
import AuthStorage
import AuthTestSupport
import CSQLite
import Foundation
import Groundwork
import Testing

/// Nothing of a session can be read from any file of the store.
@Suite struct SQLiteSecrecyTests {
  private static let secrets = [
    StoreFixture.accessToken, StoreFixture.refreshToken, StoreFixture.email, StoreFixture.outboxToken,
    StoreFixture.slot.account, "secret-server.example.com",
  ]

  /// The files of the folder that hold one of the secrets, or half of one: plain, or in base64 at any of the three
  /// alignments.
  ///
  /// A value that runs over the end of a page is cut once, so that one of its halves is whole in one of the two.
  private static func leaks(in folder: TemporaryFolder) throws -> [String] {
    var needles: [[UInt8]] = []
    for secret in secrets {
      let bytes = Array(secret.utf8)
      let half = (bytes.count + 1) / 2
      for part in [bytes, Array(bytes.prefix(half)), Array(bytes.suffix(half))] {
        needles.append(part)
        for shift in 0..<3 {
          let shifted = [UInt8](repeating: 0, count: shift) + part
          // The first and the last group depend on the neighbours: they are left out. What is left has to say something.
          let text = Array(Data(shifted).base64EncodedString().utf8.dropFirst(4).dropLast(4))
          if text.count >= 8 { needles.append(text) }
        }
      }
    }
    return try folder.names().filter { name in
      let bytes = Data(try folder.bytes(name))
      return needles.contains { bytes.range(of: Data($0)) != nil }
    }
  }

  private static func signInAndOut(_ fixture: StoreFixture) async throws {
    let record = StoreFixture.record()
    let saved = try await fixture.signIn(record)
    let version = try #require(saved.record?.version)
    _ = try await fixture.store.update(StoreFixture.slot) { change in
      change.state.intent = RefreshIntent(version: version, attempt: UUID(), startedAt: Date())
    }
    _ = try await fixture.store.update(StoreFixture.slot) { $0.state.intent = nil }
    let row = PendingRevocation(
      id: UUID(), slot: StoreFixture.slot, profile: "chirp", accessToken: nil, refreshToken: StoreFixture.outboxToken,
      since: fixture.clock.wallClock)
    _ = try await fixture.store.update(StoreFixture.slot) { $0.revocations = [row] }
  }

  @Test("no token, address, account or server stands in any file, after save, intent, outbox and clear")
  func noLeak() async throws {
    try await StoreFixture.lend { fixture in
      try await Self.signInAndOut(fixture)
      _ = try await fixture.store.acquireRefreshLock(StoreFixture.slot, bound: .zero)
      #expect(try Self.leaks(in: fixture.folder) == [])
      _ = try await fixture.store.update(StoreFixture.slot) { $0.state = SlotState() }
      #expect(try Self.leaks(in: fixture.folder) == [])
      #expect(try fixture.folder.names().allSatisfy { !$0.contains("work") })
    }
  }

  @Test("the scan finds a secret that was planted, plain and in base64")
  func scanFindsPlanted() async throws {
    try await StoreFixture.lend { fixture in
      try await fixture.signIn()
      let planted = fixture.folder.store + "/planted"
      for secret in Self.secrets {
        for text in [
          secret, Data("x\(secret)".utf8).base64EncodedString(), Data("xy-\(secret)z".utf8).base64EncodedString(),
        ] {
          try Data("\u{1}\u{2}\(text)\u{3}".utf8).write(to: URL(fileURLWithPath: planted))
          #expect(try Self.leaks(in: fixture.folder) == ["planted"], "\(text)")
        }
      }
      try FileManager.default.removeItem(atPath: planted)
      try fixture.sql("CREATE TABLE planted AS SELECT '\(StoreFixture.email)' AS t")
      #expect(try Self.leaks(in: fixture.folder) == ["sessions.db"])
    }
  }

  @Test("the scan finds a secret that SQLite split over two pages, wherever it was cut, plain and in base64")
  func scanFindsSplit() async throws {
    try await StoreFixture.lend { fixture in
      try await fixture.signIn()
      let encoded = Data(StoreFixture.refreshToken.utf8).base64EncodedString()
      for text in [StoreFixture.refreshToken, encoded] {
        // An overflow page holds 4092 bytes behind the number of the next one: a cut somewhere in the text.
        for cut in stride(from: 1, to: text.utf8.count, by: 3) {
          let filling = String(repeating: "-", count: 3 * 4092 - cut)
          try fixture.sql("CREATE TABLE planted(t); INSERT INTO planted VALUES('\(filling)\(text)\(filling)')")
          #expect(try Self.leaks(in: fixture.folder) == ["sessions.db"], "cut at \(cut)")
          try fixture.sql("PRAGMA secure_delete=ON; DROP TABLE planted; VACUUM")
          #expect(try Self.leaks(in: fixture.folder) == [])
        }
      }
    }
  }

  @Test("a change of keys shows nothing in any file either, and neither key stands in one")
  func changeOfKeys() async throws {
    try await StoreFixture.lend { fixture in
      try await Self.signInAndOut(fixture)
      let former = try fixture.folder.bytes("key")[28..<60]
      try await fixture.store.renewDataKey()
      try await fixture.store.renewGuard()
      #expect(try Self.leaks(in: fixture.folder) == [])
      let renewed = try fixture.folder.bytes("key")[28..<60]
      for name in try fixture.folder.names() {
        let bytes = Data(try fixture.folder.bytes(name))
        #expect(bytes.range(of: Data(former)) == nil, "\(name)")
        #expect(bytes.range(of: Data(renewed)) == nil || name == "key", "\(name)")
      }
    }
  }

  @Test("the rollback journal, caught in mid-transaction, shows nothing either")
  func journal() async throws {
    try await StoreFixture.lend { fixture in
      try await Self.signInAndOut(fixture)
      // A reader that does not end keeps the commit waiting, with the journal on disk.
      var reader: OpaquePointer?
      defer { sqlite3_close(reader) }
      let path = fixture.folder.store + "/sessions.db"
      try #require(sqlite3_open_v2(path, &reader, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
      try #require(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM slots", nil, nil, nil) == SQLITE_OK)
      async let writing = fixture.store.update(StoreFixture.slot) { $0.state.record?.accessToken = "rotated" }
      let journal = path + "-journal"
      var status = stat()
      while stat(journal, &status) != 0 || status.st_size < 4096 { await Task.yield() }
      #expect(status.st_mode & 0o777 == 0o600)
      let caught = try fixture.folder.names()
      #expect(caught.contains("sessions.db-journal"))
      #expect(try Self.leaks(in: fixture.folder) == [])
      try #require(sqlite3_exec(reader, "COMMIT", nil, nil, nil) == SQLITE_OK)
      _ = try await writing
      #expect(try await fixture.reopened().read(StoreFixture.slot).record?.accessToken == "rotated")
    }
  }

  @Test("the same session saved twice gives other bytes: every seal has a nonce of its own")
  func freshNonce() async throws {
    try await StoreFixture.lend { fixture in
      let record = StoreFixture.record()
      try await fixture.signIn(record)
      let first = try fixture.folder.bytes("sessions.db")
      _ = try await fixture.store.update(StoreFixture.slot) { $0.state = SlotState() }
      try await fixture.signIn(record)
      let second = try fixture.folder.bytes("sessions.db")
      let same = zip(first, second).filter { $0 == $1 && $0 != 0 }.count
      #expect(same < 1500, "\(same) bytes are the same")
    }
  }

  @Test("no key or token is in a description or a dump")
  func descriptions() throws {
    let secret = SecretBytes(Array(StoreFixture.accessToken.utf8))
    var dumped = ""
    dump(secret, to: &dumped)
    dump(StoreFixture.record(), to: &dumped)
    dumped += "\(secret) \(StoreFixture.record()) \(String(reflecting: secret))"
    for text in Self.secrets.prefix(2) { #expect(!dumped.contains(text)) }
  }
}

import AuthModels
import AuthStorage
import AuthTestSupport
import Foundation
import Groundwork
import Testing

/// Where the store stands and who may touch it (S21, "Storage: the format").
@Suite struct SQLiteFolderTests {
  private static func mode(_ path: String) throws -> Int {
    var status = stat()
    try #require(lstat(path, &status) == 0, "\(path)")
    return Int(status.st_mode & 0o7777)
  }

  @Test("reading a store that is not there, or changing nothing in it, makes no file")
  func readingMakesNothing() async throws {
    try await StoreFixture.lend { fixture in
      #expect(try await fixture.store.read(StoreFixture.slot) == SlotState())
      #expect(try await fixture.store.slots().isEmpty)
      #expect(try await fixture.store.lastSignedIn() == nil)
      #expect(try await fixture.store.pendingRevocations().isEmpty)
      _ = try await fixture.store.changeCounter()
      try await fixture.store.removePendingRevocations([UUID()])
      #expect(try await fixture.store.update(StoreFixture.slot) { $0.state.record == nil }.outcome)
      #expect(!FileManager.default.fileExists(atPath: fixture.folder.store))
    }
  }

  @Test("folders are 0700, files 0600, and the modes survive every kind of write")
  func modesSurvive() async throws {
    try await StoreFixture.lend { fixture in
      func check(_ moment: Comment) throws {
        #expect(try Self.mode(fixture.folder.path + "/state") == 0o700, moment)
        #expect(try Self.mode(fixture.folder.store) == 0o700, moment)
        for name in try fixture.folder.names() {
          #expect(try Self.mode(fixture.folder.store + "/" + name) == 0o600, "\(name), \(moment)")
        }
      }
      let record = StoreFixture.record()
      try await fixture.signIn(record)
      try check("after a sign-in")
      _ = try await fixture.store.update(StoreFixture.slot) { change in
        change.state.intent = RefreshIntent(version: record.version, attempt: UUID(), startedAt: Date())
      }
      try check("with an intent")
      let lock = try await fixture.store.acquireRefreshLock(StoreFixture.slot, bound: .zero)
      try check("under a refresh lock")
      await lock.release()
      _ = try await fixture.reopened().update(StoreFixture.slot) { $0.state = SlotState() }
      try check("after a sign-out")
      let names = try fixture.folder.names()
      #expect(names.contains("sessions.db") && names.contains("key") && names.contains("store.lock"))
      #expect(!names.contains { $0.hasSuffix("-journal") || $0.hasSuffix(".new") }, "\(names)")
      #expect(names.filter { $0.hasPrefix("refresh-") && $0.hasSuffix(".lock") }.count == 1)
    }
  }

  @Test(
    "a file or folder that is open to others is refused, with the command that closes it",
    arguments: [
      ("", 0o750, "chmod 700"), ("", 0o701, "chmod 700"), ("sessions.db", 0o640, "chmod 600"),
      ("sessions.db", 0o604, "chmod 600"), ("key", 0o644, "chmod 600"),
    ])
  func looseModes(name: String, mode: Int, command: String) async throws {
    try await StoreFixture.lend { fixture in
      try await fixture.signIn()
      let path = name.isEmpty ? fixture.folder.store : fixture.folder.store + "/" + name
      #expect(chmod(path, mode_t(mode)) == 0)
      let error = try await fixture.readError()
      #expect(error.code == .insecurePermissions)
      #expect(error.hint == "Run: \(command) \(path)")
      #expect(try Self.mode(path) == mode, "a refusal repairs nothing")
    }
  }

  @Test("an open store notices that its database was opened to others")
  func looseModeOfOpenStore() async throws {
    try await StoreFixture.lend { fixture in
      try await fixture.signIn()
      #expect(chmod(fixture.folder.store + "/sessions.db", 0o666) == 0)
      let error = try await StoreFixture.error { _ = try await fixture.store.read(StoreFixture.slot) }
      #expect(error.code == .insecurePermissions)
      #expect(chmod(fixture.folder.store + "/sessions.db", 0o600) == 0)
      #expect(try await fixture.store.read(StoreFixture.slot).record != nil, "closed again, it is read again")
    }
  }

  @Test("a symbolic link is not followed, whatever it stands for", arguments: ["", "sessions.db", "key", "store.lock"])
  func symbolicLinks(name: String) async throws {
    try await StoreFixture.lend { fixture in
      try await fixture.signIn()
      let path = name.isEmpty ? fixture.folder.store : fixture.folder.store + "/" + name
      let target = fixture.folder.path + "/elsewhere"
      #expect(rename(path, target) == 0)
      #expect(symlink(target, path) == 0)
      let store = fixture.reopened()
      let error = try await StoreFixture.error {
        _ = try await store.update(StoreFixture.slot) { $0.state.record?.accessToken = "other" }
      }
      #expect(error.code == .insecurePermissions)
    }
  }

  @Test("a second name of a file is refused", arguments: ["sessions.db", "key", "store.lock"])
  func hardLinks(name: String) async throws {
    try await StoreFixture.lend { fixture in
      try await fixture.signIn()
      #expect(link(fixture.folder.store + "/" + name, fixture.folder.path + "/second-name") == 0)
      let store = fixture.reopened()
      let error = try await StoreFixture.error {
        _ = try await store.update(StoreFixture.slot) { $0.state.record?.accessToken = "other" }
      }
      #expect(error.code == .insecurePermissions)
    }
  }

  @Test(
    "a folder or file of another user is refused", .enabled(if: geteuid() == 0, "only root can give a file away"),
    arguments: ["", "sessions.db", "key"])
  func otherOwner(name: String) async throws {
    try await StoreFixture.lend { fixture in
      try await fixture.signIn()
      #expect(chown(fixture.folder.store + "/" + name, 12345, 12345) == 0)
      #expect(try await fixture.readError().code == .insecurePermissions)
    }
  }

  @Test(
    "a relative XDG_STATE_HOME is ignored, and without a home there is no default",
    arguments: [
      (["XDG_STATE_HOME": "/s", "HOME": "/h"], "/s/chirp"),
      (["XDG_STATE_HOME": "s", "HOME": "/h"], "/h/.local/state/chirp"),
      (["XDG_STATE_HOME": "", "HOME": "/h/"], "/h/.local/state/chirp"), (["HOME": "h"], nil), ([:], nil),
    ] as [([String: String], String?)])
  func defaultFolder(environment: [String: String], expected: String?) throws {
    guard let expected else {
      #expect(throws: StoreError.self) { try StoreLocation.defaultFolder(environment: environment) }
      return
    }
    #expect(try StoreLocation.defaultFolder(environment: environment) == expected)
  }

  @Test("what a killed first run left behind is in nobody's way")
  func leftoversOfCreation() async throws {
    try await StoreFixture.lend { fixture in
      try FileManager.default.createDirectory(
        atPath: fixture.folder.store, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      for name in ["sessions.db.new", "sessions.db.new-journal", "key.new"] {
        try Data("half".utf8).write(to: URL(fileURLWithPath: fixture.folder.store + "/" + name))
      }
      let state = try await fixture.signIn()
      #expect(try await fixture.reopened().read(StoreFixture.slot) == state)
      #expect(try !fixture.folder.names().contains { $0.contains(".new") })
    }
  }

  @Test("eight stores that are made at once are one store")
  func creationRace() async throws {
    try await TemporaryFolder.lend { folder in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<8 {
          group.addTask {
            let store = SQLiteSessionStore(folder: folder.store, time: PatientClock())
            let slot = SessionSlot(server: "https://example.com:443", account: "\(index)")
            let record = StoreFixture.record(slot)
            _ = try await store.update(slot) { $0.state.record = record }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await SQLiteSessionStore(folder: folder.store, time: PatientClock()).slots().count == 8)
    }
  }

  @Test("a database that is moved away or replaced under an open store is noticed")
  func replacedDatabase() async throws {
    try await StoreFixture.lend { fixture in
      try await fixture.signIn()
      let counter = try await fixture.store.changeCounter()
      let path = fixture.folder.store + "/sessions.db"
      #expect(rename(path, path + ".aside") == 0)
      #expect(try await fixture.store.read(StoreFixture.slot) == SlotState())
      #expect(try await fixture.store.changeCounter() != counter)
      try await fixture.signIn(StoreFixture.record(access: "second"))
      #expect(try await fixture.reopened().read(StoreFixture.slot).record?.accessToken == "second")
      #expect(rename(path + ".aside", path) == 0)
      #expect(try await fixture.store.read(StoreFixture.slot).record?.accessToken == StoreFixture.accessToken)
    }
  }

  @Test("a path with a quote and a space is quoted in the hint")
  func quotedHint() async throws {
    try await TemporaryFolder.lend { folder in
      let path = folder.path + "/it's here"
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
      let store = SQLiteSessionStore(folder: path + "/", time: LeapingClock())
      let error = try await StoreFixture.error { _ = try await store.read(StoreFixture.slot) }
      #expect(error.hint == "Run: chmod 700 '\(folder.path)/it'\\''s here'")
    }
  }
}

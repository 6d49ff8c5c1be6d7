import AuthModels
import AuthStorage
import AuthTestSupport
import CSQLite
import Foundation
import Groundwork
import Testing

/// A store in a temporary folder, and the values that tests put into it.
struct StoreFixture: Sendable {
  static let slot = SessionSlot(server: "https://secret-server.example.com:443", account: "work-account")
  static let accessToken = "ACCESS-TOKEN-do-not-leak-7f3a"
  static let refreshToken = "REFRESH-TOKEN-do-not-leak-91bc"
  static let email = "anna.leak@example.com"
  static let outboxToken = "OUTBOX-TOKEN-do-not-leak-55d0"

  let folder: TemporaryFolder
  let clock: LeapingClock
  let store: SQLiteSessionStore

  /// Lends a fixture whose folder is removed afterwards.
  static func lend(_ body: (StoreFixture) async throws -> Void) async throws {
    try await TemporaryFolder.lend { folder in
      let clock = LeapingClock()
      try await body(
        StoreFixture(folder: folder, clock: clock, store: SQLiteSessionStore(folder: folder.store, time: clock)))
    }
  }

  /// The same storage, opened once more.
  func reopened() -> SQLiteSessionStore {
    SQLiteSessionStore(folder: folder.store, time: clock)
  }

  static func record(
    _ slot: SessionSlot = slot, access: String = accessToken, refresh: String? = refreshToken,
    session: SessionID = UUID()
  ) -> SessionRecord {
    SessionRecord(
      sessionID: session, slot: slot, profile: "chirp", accessToken: access, refreshToken: refresh, tokenType: "Bearer",
      scope: nil, issuedAt: Date(timeIntervalSince1970: 1_800_000_000), lifetime: 900, bootID: "test-boot",
      sinceBootAtIssue: 1000, serverSkew: 0.5,
      user: SessionUser(id: "42", email: email, username: "anna"))
  }

  /// Saves a session and gives what was committed.
  @discardableResult
  func signIn(_ record: SessionRecord = record()) async throws -> SlotState {
    try await store.update(record.slot) { $0.state = SlotState(record: record) }.state
  }

  /// Runs SQL on the store's database behind its back.
  func sql(_ text: String) throws {
    var handle: OpaquePointer?
    defer { sqlite3_close(handle) }
    try #require(sqlite3_open_v2(folder.store + "/sessions.db", &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
    let code = sqlite3_exec(handle, text, nil, nil, nil)
    try #require(code == SQLITE_OK, "\(text): \(String(cString: sqlite3_errmsg(handle)))")
  }

  /// What `body` throws, which has to be a store error.
  static func error(of body: () async throws -> Void) async throws -> StoreError {
    do {
      try await body()
    } catch let error as StoreError {
      return error
    }
    throw ContractFailure("a store error is due, and none was thrown")
  }

  func readError() async throws -> StoreError {
    let store = reopened()
    return try await Self.error { _ = try await store.read(Self.slot) }
  }
}

/// A program that was started by a test, killed with it at the latest.
final class ChildProcess {
  private let process = Process()

  var id: pid_t { process.processIdentifier }

  init(_ arguments: [String], input: String? = nil) throws {
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
  }

  func send(_ signal: Int32) {
    kill(id, signal)
  }

  func waitForExit() -> Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }

  deinit {
    guard process.isRunning else { return }
    kill(id, SIGCONT)
    kill(id, SIGKILL)
    process.waitUntilExit()
  }

  /// Runs a program to its end; true if it succeeded.
  static func succeeds(_ arguments: [String]) -> Bool {
    do {
      return try ChildProcess(arguments).waitForExit() == 0
    } catch {
      return false
    }
  }
}

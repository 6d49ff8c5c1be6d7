import AuthStorage
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A store that is damaged again and again, and read: true, or an error, and never "signed out".
struct DamagedStore {
  private static let other = SessionSlot(server: "https://other.example.com:443", account: "other")
  /// `readOnly`: one byte of the file's head makes SQLite write no more; reading goes on, and gives what is true.
  private static let allowed: Set<StoreError.Code> = [.corrupted, .newerVersion, .unavailable, .readOnly]
  private let folder: String
  private let database: [UInt8]
  private let key: [UInt8]
  private let states: [SessionSlot: SlotState]
  private let time = SystemClock()

  init(folder: String) async throws {
    self.folder = folder
    let store = SQLiteSessionStore(folder: folder, time: time)
    let now = time.wallClock
    var states: [SessionSlot: SlotState] = [:]
    for slot in [FuzzTarget.slot, Self.other] {
      let record = SessionRecord(
        sessionID: UUID(), slot: slot, profile: "chirp", accessToken: "access", refreshToken: "refresh",
        tokenType: "Bearer", scope: nil, issuedAt: now, lifetime: 900, bootID: "boot", sinceBootAtIssue: 0,
        serverSkew: nil, user: nil)
      let row = PendingRevocation(
        id: UUID(), slot: slot, profile: "chirp", accessToken: nil, refreshToken: "revoke", since: now)
      states[slot] = try await store.update(slot) { change in
        change.state = SlotState(record: record)
        change.revocations = [row]
      }.state
    }
    self.states = states
    database = try Self.bytes(folder + "/sessions.db")
    key = try Self.bytes(folder + "/key")
  }

  /// Damages the database, in one case of ten the key file or a journal beside it; reads, and in one of four writes.
  func feed(_ dice: inout Dice) async throws -> Bool {
    var (damaged, damagedKey) = (database, key)
    let journal = folder + "/sessions.db-journal"
    unlink(journal)
    if dice.chance(5) {
      damagedKey.damage(&dice)
    } else {
      damaged.damagePages(&dice)
      if dice.chance(10) {
        // The head of a journal that SQLite would take for a hot one, and random pages behind it.
        var bytes: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7, 0, 0, 0, UInt8(dice.below(3))]
        bytes += (0..<dice.below(9000)).map { _ in UInt8(truncatingIfNeeded: dice.next()) }
        try Self.write(bytes, journal)
      }
    }
    try Self.write(damaged, folder + "/sessions.db")
    try Self.write(damagedKey, folder + "/key")
    let isWhole = damaged == database && damagedKey == key
    let store = SQLiteSessionStore(folder: folder, time: time)
    var isTaken = true
    for (slot, state) in states {
      do throws(StoreError) {
        let found = try await store.read(slot)
        guard found == state else { throw unlike(found) }
      } catch {
        guard error.code != .notFound else { throw TortureError("\(slot.account): \(error.message)") }
        isTaken = false
        guard Self.allowed.contains(error.code), !isWhole else { throw TortureError("\(error.code): \(error)") }
      }
    }
    if dice.chance(25) { try await write(store) }
    return isTaken
  }

  /// A write either fails, or is there when it is read again.
  private func write(_ store: SQLiteSessionStore) async throws {
    do throws(StoreError) {
      let written = try await store.update(FuzzTarget.slot) { $0.state.record?.accessToken = "rotated" }.state
      let found = try await SQLiteSessionStore(folder: folder, time: time).read(FuzzTarget.slot)
      guard found == written, found.record?.accessToken == "rotated" else { throw unlike(found) }
    } catch {
      guard error.code != .notFound else { throw TortureError("after a write: \(error.message)") }
      guard Self.allowed.contains(error.code) else { throw TortureError("\(error.code): \(error)") }
    }
  }

  /// Another session than the true one, or none: told by a code that no store gives.
  private func unlike(_ found: SlotState) -> StoreError {
    StoreError(.notFound, found.record == nil ? "a session was silently signed out" : "another session came out")
  }

  private static func bytes(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  private static func write(_ bytes: [UInt8], _ path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw TortureError("\(path) cannot be written") }
    defer { close(descriptor) }
    guard systemWrite(descriptor, bytes) == bytes.count else { throw TortureError("\(path) cannot be written") }
  }
}

private func systemWrite(_ descriptor: Int32, _ bytes: [UInt8]) -> Int { write(descriptor, bytes, bytes.count) }

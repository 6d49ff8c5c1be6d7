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

/// A process that saves, loads, clears, locks and re-keys until it is killed, and writes down what it was promised.
///
/// Its diary has a line before each call and a line after it, each by one `write` to a file: what was written stays
/// written when the process is killed. It is the only one that writes its own slot; a second slot is everybody's.
struct Worker {
  static let shared = SessionSlot(server: "https://shared.example.com:443", account: "shared")

  let index: Int
  let store: SQLiteSessionStore
  private let diary: Int32
  private var dice: Dice
  private var number: UInt64
  /// What the slot holds, by what was promised: a token, or nil.
  private var held: String?

  static func slot(_ index: Int) -> SessionSlot {
    SessionSlot(server: "https://auth.example.com:443", account: "worker-\(index)")
  }

  init(index: Int, folder: String, diary path: String, seed: UInt64, number: UInt64, held: String?) throws {
    self.index = index
    self.number = number
    self.held = held
    dice = Dice(seed: seed)
    store = SQLiteSessionStore(folder: folder, time: SystemClock())
    diary = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard diary >= 0 else { throw TortureError("\(path) cannot be opened") }
  }

  /// Works until it is killed; returns only if something is wrong, which it has written down.
  mutating func run() async {
    while true {
      number += 1
      do {
        try await step()
      } catch let error as StoreError {
        note("failed \(number) \(error.code.rawValue) \(error.message)")
      } catch {
        note("wrong \(error)")
        return
      }
    }
  }

  private mutating func step() async throws {
    switch dice.below(100) {
    case ..<45:
      let token = "w\(index)-\(number)"
      let record = Self.record(Self.slot(index), token, padding: dice.below(4000))
      note("begin save \(token)")
      _ = try await store.update(Self.slot(index)) { $0.state = SlotState(record: record) }
      note("done \(token)")
      held = token
    case ..<55:
      note("begin clear -")
      _ = try await store.update(Self.slot(index)) { $0.state = SlotState() }
      note("done -")
      held = nil
    case ..<70:
      let found = try await store.read(Self.slot(index)).record?.accessToken
      if found != held { throw TortureError("read \(found ?? "-") where \(held ?? "-") was saved") }
    case ..<85:
      note("begin count \(number)")
      let value = try await count()
      note("counted \(value)")
    case ..<90:
      note("begin data key")
      try await store.renewDataKey()
      note("done data key")
    case ..<95:
      note("begin guard")
      try await store.renewGuard()
      note("done guard")
    default:
      let lock = try await store.acquireRefreshLock(Self.shared, bound: .seconds(10))
      _ = try await count()
      await lock.release()
    }
  }

  private func count() async throws -> UInt64 {
    try await store.update(Self.shared) { change -> UInt64 in
      let value = (change.state.record.flatMap { UInt64($0.accessToken) } ?? 0) + 1
      change.state = SlotState(record: Self.record(Self.shared, "\(value)", padding: 0))
      return value
    }.outcome
  }

  private func note(_ text: String) {
    var line = Array("\(text)\n".utf8)
    _ = write(diary, &line, line.count)
  }

  private static func record(_ slot: SessionSlot, _ token: String, padding: Int) -> SessionRecord {
    SessionRecord(
      sessionID: UUID(), slot: slot, profile: "chirp", accessToken: token,
      refreshToken: token + String(repeating: "x", count: padding), tokenType: "Bearer", scope: nil,
      issuedAt: Date(timeIntervalSince1970: 1_800_000_000), lifetime: 900, bootID: "boot", sinceBootAtIssue: 0,
      serverSkew: nil, user: nil)
  }
}

import AuthModels
import AuthStorage
import AuthTestSupport
import Foundation
import Groundwork
import Testing

/// A full disk and a read-only one (S16, S21), on a file system of the test's own.
@Suite(.enabled(if: SmallDisk.isPossible, "mounting a small file system needs root and a system that allows it"))
struct SQLiteDiskTests {
  private static func intent(_ record: SessionRecord?) throws -> RefreshIntent {
    RefreshIntent(version: try #require(record).version, attempt: UUID(), startedAt: Date(timeIntervalSince1970: 0))
  }

  @Test("the save after an intent works on a disk without a free byte, for a longer pair too (S16)")
  func saveAfterIntent() async throws {
    try await SmallDisk.lend { disk in
      let store = SQLiteSessionStore(folder: disk.path + "/chirp", time: LeapingClock())
      for round in 0..<5 {
        let record = StoreFixture.record(access: String(repeating: "a", count: 700 * (round + 1)))
        let saved = try await store.update(StoreFixture.slot) { $0.state = SlotState(record: record) }.state
        let intent = try Self.intent(saved.record)
        _ = try await store.update(StoreFixture.slot) { $0.state.intent = intent }
        try disk.fill()
        let longer = String(repeating: "b", count: 700 * (round + 1) + 400)
        let rotated = try await store.update(StoreFixture.slot) { change in
          change.state.record?.accessToken = longer
          change.state.intent = nil
        }.state
        #expect(rotated.record?.accessToken == longer)
        let found = try await SQLiteSessionStore(folder: disk.path + "/chirp", time: LeapingClock()).read(
          StoreFixture.slot)
        #expect(found == rotated)
        try disk.empty()
      }
    }
  }

  @Test("on a full disk no intent is written, the error is `full`, and the old session stays (S16, S21)")
  func intentOnFullDisk() async throws {
    try await SmallDisk.lend { disk in
      let store = SQLiteSessionStore(folder: disk.path + "/chirp", time: LeapingClock())
      let record = StoreFixture.record()
      let saved = try await store.update(StoreFixture.slot) { $0.state.record = record }.state
      try disk.fill()
      let intent = try Self.intent(saved.record)
      let error = try await StoreFixture.error {
        _ = try await store.update(StoreFixture.slot) { $0.state.intent = intent }
      }
      #expect(error.code == .full)
      #expect(try await store.read(StoreFixture.slot) == saved)
      try disk.empty()
      #expect(try await store.update(StoreFixture.slot) { $0.state.intent = intent }.state.intent == intent)
    }
  }

  @Test("a sign-out on a full disk works if a refresh was once prepared; a sign-in reports `full`")
  func signOutOnFullDisk() async throws {
    try await SmallDisk.lend { disk in
      let store = SQLiteSessionStore(folder: disk.path + "/chirp", time: LeapingClock())
      let record = StoreFixture.record()
      let saved = try await store.update(StoreFixture.slot) { $0.state.record = record }.state
      let intent = try Self.intent(saved.record)
      _ = try await store.update(StoreFixture.slot) { $0.state.intent = intent }
      try disk.fill()
      _ = try await store.update(StoreFixture.slot) { $0.state = SlotState() }
      #expect(try await store.read(StoreFixture.slot) == SlotState())
      try disk.fill()
      let large = StoreFixture.record(access: String(repeating: "x", count: 200_000))
      let error = try await StoreFixture.error {
        _ = try await store.update(StoreFixture.slot) { $0.state.record = large }
      }
      #expect(error.code == .full)
      #expect(try await store.read(StoreFixture.slot) == SlotState())
    }
  }

  @Test("no store can be made on a full disk, and nothing half made is left to be taken for one")
  func creationOnFullDisk() async throws {
    try await SmallDisk.lend { disk in
      try disk.fill()
      let store = SQLiteSessionStore(folder: disk.path + "/chirp", time: LeapingClock())
      let record = StoreFixture.record()
      let error = try await StoreFixture.error {
        _ = try await store.update(StoreFixture.slot) { $0.state.record = record }
      }
      #expect(error.code == .full)
      try disk.empty()
      _ = try await store.update(StoreFixture.slot) { $0.state.record = record }
      #expect(try await store.read(StoreFixture.slot).record?.accessToken == record.accessToken)
    }
  }

  @Test("a read-only file system is read; every write, lock and sign-in is `readOnly`")
  func readOnly() async throws {
    try await SmallDisk.lend { disk in
      let path = disk.path + "/chirp"
      let record = StoreFixture.record()
      let saved = try await SQLiteSessionStore(folder: path, time: LeapingClock())
        .update(StoreFixture.slot) { $0.state.record = record }.state
      try disk.makeReadOnly()
      let store = SQLiteSessionStore(folder: path, time: LeapingClock())
      #expect(try await store.read(StoreFixture.slot) == saved)
      let writing = try await StoreFixture.error {
        _ = try await store.update(StoreFixture.slot) { $0.state = SlotState() }
      }
      #expect(writing.code == .readOnly, "\(writing)")
      let locking = try await StoreFixture.error {
        _ = try await store.acquireRefreshLock(StoreFixture.slot, bound: .seconds(1))
      }
      #expect(locking.code == .readOnly, "\(locking)")
      let elsewhere = SQLiteSessionStore(folder: disk.path + "/new/chirp", time: LeapingClock())
      let making = try await StoreFixture.error {
        _ = try await elsewhere.update(StoreFixture.slot) { $0.state.record = record }
      }
      #expect(making.code == .readOnly, "\(making)")
      #expect(try await store.read(StoreFixture.slot) == saved)
    }
  }
}

/// A file system of 1 MiB in memory.
private struct SmallDisk {
  let path: String

  static let isPossible: Bool = {
    guard geteuid() == 0 else { return false }
    let path = NSTemporaryDirectory() + "chirp-mount-\(UUID().uuidString)"
    guard mkdir(path, 0o700) == 0 else { return false }
    defer { rmdir(path) }
    guard ChildProcess.succeeds(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", path]) else { return false }
    return ChildProcess.succeeds(["umount", path])
  }()

  static func lend(_ body: (SmallDisk) async throws -> Void) async throws {
    try await TemporaryFolder.lend { folder in
      let path = folder.path + "/disk"
      try #require(mkdir(path, 0o700) == 0)
      try #require(ChildProcess.succeeds(["mount", "-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", path]))
      // Lazily: a store that the test still holds keeps its file open.
      defer { #expect(ChildProcess.succeeds(["umount", "--lazy", path])) }
      try await body(SmallDisk(path: path))
    }
  }

  /// Takes every free byte.
  func fill() throws {
    let descriptor = open(path + "/filling-\(UUID().uuidString)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let block = [UInt8](repeating: 0, count: 4096)
    while write(descriptor, block, block.count) > 0 {}
    #expect(errno == ENOSPC)
  }

  /// Gives what `fill` took back.
  func empty() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: path) where name.hasPrefix("filling") {
      try FileManager.default.removeItem(atPath: path + "/" + name)
    }
  }

  func makeReadOnly() throws {
    try #require(ChildProcess.succeeds(["mount", "-o", "remount,ro", path]))
  }
}

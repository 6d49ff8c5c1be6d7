import AuthModels
import AuthStorage
import AuthTestSupport
import CSQLite
import Foundation
import Groundwork
import Testing

/// Locks between real processes (S15), and what a held lock does not stop.
@Suite struct SQLiteLockTests {
  /// Starts a process that holds a lock file, and waits until it does.
  private static func holder(of path: String) async throws -> ChildProcess {
    let child = try ChildProcess(["flock", "--no-fork", path, "sleep", "1000"])
    while !isHeld(path) { await Task.yield() }
    return child
  }

  private static func isHeld(_ path: String) -> Bool {
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_EX | LOCK_NB) != 0
  }

  /// Takes the refresh lock once, so that its file is there, and gives the file's path.
  private static func lockFile(_ fixture: StoreFixture) async throws -> String {
    try await fixture.signIn()
    let lock = try await fixture.store.acquireRefreshLock(StoreFixture.slot, bound: .zero)
    await lock.release()
    let name = try #require(try fixture.folder.names().first { $0.hasPrefix("refresh-") })
    return fixture.folder.store + "/" + name
  }

  @Test("another process's refresh lock gives `busy` after the bound, and dies with SIGKILL (S15)")
  func lockDiesWithItsHolder() async throws {
    try await StoreFixture.lend { fixture in
      let path = try await Self.lockFile(fixture)
      let child = try await Self.holder(of: path)
      let start = fixture.clock.sinceBoot
      let error = try await StoreFixture.error {
        _ = try await fixture.store.acquireRefreshLock(StoreFixture.slot, bound: .seconds(20))
      }
      #expect(error.code == .busy)
      #expect(fixture.clock.sinceBoot - start >= .seconds(20))
      child.send(SIGKILL)
      // The bound is far beyond what the dying takes, and the clock leaps: this ends when the lock is free.
      let lock = try await fixture.store.acquireRefreshLock(StoreFixture.slot, bound: .seconds(10_000_000))
      await lock.release()
    }
  }

  @Test("a stopped holder is not robbed of its lock (S15)")
  func stoppedHolder() async throws {
    try await StoreFixture.lend { fixture in
      let path = try await Self.lockFile(fixture)
      let child = try await Self.holder(of: path)
      child.send(SIGSTOP)
      let error = try await StoreFixture.error {
        _ = try await fixture.store.acquireRefreshLock(StoreFixture.slot, bound: .seconds(20))
      }
      #expect(error.code == .busy)
      #expect(Self.isHeld(path))
    }
  }

  @Test("a program that is started meanwhile inherits neither the lock nor the database")
  func nothingIsInherited() async throws {
    try await StoreFixture.lend { fixture in
      _ = try await Self.lockFile(fixture)
      let lock = try await fixture.store.acquireRefreshLock(StoreFixture.slot, bound: .zero)
      let planted = open(fixture.folder.path + "/planted", O_RDWR | O_CREAT, 0o600)
      defer { close(planted) }
      // By popen: Foundation's Process closes what it should not have been given.
      let stream = try #require(popen("ls -l /proc/self/fd", "r"))
      var listing = ""
      var line = [CChar](repeating: 0, count: 4096)
      while fgets(&line, Int32(line.count), stream) != nil {
        listing += String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      }
      pclose(stream)
      #expect(listing.contains(fixture.folder.path + "/planted"), "an inherited file shows in the listing")
      #expect(!listing.contains(fixture.folder.store + "/"), "\(listing)")
      await lock.release()
    }
  }

  @Test("a lock file that somebody deleted while it was held does not make two holders of the new one")
  func deletedLockFile() async throws {
    try await StoreFixture.lend { fixture in
      let path = try await Self.lockFile(fixture)
      #expect(unlink(path) == 0)
      let lock = try await fixture.store.acquireRefreshLock(StoreFixture.slot, bound: .zero)
      let error = try await StoreFixture.error {
        _ = try await fixture.reopened().acquireRefreshLock(StoreFixture.slot, bound: .zero)
      }
      #expect(error.code == .busy)
      #expect(Self.isHeld(path))
      await lock.release()
    }
  }

  @Test("a stopped writer makes writes `locked` after 5 s; reading goes on, and so does writing afterwards")
  func stoppedWriter() async throws {
    try await StoreFixture.lend { fixture in
      let saved = try await fixture.signIn()
      let child = try await Self.holder(of: fixture.folder.store + "/store.lock")
      let start = fixture.clock.sinceBoot
      let error = try await StoreFixture.error {
        _ = try await fixture.store.update(StoreFixture.slot) { $0.state = SlotState() }
      }
      #expect(error.code == .locked)
      #expect(fixture.clock.sinceBoot - start >= .seconds(5))
      #expect(try await fixture.store.read(StoreFixture.slot) == saved)
      child.send(SIGKILL)
      _ = child.waitForExit()
      _ = try await fixture.reopened().update(StoreFixture.slot) { $0.state = SlotState() }
      #expect(try await fixture.store.read(StoreFixture.slot) == SlotState(), "no place in the queue was left taken")
    }
  }

  @Test("a cancelled task still signs out: a write that need not wait is not refused")
  func cancelledWrite() async throws {
    try await StoreFixture.lend { fixture in
      try await fixture.signIn()
      let store = fixture.store
      let task = TaskStarter().start { () -> Bool in
        while !Task.isCancelled { await Task.yield() }
        do {
          _ = try await store.update(StoreFixture.slot) { $0.state = SlotState() }
          return true
        } catch {
          return false
        }
      }
      task.cancel()
      #expect(await task.value)
      #expect(try await fixture.reopened().read(StoreFixture.slot) == SlotState())
    }
  }

  @Test("stores that wait for the disk hold up no task of the pool")
  func poolStaysFree() async throws {
    try await TemporaryFolder.lend { folder in
      let count = ProcessInfo.processInfo.activeProcessorCount * 4
      var readers: [OpaquePointer?] = []
      defer { for reader in readers { sqlite3_close(reader) } }
      var stores: [SQLiteSessionStore] = []
      for index in 0..<count {
        let store = SQLiteSessionStore(folder: "\(folder.path)/\(index)", time: PatientClock())
        let record = StoreFixture.record()
        _ = try await store.update(StoreFixture.slot) { $0.state.record = record }
        var reader: OpaquePointer?
        let path = "\(folder.path)/\(index)/sessions.db"
        try #require(sqlite3_open_v2(path, &reader, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
        try #require(sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM slots", nil, nil, nil) == SQLITE_OK)
        readers.append(reader)
        stores.append(store)
      }
      let running = Guarded(count)
      let writers = stores.map { store in
        TaskStarter().start { () -> Bool in
          do {
            _ = try await store.update(StoreFixture.slot) { $0.state.record?.accessToken = "rotated" }
            running.withLock { $0 -= 1 }
            return true
          } catch {
            return false
          }
        }
      }
      // Every commit is stuck behind its reader now, four times as many as the pool has threads.
      for index in 0..<count {
        var status = stat()
        while stat("\(folder.path)/\(index)/sessions.db-journal", &status) != 0 { await Task.yield() }
      }
      let answer = await TaskStarter().start { 42 }.value
      #expect(answer == 42)
      #expect(running.withLock { $0 } == count, "the pool answered while all writers were stuck")
      for reader in readers { try #require(sqlite3_exec(reader, "COMMIT", nil, nil, nil) == SQLITE_OK) }
      for writer in writers { #expect(await writer.value) }
    }
  }
}

import AuthModels
import AuthStorage
import AuthTestSupport
import Foundation
import Groundwork
import Testing

/// Changing the data key and what guards it: all or nothing, and nobody is signed out by it.
@Suite struct RekeyTests {
  private static let other = SessionSlot(server: "https://other.example.com:443", account: "other")

  /// Two sessions, an intent and a row of the outbox: everything that has to be sealed anew.
  private static func fill(_ fixture: StoreFixture) async throws -> [SlotState] {
    let first = try await fixture.signIn()
    _ = try await fixture.signIn(StoreFixture.record(other, access: "other"))
    let version = try #require(first.record?.version)
    let row = PendingRevocation(
      id: UUID(), slot: StoreFixture.slot, profile: "chirp", accessToken: nil, refreshToken: StoreFixture.outboxToken,
      since: fixture.clock.wallClock)
    _ = try await fixture.store.update(StoreFixture.slot) { change in
      change.state.intent = RefreshIntent(version: version, attempt: UUID(), startedAt: Date(timeIntervalSince1970: 7))
      change.revocations = [row]
    }
    return try await contents(fixture.store)
  }

  private static func contents(_ store: SQLiteSessionStore) async throws -> [SlotState] {
    let tokens = try await store.pendingRevocations().map(\.refreshToken)
    #expect(tokens == [StoreFixture.outboxToken])
    return [try await store.read(StoreFixture.slot), try await store.read(other)]
  }

  @Test("a new data key leaves every session, intent, outbox row and lock name as it was, for open stores too")
  func dataKey() async throws {
    try await StoreFixture.lend { fixture in
      let before = try await Self.fill(fixture)
      let open = fixture.reopened()
      #expect(try await Self.contents(open) == before)
      let lock = try await open.acquireRefreshLock(StoreFixture.slot, bound: .zero)
      let sealed = try fixture.folder.bytes("sessions.db")
      for _ in 0..<3 { try await fixture.store.renewDataKey() }
      #expect(try await Self.contents(open) == before, "an open store takes the new key up")
      #expect(try await Self.contents(fixture.store) == before)
      #expect(try await Self.contents(fixture.reopened()) == before)
      let busy = try await StoreFixture.error {
        _ = try await fixture.reopened().acquireRefreshLock(StoreFixture.slot, bound: .zero)
      }
      #expect(busy.code == .busy, "the lock of before still counts")
      await lock.release()
      _ = try await open.update(StoreFixture.slot) { $0.state.record?.accessToken = "rotated" }
      #expect(try await fixture.store.read(StoreFixture.slot).record?.accessToken == "rotated")
      let after = try fixture.folder.bytes("sessions.db")
      #expect(sealed != after)
    }
  }

  @Test("a row that was sealed under the former data key is `corrupted` when it is put back")
  func formerRow() async throws {
    try await StoreFixture.lend { fixture in
      _ = try await Self.fill(fixture)
      try fixture.sql("CREATE TABLE old AS SELECT * FROM slots")
      try await fixture.store.renewDataKey()
      try fixture.sql("UPDATE slots SET state=(SELECT state FROM old WHERE old.id=slots.id)")
      #expect(try await fixture.readError().code == .corrupted)
    }
  }

  @Test("a renewed key file opens the store, and the former one does not any more")
  func keyFile() async throws {
    try await StoreFixture.lend { fixture in
      let before = try await Self.fill(fixture)
      let former = try fixture.folder.bytes("key")
      try await fixture.store.renewGuard()
      let renewed = try fixture.folder.bytes("key")
      #expect(former != renewed)
      #expect(try fixture.folder.names().contains("key.next") == false)
      #expect(try await Self.contents(fixture.reopened()) == before)
      try fixture.folder.overwrite("key", former)
      #expect(try await fixture.readError().code == .corrupted)
    }
  }

  @Test("from a key file to a passphrase and back: sessions stay, the old guard is gone, the store says its source")
  func otherSource() async throws {
    try await StoreFixture.lend { fixture in
      let before = try await Self.fill(fixture)
      let cost = try #require(PassphraseKeySource.Cost(log2N: 16))
      let passphrase = PassphraseKeySource(SecretBytes(Array("correct horse".utf8)), cost: cost)
      try await fixture.store.changeKeySource(to: passphrase)
      #expect(try fixture.folder.names().contains("key") == false)
      #expect(try await Self.contents(fixture.store) == before)
      #expect(try await fixture.readError().code == .unavailable)
      let choosing = SQLiteSessionStore(
        folder: fixture.folder.store, time: fixture.clock, keySource: KeySourceChoice(KeyFileKeySource(), passphrase))
      #expect(try await Self.contents(choosing) == before, "a choice opens what the store names")
      try await choosing.renewDataKey()
      #expect(try await Self.contents(choosing) == before)
      #expect(try fixture.folder.names().contains("key") == false, "and changes no source by itself")
      try await choosing.changeKeySource(to: KeyFileKeySource())
      #expect(try await Self.contents(fixture.reopened()) == before)
    }
  }

  @Test("moving to the key file that is there already does not remove it")
  func sameKeyFile() async throws {
    try await StoreFixture.lend { fixture in
      let before = try await Self.fill(fixture)
      try await fixture.store.changeKeySource(to: KeyFileKeySource())
      #expect(try await Self.contents(fixture.reopened()) == before)
    }
  }

  @Test("where there is no store there is nothing to re-key, and none is made")
  func noStore() async throws {
    try await StoreFixture.lend { fixture in
      for error in [
        try await StoreFixture.error { try await fixture.store.renewDataKey() },
        try await StoreFixture.error { try await fixture.store.renewGuard() },
        try await StoreFixture.error { try await fixture.store.changeKeySource(to: KeyFileKeySource()) },
      ] {
        #expect(error.code == .notFound)
      }
      #expect(FileManager.default.fileExists(atPath: fixture.folder.store) == false)
    }
  }

  /// A key file that fails at one step, as if the program had been killed there.
  private struct Interrupted: KeySource {
    enum Step: CaseIterable { case wrap, rewrap, unwrap, settle, discard }
    let files = KeyFileKeySource()
    let step: Step
    let counts = Guarded(0)
    let unwraps: Int

    var kind: String { files.kind }

    private func pass(_ now: Step) throws(StoreError) {
      if now == step, now != .unwrap { throw StoreError(.unavailable, "interrupted") }
    }

    func wrap(_ key: SecretBytes, for context: KeySourceContext) throws(StoreError) -> WrappedKey {
      let wrapped = try files.wrap(key, for: context)
      try pass(.wrap)
      return wrapped
    }

    func rewrap(
      _ key: SecretBytes, replacing old: WrappedKey, for context: KeySourceContext
    ) throws(StoreError) -> WrappedKey {
      let wrapped = try files.rewrap(key, replacing: old, for: context)
      try pass(.rewrap)
      return wrapped
    }

    func unwrap(_ key: WrappedKey, for context: KeySourceContext) throws(StoreError) -> SecretBytes {
      let count = counts.withLock { count in
        count += 1
        return count
      }
      if step == .unwrap, count > unwraps { throw StoreError(.unavailable, "interrupted") }
      return try files.unwrap(key, for: context)
    }

    func settle(_ key: WrappedKey, for context: KeySourceContext) throws(StoreError) {
      try pass(.settle)
      try files.settle(key, for: context)
    }

    func discard(_ key: WrappedKey, for context: KeySourceContext) throws(StoreError) {
      try pass(.discard)
      try files.discard(key, for: context)
    }
  }

  @Test("a change of keys that stops at any step leaves a store that the key file opens, and can be done again")
  func interrupted() async throws {
    for step in Interrupted.Step.allCases {
      try await StoreFixture.lend { fixture in
        let before = try await Self.fill(fixture)
        let store = SQLiteSessionStore(
          folder: fixture.folder.store, time: fixture.clock, keySource: Interrupted(step: step, unwraps: 1))
        _ = try await store.read(StoreFixture.slot)
        var stopped = 0
        for change in [{ try await store.renewDataKey() }, { try await store.renewGuard() }] {
          do { try await change() } catch { stopped += 1 }
          #expect(try await Self.contents(fixture.reopened()) == before, "\(step)")
        }
        // A data key's change has no step `rewrap`, `settle` or `discard`; a guard's has no `wrap`.
        #expect(stopped == (step == .unwrap ? 2 : 1), "\(step)")
        try await fixture.reopened().renewGuard()
        try await fixture.reopened().renewDataKey()
        #expect(try await Self.contents(fixture.reopened()) == before, "\(step)")
        #expect(try fixture.folder.names().contains("key.next") == false)
      }
    }
  }
}

extension RekeyTests {
  /// A key file that another process replaces just when a reader, which has read the store's row, comes to open it.
  private final class Overtaken: KeySource {
    let files = KeyFileKeySource()
    let overtake = Guarded<(@Sendable () throws -> Void)?>(nil)

    var kind: String { files.kind }

    func wrap(_ key: SecretBytes, for context: KeySourceContext) throws(StoreError) -> WrappedKey {
      try files.wrap(key, for: context)
    }

    func unwrap(_ key: WrappedKey, for context: KeySourceContext) throws(StoreError) -> SecretBytes {
      let now = overtake.withLock { overtake in
        defer { overtake = nil }
        return overtake
      }
      do {
        try now?()
      } catch {
        throw StoreError(.notFound, "\(error)")
      }
      return try files.unwrap(key, for: context)
    }
  }

  @Test(
    "a reader whose guard is replaced between its reading and its opening reads again, and takes nothing for damage")
  func overtaken() async throws {
    try await StoreFixture.lend { fixture in
      let saved = try await fixture.signIn()
      let old = try fixture.folder.bytes("sessions.db")
      let oldKey = try fixture.folder.bytes("key")
      try await fixture.store.renewGuard()
      try await fixture.store.renewDataKey()
      let (new, newKey) = (try fixture.folder.bytes("sessions.db"), try fixture.folder.bytes("key"))
      for isOpen in [false, true] {
        try fixture.folder.overwrite("sessions.db", isOpen ? new : old)
        try fixture.folder.overwrite("key", isOpen ? newKey : oldKey)
        let source = Overtaken()
        let store = SQLiteSessionStore(folder: fixture.folder.store, time: fixture.clock, keySource: source)
        if isOpen {
          // Open under the new key; then two changes in a row, the second of which overtakes the reader.
          #expect(try await store.read(StoreFixture.slot) == saved)
          try await fixture.reopened().renewDataKey()
          let other = fixture.reopened()
          let before = try fixture.folder.bytes("sessions.db")
          let beforeKey = try fixture.folder.bytes("key")
          try await other.renewGuard()
          let (after, afterKey) = (try fixture.folder.bytes("sessions.db"), try fixture.folder.bytes("key"))
          try fixture.folder.overwrite("sessions.db", before)
          try fixture.folder.overwrite("key", beforeKey)
          source.overtake.withLock {
            $0 = {
              try fixture.folder.overwrite("sessions.db", after)
              try fixture.folder.overwrite("key", afterKey)
            }
          }
        } else {
          source.overtake.withLock {
            $0 = {
              try fixture.folder.overwrite("sessions.db", new)
              try fixture.folder.overwrite("key", newKey)
            }
          }
        }
        #expect(try await store.read(StoreFixture.slot) == saved)
        #expect(source.overtake.withLock { $0 == nil }, "the reader was overtaken")
      }
    }
  }
}

import AuthModels
import AuthStorage
import AuthTestSupport
import Foundation
import Groundwork
import Testing

/// A store whose key is guarded by a secret that is kept elsewhere; the elsewhere is a stand-in here.
@Suite struct KeyItemTests {
  private final class Items: KeyItems {
    let secrets = Guarded<[String: SecretBytes]>([:])
    let failure = Guarded<StoreError?>(nil)
    let finds = Guarded(0)

    func add(_ secret: SecretBytes, id: String) throws(StoreError) {
      if let error = failure.withLock({ $0 }) { throw error }
      secrets.withLock { $0[id] = secret }
    }
    func find(_ id: String) throws(StoreError) -> SecretBytes? {
      finds.withLock { $0 += 1 }
      if let error = failure.withLock({ $0 }) { throw error }
      return secrets.withLock { $0[id] }
    }
    func remove(_ id: String) throws(StoreError) {
      if let error = failure.withLock({ $0 }) { throw error }
      secrets.withLock { $0[id] = nil }
    }
  }

  private static func store(_ fixture: StoreFixture, _ items: Items) -> SQLiteSessionStore {
    SQLiteSessionStore(
      folder: fixture.folder.store, time: fixture.clock, keySource: KeyItemKeySource(items: items))
  }

  @Test("one secret is kept, asked for once, replaced by a renewal and removed by a change of source")
  func life() async throws {
    try await StoreFixture.lend { fixture in
      let items = Items()
      let store = Self.store(fixture, items)
      #expect(try await store.read(StoreFixture.slot) == SlotState())
      #expect(items.secrets.withLock { $0.isEmpty })
      let record = StoreFixture.record()
      let saved = try await store.update(StoreFixture.slot) { $0.state.record = record }.state
      let first = items.secrets.withLock { Array($0.keys) }
      #expect(first.count == 1 && first[0].count == 32)
      #expect(try fixture.folder.names().contains("key") == false)
      let other = Self.store(fixture, items)
      for _ in 0..<3 { #expect(try await other.read(StoreFixture.slot) == saved) }
      #expect(items.finds.withLock { $0 } == 1)
      try await other.renewDataKey()
      #expect(items.secrets.withLock { Array($0.keys) } == first, "the same secret guards the new data key")
      try await other.renewGuard()
      let second = items.secrets.withLock { Array($0.keys) }
      #expect(second.count == 1 && second != first)
      #expect(try await Self.store(fixture, items).read(StoreFixture.slot) == saved)
      try await other.changeKeySource(to: KeyFileKeySource())
      #expect(items.secrets.withLock { $0.isEmpty })
      #expect(try await fixture.reopened().read(StoreFixture.slot) == saved)
      try await fixture.store.changeKeySource(to: KeyItemKeySource(items: items))
      #expect(items.secrets.withLock { $0.count } == 1)
      #expect(try await Self.store(fixture, items).read(StoreFixture.slot) == saved)
    }
  }

  @Test(
    "what the key store cannot do stays distinct, never signed out (S21)",
    arguments: [StoreError.Code.locked, .unavailable, .cancelled])
  func failures(code: StoreError.Code) async throws {
    try await StoreFixture.lend { fixture in
      let items = Items()
      let record = StoreFixture.record()
      let saved = try await Self.store(fixture, items).update(StoreFixture.slot) { $0.state.record = record }.state
      items.failure.withLock { $0 = StoreError(code, "as told") }
      let store = Self.store(fixture, items)
      #expect(try await StoreFixture.error { _ = try await store.read(StoreFixture.slot) }.code == code)
      items.failure.withLock { $0 = nil }
      #expect(try await store.read(StoreFixture.slot) == saved, "and the next call tries again")
    }
  }

  @Test("a lost secret is `unavailable`, another one or damaged parameters `corrupted`")
  func lost() async throws {
    try await StoreFixture.lend { fixture in
      let items = Items()
      let record = StoreFixture.record()
      _ = try await Self.store(fixture, items).update(StoreFixture.slot) { $0.state.record = record }
      let id = try #require(items.secrets.withLock { $0.keys.first })
      let secret = items.secrets.withLock { $0[id] }
      items.secrets.withLock { $0[id] = nil }
      let store = Self.store(fixture, items)
      #expect(try await StoreFixture.error { _ = try await store.read(StoreFixture.slot) }.code == .unavailable)
      items.secrets.withLock { $0[id] = SecretBytes(Array(repeating: 7, count: 32)) }
      #expect(try await StoreFixture.error { _ = try await store.read(StoreFixture.slot) }.code == .corrupted)
      items.secrets.withLock { $0[id] = secret }
      #expect(try await store.read(StoreFixture.slot).record != nil)
      try fixture.sql("UPDATE store SET key_parameters=x'0102'")
      let cut = Self.store(fixture, items)
      #expect(try await StoreFixture.error { _ = try await cut.read(StoreFixture.slot) }.code == .corrupted)
      try fixture.sql("UPDATE store SET key_parameters=x'02'")
      let newer = Self.store(fixture, items)
      #expect(try await StoreFixture.error { _ = try await newer.read(StoreFixture.slot) }.code == .newerVersion)
    }
  }
}

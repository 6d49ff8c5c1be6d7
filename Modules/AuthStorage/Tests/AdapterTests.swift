import AuthModels
import AuthStorage
import AuthTestSupport
import Foundation
import Groundwork
import Testing

/// Both adapters between the two seams, beyond their contracts.
@Suite struct AdapterTests {
  private static let slot = SessionSlot(server: "https://example.com:443")

  private static func bundle(_ name: String, expiresIn: Double?, _ clock: LeapingClock) -> TokenBundle {
    TokenBundle(
      accessToken: "access-\(name)", refreshToken: "refresh-\(name)",
      accessTokenExpiry: expiresIn.map { clock.wallClock.addingTimeInterval($0) })
  }

  @Test("a bundle that somebody saved before is found as a session with its expiry")
  func foundBundle() async throws {
    let clock = LeapingClock()
    let store = TokenStoreSessionAdapter(
      store: InMemoryTokenStore(Self.bundle("one", expiresIn: 600, clock)), slot: Self.slot, time: clock)
    let record = try #require(try await store.read(Self.slot).record)
    #expect(record.lifetime == 600 && record.issuedAt == clock.wallClock && record.stamp > 0)
    #expect(try await store.read(Self.slot).record == record, "reading again changes nothing")
    #expect(try await store.lastSignedIn() == Self.slot)
  }

  @Test(
    "a bundle near its end passes for no short-lived one: its leeway stays whole (S2)", arguments: [20.0, -30, -1e9])
  func nearlyExpired(left: Double) async throws {
    let clock = LeapingClock()
    let store = TokenStoreSessionAdapter(
      store: InMemoryTokenStore(Self.bundle("one", expiresIn: left, clock)), slot: Self.slot, time: clock)
    let record = try #require(try await store.read(Self.slot).record)
    let lifetime = try #require(record.lifetime)
    #expect(lifetime > 60)
    #expect(abs(record.issuedAt.timeIntervalSince(clock.wallClock) + lifetime - left) < 1e-3)
    #expect(abs(record.sinceBootAtIssue - clock.sinceBoot.inSeconds + lifetime - left) < 1e-3)
  }

  @Test("tokens that another process saved are adopted with a new stamp; cleared ones mean signed out elsewhere")
  func othersChanges() async throws {
    let clock = LeapingClock()
    let tokens = InMemoryTokenStore(Self.bundle("one", expiresIn: nil, clock))
    let store = TokenStoreSessionAdapter(store: tokens, slot: Self.slot, time: clock)
    let first = try #require(try await store.read(Self.slot).record)
    let counter = try await store.changeCounter()
    await tokens.save(Self.bundle("two", expiresIn: nil, clock))
    #expect(try await store.changeCounter() != counter)
    let second = try #require(try await store.read(Self.slot).record)
    #expect(second.sessionID == first.sessionID && second.stamp > first.stamp && second.accessToken == "access-two")
    await tokens.clear()
    let state = try await store.read(Self.slot)
    #expect(state.record == nil && state.lastSignOut?.reason == .elsewhere)
    await tokens.save(Self.bundle("three", expiresIn: nil, clock))
    #expect(try await store.read(Self.slot).record?.sessionID != first.sessionID)
    #expect(try await store.read(Self.slot).lastSignOut == nil)
  }

  @Test("a store that rounds the expiry does not make a new session at every read")
  func roundedExpiry() async throws {
    let clock = LeapingClock(wallClock: Date(timeIntervalSince1970: 1_800_000_000.75))
    let store = TokenStoreSessionAdapter(store: RoundingStore(), slot: Self.slot, time: clock)
    let record = StoreFixture.record(Self.slot)
    let saved = try await store.update(Self.slot) { $0.state.record = record }.state
    let counter = try await store.changeCounter()
    #expect(try await store.read(Self.slot) == saved)
    #expect(try await store.changeCounter() == counter)
  }

  @Test("another slot is empty to read and `notFound` to write")
  func otherSlot() async throws {
    let store = TokenStoreSessionAdapter(store: InMemoryTokenStore(), slot: Self.slot, time: LeapingClock())
    let other = SessionSlot(server: "https://other.example.com:443")
    #expect(try await store.read(other) == SlotState())
    let record = StoreFixture.record(other)
    let error = try await StoreFixture.error { _ = try await store.update(other) { $0.state.record = record } }
    #expect(error.code == .notFound)
  }

  @Test("a store's own errors pass, others are `unavailable` and their text, which may hold a secret, is dropped (S21)")
  func errors() async throws {
    struct Leaky: Error, CustomStringConvertible {
      let description = StoreFixture.refreshToken
    }
    let cases: [(any Error & Sendable, StoreError.Code)] = [
      (StoreError(.locked, "locked"), .locked), (CancellationError(), .cancelled), (Leaky(), .unavailable),
    ]
    for (thrown, code) in cases {
      let store = TokenStoreSessionAdapter(store: FailingStore(error: thrown), slot: Self.slot, time: LeapingClock())
      let error = try await StoreFixture.error { _ = try await store.read(Self.slot) }
      #expect(error.code == code)
      #expect(!"\(error) \(error.hint ?? "")".contains(StoreFixture.refreshToken))
    }
  }

  @Test("a save that fails leaves the state as it was")
  func failedSave() async throws {
    let store = TokenStoreSessionAdapter(store: ReadOnlyStore(), slot: Self.slot, time: LeapingClock())
    let record = StoreFixture.record(Self.slot)
    let error = try await StoreFixture.error { _ = try await store.update(Self.slot) { $0.state.record = record } }
    #expect(error.code == .readOnly)
    #expect(try await store.read(Self.slot) == SlotState())
  }

  @Test("over a session store, a save keeps the session's id and user, and a save after clear begins a new one")
  func sessionTokenStore() async throws {
    let clock = LeapingClock()
    let sessions = InMemorySessionStore(time: clock)
    let tokens = SessionTokenStore(store: sessions, slot: Self.slot, profile: "envelope", time: clock)
    try await tokens.save(Self.bundle("one", expiresIn: 600, clock))
    _ = await sessions.update(Self.slot) { $0.state.record?.user = SessionUser(id: "7") }
    let first = try #require(await sessions.read(Self.slot).record)
    #expect(first.profile == "envelope")
    try await tokens.save(Self.bundle("two", expiresIn: nil, clock))
    let second = try #require(await sessions.read(Self.slot).record)
    #expect(second.sessionID == first.sessionID && second.user?.id == "7" && second.stamp > first.stamp)
    try await tokens.clear()
    #expect(await sessions.read(Self.slot).lastSignOut?.reason == .byUser)
    #expect(await sessions.pendingRevocations().isEmpty)
    try await tokens.save(Self.bundle("three", expiresIn: nil, clock))
    #expect(await sessions.read(Self.slot).record?.sessionID != first.sessionID)
  }

  @Test("a killed owner's memory locks are free, and its late handle takes nothing from the next holder")
  func killedOwner() async throws {
    let clock = LeapingClock()
    let store = InMemorySessionStore(time: clock)
    let victim = store.connection(as: "victim")
    let handle = try await victim.acquireRefreshLock(Self.slot, bound: .zero)
    #expect(store.lockHolder(of: Self.slot) == "victim")
    store.releaseLocks(heldBy: "victim")
    let next = try await store.connection(as: "next").acquireRefreshLock(Self.slot, bound: .zero)
    await handle.release()
    #expect(store.lockHolder(of: Self.slot) == "next")
    await next.release()
    #expect(store.lockHolder(of: Self.slot) == nil)
  }

  @Test("the faulty store fails the nth call, fails after the commit, holds, and counts")
  func faultyStore() async throws {
    let clock = LeapingClock()
    let inner = InMemorySessionStore(time: clock)
    let store = FaultySessionStore(inner)
    store.fail(.update, call: 2, with: StoreError(.full, "full"))
    store.fail(.update, call: 3, with: StoreError(.unavailable, "lost"), phase: .afterCommit)
    let record = StoreFixture.record(Self.slot)
    _ = try await store.update(Self.slot) { $0.state.record = record }
    let before = try await StoreFixture.error { _ = try await store.update(Self.slot) { $0.state = SlotState() } }
    #expect(before.code == .full && inner.lockHolder(of: Self.slot) == nil)
    #expect(await inner.read(Self.slot).record != nil)
    let after = try await StoreFixture.error { _ = try await store.update(Self.slot) { $0.state = SlotState() } }
    #expect(after.code == .unavailable)
    #expect(await inner.read(Self.slot).record == nil)
    #expect(store.count(of: .update) == 3)
    store.hold(.read)
    async let reading = store.read(Self.slot)
    await store.waitForCalls(of: .read, count: 1)
    store.release(.read)
    #expect(try await reading == SlotState())
    store.failAll(.read, with: StoreError(.locked, "locked"))
    #expect(try await StoreFixture.error { _ = try await store.read(Self.slot) }.code == .locked)
    store.failAll(.read, with: nil)
    #expect(try await store.read(Self.slot) == SlotState())
  }

  private struct FailingStore: TokenStore {
    let error: any Error & Sendable
    func save(_ bundle: TokenBundle) async throws { throw error }
    func load() async throws -> TokenBundle? { throw error }
    func clear() async throws { throw error }
  }

  private struct ReadOnlyStore: TokenStore {
    func save(_ bundle: TokenBundle) async throws { throw StoreError(.readOnly, "read-only") }
    func load() async -> TokenBundle? { nil }
    func clear() async throws { throw StoreError(.readOnly, "read-only") }
  }

  /// Keeps whole seconds only, as ISO 8601 does.
  private final class RoundingStore: TokenStore {
    private let inner = InMemoryTokenStore()
    func save(_ bundle: TokenBundle) async throws {
      var rounded = bundle
      rounded.accessTokenExpiry = bundle.accessTokenExpiry.map {
        Date(timeIntervalSince1970: $0.timeIntervalSince1970.rounded(.down))
      }
      await inner.save(rounded)
    }
    func load() async throws -> TokenBundle? { await inner.load() }
    func clear() async throws { await inner.clear() }
  }
}

import AuthModels
import AuthStorage
import AuthTestSupport
import Foundation
import Groundwork
import Testing

/// Copy, read back, then delete: interrupted at any step, one of the two stores is whole.
@Suite struct MigrationTests {
  private static let bundle = TokenBundle(accessToken: "access", refreshToken: "refresh", accessTokenExpiry: nil)
  private static let other = SessionSlot(server: "https://other.example.com:443", account: "other")

  /// Counts the calls of all stores of a process, and fails from one on as if the process had been killed there.
  private final class Life: Sendable {
    private let left: Guarded<Int>
    init(calls: Int) { left = Guarded(calls) }

    var isOver: Bool { left.withLock { $0 < 0 } }

    func spend() throws(StoreError) {
      let isAlive = left.withLock { left in
        left -= 1
        return left >= 0
      }
      guard isAlive else { throw StoreError(.unavailable, "killed") }
    }
  }

  private struct Mortal: TokenStore {
    let store: any TokenStore
    let life: Life

    func save(_ bundle: TokenBundle) async throws {
      try life.spend()
      try await store.save(bundle)
    }
    func load() async throws -> TokenBundle? {
      try life.spend()
      return try await store.load()
    }
    func clear() async throws {
      try life.spend()
      try await store.clear()
    }
  }

  private struct Items: CredentialItems {
    let texts: Guarded<[CredentialItem: String]>
    let life: Life

    init(_ texts: [CredentialItem: String], life: Life = Life(calls: .max)) {
      self.init(texts: Guarded(texts), life: life)
    }
    init(texts: Guarded<[CredentialItem: String]>, life: Life) {
      self.texts = texts
      self.life = life
    }

    func load(_ item: CredentialItem) async throws -> String? {
      try life.spend()
      return texts.withLock { $0[item] }
    }
    func remove(_ item: CredentialItem) async throws {
      try life.spend()
      texts.withLock { $0[item] = nil }
    }
  }

  /// A session store that dies after a number of calls, its locks released as the system does.
  private struct MortalSessions: SessionStore {
    let store: any SessionStore
    let life: Life

    func read(_ slot: SessionSlot) async throws(StoreError) -> SlotState {
      try life.spend()
      return try await store.read(slot)
    }
    func update<Outcome: Sendable>(
      _ slot: SessionSlot, _ body: @escaping @Sendable (inout SlotChange) -> Outcome
    ) async throws(StoreError) -> (state: SlotState, outcome: Outcome) {
      try life.spend()
      return try await store.update(slot, body)
    }
    func acquireRefreshLock(_ slot: SessionSlot, bound: Duration) async throws(StoreError) -> any RefreshLock {
      try life.spend()
      return try await store.acquireRefreshLock(slot, bound: bound)
    }
    func changeCounter() async throws(StoreError) -> UInt64 { try await store.changeCounter() }
    func pendingRevocations() async throws(StoreError) -> [PendingRevocation] {
      try life.spend()
      return try await store.pendingRevocations()
    }
    func removePendingRevocations(_ ids: [PendingRevocation.ID]) async throws(StoreError) {
      try life.spend()
      try await store.removePendingRevocations(ids)
    }
    func slots() async throws(StoreError) -> [SessionSlot] {
      try life.spend()
      return try await store.slots()
    }
    func lastSignedIn() async throws(StoreError) -> SessionSlot? {
      try life.spend()
      return try await store.lastSignedIn()
    }
  }

  @Test("D2's two items become D3's bundle at the first read, without a sign-out, whatever kills it (D2.1)")
  func twoItems() async throws {
    var isFinished = false
    for calls in 0..<40 where !isFinished {
      let life = Life(calls: calls)
      let bundles = InMemoryTokenStore()
      let texts = Guarded<[CredentialItem: String]>([.accessToken: "access", .refreshToken: "refresh"])
      let dying = MigratingTokenStore(Mortal(store: bundles, life: life), takingOver: Items(texts: texts, life: life))
      do {
        #expect(try await dying.load() == Self.bundle)
      } catch {
        #expect((error as? StoreError)?.message == "killed")
      }
      isFinished = !life.isOver
      let itemsAreWhole = texts.withLock { $0.count == 2 }
      let bundleIsWhole = await bundles.load() == Self.bundle
      #expect(itemsAreWhole || bundleIsWhole, "after \(calls) calls")
      let next = MigratingTokenStore(
        bundles, takingOver: Items(texts: texts, life: Life(calls: .max)))
      #expect(try await next.load() == Self.bundle, "after \(calls) calls")
      #expect(texts.withLock { $0.isEmpty }, "after \(calls) calls nothing of the items is left")
      #expect(await bundles.load() == Self.bundle)
    }
    #expect(isFinished)
  }

  @Test("a sign-out or a sign-in that is killed at any step never lets the two items come back (D2.1)")
  func noRevival() async throws {
    for calls in 0..<12 {
      for signsOut in [true, false] {
        let life = Life(calls: calls)
        let bundles = InMemoryTokenStore(Self.bundle)
        let texts = Guarded<[CredentialItem: String]>([.accessToken: "stale", .refreshToken: "stale"])
        let dying = MigratingTokenStore(
          Mortal(store: bundles, life: life), takingOver: Items(texts: texts, life: life))
        let fresh = TokenBundle(accessToken: "new", refreshToken: nil, accessTokenExpiry: nil)
        do {
          if signsOut { try await dying.clear() } else { try await dying.save(fresh) }
        } catch {
          #expect((error as? StoreError)?.message == "killed")
        }
        let next = MigratingTokenStore(bundles, takingOver: Items(texts: texts, life: Life(calls: .max)))
        let found = try await next.load()
        #expect(found?.accessToken != "stale", "after \(calls) calls")
        if !life.isOver { #expect(found == (signsOut ? nil : fresh)) }
      }
    }
  }

  @Test("a refresh token alone is nobody's session, and a bundle that does not come back deletes nothing (D2.1)")
  func halves() async throws {
    let items = Items([.refreshToken: "refresh"])
    let store = MigratingTokenStore(InMemoryTokenStore(), takingOver: items)
    #expect(try await store.load() == nil)
    #expect(items.texts.withLock { $0.isEmpty })

    struct Forgetful: TokenStore {
      func save(_ bundle: TokenBundle) async throws {}
      func load() async throws -> TokenBundle? { nil }
      func clear() async throws {}
    }
    let kept = Items([.accessToken: "access"])
    let broken = MigratingTokenStore(Forgetful(), takingOver: kept)
    let error = try await StoreFixture.error { _ = try await broken.load() }
    #expect(error.code == .unavailable)
    #expect(kept.texts.withLock { $0 } == [.accessToken: "access"])
  }

  @Test("D2's calls over any token store: logged in means that an access token is there (D2.1)")
  func credentials() async throws {
    let store = CredentialStore(
      store: MigratingTokenStore(
        InMemoryTokenStore(), takingOver: Items([.accessToken: "access", .refreshToken: "refresh"])))
    #expect(try await store.hasAccessToken())
    #expect(
      try await store.getCredentials() == StoredCredentials(accessToken: "access", refreshToken: "refresh"))
    try await store.setCredentials(StoredCredentials(accessToken: "second"))
    #expect(try await store.getAccessToken() == "second")
    #expect(try await store.getRefreshToken() == nil)
    try await store.setCredentials(StoredCredentials(refreshToken: "alone"))
    #expect(try await store.hasAccessToken() == false)
    try await store.setCredentials(StoredCredentials(accessToken: "third"))
    try await store.logout()
    #expect(try await store.getCredentials() == StoredCredentials())
    #expect(!"\(StoredCredentials(accessToken: "hidden", refreshToken: "hidden"))".contains("hidden"))
  }

  @Test("a plain token store moves into the SQLite store and back, whatever kills it on the way")
  func tokenStores() async throws {
    try await StoreFixture.lend { fixture in
      for isOut in [false, true] {
        var isFinished = false
        for calls in 0..<20 where !isFinished {
          let plain = InMemoryTokenStore()
          let slot = SessionSlot(server: "https://auth.example.com:443", account: "\(isOut)-\(calls)")
          let sealed = SessionTokenStore(store: fixture.store, slot: slot, time: fixture.clock)
          let (source, destination): (any TokenStore, any TokenStore) = isOut ? (sealed, plain) : (plain, sealed)
          try await source.save(Self.bundle)
          let life = Life(calls: calls)
          do {
            let outcome = try await SessionMigration.move(
              from: Mortal(store: source, life: life), to: Mortal(store: destination, life: life))
            #expect(outcome == .moved)
          } catch {
            #expect((error as? StoreError)?.message == "killed")
          }
          isFinished = !life.isOver
          let there = try await destination.load()
          let here = try await source.load()
          #expect(there == Self.bundle || here == Self.bundle, "after \(calls) calls")
          let again = try await SessionMigration.move(from: source, to: destination)
          #expect(again == (isFinished ? .nothingToMove : .moved))
          #expect(try await destination.load() == Self.bundle)
          #expect(try await source.load() == nil)
        }
        #expect(isFinished)
      }
    }
  }

  @Test("nothing that the destination holds is overwritten")
  func destinationInUse() async throws {
    let another = TokenBundle(accessToken: "another", refreshToken: nil, accessTokenExpiry: nil)
    let (source, destination) = (InMemoryTokenStore(Self.bundle), InMemoryTokenStore(another))
    #expect(try await SessionMigration.move(from: source, to: destination) == .destinationInUse)
    #expect(await source.load() == Self.bundle)
    #expect(await destination.load() == another)
    try await StoreFixture.lend { fixture in
      let memory = InMemorySessionStore(time: fixture.clock)
      let mine = StoreFixture.record()
      let theirs = StoreFixture.record(access: "theirs")
      _ = await memory.update(StoreFixture.slot) { $0.state.record = mine }
      try await fixture.signIn(theirs)
      let outcome = try await SessionMigration.move(StoreFixture.slot, from: memory, to: fixture.store)
      #expect(outcome == .destinationInUse)
      #expect(try await fixture.store.read(StoreFixture.slot).record?.accessToken == "theirs")
      #expect(await memory.read(StoreFixture.slot).record?.accessToken == StoreFixture.accessToken)
    }
  }

  @Test("a whole store moves, session ids, intents, notes and outbox included, whatever kills it on the way")
  func wholeStore() async throws {
    try await StoreFixture.lend { fixture in
      var isFinished = false
      for calls in 0..<60 where !isFinished {
        let clock = fixture.clock
        let source = InMemorySessionStore(time: clock)
        let destination = InMemorySessionStore(time: clock)
        let record = StoreFixture.record()
        let row = PendingRevocation(
          id: UUID(), slot: Self.other, profile: "chirp", accessToken: nil, refreshToken: "revoked",
          since: clock.wallClock)
        let note = SlotState(lastSignOut: SignOutNote(.byUser, at: clock.wallClock))
        _ = await source.update(Self.other) { change in
          change.state = note
          change.revocations = [row]
        }
        let signedIn = await source.update(StoreFixture.slot) { $0.state.record = record }
        let version = try #require(signedIn.state.record).version
        let intent = RefreshIntent(version: version, attempt: UUID(), startedAt: clock.wallClock)
        _ = await source.update(StoreFixture.slot) { $0.state.intent = intent }
        let life = Life(calls: calls)
        do {
          let outcomes = try await SessionMigration.moveAll(
            from: MortalSessions(store: source, life: life), to: MortalSessions(store: destination, life: life))
          #expect(outcomes.map(\.outcome) == [.moved, .moved])
        } catch {
          #expect((error as? StoreError)?.message == "killed")
        }
        isFinished = !life.isOver
        let copies = [await source.read(StoreFixture.slot), await destination.read(StoreFixture.slot)]
        #expect(copies.contains { $0.record?.holdsSameTokens(as: record) == true }, "after \(calls) calls")
        _ = try await SessionMigration.moveAll(from: source, to: destination)
        let moved = await destination.read(StoreFixture.slot)
        #expect(moved.record?.sessionID == record.sessionID && moved.record?.accessToken == record.accessToken)
        #expect(moved.intent?.attempt == intent.attempt, "after \(calls) calls the unfinished refresh is known")
        #expect(moved.intent?.version == moved.record?.version)
        #expect(await destination.read(Self.other) == note)
        #expect(await destination.pendingRevocations().map(\.refreshToken) == ["revoked"])
        #expect(await destination.lastSignedIn() == StoreFixture.slot)
        #expect(await source.slots() == [])
        #expect(await source.pendingRevocations().isEmpty)
      }
      #expect(isFinished)
    }
  }

  @Test("a session that begins in the source while it is moved stays there, and the copy is taken back")
  func changedMeanwhile() async throws {
    struct Changing: SessionStore {
      let store: InMemorySessionStore
      let newcomer: SessionRecord
      let reads = Guarded(0)

      func read(_ slot: SessionSlot) async throws(StoreError) -> SlotState {
        let state = await store.read(slot)
        let newcomer = newcomer
        _ = await store.update(slot) { $0.state = SlotState(record: newcomer) }
        return state
      }
      func update<Outcome: Sendable>(
        _ slot: SessionSlot, _ body: @escaping @Sendable (inout SlotChange) -> Outcome
      ) async throws(StoreError) -> (state: SlotState, outcome: Outcome) { await store.update(slot, body) }
      func acquireRefreshLock(_ slot: SessionSlot, bound: Duration) async throws(StoreError) -> any RefreshLock {
        try await store.acquireRefreshLock(slot, bound: bound)
      }
      func changeCounter() async throws(StoreError) -> UInt64 { await store.changeCounter() }
      func pendingRevocations() async throws(StoreError) -> [PendingRevocation] { await store.pendingRevocations() }
      func removePendingRevocations(_ ids: [PendingRevocation.ID]) async throws(StoreError) {
        await store.removePendingRevocations(ids)
      }
      func slots() async throws(StoreError) -> [SessionSlot] { await store.slots() }
      func lastSignedIn() async throws(StoreError) -> SessionSlot? { await store.lastSignedIn() }
    }
    let clock = LeapingClock()
    let memory = InMemorySessionStore(time: clock)
    let record = StoreFixture.record()
    _ = await memory.update(StoreFixture.slot) { $0.state.record = record }
    let destination = InMemorySessionStore(time: clock)
    let error = try await StoreFixture.error {
      _ = try await SessionMigration.move(
        StoreFixture.slot, from: Changing(store: memory, newcomer: StoreFixture.record(access: "new")),
        to: destination)
    }
    #expect(error.code == .busy)
    #expect(await memory.read(StoreFixture.slot).record?.accessToken == "new")
    #expect(await destination.read(StoreFixture.slot).record == nil)
  }

  @Test("a refresh that runs in the source is waited for, and the move gives up as `busy` after its bound (S15)")
  func busySource() async throws {
    let clock = LeapingClock()
    let source = InMemorySessionStore(time: clock)
    let record = StoreFixture.record()
    _ = await source.update(StoreFixture.slot) { $0.state.record = record }
    let refresher = source.connection(as: "another process")
    let lock = try await refresher.acquireRefreshLock(StoreFixture.slot, bound: .zero)
    let destination = InMemorySessionStore(time: clock)
    let error = try await StoreFixture.error {
      _ = try await SessionMigration.move(StoreFixture.slot, from: source, to: destination)
    }
    #expect(error.code == .busy)
    #expect(await destination.read(StoreFixture.slot) == SlotState())
    await lock.release()
    #expect(try await SessionMigration.move(StoreFixture.slot, from: source, to: destination) == .moved)
  }
}

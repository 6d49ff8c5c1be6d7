import AuthModels
import AuthStorage
import AuthTestSupport
import Groundwork
import Testing

/// The contract of both seams, run against every store that this module has.
@Suite struct ContractTests {
  private static let slot = SessionSlot(server: "https://api.example.com:443", account: "default")

  @Test("InMemorySessionStore", arguments: SessionStoreContract.checks)
  func inMemorySessionStore(_ check: ContractCheck<SessionStoreContract.Subject>) async throws {
    let clock = LeapingClock()
    let store = InMemorySessionStore(time: clock)
    try await check.run(.init(store: store, peer: store.connection(as: "peer"), time: clock))
  }

  @Test("TokenStoreSessionAdapter", arguments: SessionStoreContract.checks)
  func tokenStoreSessionAdapter(_ check: ContractCheck<SessionStoreContract.Subject>) async throws {
    let clock = LeapingClock()
    let store = TokenStoreSessionAdapter(store: InMemoryTokenStore(), slot: Self.slot, time: clock)
    try await check.run(.init(store: store, peer: store, time: clock, slot: Self.slot, holdsManySlots: false))
  }

  @Test("FaultySessionStore without faults", arguments: SessionStoreContract.checks)
  func faultySessionStore(_ check: ContractCheck<SessionStoreContract.Subject>) async throws {
    let clock = LeapingClock()
    let store = InMemorySessionStore(time: clock)
    try await check.run(
      .init(store: FaultySessionStore(store), peer: store.connection(as: "peer"), time: clock))
  }

  @Test("InMemoryTokenStore", arguments: TokenStoreContract.checks)
  func inMemoryTokenStore(_ check: ContractCheck<any TokenStore>) async throws {
    try await check.run(InMemoryTokenStore())
  }

  @Test("SessionTokenStore", arguments: TokenStoreContract.checks)
  func sessionTokenStore(_ check: ContractCheck<any TokenStore>) async throws {
    let clock = LeapingClock()
    let store = InMemorySessionStore(time: clock)
    try await check.run(SessionTokenStore(store: store, slot: Self.slot, time: clock))
  }

  // Waits for another handle's write are over at the first poll or two; a leaping clock would make them five seconds
  // too soon.
  @Test("SQLiteSessionStore", arguments: SessionStoreContract.stateChecks + SessionStoreContract.outboxChecks)
  func sqliteSessionStore(_ check: ContractCheck<SessionStoreContract.Subject>) async throws {
    try await TemporaryFolder.lend { folder in
      try await check.run(sqliteSubject(in: folder, time: PatientClock()))
    }
  }

  @Test("SQLiteSessionStore's refresh lock", arguments: SessionStoreContract.lockChecks)
  func sqliteRefreshLock(_ check: ContractCheck<SessionStoreContract.Subject>) async throws {
    try await TemporaryFolder.lend { folder in
      try await check.run(sqliteSubject(in: folder, time: LeapingClock()))
    }
  }

  private func sqliteSubject(
    in folder: TemporaryFolder, time: any TimeSource
  ) -> SessionStoreContract.Subject {
    .init(
      store: SQLiteSessionStore(folder: folder.store, time: time),
      peer: SQLiteSessionStore(folder: folder.store, time: time), time: time)
  }

  @Test("SessionTokenStore over SQLite", arguments: TokenStoreContract.checks)
  func sqliteTokenStore(_ check: ContractCheck<any TokenStore>) async throws {
    try await TemporaryFolder.lend { folder in
      let clock = PatientClock()
      let store = SQLiteSessionStore(folder: folder.store, time: clock)
      try await check.run(SessionTokenStore(store: store, slot: Self.slot, time: clock))
    }
  }
}

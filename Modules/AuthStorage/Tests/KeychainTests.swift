import AuthModels
import AuthStorage
import AuthTestSupport
import Foundation
import Groundwork
import Testing

/// The keychain store over a stand-in for the four calls (D3.1); the calls themselves run on Apple's systems only.
@Suite struct KeychainTests {
  private static let item = KeychainQuery(service: "com.chirp.tokens", account: "tokenBundle")
  private static let bundle = TokenBundle(
    accessToken: "access", refreshToken: "refresh", accessTokenExpiry: Date(timeIntervalSince1970: 1_800_000_000))

  /// A keychain in memory that answers as Apple's does, and fails as told.
  private final class StandIn: KeychainCalls {
    struct State: Sendable {
      var items: [KeychainQuery: Data] = [:]
      var calls: [String] = []
      var failures: [String: Int32] = [:]
      /// An item that another app adds just before the next `add`.
      var rival: Data?
    }
    let state = Guarded(State())

    private func call(_ name: String, _ body: (inout State) -> Int32) -> Int32 {
      state.withLock { state in
        state.calls.append(name)
        return state.failures[name] ?? body(&state)
      }
    }

    func add(_ query: KeychainQuery, data: Data) -> Int32 {
      call("add") { state in
        if let rival = state.rival { state.items[query] = rival }
        guard state.items[query] == nil else { return -25299 }
        state.items[query] = data
        return 0
      }
    }

    func update(_ query: KeychainQuery, data: Data) -> Int32 {
      call("update") { state in
        guard state.items[query] != nil else { return -25300 }
        state.items[query] = data
        return 0
      }
    }

    func copyMatching(_ query: KeychainQuery) -> (status: Int32, data: Data?) {
      var found: Data?
      let status = call("copy") { state in
        found = state.items[query]
        return found == nil ? -25300 : 0
      }
      return (status, status == 0 ? found : nil)
    }

    func delete(_ query: KeychainQuery) -> Int32 {
      call("delete") { state in state.items.removeValue(forKey: query) == nil ? -25300 : 0 }
    }
  }

  private static func error(of body: () async throws -> Void) async -> (any Error)? {
    do {
      try await body()
      return nil
    } catch {
      return error
    }
  }

  @Test("the keychain store keeps the contract of every token store", arguments: TokenStoreContract.checks)
  func contract(check: ContractCheck<any TokenStore>) async throws {
    try await check.run(KeychainTokenStore(calls: StandIn()))
  }

  @Test("the bundle is one item of JSON, service com.chirp.tokens, account tokenBundle; an update replaces it (D3.1)")
  func oneItem() async throws {
    let keychain = StandIn()
    let store = KeychainTokenStore(calls: keychain)
    try await store.save(Self.bundle)
    try await store.save(Self.bundle)
    let state = keychain.state.withLock { $0 }
    #expect(state.calls == ["update", "add", "update"], "never deleted first: a kill would lose it")
    #expect(state.items.count == 1)
    let json = try #require(state.items[Self.item])
    #expect(try JSONDecoder().decode(TokenBundle.self, from: json) == Self.bundle)
    let members = try JSONDecoder().decode(JSONValue.self, from: json)
    #expect(members["accessToken"]?.string == "access" && members["refreshToken"]?.string == "refresh")
  }

  @Test("an access group is another item, and goes with every call")
  func accessGroup() async throws {
    let keychain = StandIn()
    let shared = KeychainTokenStore(accessGroup: "TEAM.shared", calls: keychain)
    try await shared.save(Self.bundle)
    #expect(try await KeychainTokenStore(calls: keychain).load() == nil)
    #expect(try await shared.load() == Self.bundle)
    try await shared.clear()
    #expect(keychain.state.withLock { $0.items.isEmpty })
  }

  @Test("an item that another app adds between update and add is updated")
  func race() async throws {
    let keychain = StandIn()
    keychain.state.withLock { $0.rival = Data("{}".utf8) }
    let store = KeychainTokenStore(calls: keychain)
    try await store.save(Self.bundle)
    #expect(try await store.load() == Self.bundle)
    #expect(keychain.state.withLock { $0.calls }.prefix(3) == ["update", "add", "update"])
  }

  @Test(
    "a failure carries its status code, is told apart, and is never nobody signed in (D3.1, S21)",
    arguments: [
      (Int32(-25308), StoreError.Code.locked), (-34018, .unavailable), (-128, .cancelled), (-25291, .unavailable),
      (-61, .readOnly), (-34, .full), (-26275, .corrupted), (-1, .unavailable), (Int32.min, .unavailable),
    ])
  func failures(status: Int32, code: StoreError.Code) async throws {
    for call in ["update", "copy", "delete"] {
      let keychain = StandIn()
      let store = KeychainTokenStore(calls: keychain)
      try await store.save(Self.bundle)
      keychain.state.withLock { $0.failures[call] = status }
      let error =
        switch call {
        case "update": await Self.error { try await store.save(Self.bundle) }
        case "copy": await Self.error { _ = try await store.load() }
        default: await Self.error { try await store.clear() }
        }
      #expect(error as? KeychainError == .unhandled(status), "\(call)")
      #expect((error as? KeychainError)?.status == status)
      #expect((error as? KeychainError)?.storeError.code == code)
      #expect("\(KeychainError.unhandled(status))".contains("\(status.magnitude)"))
    }
    #expect(KeychainError.unhandled(-34018).storeError.hint?.contains("keychain-access-groups") == true)
  }

  @Test("over the session store's seam a locked keychain is `locked`, not signed out (S21)")
  func adapted() async throws {
    let keychain = StandIn()
    let slot = SessionSlot(server: "https://auth.example.com:443")
    let store = TokenStoreSessionAdapter(
      store: KeychainTokenStore(calls: keychain), slot: slot, time: LeapingClock())
    keychain.state.withLock { $0.failures["copy"] = -25308 }
    #expect(try await StoreFixture.error { _ = try await store.read(slot) }.code == .locked)
  }

  @Test(
    "an item that is no bundle is `corrupted`, stays, and is not quoted", arguments: ["{\"secret\":1}", "", "null"])
  func damaged(text: String) async throws {
    let keychain = StandIn()
    keychain.state.withLock { $0.items[Self.item] = Data(text.utf8) }
    let store = KeychainTokenStore(calls: keychain)
    let error = try await StoreFixture.error { _ = try await store.load() }
    #expect(error.code == .corrupted && !"\(error)".contains("secret"))
    #expect(keychain.state.withLock { $0.items[Self.item] } == Data(text.utf8))
  }

  @Test("clear is proved by a second look")
  func clearIsProved() async throws {
    let keychain = StandIn()
    let store = KeychainTokenStore(calls: keychain)
    try await store.save(Self.bundle)
    keychain.state.withLock { $0.failures["delete"] = 0 }
    let error = await Self.error { try await store.clear() }
    #expect((error as? StoreError)?.code == .unavailable)
    keychain.state.withLock { $0.failures = [:] }
    try await store.clear()
    #expect(try await store.load() == nil)
  }
}

import AuthModels
import AuthNetworking
import AuthStorage
import AuthTestSupport
import Groundwork
import Testing
import VirtualTime

@testable import AuthSession

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("What apps hold in hand")
struct AppTests {
  @Test(
    "D1.3: the session manager starts from the store, follows didLogin and logout, and what other parts of the program do"
  )
  @MainActor
  func sessionManager() async throws {
    let clock = ManualClock()
    let store = InMemoryTokenStore()
    let backend = ScriptedBackend()
    let manager = SessionManager(
      store: store, backend: backend, server: try ServerIdentity("http://localhost:8080"), time: clock)
    #expect(manager.state == .unknown)
    await manager.restore()
    #expect(manager.state == .signedOut(.neverSignedIn))
    try await manager.didLogin(TokenResponse(accessToken: "a", refreshToken: "r", expiresIn: 900))
    let saved = try #require(await store.load())
    #expect(saved.accessToken == "a" && saved.refreshToken == "r")
    #expect(try #require(saved.accessTokenExpiry).timeIntervalSince(clock.wallClock) == 900)
    guard case .signedIn = manager.state else { Issue.record("not signed in"); return }
    try await manager.logout()
    #expect(manager.state == .signedOut(.byUser))
    #expect(await store.load() == nil)
  }

  @Test(
    "D3.3: a token provider gives a valid token, refreshes first if need be, and says notLoggedIn with nothing stored")
  func tokenProvider() async throws {
    try await withVirtualTime { clock, tasks in
      let store = InMemoryTokenStore()
      let calls = Guarded<[String]>([])
      let provider = TokenProvider(store: store, time: clock, tasks: tasks) { token in
        calls.withLock { $0.append(token) }
        return TokenResponse(accessToken: "a2", refreshToken: "r2", expiresIn: 900)
      }
      #expect(await World.outcome { try await provider.validAccessToken() } == "notLoggedIn")
      await store.save(
        TokenBundle(
          accessToken: "a1", refreshToken: "r1", accessTokenExpiry: clock.wallClock.addingTimeInterval(100)))
      try await clock.sleep(for: .seconds(1))
      let fresh = TokenProvider(store: store, time: clock, tasks: tasks) { token in
        calls.withLock { $0.append(token) }
        return TokenResponse(accessToken: "a2", refreshToken: "r2", expiresIn: 900)
      }
      #expect(try await fresh.validAccessToken() == "a1")
      try await clock.sleep(for: .seconds(75))
      #expect(try await fresh.validAccessToken() == "a2")
      #expect(calls.withLock { $0 } == ["r1"])
      try await fresh.refreshBundle()
      #expect(calls.withLock { $0 } == ["r1", "r2"])
    }
  }

  @Test("D3.6: a token provider ends the session on a refusal alone")
  func tokenProviderRefusal() async throws {
    try await withVirtualTime { clock, tasks in
      let store = InMemoryTokenStore()
      await store.save(TokenBundle(accessToken: "a1", refreshToken: "r1", accessTokenExpiry: clock.wallClock))
      let answers = Guarded<[APIError]>([
        APIError(.serverError, status: 503), APIError(.unauthorized, status: 401, serverCode: .invalidGrant),
      ])
      let provider = TokenProvider(store: store, time: clock, tasks: tasks) { _ in
        throw answers.withLock { $0.removeFirst() }
      }
      #expect(await World.outcome { try await provider.validAccessToken() } == "refreshFailed")
      #expect(await store.load() != nil)
      try await clock.sleep(for: .seconds(5))
      #expect(await World.outcome { try await provider.validAccessToken() } == "notLoggedIn")
      #expect(await store.load() == nil)
    }
  }

  @Test(
    "D4.1: the auth service signs in, tells the user, and signs out; a missing user is nil, an unreadable store is not")
  func authService() async throws {
    try await World.run { world in
      let store = FaultySessionStore(world.memory)
      let engine = world.process(store: store)
      let service: any AuthService = SessionAuthService(engine: engine)
      #expect(try await service.currentUser == nil)
      let user = try await service.signIn(email: "anna@example.com", password: "password123")
      #expect(user.email == "anna@example.com")
      #expect(try await service.currentUser == user)
      try await service.signOut()
      #expect(try await service.currentUser == nil)
      store.failAll(.read, with: StoreError(.locked, "Locked."))
      let other: any AuthService = SessionAuthService(engine: world.process("B", store: store))
      await #expect(throws: SessionError.self) { try await other.currentUser }
    }
  }

  @Test("D4.1: a sign-in whose user the server cannot tell just now is a sign-in all the same")
  func userUnknownYet() async throws {
    try await withVirtualTime { clock, tasks in
      let transport = StubTransport([
        .json(200, #"{"accessToken":"a1","refreshToken":"r1","expiresIn":900,"tokenType":"Bearer"}"#),
        .json(503, ""),
        .json(200, #"{"id":"7","username":"anna","email":"anna@example.com","createdAt":"2030-01-01T00:00:00Z"}"#),
      ])
      let server = try ServerIdentity("http://localhost:8080")
      let engine = SessionEngine(
        slot: SessionSlot(server: server.text),
        backend: ChirpBackend(client: APIClient(baseURL: server.baseURL, transport: transport, time: clock)),
        store: InMemorySessionStore(time: clock), time: clock, tasks: tasks)
      let service = SessionAuthService(engine: engine)
      #expect(try await service.signIn(email: "anna@example.com", password: "password123").email == "anna@example.com")
      #expect(engine.isSignedIn)
      #expect(try await service.currentUser == AppUser(SessionUser(id: "7", email: "anna@example.com")))
    }
  }

  @Test("D4.1: a server's id that is no UUID gives the same UUID each time, and different ids different ones")
  func derivedIDs() {
    let ids = (0..<1000).map { AppUser(SessionUser(id: "user-\($0)")).id }
    #expect(Set(ids).count == 1000)
    #expect(AppUser(SessionUser(id: "user-7")).id == ids[7])
    let real = UUID()
    #expect(AppUser(SessionUser(id: real.uuidString)).id == real)
    #expect(AppUser(SessionUser(id: "x")).email == "")
  }

  @Test("S15: automatic refresh keeps the token fresh, goes on after failures, and stops when told")
  func autoRefresh() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      let auto = AutoRefresh(engine: engine)
      auto.start()
      auto.start()
      try await world.pass(.seconds(900))
      #expect(world.backend.sent == ["rt-1"])
      world.backend.script(.answer(.passing(.offline)), .answer(.passing(.unavailable)))
      try await world.pass(.seconds(900))
      #expect(world.backend.sent == ["rt-1", "rt-2", "rt-2", "rt-2"])
      auto.stop()
      try await world.pass(.seconds(2000))
      #expect(world.backend.sent.count == 4)
      auto.start()
      try await world.pass(.seconds(1))
      #expect(world.backend.sent.count == 5)
      try await engine.signOut()
      try await world.pass(.seconds(2000))
      #expect(world.backend.sent.count == 5)
      try await engine.signIn(Credentials(identifier: "anna@example.com", password: "password123"))
      try await world.pass(.seconds(900))
      #expect(world.backend.sent.count == 6)
      auto.stop()
    }
  }

  @Test(
    "S17: a watch notices a sign-in, a refresh and a sign-out elsewhere within a second, though nobody calls anything")
  func changeWatch() async throws {
    try await World.run { world in
      let engine = world.process("A")
      let watch = ChangeWatch(engine: engine)
      watch.start()
      watch.start()
      let other = world.process("B")
      try await world.pass(.seconds(10))
      #expect(engine.signedOutReason == .neverSignedIn)
      try await other.signIn(Credentials(identifier: "anna@example.com", password: "password123"))
      try await world.pass(.seconds(1))
      #expect(engine.isSignedIn)
      try await other.refresh()
      try await world.pass(.seconds(1))
      #expect(await engine.token() == "at-2")
      try await other.signOut()
      try await world.pass(.seconds(1))
      #expect(engine.signedOutReason == .elsewhere)
      watch.stop()
      watch.stop()
      try await other.signIn(Credentials(identifier: "anna@example.com", password: "password123"))
      try await world.pass(.seconds(10))
      #expect(engine.signedOutReason == .elsewhere, "nobody asks any more")
    }
  }

  @Test("S17, S21: a watch over a store that cannot be read signs nobody out, and follows once it can")
  func changeWatchOverBrokenStore() async throws {
    try await World.run { world in
      let store = FaultySessionStore(world.memory)
      let engine = try await world.signedIn(store: store)
      var watch: ChangeWatch? = ChangeWatch(engine: engine)
      watch?.start()
      try await world.pass(.seconds(1))
      store.failAll(.changeCounter, with: StoreError(.locked, "The store is locked."))
      try await world.process("B").signOut()
      try await world.pass(.seconds(60))
      #expect(engine.isSignedIn)
      store.failAll(.changeCounter, with: nil)
      try await world.pass(.seconds(1))
      #expect(engine.signedOutReason == .elsewhere)
      let asked = store.count(of: .changeCounter)
      watch = nil
      try await world.pass(.seconds(60))
      #expect(store.count(of: .changeCounter) == asked, "who lets go of a watch has stopped it")
    }
  }

  @Test(
    "a server has one canonical spelling",
    arguments: [
      ("http://LOCALHOST:8080/api/", "http://localhost:8080/api"), ("https://example.com:443", "https://example.com"),
      ("HTTP://example.com:80/", "http://example.com"), ("example.com", "https://example.com"),
      ("127.0.0.1:8080", "http://127.0.0.1:8080"), ("localhost:8080/r/x", "http://localhost:8080/r/x"),
      ("https://example.com./a/b//", "https://example.com/a/b"), (" http://[::1]:8080 ", "http://[::1]:8080"),
    ])
  func canonicalServer(text: String, expected: String) throws {
    #expect(try ServerIdentity(text).text == expected)
  }

  @Test(
    "what names no server is refused in words that hold no password",
    arguments: [
      "", "ftp://example.com", "http://", "http://user:hunter2@example.com", "http://example.com/?q=1",
      "http://example.com/#f",
      "http://example.com:0", "http://example.com:99999", "http://127.0.0.1:18446744073709588531",
      "http://[::1]:9223372036854775808", "http://example.com:8o80", "http://example.com:-1",
      "http://example.com/a/../b", "file:///etc/passwd",
      "http://exa mple.com",
    ])
  func refusedServer(text: String) {
    let error = #expect(throws: ServerIdentityError.self) { try ServerIdentity(text) }
    #expect(error?.message.contains("hunter2") == false)
  }
}

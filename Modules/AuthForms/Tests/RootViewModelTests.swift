import AuthForms
import AuthModels
import AuthNetworking
import AuthSession
import AuthStorage
import AuthTestSupport
import Groundwork
import Observation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The root over the session (D1.4, D2.3): the real manager and engine, a store in memory, a scripted server.
@MainActor
struct RootViewModelTests {
  private let clock = ManualClock()
  private let store: FaultySessionStore
  private let server = StubTransport()
  private let identity: ServerIdentity

  init() throws {
    store = FaultySessionStore(InMemorySessionStore(time: clock))
    identity = try ServerIdentity("http://localhost:8080")
  }

  /// A new launch of the app, over the same store.
  private func launch() -> RootViewModel {
    let client = APIClient(baseURL: identity.baseURL, transport: server, time: clock)
    let engine = SessionEngine(
      slot: SessionSlot(server: identity.text), backend: ChirpBackend(client: client), store: store, time: clock)
    return RootViewModel(session: SessionManager(engine: engine))
  }

  private func answerLogin() {
    server.append(.json(200, #"{"accessToken":"a1","refreshToken":"r1","expiresIn":900,"tokenType":"Bearer"}"#))
  }

  private func signedIn() async throws -> RootViewModel {
    let root = launch()
    await root.restore()
    answerLogin()
    try await root.session.login(email: "anna@example.com", password: "password123")
    return root
  }

  /// Waits until the root shows a screen.
  private func wait(for screen: RootScreen, on root: RootViewModel) async {
    while root.screen != screen {
      await withCheckedContinuation { continuation in
        withObservationTracking {
          _ = root.screen
        } onChange: {
          continuation.resume()
        }
      }
      await Task.yield()
    }
  }

  @Test("nobody was here before: splash, then sign-in; the store is read once however often restore is called (D4.3)")
  func firstLaunch() async {
    let root = launch()
    let watch = ScreenWatch { root.screen }
    await root.restore()
    await root.restore()
    #expect(watch.seen == [.splash, .signIn])
    #expect(store.count(of: .read) == 1)
    #expect(root.notice == nil)
  }

  @Test("signing in leads home, signing out back, and nothing else is shown in between (D1.4, D2.3)")
  func inAndOut() async throws {
    let root = launch()
    let watch = ScreenWatch { root.screen }
    await root.restore()
    answerLogin()
    try await root.session.login(email: "anna@example.com", password: "password123")
    #expect(root.screen == .home)
    server.append(.json(204, ""))
    let home = HomeViewModel { try await root.session.logout() }
    await home.logout()
    #expect(watch.seen == [.splash, .signIn, .home, .signIn])
    #expect(home.errorMessage == nil)
    #expect(root.notice == nil, "who signed out does not wonder why")
  }

  @Test("after a restart the home screen comes at once: the sign-in screen never flashes by (D2.3, D4.3)")
  func relaunch() async throws {
    _ = try await signedIn()
    let root = launch()
    let watch = ScreenWatch { root.screen }
    await root.restore()
    #expect(watch.seen == [.splash, .home])
  }

  @Test("a wrong password stays on the sign-in screen (D1.5)")
  func wrongPassword() async throws {
    let root = launch()
    await root.restore()
    server.append(.json(401, #"{"error":true,"reason":"Invalid email or password.","code":"invalid_credentials"}"#))
    await #expect(throws: APIError.self) {
      try await root.session.login(email: "anna@example.com", password: "wrong-password")
    }
    #expect(root.screen == .signIn)
  }

  @Test("a session that the server has ended leads to the sign-in screen by itself, which says so (D3.6, S22)")
  func endedByServer() async throws {
    let root = try await signedIn()
    server.append(.json(401, #"{"error":true,"reason":"Refused.","code":"invalid_grant"}"#))
    await #expect(throws: SessionError.self) { try await root.session.engine.refresh() }
    await wait(for: .signIn, on: root)
    #expect(root.notice == "Your session has ended. Log in again.")
  }

  @Test("a store that cannot be read is not taken for signed out, and is asked again on demand (S21)")
  func unreadableStore() async throws {
    _ = try await signedIn()
    store.failAll(.read, with: StoreError(.locked, "The key store is locked."))
    let root = launch()
    let watch = ScreenWatch { root.screen }
    await root.restore()
    store.failAll(.read, with: nil)
    await root.restore()
    let text = "It cannot be told whether you are signed in. The key store is locked."
    #expect(watch.seen == [.splash, .unavailable(text), .home])
  }

  @Test("the login form over the session: its success is the root's switch (D5.5)")
  func loginForm() async {
    let root = launch()
    await root.restore()
    let login = LoginViewModel(service: SessionAuthService(engine: root.session.engine))
    login.identifier = "anna@example.com"
    login.password = "password123"
    answerLogin()
    let user = #"{"id":"6F1ED002-AB59-5555-9E7F-B3C26E6C2A5D","username":"anna","email":"anna@example.com","#
    server.append(.json(200, user + #""createdAt":"2026-01-01T00:00:00Z"}"#))
    await login.submit()
    #expect(login.user?.email == "anna@example.com")
    await wait(for: .home, on: root)
  }
}

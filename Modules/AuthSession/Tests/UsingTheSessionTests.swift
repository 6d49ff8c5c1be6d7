import AuthModels
import AuthNetworking
import AuthSession
import AuthStorage
import Groundwork
import MockServerCore
import MockServerInProcess
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
#if canImport(SwiftUI)
  import SwiftUI
#endif

// The examples of Documentation/using-the-session.md, word for word; `page` compares.

private enum Screen: Sendable, Equatable {
  case splash
  case home(String?)
  case signIn(String?)
  case tryAgain(String)
}

private struct Account: Sendable {
  let session: SessionEngine
  let client: APIClient

  init(server: ServerIdentity, store: any SessionStore, transport: any HTTPTransport) {
    session = SessionEngine(
      slot: SessionSlot(server: server.text),
      backend: ChirpBackend(client: APIClient(baseURL: server.baseURL, transport: transport)),
      store: store)
    client = APIClient(
      baseURL: server.baseURL, transport: transport, interceptors: [BearerInterceptor(authorizer: session)])
  }
}

private func firstScreen(_ account: Account) async -> Screen {
  switch await account.session.restore() {
  case .signedIn(let summary): .home(summary.user?.username)
  case .signedOut(.neverSignedIn), .signedOut(.byUser): .signIn(nil)
  case .signedOut(.refreshRefused), .signedOut(.elsewhere): .signIn("You were signed out. Please sign in again.")
  case .unavailable(let error): .tryAgain(error.message)
  case .unknown: .splash
  }
}

private func signInAndGreet(_ account: Account, email: String, password: String) async throws -> String {
  try await account.session.signIn(Credentials(identifier: email, password: password))
  let me = try await account.client.send(API.me())
  return "Hello, \(me.username)"
}

private func authorization(_ account: Account) async throws -> String {
  "Bearer \(try await account.session.validAccessToken())"
}

private func next(after error: any Error) -> Screen? {
  switch error {
  case let error as SessionError:
    switch error.code {
    case .notLoggedIn, .sessionEnded: .signIn(error.message)
    case .refreshFailed, .tooManyRefreshes, .busy, .storage: .tryAgain(error.message)
    case .sessionReplaced: nil
    }
  case let error as APIError where error.kind == .invalidCredentials: .signIn("Wrong email or password.")
  case is CancellationError: nil
  default: .tryAgain("\(error)")
  }
}

private func follow(_ account: Account, show: @Sendable (SessionState) async -> Void) async {
  for await snapshot in account.session.states() {
    await show(snapshot.state)
  }
}

private func log(_ account: Account, write: @Sendable (String) -> Void) async {
  for await event in account.session.events() {
    switch event {
    case .refreshFailing(_, let error): write("The session could not be renewed: \(error.message)")
    case .persistenceFailed(_, let error): write("New tokens are in memory alone: \(error.message)")
    case .signedOut(_, let reason): write("The session is over: \(reason)")
    case .missed(let count): write("\(count) events were dropped here.")
    default: break
    }
  }
}

private func leave(_ account: Account) async throws -> String {
  let result = try await account.session.signOut()
  return result.revoked ? "Signed out." : "Signed out here. The server will be told later."
}

private func stayFresh(_ account: Account) -> AutoRefresh {
  let refresher = AutoRefresh(engine: account.session)
  refresher.start()
  return refresher
}

private func followOthers(_ account: Account) -> ChangeWatch {
  let watch = ChangeWatch(engine: account.session)
  watch.start()
  return watch
}

@MainActor
private func openHome(_ manager: SessionManager) async throws -> String? {
  await manager.restore()
  if case .signedOut = manager.state {
    try await manager.login(email: "anna@example.com", password: "password123")
  }
  guard case .signedIn(let summary) = manager.state else { return nil }
  return summary.slot.server
}

#if canImport(SwiftUI)
  private struct RootView: View {
    let manager: SessionManager

    var body: some View {
      switch manager.state {
      case .unknown: ProgressView().task { await manager.restore() }
      case .unavailable(let error): Text(error.message)
      case .signedOut: Text("Please sign in.")
      case .signedIn: Button("Sign out") { Task { try await manager.logout() } }
      }
    }
  }
#endif

@Suite("The page on using the session")
struct UsingTheSessionTests {
  private let server = MockAuthServer(
    configuration: MockServerConfiguration(
      seed: 1, users: [MockSeedUser(username: "anna", email: "anna@example.com", password: "password123")]),
    time: SystemClock())

  private func account(_ store: any SessionStore) throws -> Account {
    Account(
      server: try ServerIdentity("http://localhost:8080"), store: store,
      transport: InProcessTransport(server: server, time: SystemClock()))
  }

  @Test("the examples do what the page says: sign in, call, survive a 401, restart, sign out")
  func life() async throws {
    let store = InMemorySessionStore(time: SystemClock())
    let account = try account(store)
    #expect(await firstScreen(account) == .signIn(nil))
    #expect(try await signInAndGreet(account, email: "anna@example.com", password: "password123") == "Hello, anna")
    #expect(try await authorization(account).hasPrefix("Bearer at_"))
    server.realm().script(.me, .status(401))
    #expect(try await account.client.send(API.me()).username == "anna")
    #expect(server.realm().count(.refresh) == 1)
    _ = try await account.session.currentUser(fresh: true)
    #expect(await firstScreen(try self.account(store)) == .home("anna"))
    #expect(try await leave(account) == "Signed out.")
    #expect(await firstScreen(try self.account(store)) == .signIn(nil))
  }

  @Test("the examples tell why a session ended: as state, as event, and at the next launch")
  func ending() async throws {
    let store = InMemorySessionStore(time: SystemClock())
    let account = try account(store)
    let (shown, showing) = AsyncStream.makeStream(of: SessionState.self)
    let (lines, writing) = AsyncStream.makeStream(of: String.self)
    let tasks = TaskStarter()
    let listeners = [
      tasks.start { await follow(account) { showing.yield($0) } },
      tasks.start { await log(account) { writing.yield($0) } },
    ]
    defer { for listener in listeners { listener.cancel() } }
    for await state in shown where state == .unknown { break }
    _ = try await signInAndGreet(account, email: "anna@example.com", password: "password123")
    for await state in shown { if case .signedIn = state { break } }
    // Events have no beginning to wait for: another session ends until the listener has heard of one.
    let over = tasks.start {
      for await line in lines where line.hasPrefix("The session is over: ") { return }
    }
    let heard = Guarded(false)
    let waiter = tasks.start {
      await over.value
      heard.withLock { $0 = true }
    }
    while !heard.withLock({ $0 }) {
      _ = try await account.session.signIn(Credentials(identifier: "anna@example.com", password: "password123"))
      server.realm().revoke(.all)
      let error = try #require(await #expect(throws: SessionError.self) { try await account.session.refresh() })
      #expect(next(after: error) == .signIn("The session is over: the server refused to renew it (invalid_grant)."))
      await Task.yield()
    }
    await waiter.value
    for await state in shown { if case .signedOut(.refreshRefused) = state { break } }
    #expect(
      await firstScreen(try self.account(store)) == .signIn("You were signed out. Please sign in again."))
  }

  @Test("the examples that work in the background can be stopped at once")
  func fresh() async throws {
    let account = try account(InMemorySessionStore(time: SystemClock()))
    _ = try await signInAndGreet(account, email: "anna@example.com", password: "password123")
    stayFresh(account).stop()
    followOthers(account).stop()
    #expect(server.realm().count(.refresh) == 0)
  }

  @Test("the example for errors has a screen for each, and none where nothing is to be said")
  func errors() {
    #expect(next(after: CancellationError()) == nil)
    #expect(next(after: SessionError(.sessionReplaced, message: "m")) == nil)
    #expect(next(after: SessionError(.notLoggedIn, message: "m")) == .signIn("m"))
    #expect(next(after: SessionError(.refreshFailed, message: "m")) == .tryAgain("m"))
    #expect(next(after: APIError(.invalidCredentials, status: 401)) == .signIn("Wrong email or password."))
  }

  @Test("the manager's example signs in where nobody is signed in, and only there")
  @MainActor
  func screens() async throws {
    let account = try account(InMemorySessionStore(time: SystemClock()))
    #expect(try await openHome(SessionManager(engine: account.session)) == "http://localhost:8080")
    #expect(try await openHome(SessionManager(engine: account.session)) == "http://localhost:8080")
    #expect(server.realm().count(.login) == 1)
  }

  @Test("what stands on the page is what stands here")
  func page() throws {
    var root = URL(filePath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let bytes = try #require(
      FileManager.default.contents(atPath: root.appending(path: "Documentation/using-the-session.md").path))
    let here = try #require(FileManager.default.contents(atPath: #filePath))
    let source = Self.plain(String(decoding: here, as: UTF8.self))
    let examples = String(decoding: bytes, as: UTF8.self).split(separator: "```").filter { $0.hasPrefix("swift\n") }
    #expect(examples.count == 12)
    for example in examples {
      #expect(source.contains(Self.plain(String(example.dropFirst(6)))), "\(example)")
    }
  }

  /// Without indentation and access control, which a page leaves out.
  private static func plain(_ text: String) -> String {
    text.split(separator: "\n").map { line in
      let bare = line.drop { $0 == " " }
      return bare.hasPrefix("private ") ? bare.dropFirst(8) : bare
    }.joined(separator: "\n")
  }
}

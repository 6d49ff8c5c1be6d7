import AuthModels
import AuthNetworking
import AuthStorage
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The documents' D3 design as it reads, for one process: what the engine is there to replace. Test-only; nothing else uses it.
///
/// A token provider with one refresh at a time, a bundle that is saved before it is used, a 401 that refreshes and resends once, and any
/// failure of the refresh or of the resend signing out. What D3 does not speak of is not there: no session ids, no compare-and-swap, no
/// lock, no intent, no look at which token a 401 names.
final class NaiveSubject: Subject {
  private let provider: NaiveTokenProvider
  private let client: APIClient
  private let store: NaiveTokenStore
  private let belief: NaiveBelief

  init(world: World, process: SimulatedProcess) {
    let client = APIClient(
      baseURL: world.baseURL, transport: ProcessTransport(world: world, process: process), time: process.clock)
    let belief = NaiveBelief()
    store = NaiveTokenStore(
      store: ProcessStore(world: world, process: process, memory: world.memory.connection(as: process.name)),
      world: world,
      clock: process.clock, belief: belief)
    self.client = client
    self.belief = belief
    provider = NaiveTokenProvider(store: store, clock: process.clock, tasks: process.tasks) { token in
      try await client.send(API.refresh(refreshToken: token))
    }
  }

  var sight: Sight { belief.sight }
  func observe() {}
  func close() {}
  func observerFault() -> String? { nil }

  /// It documents none.
  func bound(_ operation: Operation) -> Duration { .seconds(600) }

  func perform(_ operation: Operation, call: Int) async -> CallOutcome {
    do {
      switch operation {
      case .me, .user: return try await sendAuthed(call)
      case .token, .longToken: return .token(try await provider.validAccessToken())
      case .refresh: return .token(try await refreshOrSignOut().accessToken)
      case .signIn(let email):
        let response = try await client.send(API.login(email: email, password: World.password))
        try await store.save(response)
      case .signOut, .signOutWhoever: try await signOut(.byUser)
      case .restore: _ = try await store.load()
      case .flush, .watch: break
      }
      return .done(nil)
    } catch is CancellationError {
      return .cancelled
    } catch let error as StoreError {
      return .storage(error.code.rawValue)
    } catch is NaiveNotLoggedIn {
      return .notSignedIn
    } catch let error as APIError {
      return error.status == 401 ? .unauthorized : .passing(error.kind.rawValue)
    } catch {
      return .other("\(error)")
    }
  }

  /// D3.5: a 401 refreshes once and sends the request once more.
  private func sendAuthed(_ call: Int) async throws -> CallOutcome {
    let answer = try await send(try await provider.validAccessToken(), call)
    guard answer.status == 401 else { return outcome(answer) }
    do {
      let fresh = try await provider.refreshBundle()
      let second = try await send(fresh.accessToken, call)
      guard second.status != 401 else { throw NaiveNotLoggedIn() }
      return outcome(second)
    } catch {
      try await signOut(.failure)
      throw error
    }
  }

  private func refreshOrSignOut() async throws -> TokenBundle {
    do {
      return try await provider.refreshBundle()
    } catch {
      try await signOut(.failure)
      throw error
    }
  }

  private func send(_ token: String, _ call: Int) async throws -> HTTPResponse {
    let headers = HTTPFields([
      HTTPField("Authorization", "Bearer \(token)"), HTTPField(ProcessTransport.callField, String(call)),
    ])
    return try await client.sendRaw(RawCall(.get, "/me", headers: headers, requiresAuth: false))
  }

  private func outcome(_ answer: HTTPResponse) -> CallOutcome {
    switch answer.status {
    case 200: answer.body.field("email").map { .done($0) } ?? .passing("an answer that is not the server's")
    case 401: .unauthorized
    default: .passing("\(answer.status)")
    }
  }

  /// D3.8: cleared here, then told to the server.
  private func signOut(_ reason: Sight.Reason) async throws {
    let bundle = try await store.load()
    try await store.clear(reason)
    guard let token = bundle?.refreshToken else { return }
    do {
      try await client.send(API.logout(refreshToken: token))
    } catch {
      // It is signed out here, and D3 asks for no more.
    }
  }
}

/// D3.6: what a caller gets when nobody is signed in.
struct NaiveNotLoggedIn: Error {}

/// What the app shows.
final class NaiveBelief: Sendable {
  private let state = Guarded(Sight.unknown)

  var sight: Sight { state.withLock { $0 } }

  func holds(_ token: String) { state.withLock { $0 = .holding(token) } }

  func isSignedOut(_ reason: Sight.Reason) {
    state.withLock { sight in
      if case .signedOut = sight, reason == .elsewhere { return }
      sight = .signedOut(sight == .unknown && reason == .elsewhere ? .neverSignedIn : reason)
    }
  }
}

/// D1.2: save, load, clear, over the one bundle of the slot.
struct NaiveTokenStore: Sendable {
  let store: ProcessStore
  let world: World
  let clock: ProcessClock
  let belief: NaiveBelief

  func save(_ response: TokenResponse) async throws {
    let now = clock.wallClock
    let record = SessionRecord(
      sessionID: world.makeID(), slot: World.slot, profile: "naive", accessToken: response.accessToken,
      refreshToken: response.refreshToken, tokenType: "Bearer", scope: nil, issuedAt: now,
      lifetime: response.expiresIn, bootID: clock.bootID, sinceBootAtIssue: clock.sinceBoot.inSeconds, serverSkew: nil,
      user: nil)
    _ = try await store.update(World.slot) { $0.state = SlotState(record: record) }
    belief.holds(response.accessToken)
  }

  func load() async throws -> TokenBundle? {
    guard let record = try await store.read(World.slot).record else {
      belief.isSignedOut(.elsewhere)
      return nil
    }
    belief.holds(record.accessToken)
    return TokenBundle(
      accessToken: record.accessToken, refreshToken: record.refreshToken,
      accessTokenExpiry: record.lifetime.map { record.issuedAt.addingTimeInterval($0) })
  }

  func clear(_ reason: Sight.Reason) async throws {
    _ = try await store.update(World.slot) { $0.state = SlotState() }
    belief.isSignedOut(reason)
  }
}

/// D3.3, D3.4: a token that is good for 30 s more, and one refresh at a time; whoever starts it takes it along when cancelled.
actor NaiveTokenProvider {
  private let store: NaiveTokenStore
  private let clock: ProcessClock
  private let tasks: TaskStarter
  private let refresh: @Sendable (String) async throws -> TokenResponse
  private var flight: Task<Result<TokenBundle, any Error>, Never>?

  init(
    store: NaiveTokenStore, clock: ProcessClock, tasks: TaskStarter,
    refresh: @escaping @Sendable (String) async throws -> TokenResponse
  ) {
    self.store = store
    self.clock = clock
    self.tasks = tasks
    self.refresh = refresh
  }

  func validAccessToken() async throws -> String {
    guard let bundle = try await store.load() else { throw NaiveNotLoggedIn() }
    if let expiry = bundle.accessTokenExpiry, expiry.timeIntervalSince(clock.wallClock) > 30 {
      return bundle.accessToken
    }
    return try await refreshBundle().accessToken
  }

  @discardableResult
  func refreshBundle() async throws -> TokenBundle {
    if let flight { return try await flight.value.get() }
    let task = tasks.start { await self.perform() }
    flight = task
    return try await withTaskCancellationHandler {
      try await task.value.get()
    } onCancel: {
      task.cancel()
    }
  }

  private func perform() async -> Result<TokenBundle, any Error> {
    defer { flight = nil }
    do {
      guard let token = try await store.load()?.refreshToken else { throw NaiveNotLoggedIn() }
      let response = try await refresh(token)
      // D3.7: saved before anyone uses it.
      try await store.save(response)
      guard let bundle = try await store.load() else { throw NaiveNotLoggedIn() }
      return .success(bundle)
    } catch {
      return .failure(error)
    }
  }
}

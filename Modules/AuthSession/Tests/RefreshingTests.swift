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

@Suite("Refreshing")
struct RefreshingTests {
  @Test("S6, D3.4: a thousand callers on an expired token cause one refresh and get its token")
  func storm() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      try await world.pass(.seconds(1000))
      let callers = (0..<1000).map { _ in world.tasks.start { await engine.token() } }
      var answers: Set<String> = []
      for caller in callers { answers.insert(await caller.value) }
      #expect(answers == ["at-2"])
      #expect(world.backend.sent == ["rt-1"])
    }
  }

  @Test("S6: a caller of a new session never joins the old session's flight")
  func flightsAreKeyed() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      try await world.pass(.seconds(1000))
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate))
      let old = world.tasks.start { await engine.token() }
      try await world.settle()
      try await engine.signIn(Credentials(identifier: "ben@example.com", password: "password123"))
      #expect(await old.value == "sessionReplaced")
      #expect(await engine.token() == "at-2")
      gate.resolve(())
      try await world.settle()
      #expect(await engine.token() == "at-2")
      #expect(await world.stored.record?.user?.id == "ben@example.com")
    }
  }

  @Test("S6: after another process's sign-in, the new session's refresh does not wait for the old one's answer")
  func flightsAreKeyedAcrossProcesses() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      try await world.pass(.seconds(1000))
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate))
      let old = world.tasks.start { await engine.token() }
      try await world.settle()
      let other = world.process("B")
      try await other.signIn(Credentials(identifier: "ben@example.com", password: "password123"))
      _ = await world.memory.update(World.slot) { $0.state.record?.sinceBootAtIssue -= 1000 }
      await engine.checkForChanges()
      let new = world.tasks.start { await engine.token() }
      try await world.settle()
      gate.resolve(())
      #expect(await old.value == "sessionReplaced")
      #expect(await new.value == "at-4")
      #expect(world.backend.sent == ["rt-1", "rt-2"])
    }
  }

  @Test("S7: a cancelled waiter returns at once, and the flight goes on and saves, also if its starter is cancelled")
  func cancelledWaiters() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      try await world.pass(.seconds(1000))
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate))
      let starter = world.tasks.start { await engine.token() }
      try await world.settle()
      let waiter = world.tasks.start { await engine.token() }
      try await world.settle()
      starter.cancel()
      #expect(await starter.value == "cancelled")
      #expect(engine.isSignedIn)
      gate.resolve(())
      #expect(await waiter.value == "at-2")
      #expect(await world.stored.record?.refreshToken == "rt-2")
      #expect(world.backend.sent == ["rt-1"])
    }
  }

  @Test("S8: a late 401 of a token that has been replaced costs no second refresh")
  func late401() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      let early = try await engine.authorize()
      let late = try await engine.authorize()
      #expect(try await engine.authorizeAfterUnauthorized(early, endpoint: "GET /me")?.accessToken == "at-2")
      #expect(try await engine.authorizeAfterUnauthorized(late, endpoint: "GET /feed")?.accessToken == "at-2")
      #expect(world.backend.sent == ["rt-1"])
    }
  }

  @Test("S9: an endpoint that refuses fresh tokens causes no further refresh for 60 s, and the session stays")
  func endpointPause() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      func request(_ endpoint: String, accepted: Bool) async throws -> Bool {
        let first = try await engine.authorize()
        guard let second = try await engine.authorizeAfterUnauthorized(first, endpoint: endpoint) else { return false }
        await engine.noteResend(second, endpoint: endpoint, accepted: accepted)
        return true
      }
      #expect(try await request("GET /broken", accepted: false))
      for _ in 0..<10 { #expect(try await !request("GET /broken", accepted: false)) }
      #expect(world.backend.sent.count == 1)
      try await world.pass(.seconds(61))
      #expect(try await request("GET /broken", accepted: false))
      #expect(world.backend.sent.count == 2)
      #expect(engine.isSignedIn)
    }
  }

  @Test("S9: another endpoint's 401 to the same token lifts the pause")
  func anotherEndpoint() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      let first = try await engine.authorize()
      let second = try #require(try await engine.authorizeAfterUnauthorized(first, endpoint: "GET /broken"))
      await engine.noteResend(second, endpoint: "GET /broken", accepted: false)
      let other = try await engine.authorize()
      #expect(try await engine.authorizeAfterUnauthorized(other, endpoint: "GET /me")?.accessToken == "at-3")
    }
  }

  @Test(
    "S10, D3.6: a refusal ends the session with its code and request id, once for every waiter, and is never sent again"
  )
  func refusal() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      world.backend.state.withLock { $0.live = [] }
      try await world.pass(.seconds(1000))
      let callers = (0..<20).map { _ in world.tasks.start { await engine.token() } }
      for caller in callers { #expect(await caller.value == "notLoggedIn") }
      #expect(await engine.token() == "notLoggedIn")
      #expect(world.backend.sent == ["rt-1"])
      #expect(engine.signedOutReason == .refreshRefused(code: "invalid_grant", requestID: "r-1"))
      #expect(await world.stored.record == nil)
      let next = world.process("B")
      _ = await next.restore()
      #expect(next.signedOutReason == .refreshRefused(code: "invalid_grant", requestID: "r-1"))
    }
  }

  @Test("S10: a refusal that cannot be written ends the session here, and the refused token is not sent again")
  func refusalWithoutDisk() async throws {
    try await World.run { world in
      let store = FaultySessionStore(world.memory)
      let engine = try await world.signedIn(store: store)
      world.backend.state.withLock { $0.live = [] }
      try await world.pass(.seconds(1000))
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate), .real)
      let caller = world.tasks.start { await engine.token() }
      try await world.settle()
      store.failAll(.update, with: StoreError(.readOnly, "The disk is read-only."))
      gate.resolve(())
      #expect(await caller.value == "notLoggedIn")
      await engine.checkForChanges()
      #expect(await engine.token() == "notLoggedIn")
      #expect(world.backend.sent == ["rt-1"])
      store.failAll(.update, with: nil)
      try await world.pass(.seconds(60))
      #expect(await world.stored.record == nil)
    }
  }

  @Test("S10: answers that the table does not know pass, are counted, and from the fifth in a row are told")
  func unclassified() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      let odd = PassingFailure(error: APIError(.clientError, status: 418), isAmbiguous: false, isUnclassified: true)
      let events = Guarded<[Int]>([])
      let stream = engine.events()
      world.tasks.start {
        for await case .unclassifiedRefreshAnswers(_, let count) in stream { events.withLock { $0.append(count) } }
      }
      for _ in 0..<6 { world.backend.script(.answer(.passing(odd))) }
      for _ in 0..<6 {
        try await world.pass(.seconds(1000))
        #expect(await engine.token() == "refreshFailed")
      }
      try await world.settle()
      #expect(events.withLock { $0 } == [5, 6])
      guard case .signedIn(let summary) = engine.snapshot.state else { Issue.record("signed out"); return }
      #expect(summary.unclassifiedRefreshAnswers == 6)
    }
  }

  @Test("S12: failures back off exponentially, callers fail fast meanwhile, and success forgets them")
  func backOff() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      world.backend.script(
        .answer(.passing(.offline)), .answer(.passing(.offline)), .answer(.passing(.offline)), .real)
      try await world.pass(.seconds(1000))
      var waits: [Int] = []
      for _ in 0..<3 {
        let before = world.backend.sent.count
        #expect(await engine.token() == "refreshFailed")
        #expect(world.backend.sent.count == before + 1)
        var waited = 0
        while await engine.token() == "refreshFailed", world.backend.sent.count == before + 1 {
          try await world.pass(.milliseconds(500))
          waited += 500
          if waited > 10_000 { break }
          if let until = engine.core.withLock({ $0.machine.cooldown?.until }), until <= world.clock.sinceBoot { break }
        }
        waits.append(waited)
      }
      #expect(waits == [1000, 2000, 4000])
      #expect(await engine.token() == "at-2")
      #expect(await world.stored.cooldown == nil)
    }
  }

  @Test(
    "S12: whoever is turned away by a back-off reads that nothing was sent, when the next try is due, and what failed")
  func turnedAway() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      let busy = APIError(.rateLimited, status: 429, retryAfter: .seconds(90), requestID: "r-1")
      world.backend.script(.answer(.passing(PassingFailure(error: busy, isAmbiguous: false))))
      let first = await #expect(throws: SessionError.self) { try await engine.refresh() }
      #expect(first?.message.contains("429") == true && first?.retryAfter == .seconds(90))
      try await world.pass(.seconds(80))
      for call in [engine.refresh, { try await world.process("B").refresh() }] as [@Sendable () async throws -> Void] {
        let error = try #require(await #expect(throws: SessionError.self) { try await call() })
        #expect(error.code == .refreshFailed)
        #expect(error.message.contains("Nothing was sent") && error.message.contains("due in 10 s"), "\(error.message)")
        #expect(!error.message.contains("429"), "no answer came to this call")
        #expect(try #require(error.retryAfter) <= .seconds(10))
      }
      let again = await #expect(throws: SessionError.self) { try await engine.refresh() }
      #expect(again?.apiError?.status == 429, "the cause is there for whoever looks for it")
      #expect(world.backend.sent.count == 1)
    }
  }

  @Test("S12: Retry-After holds the refresh back, for a new process too, and no longer than an hour")
  func retryAfter() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      let busy = APIError(.rateLimited, status: 429, retryAfter: .seconds(90))
      world.backend.script(.answer(.passing(PassingFailure(error: busy, isAmbiguous: false))))
      try await world.pass(.seconds(1000))
      #expect(await engine.token() == "refreshFailed")
      try await world.pass(.seconds(80))
      let next = world.process("B")
      #expect(await next.token() == "refreshFailed")
      #expect(world.backend.sent.count == 1)
      try await world.pass(.seconds(11))
      #expect(await next.token() == "at-2")
      #expect(await engine.token() == "at-2")
      let greedy = APIError(.rateLimited, status: 429, retryAfter: .seconds(1e12))
      world.backend.script(.answer(.passing(PassingFailure(error: greedy, isAmbiguous: false))))
      try await world.pass(.seconds(1000))
      _ = await engine.token()
      try await world.pass(.seconds(3601))
      #expect(await engine.token() == "at-3")
    }
  }

  @Test("S12: a lost answer is followed by the same refresh once more at once, then by back-off")
  func ambiguous() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      world.backend.script(.answer(.passing(.lostAnswer)), .answer(.passing(.lostAnswer)))
      try await world.pass(.seconds(1000))
      let before = world.clock.elapsed
      #expect(await engine.token() == "refreshFailed")
      #expect(world.clock.elapsed - before < .milliseconds(100))
      #expect(world.backend.sent == ["rt-1", "rt-1"])
      #expect(await engine.token() == "refreshFailed")
      #expect(world.backend.sent.count == 2)
      try await world.pass(.seconds(2))
      #expect(await engine.token() == "at-2")
    }
  }

  @Test("S12: a server that never answers costs the bound of 15 s, not for ever")
  func silence() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      world.backend.script(.silence)
      try await world.pass(.seconds(1000))
      let before = world.clock.elapsed
      #expect(await engine.token() == "refreshFailed")
      #expect(world.clock.elapsed - before <= .seconds(16))
      #expect(engine.isSignedIn)
    }
  }

  @Test("S12: fresh tokens that every endpoint refuses trip the breaker, which never blocks a refresh due to expiry")
  func breaker() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      for index in 0..<5 {
        let first = try await engine.authorize()
        let second = try #require(try await engine.authorizeAfterUnauthorized(first, endpoint: "GET /\(index)"))
        await engine.noteResend(second, endpoint: "GET /\(index)", accepted: false)
      }
      #expect(world.backend.sent.count == 5)
      let first = try await engine.authorize()
      let outcome = await World.outcome {
        try await engine.authorizeAfterUnauthorized(first, endpoint: "GET /6")?.accessToken ?? "nil"
      }
      #expect(outcome == "tooManyRefreshes")
      #expect(engine.isSignedIn)
      try await world.pass(.seconds(880))
      #expect(await engine.token() == "at-7")
    }
  }

  @Test("S13, D3.7: the rotated pair is saved before anyone gets it")
  func savedFirst() async throws {
    try await World.run { world in
      let store = FaultySessionStore(world.memory)
      let engine = try await world.signedIn(store: store)
      try await world.pass(.seconds(1000))
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate), .real)
      let answer = Guarded<String?>(nil)
      let caller = world.tasks.start {
        let token = await engine.token()
        answer.withLock { $0 = token }
      }
      try await world.settle()
      store.hold(.update)
      gate.resolve(())
      try await world.pass(.seconds(1))
      #expect(world.backend.sent.count == 1)
      #expect(answer.withLock { $0 } == nil)
      store.release(.update)
      await caller.value
      #expect(answer.withLock { $0 } == "at-2")
      #expect(await world.stored.record?.accessToken == "at-2")
    }
  }

  @Test(
    "S13: a pair that cannot be saved is used from memory, saved later, and no other process spends the old token",
    arguments: [
      StoreError.Code.full, .readOnly, .locked,
    ])
  func unsaved(code: StoreError.Code) async throws {
    try await World.run { world in
      let store = FaultySessionStore(world.memory.connection(as: "A"))
      let engine = try await world.signedIn(store: store)
      try await world.pass(.seconds(1000))
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate), .real)
      let caller = world.tasks.start { await engine.token() }
      try await world.settle()
      store.failAll(.update, with: StoreError(code, "It cannot be written."))
      gate.resolve(())
      #expect(await caller.value == "at-2")
      #expect(await engine.token() == "at-2")
      let other = world.process("B")
      #expect(await other.token() == "busy")
      #expect(world.backend.sent == ["rt-1"])
      store.failAll(.update, with: nil)
      try await world.pass(.seconds(60))
      #expect(await world.stored.record?.refreshToken == "rt-2")
      #expect(await world.stored.intent == nil)
      #expect(await other.token() == "at-2")
      try await world.pass(.seconds(1000))
      #expect(await engine.token() == "at-3")
    }
  }

  @Test("S13: the next refresh saves the earlier pair first, and never sends the old token again")
  func unsavedThenExpired() async throws {
    try await World.run { world in
      let store = FaultySessionStore(world.memory.connection(as: "A"))
      let engine = try await world.signedIn(store: store)
      try await world.pass(.seconds(1000))
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate), .real)
      let caller = world.tasks.start { await engine.token() }
      try await world.settle()
      store.failAll(.update, with: StoreError(.full, "The disk is full."))
      gate.resolve(())
      #expect(await caller.value == "at-2")
      try await world.pass(.seconds(1000))
      #expect(await engine.token() == "storage")
      store.failAll(.update, with: nil)
      #expect(await engine.token() == "at-3")
      #expect(world.backend.sent == ["rt-1", "rt-2"])
    }
  }

  @Test("S13: an answer without a refresh token keeps the old one")
  func keepsRefreshToken() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      world.backend.state.withLock { state in
        state.omitsRefreshToken = true
        state.rotates = false
      }
      try await world.pass(.seconds(1000))
      #expect(await engine.token() == "at-2")
      #expect(await world.stored.record?.refreshToken == "rt-1")
      try await world.pass(.seconds(1000))
      #expect(await engine.token() == "at-3")
      #expect(world.backend.sent == ["rt-1", "rt-1"])
    }
  }

  @Test("S14: the refresh call is neither authed nor refreshed: a 401 to it causes nothing further")
  func refreshIsPlain() async throws {
    try await withVirtualTime { clock, tasks in
      let transport = StubTransport([
        .json(200, #"{"accessToken":"a1","refreshToken":"r1","expiresIn":900,"tokenType":"Bearer"}"#),
        .json(401, #"{"error":true,"reason":"no","code":"invalid_grant"}"#),
      ])
      let server = try ServerIdentity("http://localhost:8080")
      let client = APIClient(baseURL: server.baseURL, transport: transport, time: clock)
      let engine = SessionEngine(
        slot: SessionSlot(server: server.text), backend: ChirpBackend(client: client),
        store: InMemorySessionStore(time: clock), time: clock, tasks: tasks)
      try await engine.signIn(Credentials(identifier: "a@b.co", password: "password123"))
      try await clock.sleep(for: .seconds(1000))
      #expect(await engine.token() == "notLoggedIn")
      let refreshes = transport.requests.filter { $0.url.path.hasSuffix("/auth/refresh") }
      #expect(refreshes.count == 1)
      #expect(refreshes.first?.headers["Authorization"] == nil)
    }
  }
}

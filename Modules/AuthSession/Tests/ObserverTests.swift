import AuthModels
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

@Suite("Telling")
struct ObserverTests {
  @Test("S22, D4.3: the state is unknown until the store has answered, then says who, or why nobody")
  func states() async throws {
    try await World.run { world in
      let engine = world.process()
      #expect(engine.snapshot.state == .unknown)
      #expect(await engine.restore() == .signedOut(.neverSignedIn))
      try await engine.signIn(Credentials(identifier: "anna@example.com", password: "password123"))
      guard case .signedIn(let summary) = engine.snapshot.state else { Issue.record("not signed in"); return }
      #expect(summary.user?.email == "anna@example.com")
      #expect(summary.accessTokenExpiry == world.clock.wallClock.addingTimeInterval(900))
      try await engine.signOut()
      #expect(engine.snapshot.state == .signedOut(.byUser))
      let next = world.process("B")
      #expect(await next.restore() == .signedOut(.byUser))
    }
  }

  @Test("S22: an access token that is dead and cannot be renewed ends the session with a reason")
  func noRefreshToken() async throws {
    try await World.run { world in
      world.backend.state.withLock { $0.omitsRefreshToken = true }
      let engine = try await world.signedIn()
      try await world.pass(.seconds(880))
      #expect(await engine.token() == "at-1", "it still works")
      try await world.pass(.seconds(30))
      #expect(await engine.token() == "notLoggedIn")
      #expect(engine.signedOutReason == .refreshRefused(code: "no_refresh_token", requestID: nil))
    }
  }

  @Test("S22: the session is restored once, however many ask at launch")
  func restoredOnce() async throws {
    try await World.run { world in
      _ = try await world.signedIn()
      let store = FaultySessionStore(world.memory)
      let engine = world.process("B", store: store)
      let callers = (0..<50).map { _ in world.tasks.start { await engine.token() } }
      for caller in callers { #expect(await caller.value == "at-1") }
      #expect(store.count(of: .read) == 1)
    }
  }

  @Test("S23: a state's reader gets the current one first, then each newer one, and a slow reader the latest")
  func stateStream() async throws {
    try await World.run { world in
      let engine = world.process()
      var reader = engine.states().makeAsyncIterator()
      #expect(await reader.next()?.state == .unknown)
      await engine.restore()
      #expect(await reader.next()?.state == .signedOut(.neverSignedIn))
      try await engine.signIn(Credentials(identifier: "anna@example.com", password: "password123"))
      try await engine.signOut()
      let last = await reader.next()
      #expect(last?.state == .signedOut(.byUser))
      #expect(last == engine.snapshot)
    }
  }

  @Test("S23: a slow reader of events is told how many it missed, and loses only the oldest")
  func slowReader() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      let stream = engine.events(limit: 3)
      for _ in 0..<10 { try await engine.refresh() }
      var reader = stream.makeAsyncIterator()
      #expect(await reader.next() == .missed(7))
      for _ in 0..<3 {
        guard case .refreshed = await reader.next() else { Issue.record("no event"); return }
      }
    }
  }

  @Test("S23: a thousand subscribers see each event once, and those that are gone cost nothing")
  func manySubscribers() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      for _ in 0..<1000 { _ = engine.events() }
      let streams = (0..<1000).map { _ in engine.events() }
      try await engine.refresh()
      try await engine.signOut()
      for stream in streams {
        var reader = stream.makeAsyncIterator()
        guard case .refreshed = await reader.next(), case .signedOut(_, .byUser) = await reader.next() else {
          Issue.record("an event is missing")
          return
        }
      }
    }
  }

  @Test("S23: a cancelled reader ends, and so does every reader when the engine goes")
  func endOfStreams() async throws {
    try await World.run { world in
      var engine: SessionEngine? = world.process()
      let events = try #require(engine).events()
      let states = try #require(engine).states()
      let cancelled = world.tasks.start { for await _ in events {} }
      try await world.settle()
      cancelled.cancel()
      await cancelled.value
      let reader = world.tasks.start { for await _ in states {} }
      try await world.settle()
      engine = nil
      await reader.value
    }
  }

  @Test("no secret in any description, mirror or error of a session")
  func secrets() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      let authorization = try await engine.authorize()
      let stored = await world.stored
      var text = ""
      dump(authorization, to: &text)
      dump(stored, to: &text)
      dump(engine.snapshot, to: &text)
      dump(Credentials(identifier: "a", password: "hunter2-secret"), to: &text)
      dump(Registration(username: "a", email: "b", password: "hunter2-secret"), to: &text)
      text += "\(authorization) \(stored) \(engine.snapshot) \(String(reflecting: stored))"
      #expect(!text.contains("at-1") && !text.contains("rt-1") && !text.contains("hunter2"))
    }
  }
}

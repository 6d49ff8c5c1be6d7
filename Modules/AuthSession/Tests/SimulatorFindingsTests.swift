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

/// What the simulator has found, each as the shortest schedule that shows it.
@Suite("Found by the simulator")
struct SimulatorFindingsTests {
  @Test("S9, (10): a peer's token that is refused is no fresh one: the next 401 refreshes, where lifetimes are unknown")
  func adoptedTokenIsNotFresh() async throws {
    try await World.run(lifetime: nil) { world in
      let peer = try await world.signedIn("A")
      let engine = world.process("B")
      let first = try await engine.authorize()
      try await peer.refresh()
      // B's token is refused, A's is there, and is refused as well: it may be as old as it likes.
      let adopted = try #require(try await engine.authorizeAfterUnauthorized(first, endpoint: "GET /me"))
      #expect(adopted.accessToken == "at-2")
      await engine.noteResend(adopted, endpoint: "GET /me", accepted: false)
      let next = try await engine.authorize()
      let refreshed = try await engine.authorizeAfterUnauthorized(next, endpoint: "GET /me")
      #expect(refreshed?.accessToken == "at-3")
      // That one is fresh: refused again, it pauses the endpoint.
      await engine.noteResend(try #require(refreshed), endpoint: "GET /me", accepted: false)
      let third = try await engine.authorizeAfterUnauthorized(try await engine.authorize(), endpoint: "GET /me")
      #expect(third == nil)
      #expect(world.backend.sent == ["rt-1", "rt-2"])
    }
  }

  @Test(
    "S4, S9: a request that goes out with a peer's token, found while refreshing, still gets its refresh after a 401")
  func foundTokenIsNotFresh() async throws {
    try await World.run { world in
      let engine = try await world.signedIn("A")
      let peer = world.process("B")
      await peer.restore()
      try await world.pass(.seconds(800))
      try await peer.refresh()
      try await world.pass(.seconds(200))
      let found = try await engine.authorize()
      #expect(found.accessToken == "at-2")
      #expect(!found.isFreshlyRefreshed)
      let refreshed = try await engine.authorizeAfterUnauthorized(found, endpoint: "GET /me")
      #expect(refreshed?.accessToken == "at-3")
      #expect(refreshed?.isFreshlyRefreshed == true)
    }
  }

  @Test("S12, (1): an answer that came while the process was stopped beyond the bound is used, not thrown away")
  func answerAfterStop() async throws {
    try await World.run { world in
      let clock = StoppingClock(clock: world.clock)
      let engine = SessionEngine(
        slot: World.slot, backend: world.backend, store: world.memory.connection(as: "A"), time: clock,
        tasks: world.tasks)
      try await engine.signIn(Credentials(identifier: "anna@example.com", password: "password123"))
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate))
      let caller = world.tasks.start {
        await World.outcome {
          try await engine.refresh(); return "refreshed"
        }
      }
      try await world.settle()
      clock.stop(for: .seconds(40))
      // The process goes on: its timer is over, and the answer is the next thing that it reads.
      try await world.pass(SessionOptions().refreshBound + .milliseconds(500))
      gate.resolve(())
      #expect(await caller.value == "refreshed")
      #expect(world.backend.sent == ["rt-1"])
      #expect(await engine.token() == "at-2")
    }
  }

  @Test("S4, (11): a process that was stopped just before it sent a refresh does not take the new tokens for old ones")
  func stopBeforeSending() async throws {
    try await World.run { world in
      let clock = StoppingClock(clock: world.clock)
      var options = SessionOptions()
      options.refreshShield = .init(raise: { clock.stop(for: .seconds(1000), afterNextReading: true) }, lower: {})
      let engine = SessionEngine(
        slot: World.slot, backend: world.backend, store: world.memory.connection(as: "A"), time: clock,
        tasks: world.tasks, options: options)
      try await engine.signIn(Credentials(identifier: "anna@example.com", password: "password123"))
      try await engine.refresh()
      #expect(clock.sinceBoot >= .seconds(1000))
      #expect(await engine.token() == "at-2")
      #expect(world.backend.sent == ["rt-1"])
    }
  }

  @Test("S22, (5): a reading of the store that began before a sign-in was saved does not sign out again")
  func staleReading() async throws {
    try await World.run { world in
      let gate = SharedResult<Void>()
      let engine = world.process(store: LateReadings(world.memory, until: gate))
      let early = world.tasks.start { await engine.token() }
      try await world.settle()
      try await engine.signIn(Credentials(identifier: "anna@example.com", password: "password123"))
      gate.resolve(())
      #expect(await early.value == "at-1")
      #expect(engine.isSignedIn)
      #expect(await engine.token() == "at-1")
    }
  }

  @Test("S20, (4): the second try of an ambiguous refresh is not sent once the sign-out has returned")
  func secondTryAfterSignOut() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate), .answer(.passing(.lostAnswer)))
      let caller = world.tasks.start {
        await World.outcome {
          try await engine.refresh(); return "refreshed"
        }
      }
      try await world.settle()
      #expect(try await engine.signOut().revoked)
      gate.resolve(())
      try await world.settle()
      #expect(await caller.value == "sessionEnded")
      #expect(world.backend.sent == ["rt-1"])
      #expect(await world.stored.record == nil)
    }
  }

  @Test("S6, (1): a forced refresh joins the retry of what an earlier life began, and never flies beside it")
  func forcedRefreshJoinsRetry() async throws {
    try await World.run { world in
      let dying = try await world.signedIn("A")
      let never = SharedResult<Void>()
      world.backend.script(.hold(never))
      let cut = world.tasks.start {
        await World.outcome {
          try await dying.refresh(); return "refreshed"
        }
      }
      try await world.settle()
      world.memory.releaseLocks(heldBy: "A")
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate))
      let engine = world.process("B")
      _ = await engine.restore()
      let forced = world.tasks.start {
        await World.outcome {
          try await engine.refresh(); return "refreshed"
        }
      }
      try await world.settle()
      #expect(engine.core.withLock { $0.flights.count } == 1)
      gate.resolve(())
      #expect(await forced.value == "refreshed")
      #expect(world.backend.sent == ["rt-1", "rt-1"], "the life that was cut short, and one retry")
      never.resolve(())
      _ = await cut.value
    }
  }

  @Test("S18, (3): the second try of an ambiguous refresh is not sent once another session stands in the slot")
  func secondTryAfterReplacement() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate), .answer(.passing(.lostAnswer)))
      let caller = world.tasks.start {
        await World.outcome {
          try await engine.refresh(); return "refreshed"
        }
      }
      try await world.settle()
      try await engine.signIn(Credentials(identifier: "ben@example.com", password: "password123"))
      gate.resolve(())
      try await world.settle()
      #expect(await caller.value == "sessionReplaced")
      #expect(world.backend.sent == ["rt-1"])
      #expect(await engine.token() == "at-2")
    }
  }

  @Test("S21: a save that fails after its commit is a sign-in, once the store shows it")
  func signInSavedInSpiteOfItsError() async throws {
    try await World.run { world in
      let store = FaultySessionStore(world.memory)
      let engine = world.process(store: store)
      store.fail(.update, with: StoreError(.unavailable, "The disk went away after the commit."), phase: .afterCommit)
      let outcome = await World.outcome {
        try await engine.signIn(Credentials(identifier: "anna@example.com", password: "password123"))
        return "ok"
      }
      #expect(outcome == "ok")
      #expect(await engine.token() == "at-1")
      #expect(await world.process("B").token() == "at-1")
      #expect(world.backend.revoked.isEmpty)
    }
  }

  @Test("S21: a sign-in whose save nobody can judge is revoked, used by nobody, and removed from the store later")
  func deadSignInLeavesTheStore() async throws {
    try await World.run { world in
      let store = FaultySessionStore(world.memory)
      let engine = world.process(store: store)
      await engine.restore()
      store.fail(.update, with: StoreError(.unavailable, "The disk went away after the commit."), phase: .afterCommit)
      store.failAll(.read, with: StoreError(.unavailable, "The disk is away."))
      let outcome = await World.outcome {
        try await engine.signIn(Credentials(identifier: "anna@example.com", password: "password123"))
        return "ok"
      }
      #expect(outcome == "storage")
      #expect(world.backend.revoked == ["rt-1"])
      #expect(await world.stored.record != nil, "the commit that nobody heard of")
      store.failAll(.read, with: nil)
      await engine.checkForChanges()
      #expect(await engine.token() == "notLoggedIn", "what still stands in the store is not revived")
      try await world.pass(.seconds(1))
      #expect(await world.stored.record == nil)
      #expect(engine.signedOutReason == .neverSignedIn)
    }
  }

  @Test("S17, (4): a check for changes that could not read the store is made again, also if nothing changes any more")
  func checkThatCouldNotRead() async throws {
    try await World.run { world in
      let store = FaultySessionStore(world.memory)
      let engine = try await world.signedIn(store: store)
      await engine.checkForChanges()
      try await world.process("B").signOut()
      store.fail(.read, with: StoreError(.locked, "The store is locked."))
      await engine.checkForChanges()
      #expect(engine.isSignedIn, "a store that cannot be read signs nobody out")
      await engine.checkForChanges()
      #expect(engine.signedOutReason == .elsewhere)
    }
  }

  @Test(
    "S13, S17, S19: rotated tokens that could not be saved are revoked once another process has ended their session",
    arguments: [true, false])
  func unsavedTokensOfAnEndedSession(isReplaced: Bool) async throws {
    try await World.run { world in
      let store = FaultySessionStore(world.memory)
      let engine = try await world.signedIn(store: store)
      store.fail(.update, call: 2, with: StoreError(.full, "The disk is full."))
      try await engine.refresh()
      #expect(await engine.token() == "at-2")
      store.failAll(.update, with: StoreError(.full, "The disk is full."))
      try await world.pass(.seconds(40))
      let other = world.process("B")
      if isReplaced {
        try await other.signIn(Credentials(identifier: "ben@example.com", password: "password123"))
      } else {
        try await other.signOut()
      }
      store.failAll(.update, with: nil)
      await engine.checkForChanges()
      try await world.settle()
      #expect(await engine.token() == (isReplaced ? "at-3" : "notLoggedIn"))
      #expect(world.backend.revoked.contains("rt-2"))
    }
  }
}

/// A clock whose sleepers find, when they wake, that much more time has passed: the machine was suspended.
private final class StoppingClock: TimeSource {
  private let clock: VirtualClock
  private let stopped = Guarded((past: Duration.zero, next: Duration.zero))

  init(clock: VirtualClock) { self.clock = clock }

  func stop(for duration: Duration, afterNextReading: Bool = false) {
    stopped.withLock { stopped in
      if afterNextReading { stopped.next += duration } else { stopped.past += duration }
    }
  }

  var wallClock: Date { clock.wallClock }
  var sinceBoot: Duration {
    let past = stopped.withLock { stopped in
      defer { stopped = (stopped.past + stopped.next, .zero) }
      return stopped.past
    }
    return clock.sinceBoot + past
  }
  var bootID: String { clock.bootID }

  func sleep(for duration: Duration) async throws { try await clock.sleep(for: duration) }
}

/// A store whose readings arrive late: each was true when it was made.
private final class LateReadings: SessionStore {
  private let store: InMemorySessionStore
  private let gate: SharedResult<Void>

  init(_ store: InMemorySessionStore, until gate: SharedResult<Void>) {
    self.store = store
    self.gate = gate
  }

  func read(_ slot: SessionSlot) async throws(StoreError) -> SlotState {
    let state = await store.read(slot)
    do { try await gate.value() } catch { throw StoreError(.cancelled, "The test has ended.") }
    return state
  }

  func update<Outcome: Sendable>(
    _ slot: SessionSlot, _ body: @escaping @Sendable (inout SlotChange) -> Outcome
  ) async throws(StoreError) -> (state: SlotState, outcome: Outcome) {
    await store.update(slot, body)
  }

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

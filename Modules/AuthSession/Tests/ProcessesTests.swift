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

@Suite("Across processes and crashes")
struct ProcessesTests {
  @Test("S11: a refusal of a token that a peer has replaced meanwhile adopts the peer's session instead of ending it")
  func refusedButRefreshed() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      try await world.pass(.seconds(1000))
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate), .answer(.refused(RefreshRefusal(code: "invalid_grant"))))
      let caller = world.tasks.start { await engine.token() }
      try await world.settle()
      // A peer that keeps to no lock.
      _ = await world.memory.update(World.slot) { change in
        change.state.record?.accessToken = "at-peer"
        change.state.record?.refreshToken = "rt-peer"
      }
      gate.resolve(())
      #expect(await caller.value == "at-peer")
      #expect(await world.stored.record?.refreshToken == "rt-peer")
    }
  }

  @Test(
    "S11: where another session stands, the caller hears that its own was replaced, and the engine follows the new one")
  func refusedButReplaced() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      try await world.pass(.seconds(1000))
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate), .answer(.refused(RefreshRefusal(code: "invalid_grant"))))
      let caller = world.tasks.start { await engine.token() }
      try await world.settle()
      let other = world.process("B")
      try await other.signIn(Credentials(identifier: "ben@example.com", password: "password123"))
      var events = engine.events().makeAsyncIterator()
      gate.resolve(())
      #expect(await caller.value == "sessionReplaced")
      guard case .replaced = await events.next() else { Issue.record("not told that it was replaced"); return }
      #expect(await engine.token() == "at-2")
      #expect(await world.stored.record?.user?.id == "ben@example.com")
    }
  }

  @Test("S15: twenty processes on an expired token send one refresh, and all get its token")
  func oneRefresh() async throws {
    try await World.run { world in
      _ = try await world.signedIn()
      try await world.pass(.seconds(1000))
      let callers = (0..<20).map { index in
        let engine = world.process("P\(index)")
        return world.tasks.start { await engine.token() }
      }
      for caller in callers { #expect(await caller.value == "at-2") }
      #expect(world.backend.sent == ["rt-1"])
    }
  }

  @Test("S15: a stopped holder is never robbed: the waiter gets busy after its bound")
  func stoppedHolder() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      let lock = try await world.memory.connection(as: "stopped").acquireRefreshLock(World.slot, bound: .zero)
      try await world.pass(.seconds(1000))
      let before = world.clock.elapsed
      #expect(await engine.token() == "busy")
      #expect(world.clock.elapsed - before >= .seconds(20))
      #expect(world.backend.sent.isEmpty)
      await lock.release()
      #expect(await engine.token() == "at-2")
    }
  }

  @Test("S16: the intent stands in the store before the refresh is sent, and goes with its result")
  func intentFirst() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      try await world.pass(.seconds(1000))
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate))
      let caller = world.tasks.start { await engine.token() }
      try await world.settle()
      let stored = await world.stored
      #expect(stored.intent?.version == stored.record?.version)
      gate.resolve(())
      #expect(await caller.value == "at-2")
      #expect(await world.stored.intent == nil)
    }
  }

  @Test(
    "S16: an intent that a dead process left is retried at the next start, even while the access token is good",
    arguments: [
      true, false,
    ])
  func recovery(serverForgives: Bool) async throws {
    try await World.run { world in
      _ = try await world.signedIn()
      _ = await world.memory.update(World.slot) { change in
        guard let version = change.state.record?.version else { return }
        change.state.intent = RefreshIntent(version: version, attempt: UUID(), startedAt: world.clock.wallClock)
      }
      if !serverForgives { world.backend.state.withLock { $0.live = [] } }
      let next = world.process("B")
      _ = await next.restore()
      #expect(await next.token() == (serverForgives ? "at-2" : "notLoggedIn"))
      #expect(world.backend.sent == ["rt-1"])
      #expect(await world.stored.intent == nil)
    }
  }

  @Test("S16: an intent whose owner lives is left to it: the good token is used at once")
  func ownerLives() async throws {
    try await World.run { world in
      let owner = try await world.signedIn()
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate))
      let flight = world.tasks.start {
        await World.outcome {
          try await owner.refresh(); return "ok"
        }
      }
      try await world.settle()
      let next = world.process("B")
      let before = world.clock.elapsed
      #expect(await next.token() == "at-1")
      #expect(world.clock.elapsed - before < .seconds(1))
      gate.resolve(())
      #expect(await flight.value == "ok")
      #expect(world.backend.sent == ["rt-1"])
    }
  }

  @Test(
    "S15: who asks for a refresh, or had a 401, waits for a peer's refresh and takes its result",
    arguments: [true, false])
  func forcedRefreshWaits(forced: Bool) async throws {
    try await World.run { world in
      let owner = try await world.signedIn()
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate))
      let flight = world.tasks.start {
        await World.outcome {
          try await owner.refresh(); return "ok"
        }
      }
      try await world.settle()
      let next = world.process("B")
      let caller = world.tasks.start {
        await World.outcome {
          if forced {
            try await next.refresh()
            return "ok"
          }
          let refused = try await next.authorize()
          return try await next.authorizeAfterUnauthorized(refused, endpoint: "GET /me")?.accessToken ?? "nil"
        }
      }
      try await world.pass(.seconds(3))
      gate.resolve(())
      #expect(await flight.value == "ok")
      #expect(await caller.value == (forced ? "ok" : "at-2"))
      #expect(world.backend.sent == ["rt-1"])
    }
  }

  @Test(
    "S6, S16: a refresh that is asked for while an intent is being retried joins that retry, also where the lock excludes nobody"
  )
  func forcedRefreshJoinsRecovery() async throws {
    try await World.run { world in
      _ = try await world.signedIn()
      _ = await world.memory.update(World.slot) { change in
        guard let version = change.state.record?.version else { return }
        change.state.intent = RefreshIntent(version: version, attempt: UUID(), startedAt: world.clock.wallClock)
      }
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate))
      let next = world.process("B")
      await next.restore()
      try await world.settle()
      world.memory.releaseLocks(heldBy: "B")
      let forced = world.tasks.start {
        await World.outcome {
          try await next.refresh(); return "ok"
        }
      }
      try await world.settle()
      gate.resolve(())
      #expect(await forced.value == "ok")
      #expect(world.backend.sent == ["rt-1"])
    }
  }

  @Test("S16: signals are held off from before the refresh is sent until its result is saved")
  func shield() async throws {
    try await World.run { world in
      let log = Guarded<[String]>([])
      let engine = try await world.signedIn { options in
        options.refreshShield = .init(
          raise: { log.withLock { $0.append("raise \(world.backend.sent.count)") } },
          lower: { log.withLock { $0.append("lower \(world.backend.sent.count)") } })
      }
      try await world.pass(.seconds(1000))
      #expect(await engine.token() == "at-2")
      #expect(log.withLock { $0 } == ["raise 0", "lower 1"])
    }
  }

  @Test("S17: a sign-out or a refresh in another process is noticed within a second while tokens are being used")
  func followsOthers() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      #expect(await engine.token() == "at-1")
      let other = world.process("B")
      await other.restore()
      try await other.refresh()
      try await world.pass(.milliseconds(600))
      _ = await engine.token()
      try await world.settle()
      #expect(await engine.token() == "at-2")
      try await other.signOut()
      try await world.pass(.milliseconds(600))
      _ = await engine.token()
      try await world.settle()
      #expect(await engine.token() == "notLoggedIn")
      #expect(engine.signedOutReason == .elsewhere)
    }
  }

  @Test("S17: a sign-in of another user in another process is followed")
  func followsSignIn() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      let bound = try await engine.authorize()
      let other = world.process("B")
      try await other.signIn(Credentials(identifier: "ben@example.com", password: "password123"))
      await engine.checkForChanges()
      #expect(await engine.token() == "at-2")
      #expect(throws: SessionError.self) { try engine.checkStillCurrent(bound) }
    }
  }

  @Test("S12, S17: while one process cools down, it takes the tokens that another has got")
  func peerSucceeds() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      let busy = APIError(.rateLimited, status: 429, retryAfter: .seconds(600))
      world.backend.script(.answer(.passing(PassingFailure(error: busy, isAmbiguous: false))), .real)
      try await world.pass(.seconds(1000))
      #expect(await engine.token() == "refreshFailed")
      _ = await world.memory.update(World.slot) { change in
        change.state.cooldown = nil
        change.state.record?.accessToken = "at-peer"
        change.state.record?.sinceBootAtIssue = world.clock.sinceBoot.inSeconds
      }
      try await world.pass(.seconds(1))
      #expect(await engine.token() == "at-peer")
      #expect(world.backend.sent.count == 1)
    }
  }

  @Test("S17, S23: a sign-in elsewhere is told to a process that was signed out")
  func signInElsewhere() async throws {
    try await World.run { world in
      let engine = world.process("A")
      await engine.restore()
      var events = engine.events().makeAsyncIterator()
      _ = try await world.signedIn("B")
      await engine.checkForChanges()
      guard case .signedIn = await events.next() else { Issue.record("not told"); return }
      #expect(await engine.token() == "at-1")
    }
  }
}

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

@Suite("Identity")
struct IdentityTests {
  @Test("S18: a request of a session that has ended gets no refresh, no resend and no answer")
  func endedSession() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      let request = try await engine.authorize()
      try await engine.signOut()
      #expect(
        await World.outcome {
          try await engine.authorizeAfterUnauthorized(request, endpoint: "GET /me")?.accessToken ?? "nil"
        } == "sessionEnded")
      #expect(throws: SessionError.self) { try engine.checkStillCurrent(request) }
      #expect(world.backend.sent.isEmpty)
    }
  }

  @Test("S18: a request of the user before never gets the token of the user after")
  func userSwitch() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      let request = try await engine.authorize()
      try await engine.signIn(Credentials(identifier: "ben@example.com", password: "password123"))
      #expect(
        await World.outcome {
          try await engine.authorizeAfterUnauthorized(request, endpoint: "GET /me")?.accessToken ?? "nil"
        } == "sessionReplaced")
      #expect(throws: SessionError.replaced) { try engine.checkStillCurrent(request) }
      #expect(world.backend.sent.isEmpty)
    }
  }

  @Test("S18: the second session of the same user is another session")
  func sameUserAgain() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      let request = try await engine.authorize()
      try await engine.signOut()
      try await engine.signIn(Credentials(identifier: "anna@example.com", password: "password123"))
      #expect(throws: SessionError.self) { try engine.checkStillCurrent(request) }
    }
  }

  @Test("S19: a refresh that answers after the sign-out is saved nowhere, and its tokens are revoked")
  func lateRefresh() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      try await world.pass(.seconds(1000))
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate))
      let caller = world.tasks.start { await engine.token() }
      try await world.settle()
      try await engine.signOut()
      #expect(await caller.value == "sessionEnded")
      gate.resolve(())
      try await world.pass(.seconds(2))
      #expect(await world.stored.record == nil)
      #expect(engine.signedOutReason == .byUser)
      // The sign-out revoked rt-1 before the held refresh reached the server, which then refused it; nothing is live.
      #expect(world.backend.state.withLock { $0.live }.isEmpty)
    }
  }

  @Test(
    "S19: tokens that the server issued for a session that is gone are revoked, those of a replaced one too",
    arguments: [
      true, false,
    ])
  func orphans(replaced: Bool) async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      try await world.pass(.seconds(1000))
      let gate = SharedResult<Void>()
      let late = TokenGrant(response: TokenResponse(accessToken: "at-late", refreshToken: "rt-late", expiresIn: 900))
      world.backend.script(.hold(gate), .answer(.granted(late)))
      let caller = world.tasks.start { await engine.token() }
      try await world.settle()
      if replaced {
        try await engine.signIn(Credentials(identifier: "ben@example.com", password: "password123"))
      } else {
        try await engine.signOut()
      }
      gate.resolve(())
      _ = await caller.value
      try await world.pass(.seconds(2))
      #expect(world.backend.revoked.contains("rt-late"))
      #expect(await world.stored.record?.accessToken == (replaced ? "at-2" : nil))
    }
  }

  @Test(
    "S19: tokens that come after another process's sign-out or sign-in are saved nowhere and revoked",
    arguments: [
      true, false,
    ])
  func orphansAcrossProcesses(replaced: Bool) async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      try await world.pass(.seconds(1000))
      let gate = SharedResult<Void>()
      let late = TokenGrant(response: TokenResponse(accessToken: "at-late", refreshToken: "rt-late", expiresIn: 900))
      world.backend.script(.hold(gate), .answer(.granted(late)))
      let caller = world.tasks.start { await engine.token() }
      try await world.settle()
      let other = world.process("B")
      if replaced {
        try await other.signIn(Credentials(identifier: "ben@example.com", password: "password123"))
      } else {
        try await other.signOut()
      }
      gate.resolve(())
      #expect(await caller.value == (replaced ? "sessionReplaced" : "sessionEnded"))
      try await world.pass(.seconds(2))
      #expect(world.backend.revoked.contains("rt-late"))
      #expect(await world.stored.record?.accessToken == (replaced ? "at-2" : nil))
      #expect(engine.isSignedIn == replaced)
    }
  }

  @Test("S19: where a peer has merely refreshed the same session, late tokens are dropped and not revoked")
  func superseded() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      try await world.pass(.seconds(1000))
      let gate = SharedResult<Void>()
      let late = TokenGrant(response: TokenResponse(accessToken: "at-late", refreshToken: "rt-late", expiresIn: 900))
      world.backend.script(.hold(gate), .answer(.granted(late)))
      let caller = world.tasks.start { await engine.token() }
      try await world.settle()
      _ = await world.memory.update(World.slot) { change in
        change.state.record?.accessToken = "at-peer"
        change.state.record?.refreshToken = "rt-peer"
      }
      gate.resolve(())
      #expect(await caller.value == "at-peer")
      try await world.pass(.seconds(2))
      #expect(world.backend.revoked.isEmpty)
      #expect(await world.stored.record?.accessToken == "at-peer")
    }
  }

  @Test("S20, D3.8, D4.7: a sign-out is over here before the server hears of it, and takes 2 s at most")
  func boundedSignOut() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      world.backend.state.withLock { $0.revokeGate = SharedResult<Void>() }
      let before = world.clock.elapsed
      let out = world.tasks.start { try? await engine.signOut() }
      try await world.settle()
      #expect(engine.signedOutReason == .byUser)
      #expect(await world.stored.record == nil)
      #expect(await out.value == SignOutResult(wasSignedIn: true, revoked: false))
      #expect(world.clock.elapsed - before <= .milliseconds(2100))
    }
  }

  @Test("S20: a sign-out without network succeeds, and a later networked call revokes, within a day")
  func offlineSignOut() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      world.backend.state.withLock { $0.revocation = .failed(APIError(.noNetwork)) }
      #expect(try await engine.signOut() == SignOutResult(wasSignedIn: true, revoked: false))
      #expect(await world.memory.pendingRevocations().count == 1)
      world.backend.state.withLock { $0.revocation = .revoked }
      await world.process("B").flushRevocations()
      #expect(world.backend.revoked == ["rt-1"])
      #expect(await world.memory.pendingRevocations().isEmpty)
    }
  }

  @Test("S20: a sign-out of an expired session revokes without refreshing first")
  func expiredSignOut() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      try await world.pass(.seconds(1000))
      #expect(try await engine.signOut().revoked)
      #expect(world.backend.sent.isEmpty)
    }
  }

  @Test(
    "S20: where the store cannot be written the user is signed out here, the server is told, and the error is thrown")
  func signOutWithoutDisk() async throws {
    try await World.run { world in
      let store = FaultySessionStore(world.memory)
      let engine = try await world.signedIn(store: store)
      store.failAll(.update, with: StoreError(.readOnly, "The disk is read-only."))
      #expect(
        await World.outcome {
          try await engine.signOut(); return "ok"
        } == "storage")
      #expect(engine.signedOutReason == .byUser)
      #expect(world.backend.revoked == ["rt-1"])
      await engine.checkForChanges()
      #expect(await engine.token() == "notLoggedIn", "what still stands in the store is not revived")
      store.failAll(.update, with: nil)
      try await world.pass(.seconds(60))
      #expect(await world.stored.record == nil)
    }
  }

  @Test(
    "S20: after a sign-out that could not reach the store, a flight sends and stores nothing more",
    arguments: [true, false])
  func flightAfterFailedSignOut(isSent: Bool) async throws {
    try await World.run { world in
      let store = FaultySessionStore(world.memory)
      let engine = try await world.signedIn(store: store)
      try await world.pass(.seconds(1000))
      let gate = SharedResult<Void>()
      let late = TokenGrant(response: TokenResponse(accessToken: "at-late", refreshToken: "rt-late", expiresIn: 900))
      world.backend.script(.hold(gate), .answer(.granted(late)))
      if !isSent { store.hold(.lock) }
      let caller = world.tasks.start { await engine.token() }
      try await world.settle()
      store.failAll(.update, with: StoreError(.readOnly, "The disk is read-only."))
      #expect(
        await World.outcome {
          try await engine.signOut(); return "ok"
        } == "storage")
      #expect(await caller.value == "sessionEnded")
      store.failAll(.update, with: nil)
      store.release(.lock)
      gate.resolve(())
      try await world.settle()
      #expect(world.backend.sent == (isSent ? ["rt-1"] : []))
      #expect(await world.stored.record?.accessToken != "at-late")
      if isSent { #expect(world.backend.revoked.contains("rt-late")) }
      try await world.pass(.seconds(60))
      #expect(await world.stored.record == nil)
    }
  }

  @Test("S20: a sign-out never removes the session that another user has made meanwhile")
  func conditionalClear() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      try await world.process("B").signIn(Credentials(identifier: "ben@example.com", password: "password123"))
      #expect(
        await World.outcome {
          try await engine.signOut(); return "ok"
        } == "sessionReplaced")
      #expect(await world.stored.record?.user?.id == "ben@example.com")
      #expect(await engine.token() == "at-2")
    }
  }

  @Test(
    "S21: no store error means signed out, each stays distinct, and the store is asked again",
    arguments: StoreError.Code.allCases)
  func storeErrors(code: StoreError.Code) async throws {
    try await World.run { world in
      _ = try await world.signedIn()
      let store = FaultySessionStore(world.memory)
      store.failAll(.read, with: StoreError(code, "It cannot be read."))
      let engine = world.process("B", store: store)
      #expect(await engine.restore() == .unavailable(StoreError(code, "It cannot be read.")))
      let error = await #expect(throws: SessionError.self) { try await engine.validAccessToken() }
      #expect(error?.storeError?.code == code)
      store.failAll(.read, with: nil)
      #expect(await engine.token() == "at-1")
    }
  }

  @Test("S20, D4.7: who wants nobody to be signed in gets that, whoever has signed in meanwhile")
  func signOutWhoever() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      try await world.process("B").signIn(Credentials(identifier: "ben@example.com", password: "password123"))
      #expect(try await engine.signOutWhoever() == SignOutResult(wasSignedIn: true, revoked: true))
      #expect(await world.stored.record == nil)
      await engine.flushRevocations()
      #expect(world.backend.state.withLock { $0.live }.isEmpty)
    }
  }

  @Test("S21: a sign-in that cannot be saved revokes its tokens and fails")
  func unsavedSignIn() async throws {
    try await World.run { world in
      let store = FaultySessionStore(world.memory)
      store.failAll(.update, with: StoreError(.full, "The disk is full."))
      let engine = world.process("A", store: store)
      let outcome = await World.outcome {
        try await engine.signIn(Credentials(identifier: "anna@example.com", password: "password123"))
        return "ok"
      }
      #expect(outcome == "storage")
      #expect(world.backend.revoked == ["rt-1"])
      #expect(!engine.isSignedIn)
    }
  }

  @Test(
    "S19: a sign-in that answers after a sign-out, or after its caller has gone, signs nobody in",
    arguments: [true, false])
  func lateSignIn(cancelled: Bool) async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      let gate = SharedResult<Void>()
      world.backend.state.withLock { $0.signInGate = gate }
      let late = world.tasks.start {
        await World.outcome {
          try await engine.signIn(Credentials(identifier: "ben@example.com", password: "password123"))
          return "ok"
        }
      }
      try await world.settle()
      if cancelled { late.cancel() } else { try await engine.signOut() }
      gate.resolve(())
      #expect(await late.value == (cancelled ? "cancelled" : "sessionEnded"))
      #expect(await world.stored.record?.user?.id == (cancelled ? "anna@example.com" : nil))
      if !cancelled { #expect(world.backend.revoked == ["rt-1", "rt-2"]) }
    }
  }

  @Test("a new sign-in revokes the session that it replaces, at the next flush")
  func replacedSessionIsRevoked() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      try await engine.signIn(Credentials(identifier: "ben@example.com", password: "password123"))
      await engine.flushRevocations()
      #expect(world.backend.revoked == ["rt-1"])
      #expect(await engine.token() == "at-2")
    }
  }

  @Test("a refused sign-in leaves the session that is there alone")
  func refusedSignIn() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      let outcome = await World.outcome {
        try await engine.signIn(Credentials(identifier: "ben@example.com", password: "wrong"))
        return "ok"
      }
      #expect(outcome == "invalidCredentials")
      #expect(await engine.token() == "at-1")
    }
  }
}

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

// What the simulator has found where stores fail, locks exclude nobody and processes are stopped.
extension SimulatorFindingsTests {
  @Test(
    "S10, S11, S21, (6): a refusal ends nothing while the store cannot be asked: a peer's newer tokens are found at the next look"
  )
  func refusalBesideBrokenStore() async throws {
    try await World.run { world in
      let store = FaultySessionStore(world.memory)
      let engine = try await world.signedIn(store: store)
      try await world.pass(.seconds(1000))
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate), .answer(.refused(RefreshRefusal(code: "invalid_grant"))))
      let caller = world.tasks.start { await engine.token() }
      try await world.settle()
      // A peer that keeps to no lock, and a store that then fails.
      await world.refreshBehind("at-peer")
      for operation in [FaultySessionStore.Operation.update, .read] {
        store.failAll(operation, with: StoreError(.locked, "The store is locked."))
      }
      gate.resolve(())
      #expect(await caller.value == "storage")
      #expect(engine.isSignedIn)
      try await world.pass(.seconds(5))
      #expect(await world.stored.record?.accessToken == "at-peer", "nobody removes what is alive")
      for operation in [FaultySessionStore.Operation.update, .read] { store.failAll(operation, with: nil) }
      try await world.pass(.seconds(40))
      #expect(await engine.token() == "at-peer")
      #expect(world.backend.sent == ["rt-1"])
    }
  }

  @Test(
    "S10, S11, (6): what a refusal could not take from the store at once is compared again before it is taken later")
  func refusalNeverRemovesNewerTokens() async throws {
    try await World.run { world in
      let store = FaultySessionStore(world.memory)
      let engine = try await world.signedIn(store: store)
      try await world.pass(.seconds(1000))
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate), .answer(.refused(RefreshRefusal(code: "invalid_grant"))))
      let caller = world.tasks.start { await engine.token() }
      try await world.settle()
      store.failAll(.update, with: StoreError(.full, "The disk is full."))
      gate.resolve(())
      #expect(await caller.value == "notLoggedIn", "the store shows the refused tokens")
      await world.refreshBehind("at-peer")
      store.failAll(.update, with: nil)
      try await world.pass(.seconds(60))
      #expect(await world.stored.record?.accessToken == "at-peer")
    }
  }

  @Test("S11, (6): a refusal beside a disk that cannot be written adopts the peer's tokens that it shows")
  func refusalBesideFullDisk() async throws {
    try await World.run { world in
      let store = FaultySessionStore(world.memory)
      let engine = try await world.signedIn(store: store)
      try await world.pass(.seconds(1000))
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate), .answer(.refused(RefreshRefusal(code: "invalid_grant"))))
      let caller = world.tasks.start { await engine.token() }
      try await world.settle()
      await world.refreshBehind("at-peer")
      store.failAll(.update, with: StoreError(.full, "The disk is full."))
      gate.resolve(())
      #expect(await caller.value == "at-peer")
      #expect(engine.isSignedIn)
    }
  }

  @Test("S10, S21: a refused session ends by itself as soon as the store can be asked, and its token is not sent again")
  func refusalWrittenDownLater() async throws {
    try await World.run { world in
      let store = FaultySessionStore(world.memory)
      let engine = try await world.signedIn(store: store)
      try await world.pass(.seconds(1000))
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate), .answer(.refused(RefreshRefusal(code: "invalid_grant", requestID: "r-7"))))
      let caller = world.tasks.start { await engine.token() }
      try await world.settle()
      for operation in [FaultySessionStore.Operation.update, .read] {
        store.failAll(operation, with: StoreError(.locked, "The store is locked."))
      }
      gate.resolve(())
      #expect(await caller.value == "storage")
      for _ in 0..<3 { #expect(await engine.token() == "storage") }
      try await world.pass(.seconds(5))
      #expect(engine.isSignedIn, "no store error means signed out")
      for operation in [FaultySessionStore.Operation.update, .read] { store.failAll(operation, with: nil) }
      try await world.pass(.seconds(31))
      #expect(engine.signedOutReason == .refreshRefused(code: "invalid_grant", requestID: "r-7"))
      #expect(await world.stored.record == nil)
      #expect(world.backend.sent == ["rt-1"])
    }
  }

  @Test("S17, (4): a 401 that costs no refresh notices a sign-out elsewhere, and its request is not sent again")
  func signOutNoticedAtLate401() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      let late = try await engine.authorize()
      try await engine.refresh()
      try await world.settle()
      let other = world.process("B")
      try await other.signOut()
      // The request's answer comes now: the token has been replaced here, and the session is over.
      let outcome = await World.outcome {
        try await engine.authorizeAfterUnauthorized(late, endpoint: "GET /me")?.accessToken ?? "none"
      }
      #expect(outcome == "sessionEnded")
      #expect(engine.signedOutReason == .elsewhere)
    }
  }

  @Test(
    "S4, S11, (11): a process that was stopped before it could look again takes a peer's tokens for what they are by then"
  )
  func stopBeforeLookingAgain() async throws {
    try await World.run { world in
      let store = FaultySessionStore(world.memory)
      let engine = try await world.signedIn(store: store)
      try await world.pass(.seconds(1000))
      store.hold(.update)
      let caller = world.tasks.start { await engine.token() }
      try await world.settle()
      try await world.pass(.seconds(40))
      await world.refreshBehind("at-peer")
      store.release(.update)
      #expect(await caller.value == "at-peer")
      #expect(world.backend.sent.isEmpty)
    }
  }

  @Test("S13, S15, (10): no refresh lock is kept for tokens that nobody retries to save any more")
  func lockOfLostTokens() async throws {
    try await World.run { world in
      let store = FaultySessionStore(world.memory.connection(as: "A"))
      let engine = try await world.signedIn(store: store)
      store.fail(.update, call: 2, with: StoreError(.full, "The disk is full."))
      try await engine.refresh()
      // A sign-in over it that is committed, unheard of, and taken back.
      store.fail(.update, with: StoreError(.unavailable, "The disk went away after the commit."), phase: .afterCommit)
      store.fail(.read, with: StoreError(.unavailable, "The disk is away."))
      await #expect(throws: SessionError.self) {
        try await engine.signIn(Credentials(identifier: "ben@example.com", password: "password123"))
      }
      try await world.pass(.seconds(40))
      let lock = try await world.memory.connection(as: "B").acquireRefreshLock(World.slot, bound: .zero)
      await lock.release()
    }
  }

  @Test("S17, (4): a reading that something here has overtaken is made again at once")
  func overtakenReading() async throws {
    try await World.run { world in
      let store = FaultySessionStore(world.memory)
      let engine = try await world.signedIn(store: store)
      let id = try #require(await world.stored.record?.sessionID)
      try await world.process("B").signOut()
      store.hold(.read)
      let check = world.tasks.start { await engine.checkForChanges() }
      try await world.settle()
      engine.handle(.learnedUser(SessionUser(id: "anna"), of: id))
      store.release(.read)
      await check.value
      #expect(engine.signedOutReason == .elsewhere)
    }
  }

  @Test("S17, (1), (4): the second try of an ambiguous refresh is not sent once another process has signed out")
  func secondTryAfterSignOutElsewhere() async throws {
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
      try await world.process("B").signOut()
      gate.resolve(())
      #expect(await caller.value == "sessionEnded")
      #expect(world.backend.sent == ["rt-1"])
    }
  }

  @Test(
    "S6, (1): flights that set out with different tokens and find the same one in the store spend it once, also where the lock excludes nobody",
    arguments: [true, false])
  func oneFlightPerTokenFound(secondComesLate: Bool) async throws {
    try await World.run { world in
      let store = FaultySessionStore(world.memory.connection(as: "A"))
      let engine = try await world.signedIn(store: store)
      try await world.pass(.seconds(1000))
      // A peer that keeps to no lock has refreshed, so long ago that its token is old as well.
      await world.refreshBehind("at-peer")
      world.backend.state.withLock { _ = $0.live.insert("rt-peer") }
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate))
      try await world.pass(.seconds(1000))
      if !secondComesLate { store.hold(.update) }
      let first = world.tasks.start { await engine.token() }
      try await world.settle()
      await engine.checkForChanges()
      world.memory.releaseLocks(heldBy: "A")
      let second = world.tasks.start { await engine.token() }
      try await world.settle()
      store.release(.update)
      try await world.settle()
      #expect(world.backend.sent == ["rt-peer"])
      gate.resolve(())
      #expect(await first.value == "at-2")
      #expect(await second.value == "at-2")
      #expect(world.backend.sent == ["rt-peer"])
    }
  }

  #if !canImport(Darwin)
    @Test("S12, (1): at its bound an exchange is cancelled at once, whether its caller is given the turn or not")
    func cancelledAtItsBound() async throws {
      try await World.run { world in
        let (held, cancelled) = (HeldExecutor(), Guarded(false))
        let caller = held.tasks.start {
          await firstWithin(.seconds(15), time: world.clock, tasks: world.tasks) { () -> Bool in
            let never = SharedResult<Bool>()
            return await withTaskCancellationHandler {
              do { return try await never.value() } catch { return false }
            } onCancel: {
              cancelled.withLock { $0 = true }
            }
          }
        }
        held.runAll()
        try await world.pass(.seconds(15) + .milliseconds(1))
        #expect(cancelled.withLock { $0 })
        held.runAll()
        #expect(await caller.value == nil)
      }
    }
  #endif
}

extension World {
  /// A peer that keeps to no lock has refreshed the session just now.
  fileprivate func refreshBehind(_ accessToken: String) async {
    _ = await memory.update(Self.slot) { change in
      change.state.record?.accessToken = accessToken
      change.state.record?.refreshToken = "rt-peer"
      change.state.record?.issuedAt = clock.wallClock
      change.state.record?.sinceBootAtIssue = clock.sinceBoot.inSeconds
    }
  }
}

#if !canImport(Darwin)
  /// Runs what it was given when it is told to, on the caller's thread.
  private final class HeldExecutor: TaskExecutor {
    private let jobs = Guarded<[UnownedJob]>([])

    var tasks: TaskStarter { TaskStarter(executor: self) }

    func enqueue(_ job: consuming ExecutorJob) {
      let unowned = UnownedJob(job)
      jobs.withLock { $0.append(unowned) }
    }

    func runAll() {
      while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
        job.runSynchronously(on: asUnownedTaskExecutor())
      }
    }
  }
#endif

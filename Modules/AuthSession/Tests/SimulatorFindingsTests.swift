#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
import AuthModels
import AuthNetworking
import AuthStorage
import Groundwork
import Testing
import VirtualTime

@testable import AuthSession

/// What the simulator has found, each as the shortest schedule that shows it.
@Suite("Found by the simulator")
struct SimulatorFindingsTests {
  @Test("S20, (4): the second try of an ambiguous refresh is not sent once the sign-out has returned")
  func secondTryAfterSignOut() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate), .answer(.passing(.lostAnswer)))
      let caller = world.tasks.start { await World.outcome { try await engine.refresh(); return "refreshed" } }
      try await world.settle()
      #expect(try await engine.signOut().revoked)
      gate.resolve(())
      try await world.settle()
      #expect(await caller.value == "sessionEnded")
      #expect(world.backend.sent == ["rt-1"])
      #expect(await world.stored.record == nil)
    }
  }

  @Test("S18, (3): the second try of an ambiguous refresh is not sent once another session stands in the slot")
  func secondTryAfterReplacement() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      let gate = SharedResult<Void>()
      world.backend.script(.hold(gate), .answer(.passing(.lostAnswer)))
      let caller = world.tasks.start { await World.outcome { try await engine.refresh(); return "refreshed" } }
      try await world.settle()
      try await engine.signIn(Credentials(identifier: "ben@example.com", password: "password123"))
      gate.resolve(())
      try await world.settle()
      #expect(await caller.value == "sessionReplaced")
      #expect(world.backend.sent == ["rt-1"])
      #expect(await engine.token() == "at-2")
    }
  }
}

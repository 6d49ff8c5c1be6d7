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

@Suite("Getting a token")
struct GettingTokenTests {
  @Test("S1: a good token comes from memory, without a look at the store")
  func hotPath() async throws {
    try await World.run { world in
      let store = FaultySessionStore(world.memory)
      let engine = try await world.signedIn(store: store)
      _ = await engine.token()
      try await world.settle()
      let reads = store.count(of: .read) + store.count(of: .update)
      for _ in 0..<100 { #expect(await engine.token() == "at-1") }
      #expect(store.count(of: .read) + store.count(of: .update) == reads)
      #expect(world.backend.sent.isEmpty)
    }
  }

  @Test(
    "S1, D3.3: a token is refreshed at 30 s before its end, and not a moment earlier",
    arguments: [
      (869, "at-1"), (870, "at-2"), (899, "at-2"), (901, "at-2"),
    ])
  func leeway(age: Int, expected: String) async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      try await world.pass(.seconds(age))
      #expect(await engine.token() == expected)
    }
  }

  @Test(
    "S2: a life of 60 s or less has a fifth of itself as leeway, so no refresh comes per request",
    arguments: [
      (60.0, 47, "at-1"), (60.0, 48, "at-2"), (10.0, 7, "at-1"), (10.0, 8, "at-2"), (61.0, 30, "at-1"),
      (61.0, 31, "at-2"),
    ])
  func shortLives(lifetime: Double, age: Int, expected: String) async throws {
    try await World.run(lifetime: lifetime) { world in
      let engine = try await world.signedIn()
      try await world.pass(.seconds(age))
      #expect(await engine.token() == expected)
    }
  }

  @Test("S2: who asks for more life than the server gives gets one refresh, what there is, and a warning")
  func askedTooMuch() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      let events = Guarded<[SessionEvent]>([])
      let stream = engine.events()
      world.tasks.start { for await event in stream { events.withLock { $0.append(event) } } }
      #expect(await engine.token(minimum: .seconds(3600)) == "at-2")
      try await world.settle()
      #expect(world.backend.sent.count == 1)
      #expect(events.withLock { $0 }.contains { if case .lifetimeShorterThanAsked = $0 { true } else { false } })
    }
  }

  @Test(
    "S3: an unknown or senseless lifetime is used until a 401 and never traps",
    arguments: [
      nil, 0, -1, -1e300, .nan, .infinity, 1e18,
    ] as [Double?])
  func lifetimes(lifetime: Double?) async throws {
    try await World.run(lifetime: lifetime) { world in
      let engine = try await world.signedIn()
      for _ in 0..<3 {
        #expect(await engine.token() == "at-1")
        try await world.pass(.seconds(100 * 86400))
      }
      #expect(world.backend.sent.isEmpty)
      let refused = try await engine.authorize()
      #expect(try await engine.authorizeAfterUnauthorized(refused, endpoint: "GET /me")?.accessToken == "at-2")
    }
  }

  @Test("S3: a textual lifetime is read as a number, and one that is none is unknown")
  func textualLifetimes() throws {
    func decoded(_ lifetime: String) throws -> Double? {
      let json = #"{"accessToken":"a","refreshToken":"b","expiresIn":\#(lifetime)}"#
      return try JSONDecoder().decode(TokenResponse.self, from: Data(json.utf8)).expiresIn
    }
    #expect(try decoded("\"900\"") == 900)
    #expect(try decoded("\"soon\"") == nil)
    #expect(try decoded("null") == nil)
    #expect(try decoded("[]") == nil)
    #expect(try decoded("1e18") == 1e18)
  }

  @Test("S4: a wall clock that jumps a year either way neither ages nor revives a token", arguments: [365, -365])
  func wallClockJump(days: Int) async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      world.clock.jumpWallClock(by: .seconds(days * 86400))
      #expect(await engine.token() == "at-1")
      try await world.pass(.seconds(880))
      #expect(await engine.token() == "at-2")
      #expect(world.backend.sent == ["rt-1"])
    }
  }

  @Test(
    "S4: after a restart of the program on the same boot the age is exact, whatever the wall clock says",
    arguments: [365, -365])
  func sameBoot(days: Int) async throws {
    try await World.run { world in
      _ = try await world.signedIn()
      world.clock.jumpWallClock(by: .seconds(days * 86400))
      try await world.pass(.seconds(600))
      let next = world.process("B")
      #expect(await next.token() == "at-1")
      try await world.pass(.seconds(275))
      #expect(await next.token() == "at-2")
    }
  }

  @Test(
    "S4: after a restart of the machine the wall clock counts, and a token issued in the future is expired",
    arguments: [
      (0, "at-1"), (800, "at-1"), (880, "at-2"), (-5, "at-2"),
    ])
  func otherBoot(wallShift: Int, expected: String) async throws {
    try await World.run { world in
      _ = try await world.signedIn()
      let restarted = world.clock.anotherMachine(
        wallClock: world.clock.wallClock.addingTimeInterval(Double(wallShift)), bootID: "next-boot")
      let next = world.process("B", store: world.memory.connection(as: "B", time: restarted), clock: restarted)
      #expect(await next.token() == expected)
    }
  }

  @Test("S4: one request causes one refresh at most, even if the fresh token is refused at once")
  func oneRefreshPerRequest() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      try await world.pass(.seconds(900))
      let first = try await engine.authorize()
      #expect(first.accessToken == "at-2")
      #expect(try await engine.authorizeAfterUnauthorized(first, endpoint: "GET /me") == nil)
      #expect(world.backend.sent.count == 1)
      #expect(engine.isSignedIn)
    }
  }

  @Test(
    "S5: a proactive refresh that fails for a passing reason lets the request go out with the token that still works")
  func servesOldToken() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      world.backend.script(.answer(.passing(.offline)), .answer(.passing(.unavailable)))
      try await world.pass(.seconds(880))
      #expect(await engine.token() == "at-1")
      #expect(await engine.token() == "at-1", "cooling down")
      #expect(world.backend.sent.count == 1)
      try await world.pass(.seconds(20))
      #expect(await engine.token() == "refreshFailed", "the token has stopped working")
      #expect(engine.isSignedIn)
    }
  }

  @Test("S5, S16: where the intent cannot be written, nothing is sent and the working token is used")
  func servesOldTokenWithoutDisk() async throws {
    try await World.run { world in
      let store = FaultySessionStore(world.memory)
      let engine = try await world.signedIn(store: store)
      try await world.pass(.seconds(880))
      store.failAll(.update, with: StoreError(.full, "The disk is full."))
      #expect(await engine.token() == "at-1")
      try await world.pass(.seconds(30))
      #expect(await engine.token() == "storage")
      #expect(world.backend.sent.isEmpty)
      #expect(engine.isSignedIn)
    }
  }

  @Test("S4: a token is not taken for one of the future because its clock reading was rounded on the way")
  func roundedReading() async throws {
    try await World.run { world in
      let engine = try await world.signedIn()
      for microseconds in 1..<200 {
        try await world.pass(.microseconds(1000 + microseconds))
        try await engine.signIn(Credentials(identifier: "anna@example.com", password: "password123"))
        _ = await engine.token()
      }
      #expect(world.backend.sent.isEmpty)
    }
  }
}

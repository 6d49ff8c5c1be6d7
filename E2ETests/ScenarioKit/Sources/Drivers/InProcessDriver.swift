internal import AuthModels
internal import AuthNetworking
internal import AuthSession
internal import AuthStorage
internal import Groundwork
internal import MockServerCore
internal import MockServerInProcess
internal import VirtualTime

/// Runs a scenario without sockets and under virtual time: client and server in this process, every sleep a jump of the clock.
package struct InProcessDriver: ScenarioDriver {
  package let name = "inprocess"
  private let seed: UInt64?
  private let faults: Set<ClientFault>

  /// Makes the driver.
  ///
  /// - Parameter seed: shuffles which ready task runs next, each time in the same way: what holds has to hold in any order. Without
  ///   one, tasks run in the order in which they became ready.
  /// - Parameter faults: what the clients do wrong, on purpose.
  package init(seed: UInt64? = nil, faults: Set<ClientFault> = []) {
    self.seed = seed
    self.faults = faults
  }

  package func withWorld(
    for scenario: Scenario, realm: String, _ body: @escaping @Sendable (any ScenarioWorld) async -> ScenarioReport
  ) async throws(WorldError) -> ScenarioReport {
    let needsScreens = scenario.features.contains(.form)
    do {
      return try await withVirtualTime(waitsForMainActor: needsScreens, choose: choice(for: scenario)) { clock, tasks in
        let world = try world(scenario, realm: realm, clock: clock, tasks: tasks)
        let report = await body(world)
        await world.close()
        return report
      }
    } catch {
      throw WorldError("the scenario's world cannot be made: \(error)")
    }
  }

  /// Each scenario begins its seed anew, so that it runs alike alone and among others.
  private func choice(for scenario: Scenario) -> (@Sendable (Int) -> Int)? {
    guard let seed else { return nil }
    let state = Guarded(scenario.name.utf8.reduce(seed) { $0 &* 0x100_0000_01B3 ^ UInt64($1) })
    return { count in
      guard count > 1 else { return 0 }
      return state.withLock { state in
        // SplitMix64: a few instructions, and good enough to shuffle.
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((word ^ (word >> 31)) % UInt64(count))
      }
    }
  }

  private func world(
    _ scenario: Scenario, realm: String, clock: VirtualClock, tasks: TaskStarter
  ) throws -> LibraryWorld {
    let server = MockAuthServer(
      configuration: MockServerConfiguration(seed: 1), time: clock.anotherMachine(bootID: "server"), tasks: tasks)
    let store = InMemorySessionStore(time: clock)
    return LibraryWorld(
      scenario,
      LibraryWorld.Surroundings(
        admin: .inProcess(realm: realm, server: server), tasks: tasks,
        server: try ServerIdentity("http://localhost/r/\(realm)"), clock: clock,
        transport: InProcessTransport(server: server, time: clock, tasks: tasks),
        store: { process, time in store.connection(as: process, time: time) },
        elapsed: { clock.elapsed },
        advance: { duration throws(WorldError) in
          do { try await clock.sleep(for: duration) } catch { throw WorldError("time stands still: \(error)") }
        },
        settle: {
          // Everything that is ready runs before the clock moves at all.
          do { try await clock.sleep(for: .milliseconds(1)) } catch { return }
        },
        files: { [] }, close: {}, faults: faults))
  }
}

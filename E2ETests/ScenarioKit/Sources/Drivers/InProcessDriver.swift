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

  /// Makes the driver.
  package init() {}

  package func withWorld(
    for scenario: Scenario, realm: String, _ body: @escaping @Sendable (any ScenarioWorld) async -> ScenarioReport
  ) async throws(WorldError) -> ScenarioReport {
    let needsScreens = scenario.features.contains(.form)
    do {
      return try await withVirtualTime(waitsForMainActor: needsScreens) { clock, tasks in
        let world = try Self.world(scenario, realm: realm, clock: clock, tasks: tasks)
        let report = await body(world)
        await world.close()
        return report
      }
    } catch {
      throw WorldError("the scenario's world cannot be made: \(error)")
    }
  }

  private static func world(
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
        files: { [] }, close: {}))
  }
}

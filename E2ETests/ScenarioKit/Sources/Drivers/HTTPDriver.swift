internal import AuthNetworking
internal import AuthNetworkingURLSession
internal import AuthSession
internal import AuthStorage
internal import Groundwork
internal import MockServerCore
internal import MockServerHTTP

/// Runs scenarios over real sockets, real time and a store on disk: one server for the whole run, a realm for each scenario.
package struct HTTPDriver: ScenarioDriver {
  package let name = "http"
  private let server: MockAuthServer
  private let front: HTTPFront
  private let address: String

  /// Starts the server on a free port.
  package init() throws(WorldError) {
    do throws(FrontError) {
      let loop = try EventLoop()
      let server = MockAuthServer(scheduler: loop)
      var options = HTTPFront.Options()
      options.connectionFault = { server.takeConnectionFault() }
      front = HTTPFront(handler: server, options: options, loop: loop)
      address = try front.start().url
      self.server = server
    } catch {
      throw WorldError("the server cannot start: \(error.message)")
    }
  }

  /// Stops the server.
  package func stop() async { await front.stop() }

  package func withWorld(
    for scenario: Scenario, realm: String, _ body: @escaping @Sendable (any ScenarioWorld) async -> ScenarioReport
  ) async throws(WorldError) -> ScenarioReport {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let identity: ServerIdentity
    do throws(ServerIdentityError) {
      identity = try ServerIdentity("\(address)/r/\(realm)")
    } catch {
      throw WorldError(error.message)
    }
    let clock = AdvancingClock()
    // Held answers keep their connections: there have to be more of them than a storm has calls.
    let transport = URLSessionTransport(options: URLSessionTransport.Options(connectionsPerHost: 64))
    let admin = AdminClient.inProcess(realm: realm, server: server)
    let world = LibraryWorld(
      scenario,
      LibraryWorld.Surroundings(
        admin: admin, tasks: TaskStarter(), server: identity, clock: clock, transport: transport,
        store: { _, time in SQLiteSessionStore(folder: "\(folder.path)/store", time: time) },
        elapsed: { nil },
        advance: { duration throws(WorldError) in
          try await admin.call("POST", "clock", ["advance": .string(duration.text)])
          clock.advance(by: duration)
        },
        settle: {}, files: { folder.files(below: "store") },
        looseFiles: { folder.looseFiles(below: "store") }, close: {}))
    let report = await body(world)
    await world.close()
    return report
  }
}

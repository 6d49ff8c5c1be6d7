internal import AuthNetworking
internal import AuthNetworkingURLSession
internal import Groundwork
internal import MockServerCore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Runs scenarios with the built programs as real processes: one `mock-server` for the whole run, a `chirp` for each verb.
package struct CLIDriver: ScenarioDriver {
  package let name = "cli"
  private let chirp: String
  private let server: ChildProcess
  private let address: String
  private let folder: TemporaryFolder
  private let surroundings: CLISurroundings

  /// Starts the server on a free port.
  ///
  /// - Parameter programs: the folder with `chirp` and `mock-server`; beside this program unless given.
  /// - Throws: a program that is not there, or a server that does not get ready.
  package init(programs: String? = nil) async throws(WorldError) {
    let place = programs ?? Self.ownFolder
    chirp = "\(place)/chirp"
    let serverProgram = "\(place)/mock-server"
    for program in [chirp, serverProgram] where !FileManager.default.isExecutableFile(atPath: program) {
      throw WorldError("\(program) is not built; build the whole package first (swift build)")
    }
    surroundings = await CLISurroundings.found(programs: place)
    folder = try TemporaryFolder()
    server = try ChildProcess(
      serverProgram, ["serve", "--port", "0", "--quiet", "--until-stdin-closes"],
      environment: ["PATH": "/usr/bin:/bin"], input: nil, output: "\(folder.path)/ready",
      errors: "\(folder.path)/errors")
    do {
      address = try await Self.waitUntilReady(server, folder)
    } catch {
      server.signal(SIGKILL)
      folder.remove()
      throw error
    }
  }

  /// Stops the server.
  package func stop() async {
    server.signal(SIGTERM)
    _ = await server.end()
    folder.remove()
  }

  package func lacks(_ scenario: Scenario) -> String? { surroundings.lacks(scenario) }

  package func withWorld(
    for scenario: Scenario, realm: String, _ body: @escaping @Sendable (any ScenarioWorld) async -> ScenarioReport
  ) async throws(WorldError) -> ScenarioReport {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let world = CLIWorld(
      scenario, chirp: chirp, surroundings: surroundings, address: address, realm: realm, folder: folder)
    let report = await body(world)
    await world.close()
    return report
  }

  private static var ownFolder: String {
    let called = CommandLine.arguments.first ?? "."
    let path: String
    do {
      path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    } catch {
      // No such file on Apple systems: there the name it was called by has to do.
      path = called
    }
    return URL(filePath: path).deletingLastPathComponent().path
  }

  /// The server's address, once its ready line is there.
  private static func waitUntilReady(
    _ server: ChildProcess, _ folder: TemporaryFolder
  ) async throws(WorldError) -> String {
    let clock = SystemClock()
    let deadline = clock.sinceBoot + .seconds(10)
    while clock.sinceBoot < deadline {
      if let line = folder.text("ready").split(separator: "\n", omittingEmptySubsequences: true).first,
        folder.text("ready").contains("\n")
      {
        let ready: JSONValue
        do {
          ready = try JSONDecoder().decode(JSONValue.self, from: Data(line.utf8))
        } catch {
          throw WorldError("mock-server printed no ready line: \(line)")
        }
        guard let url = ready["url"]?.string else { throw WorldError("mock-server's ready line has no url") }
        return url
      }
      do { try await clock.sleep(for: .milliseconds(5)) } catch { break }
    }
    throw WorldError("mock-server did not get ready within 10 s: \(folder.text("errors").prefix(300))")
  }
}

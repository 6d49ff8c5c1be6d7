import AuthCLI
import AuthNetworking
import AuthStorage
import AuthTestSupport
import Groundwork
import MockServerCore
import MockServerInProcess

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `chirp` against a mock server in the same process, on one clock and one store; each `run` is a process of its own.
struct CommandLineWorld {
  struct Outcome: Sendable {
    var code: Int32
    var output: String
    var error: String
    var questions: [ScriptedConsole.Question]

    /// The object on standard output.
    func json() throws -> JSONValue { try JSONDecoder().decode(JSONValue.self, from: Data(output.utf8)) }
    /// The object on standard error.
    func errorJSON() throws -> JSONValue { try JSONDecoder().decode(JSONValue.self, from: Data(error.utf8)) }
  }

  static let url = "http://localhost:8080"
  static let password = "password123"
  let clock = ManualClock()
  let server: MockAuthServer
  let transport: InProcessTransport
  let store: FaultySessionStore
  let transportsMade = Guarded(0)

  init(policy: MockPolicy = MockPolicy()) {
    server = MockAuthServer(
      configuration: MockServerConfiguration(
        policy: policy, seed: 1,
        users: [MockSeedUser(username: "anna", email: "anna@example.com", password: Self.password)]),
      time: clock)
    transport = InProcessTransport(server: server, time: clock)
    store = FaultySessionStore(InMemorySessionStore(time: clock))
  }

  var realm: MockRealm { server.realm() }

  /// Runs one command line.
  func run(
    _ arguments: String..., console: ScriptedConsole = ScriptedConsole(), environment: [String: String] = [:],
    files: [String: String] = [:], screen: ScriptedScreen? = nil
  ) async -> Outcome {
    await run(arguments, console: console, environment: environment, files: files, screen: screen)
  }

  /// Runs one command line.
  func run(
    _ arguments: [String], console: ScriptedConsole = ScriptedConsole(), environment: [String: String] = [:],
    files: [String: String] = [:], screen: ScriptedScreen? = nil
  ) async -> Outcome {
    let (store, transport, transportsMade) = (store, transport, transportsMade)
    let program = ChirpCommandLine(
      parts: CommandLineParts(
        console: console, screen: screen, environment: ["HOME": "/home/anna"].merging(environment) { _, new in new },
        time: clock,
        openStore: { folder, _ in .init(store: store, location: folder, keySource: "keyfile") },
        makeTransport: { _ in
          transportsMade.withLock { $0 += 1 }
          return transport
        },
        readFile: { path, _ in
          guard let text = files[path] else { throw ConsoleError.failed("\(path) cannot be read: no such file.") }
          return Array(text.utf8)
        }))
    let code = await program.run(arguments)
    return Outcome(code: code, output: console.output, error: console.error, questions: console.questions)
  }

  /// Signs anna in.
  @discardableResult
  func login(_ more: String...) async -> Outcome {
    await run(
      ["login", "--server", Self.url, "--email", "anna@example.com", "--password-stdin"] + more,
      console: ScriptedConsole(input: Self.password + "\n"))
  }
}

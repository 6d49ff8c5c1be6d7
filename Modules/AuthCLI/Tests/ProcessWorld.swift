import Groundwork
import MockServerCore
import MockServerHTTP
import TerminalRecording
import TerminalScreen

#if canImport(Glibc)
  import Glibc

  /// The built `chirp`, a folder of its own, and a mock server behind a real socket.
  final class ProcessWorld: Sendable {
    let server: MockAuthServer
    let url: String
    let home: String
    private let front: HTTPFront

    private init(policy: MockPolicy, clock: MockClockMode) throws {
      server = MockAuthServer(
        configuration: MockServerConfiguration(
          policy: policy, clock: clock,
          users: [MockSeedUser(username: "anna", email: "anna@example.com", password: "password123")]))
      front = HTTPFront(handler: server)
      url = try front.start().url
      var template = Array("/tmp/chirp-test-XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil else { throw ChirpProcess.Failure(description: "no folder: \(errno)") }
      home = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Runs a test in a world of its own, which is gone afterwards.
    static func run(
      policy: MockPolicy = MockPolicy(), clock: MockClockMode = .real, _ body: (ProcessWorld) async throws -> Void
    ) async throws {
      let world = try ProcessWorld(policy: policy, clock: clock)
      let outcome: Result<Void, any Error>
      do {
        try await body(world)
        outcome = .success(())
      } catch {
        outcome = .failure(error)
      }
      await world.front.stop()
      removeTree(world.home)
      try outcome.get()
    }

    var realm: MockRealm { server.realm() }
    var store: String { "\(home)/.local/state/chirp" }
    var environment: [String: String] { ["HOME": home, "TERM": "xterm", "CHIRP_SERVER": url] }

    /// Runs `chirp` on pipes.
    func chirp(
      _ arguments: String..., input: String = "", environment more: [String: String] = [:]
    ) async throws -> ChirpProcess.Outcome {
      try await ChirpProcess.run(arguments, input: input, environment: environment.merging(more) { _, new in new })
    }

    /// Starts `chirp` on a terminal of its own.
    func terminal(_ arguments: String...) throws -> ChirpProcess {
      try ChirpProcess(arguments, environment: environment, onTerminal: true)
    }

    /// Starts `chirp` on a terminal that shows what it draws.
    func screen(
      _ arguments: [String] = ["login"], size: ScreenSize = ScreenSize(columns: 80, rows: 24),
      environment more: [String: String] = [:]
    ) throws -> PseudoTerminal {
      try PseudoTerminal(
        [try ChirpProcess.path()] + arguments, environment: screenEnvironment.merging(more) { _, new in new },
        size: size)
    }

    var screenEnvironment: [String: String] {
      environment.merging(["TERM": "xterm-256color", "LANG": "C.UTF-8"]) { _, new in new }
    }

    /// Signs anna in.
    func login() async throws {
      let outcome = try await chirp("login", "--email", "anna@example.com", "--password-stdin", input: "password123\n")
      guard outcome.code == 0 else { throw ChirpProcess.Failure(description: "exit \(outcome.code): \(outcome.error)") }
    }
  }

  /// Removes a folder with everything in it.
  private func removeTree(_ path: String) {
    if let folder = opendir(path) {
      while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
          String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name != ".", name != ".." { removeTree("\(path)/\(name)") }
      }
      closedir(folder)
      rmdir(path)
    } else {
      unlink(path)
    }
  }
#endif

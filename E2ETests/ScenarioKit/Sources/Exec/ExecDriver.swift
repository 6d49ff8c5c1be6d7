internal import Groundwork
internal import MockServerCore
internal import MockServerHTTP

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Runs scenarios with a client that somebody else wrote, in any language: a program that speaks the driver protocol.
///
/// The server is the one of this package, in this process, behind real sockets. The client is a process for each client process
/// of a scenario, all over one store folder. Nothing but what it answers and what reaches the server is judged.
package struct ExecDriver: ScenarioDriver {
  package let name: String
  package let limitsName = "exec"
  private let command: String
  private let hello: ExecClient.Hello
  private let server: MockAuthServer
  private let front: HTTPFront

  /// Starts the server, and asks the client once who it is.
  ///
  /// - Parameter command: what the shell runs.
  /// - Throws: a client that does not answer `hello`.
  package init(command: String) async throws(WorldError) {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let probe = try ExecClient(
      command: command, environment: ProcessInfo.processInfo.environment, errorFile: "\(folder.path)/errors")
    let answer: Result<ExecClient.Hello, WorldError> = await Self.hello(probe)
    await probe.end()
    hello = try answer.get()
    self.command = command
    name = "exec:\(hello.title)"
    do throws(FrontError) {
      let loop = try EventLoop()
      server = MockAuthServer(scheduler: loop)
      front = HTTPFront(handler: server, loop: loop)
      try front.start()
    } catch {
      throw WorldError("the server cannot start: \(error.message)")
    }
  }

  /// What a client says of itself, within ten seconds.
  private static func hello(_ client: ExecClient) async -> Result<ExecClient.Hello, WorldError> {
    let alarm = TaskStarter().start {
      do { try await SystemClock().sleep(for: .seconds(10)) } catch { return }
      await client.kill()
    }
    defer { alarm.cancel() }
    do throws(WorldError) {
      guard case .value(let value) = try await client.ask("hello") else {
        return .failure(WorldError("the client answers hello with an error"))
      }
      return .success(try ExecClient.Hello(value))
    } catch {
      return .failure(WorldError("the client did not answer hello: \(error.message)"))
    }
  }

  /// Stops the server.
  package func stop() async { await front.stop() }

  package func lacks(_ scenario: Scenario) -> String? {
    for step in scenario.steps {
      for verb in step.verb.protocolVerbs where !hello.verbs.contains(verb) {
        return "\(verb): \(hello.name) says that it has no such verb"
      }
    }
    if scenario.usesOffline, scenario.steps.contains(where: { $0.process != "main" }) {
      return "offline: the network of one process alone cannot be cut here"
    }
    let (dialect, reason) = dialect(for: scenario)
    if let reason { return reason }
    if dialect != scenario.profile.dialect, scenario.isOfItsDialect {
      return
        "dialect: the scenario is about answers of the \(scenario.profile.dialect) dialect, which \(hello.name) does not speak"
    }
    guard !hello.verbs.contains("advance") else { return nil }
    return RealTime.reason(against: scenario, leeway: hello.leeway)
  }

  /// The dialect for a scenario: its own if the client speaks it, else the client's best that the scenario is about.
  private func dialect(for scenario: Scenario) -> (name: String, reason: String?) {
    let known = hello.dialects.contains(scenario.profile.dialect) ? [scenario.profile.dialect] : hello.dialects
    var reason = "\(hello.name) names no dialect"
    for name in known {
      guard let not = scenario.notApplicable[name] else { return (name, nil) }
      reason = "dialect \(name): \(not)"
    }
    return (known.first ?? "chirp", reason)
  }

  package func allowance(for scenario: Scenario) -> Duration {
    let waits = scenario.steps.count { if case .advance = $0.verb { true } else { false } }
    return hello.verbs.contains("advance") ? .zero : RealTime.wait(leeway: hello.leeway) * waits
  }

  package func withWorld(
    for scenario: Scenario, realm: String, _ body: @escaping @Sendable (any ScenarioWorld) async -> ScenarioReport
  ) async throws(WorldError) -> ScenarioReport {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let world = try ExecWorld(
      ExecWorld.Surroundings(
        command: command, hello: hello, dialect: dialect(for: scenario).name, realm: realm, server: server,
        folder: folder, timeIsReal: !hello.verbs.contains("advance")))
    let report = await body(world)
    await world.close()
    return report
  }
}

extension Scenario {
  /// Whether it says anything about one dialect: the envelope's ways, or answers in the shape of its own dialect.
  fileprivate var isOfItsDialect: Bool {
    let laterScripts = steps.flatMap { step -> [Script] in
      if case .script(let scripts) = step.verb { scripts } else { [] }
    }
    let hasShapedBody = (scripts + laterScripts).contains { script in
      (script.body["actions"]?.array ?? []).contains { $0["body"]?.object != nil }
    }
    return hasShapedBody || profile == .envelope
  }

  /// Whether a client's network is cut.
  fileprivate var usesOffline: Bool { features.contains(.offline) }
}

extension Verb {
  /// What the client has to know of the protocol to do it.
  fileprivate var protocolVerbs: [String] {
    switch self {
    case .login: ["login"]
    case .register: ["register"]
    case .call: ["call"]
    case .token: ["token"]
    case .refresh: ["refresh"]
    case .logout: ["logout"]
    case .switchUser: ["logout", "login"]
    case .cancel: ["cancel"]
    case .until: ["session"]
    default: []
    }
  }
}

internal import Groundwork
internal import MockServerCore
internal import MockServerHTTP

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A world whose clients are processes that speak the driver protocol.
final class ExecWorld: ScenarioWorld {
  /// What it is made of.
  struct Surroundings: Sendable {
    var command: String
    var hello: ExecClient.Hello
    var dialect: String
    var realm: String
    var server: MockAuthServer
    var folder: TemporaryFolder
    /// Whether an advance is a real wait, since the client cannot move its clock.
    var timeIsReal: Bool
  }

  private struct State {
    var running: [String: ExecClient] = [:]
    var ended: [ExecClient] = []
    var front: HTTPFront?
    var launches = 0
    var advanced: Duration = .zero
  }

  let admin: AdminClient
  let tasks = TaskStarter()
  let elapsed: Duration? = nil
  private let surroundings: Surroundings
  private let tokens = TokenLog()
  private let address: HTTPFront.Address
  private let state: Guarded<State>

  init(_ surroundings: Surroundings) throws(WorldError) {
    self.surroundings = surroundings
    admin = .inProcess(realm: surroundings.realm, server: surroundings.server)
    // A front of the scenario's own, so that its network can be cut.
    let front = HTTPFront(handler: TokenSpy(server: surroundings.server, tokens: tokens))
    do throws(FrontError) {
      address = try front.start()
    } catch {
      throw WorldError("the server cannot listen: \(error.message)")
    }
    state = Guarded(State(front: front))
  }

  private var hello: ExecClient.Hello { surroundings.hello }

  func tells(_ facet: Facet) -> Bool {
    switch facet {
    case .rotations: true
    case .sameSession, .outbox: false
    default: hello.tells.contains(facet.rawValue)
    }
  }

  func prepared(_ policy: JSONValue, for scenario: Scenario) -> JSONValue {
    guard surroundings.timeIsReal, RealTime.applies(to: scenario) else { return policy }
    var members = policy.object ?? [:]
    members["accessTTL"] = .string(RealTime.lifetime(leeway: hello.leeway).text)
    return .object(members)
  }

  func perform(_ verb: Verb, as process: String) async -> Outcome {
    do throws(WorldError) {
      return try await carryOut(verb, as: process)
    } catch {
      return Outcome(.other, message: error.message)
    }
  }

  private func carryOut(_ verb: Verb, as process: String) async throws(WorldError) -> Outcome {
    switch verb {
    case .login(let identifier, let password): return try await login(identifier, password, as: process)
    case .switchUser(let identifier, let password):
      let out = try await ask("logout", as: process)
      return out.kind == .ok ? try await login(identifier, password, as: process) : out
    case .register(let username, let email, let password):
      return try await ask(
        "register", ["username": .string(username), "email": .string(email), "password": .string(password)],
        as: process)
    case .call(let method, let path, let body):
      var arguments: [String: JSONValue] = ["method": .string(method)]
      arguments["path"] = .string(Self.path(path, in: surroundings.dialect))
      arguments["body"] = body
      return try await ask("call", arguments, as: process)
    case .token: return try await ask("token", as: process)
    case .refresh: return try await ask("refresh", as: process)
    case .logout: return try await ask("logout", as: process)
    default: throw WorldError("the driver protocol has no verb for this")
    }
  }

  /// Where the user's own record stands in a dialect; everything else stands where it is in all of them.
  private static func path(_ path: String, in dialect: String) -> String {
    switch (dialect, path) {
    case ("supabase", "/me"): "/auth/v1/user"
    case ("oauth2", "/me"): "/oauth2/userinfo"
    case ("envelope", _): "/envelope\(path)"
    default: path
    }
  }

  private func login(
    _ identifier: String, _ password: String, as process: String
  ) async throws(WorldError) -> Outcome {
    try await ask("login", ["identifier": .string(identifier), "password": .string(password)], as: process)
  }

  private func ask(
    _ verb: String, _ arguments: [String: JSONValue] = [:], as process: String
  ) async throws(WorldError) -> Outcome {
    let client = try await client(running: process)
    return Outcome(try await client.ask(verb, arguments, takesCancel: hello.verbs.contains("cancel")))
  }

  /// The client process of that name, launched and configured if it does not run.
  private func client(running name: String) async throws(WorldError) -> ExecClient {
    if let running = state.withLock({ $0.running[name] }) { return running }
    let number = state.withLock { state in
      state.launches += 1
      return state.launches
    }
    let client = try ExecClient(
      command: surroundings.command, environment: ProcessInfo.processInfo.environment,
      errorFile: "\(surroundings.folder.path)/\(number)-errors")
    _ = try await client.ask("hello")
    var arguments: [String: JSONValue] = [
      "baseURL": .string("\(address.url)/r/\(surroundings.realm)"), "dialect": .string(surroundings.dialect),
      "storeDir": .string("\(surroundings.folder.path)/store"),
    ]
    if surroundings.dialect == "supabase" { arguments["apiKey"] = "sb_publishable_scenario" }
    // Before it reads its store: otherwise it would read it at a time that is long past.
    let advanced = state.withLock { $0.advanced }
    if advanced > .zero, !surroundings.timeIsReal {
      _ = try await client.ask("advance", ["seconds": .number(advanced.inSeconds)])
    }
    if case .error(let error) = try await client.ask("configure", arguments) {
      await client.kill()
      throw WorldError("the client cannot be configured: \(error["message"]?.string ?? "no reason given")")
    }
    let first = state.withLock { state in
      if let running = state.running[name] { return running }
      state.running[name] = client
      return client
    }
    if first !== client { await client.kill() }
    return first
  }

  func change(_ verb: Verb, of process: String) async throws(WorldError) {
    switch verb {
    case .relaunch: await remove(process)?.end()
    case .kill: await remove(process)?.kill()
    case .offline(true):
      let front = state.withLock { state in
        defer { state.front = nil }
        return state.front
      }
      await front?.stop()
    case .offline(false):
      guard state.withLock({ $0.front == nil }) else { return }
      let front = HTTPFront(handler: TokenSpy(server: surroundings.server, tokens: tokens), port: address.port)
      do throws(FrontError) {
        try front.start()
      } catch {
        throw WorldError("the network cannot be mended: \(error.message)")
      }
      state.withLock { $0.front = front }
    default: throw WorldError("nothing of the kind happens to this client")
    }
  }

  private func remove(_ process: String) -> ExecClient? {
    state.withLock { state in
      let client = state.running.removeValue(forKey: process)
      if let client { state.ended.append(client) }
      return client
    }
  }

  func advance(by duration: Duration) async throws(WorldError) {
    guard !surroundings.timeIsReal else {
      do { try await SystemClock().sleep(for: RealTime.wait(leeway: hello.leeway)) } catch {
        throw WorldError("the wait was cut short")
      }
      return
    }
    try await admin.call("POST", "clock", ["advance": .string(duration.text)])
    let running = state.withLock { state in
      state.advanced += duration
      return Array(state.running.values)
    }
    for client in running { _ = try await client.ask("advance", ["seconds": .number(duration.inSeconds)]) }
  }

  func settle() async {}

  func pause() async {
    // Cut short only when the whole run is; then the next look is the last one.
    do { try await SystemClock().sleep(for: .milliseconds(20)) } catch { return }
  }

  func client(_ process: String) async throws(WorldError) -> ClientView {
    let session = try await session(process)
    var events: [String]?
    if hello.verbs.contains("events"), case .value(let value) = try await client(running: process).ask("events") {
      events = (value["events"]?.array ?? []).compactMap(\.string)
    }
    return ClientView(
      state: session["state"]?.string ?? "unknown", reason: session["reason"]?.string,
      userNames: Self.names(session), events: events)
  }

  private func session(_ process: String) async throws(WorldError) -> JSONValue {
    switch try await client(running: process).ask("session") {
    case .value(let value): return value
    case .error(let error):
      throw WorldError("the client does not tell its session: \(error["message"]?.string ?? "no reason given")")
    }
  }

  private static func names(_ session: JSONValue) -> [String] {
    [session["user"]?["email"]?.string, session["user"]?["username"]?.string].compactMap(\.self)
  }

  func form(_ process: String) async throws(WorldError) -> FormView {
    throw WorldError("this client has no screens")
  }

  func store() async throws(WorldError) -> StoreView {
    // Whatever a client that runs remembers: what is stored is what a new process finds.
    let session = try await session("the check")
    let sessions = try await admin.call("GET", "state")["sessions"]?.array ?? []
    return StoreView(
      isPresent: session["state"]?.string == "signedIn", isSameSession: false,
      rotations: sessions.last?["generation"]?.integer, pendingRevocations: nil, userNames: Self.names(session))
  }

  func token(_ kind: TokenKind, of process: String) async throws(WorldError) -> String {
    guard let token = tokens.newest(kind, of: "any") else {
      throw WorldError("no client was given a \(kind.rawValue) token yet")
    }
    return token
  }

  func secrets() async -> [Secret] { tokens.secrets }

  func outputs() async -> [Output] {
    state.withLock { state in state.ended + state.running.values }.flatMap(\.outputs)
  }

  func close() async {
    let (clients, front) = state.withLock { state in
      defer { (state.running, state.front) = ([:], nil) }
      return (Array(state.running.values), state.front)
    }
    for client in clients { await client.kill() }
    await front?.stop()
  }
}

extension Outcome {
  /// What an answer means in the words that every driver knows.
  fileprivate init(_ answer: ExecClient.Answer) {
    switch answer {
    case .value(let value):
      let status = value["status"]?.integer
      let kind: OutcomeKind =
        switch status ?? 200 {
        case 200...299: .ok
        case 408, 425, 429, 500...599: .transient
        default: .refused
        }
      self.init(kind, status: status, message: value["message"]?.string, body: value["body"])
    case .error(let error):
      let name = error["kind"]?.string ?? "other"
      self.init(
        OutcomeKind(rawValue: name) ?? .other, status: error["status"]?.integer, error: error["code"]?.string,
        message: error["message"]?.string ?? name,
        fields: (error["fields"]?.object ?? [:]).compactMapValues(\.string),
        retryAfter: error["retryAfter"]?.number.map { .clamped(seconds: $0) })
    }
  }
}

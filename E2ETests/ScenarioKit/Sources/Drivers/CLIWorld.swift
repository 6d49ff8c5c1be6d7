internal import AuthModels
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

/// A world whose clients are `chirp` processes over one state folder; every verb is a process of its own.
final class CLIWorld: ScenarioWorld {
  private struct State {
    var calls = 0
    var outputs: [Output] = []
    var running: [String: [ChildProcess]] = [:]
    var firstSession: String?
    var machine = ProgramMachine()
    var offline: Set<String> = []
  }

  let admin: AdminClient
  let tasks = TaskStarter()
  let elapsed: Duration? = nil
  private let scenario: Scenario
  private let chirp: String
  private let surroundings: CLISurroundings
  private let server: String
  private let folder: TemporaryFolder
  private let state = Guarded(State())

  init(
    _ scenario: Scenario, chirp: String, surroundings: CLISurroundings, address: String, realm: String,
    folder: TemporaryFolder
  ) {
    self.scenario = scenario
    self.chirp = chirp
    self.surroundings = surroundings
    self.folder = folder
    server = "\(address)/r/\(realm)"
    let transport = URLSessionTransport()
    admin = AdminClient(realm: realm) { request throws(WorldError) in
      guard let url = URL(string: address + request.target) else {
        throw WorldError("\(request.target) is no path of the admin API")
      }
      var headers = HTTPFields()
      for field in request.headers where field.name != "Host" { headers[field.name] = field.value }
      do throws(TransportError) {
        let response = try await transport.send(
          HTTPRequest(
            method: HTTPMethod(rawValue: request.method), url: url, headers: headers,
            body: request.body.isEmpty ? nil : request.body, timeout: .seconds(30)))
        return MockReply(
          status: response.status, headers: response.headers.fields.map { MockRequest.Field($0.name, $0.value) },
          body: response.body)
      } catch {
        throw WorldError("the admin API cannot be reached: \(error.message)")
      }
    }
  }

  /// One run of the program.
  fileprivate struct Call {
    var exitCode: Int32
    var output: String
    var errors: String
  }

  private func run(_ arguments: [String], input: String? = nil, as process: String) async throws(WorldError) -> Call {
    let number = state.withLock { state in
      state.calls += 1
      return state.calls
    }
    let path = { (name: String) in "\(self.folder.path)/\(number)-\(name)" }
    if let input {
      guard
        FileManager.default.createFile(
          atPath: path("in"), contents: Data(input.utf8), attributes: [.posixPermissions: 0o600])
      else { throw WorldError("the input of chirp cannot be written") }
    }
    let (machine, isOffline) = state.withLock { ($0.machine, $0.offline.contains(process)) }
    let environment = [
      "PATH": "/usr/bin:/bin", "HOME": folder.path, "CHIRP_STATE_DIR": "\(folder.path)/store", "CHIRP_SERVER": server,
      "NO_COLOR": "1",
    ]
    let command = surroundings.command(chirp, arguments, isOffline: isOffline)
    let child = try ChildProcess(
      command.program, command.arguments,
      environment: try surroundings.environment(environment, on: machine, folder: folder.path),
      input: input == nil ? "/dev/null" : path("in"), output: path("out"), errors: path("err"))
    state.withLock { $0.running[process, default: []].append(child) }
    let end = await withTaskCancellationHandler {
      await child.end()
    } onCancel: {
      child.signal(SIGINT)
    }
    state.withLock { $0.running[process]?.removeAll { $0.id == child.id } }
    let call = Call(
      exitCode: Self.code(end), output: folder.text("\(number)-out"), errors: folder.text("\(number)-err"))
    let name = "chirp \(arguments.first ?? "")"
    // What `chirp token` prints is a secret on purpose.
    state.withLock { state in
      if arguments.first != "token" { state.outputs.append(Output("what \(name) printed", call.output)) }
      state.outputs.append(Output("what \(name) told", call.errors))
    }
    return call
  }

  private static func code(_ end: ChildProcess.End) -> Int32 {
    switch end {
    case .exited(let code): code
    case .killed(let signal): 128 + signal
    }
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
    case .login(let identifier, let password): return try await signIn(identifier, password, as: process)
    case .switchUser(let identifier, let password):
      let out = Outcome(call: try await run(["logout", "--json"], as: process))
      return out.kind == .ok ? try await signIn(identifier, password, as: process) : out
    case .register(let username, let email, let password):
      return Outcome(
        call: try await run(
          ["register", "--json", "--password-stdin", "--username", username, "--email", email] + dialect,
          input: password, as: process))
    case .call(let method, let path, let body): return try await call(method, path, body, as: process)
    case .token: return Outcome(call: try await run(["token", "--json"], as: process))
    case .refresh: return Outcome(call: try await run(["refresh", "--json"], as: process))
    case .logout: return Outcome(call: try await run(["logout", "--json"], as: process))
    default: throw WorldError("chirp cannot do this")
    }
  }

  private var dialect: [String] { scenario.profile == .envelope ? ["--dialect", "envelope"] : [] }

  private func signIn(_ identifier: String, _ password: String, as process: String) async throws(WorldError) -> Outcome
  {
    let flag = scenario.profile == .envelope ? "--username" : "--email"
    let outcome = Outcome(
      call: try await run(
        ["login", "--json", "--password-stdin", flag, identifier] + dialect, input: password, as: process))
    if outcome.kind == .ok, let id = try await status(process)["sessionID"]?.string {
      state.withLock { state in if state.firstSession == nil { state.firstSession = id } }
    }
    return outcome
  }

  private func call(
    _ method: String, _ path: String, _ body: JSONValue?, as process: String
  ) async throws(WorldError) -> Outcome {
    let root = scenario.profile == .envelope ? "/envelope" : ""
    var arguments = ["api", method, root + path, "--json", "--include"]
    var input: String?
    if let body {
      arguments += ["--data", "-"]
      do {
        input = String(decoding: try JSONEncoder().encode(body), as: UTF8.self)
      } catch {
        throw WorldError("the body cannot be written: \(error)")
      }
    }
    let call = try await run(arguments, input: input, as: process)
    guard let match = call.output.prefixMatch(of: /HTTP ([0-9]{3})\n/) else { return Outcome(call: call) }
    let answer = call.output.split(separator: "\n\n", maxSplits: 1).dropFirst().first.map(String.init) ?? ""
    let status = Int(match.1) ?? 0
    let kind: OutcomeKind =
      switch status {
      case 200...299: .ok
      case 408, 425, 429, 500...599: .transient
      default: .refused
      }
    let json = Self.json(answer)
    var outcome = Outcome(
      kind, status: status, error: status == 401 ? "unauthorized" : nil, message: json?["reason"]?.string, body: json)
    outcome.exitCode = Int(call.exitCode)
    return outcome
  }

  fileprivate static func json(_ text: String) -> JSONValue? {
    do { return try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) } catch { return nil }
  }

  /// `chirp status`, which asks no server.
  private func status(_ process: String) async throws(WorldError) -> JSONValue {
    let call = try await run(["status", "--json"], as: process)
    guard let status = Self.json(call.output) else {
      throw WorldError("chirp status printed no JSON: \(call.output.prefix(200)) \(call.errors.prefix(300))")
    }
    return status
  }

  func change(_ verb: Verb, of process: String) async throws(WorldError) {
    switch verb {
    // Every verb is a new process on the same store.
    case .relaunch: return
    case .kill:
      let doomed = state.withLock { $0.running[process] ?? [] }
      for child in doomed { child.signal(SIGKILL) }
      for child in doomed { _ = await child.end() }
    case .reboot: state.withLock { $0.machine.boots += 1 }
    case .clientClock(let jump): state.withLock { $0.machine.wallJump += jump }
    case .offline(let isOffline):
      state.withLock { state in
        if isOffline { state.offline.insert(process) } else { state.offline.remove(process) }
      }
    default: throw WorldError("nothing of the kind happens to chirp")
    }
  }

  func advance(by duration: Duration) async throws(WorldError) {
    try await admin.call("POST", "clock", ["advance": .string(duration.text)])
    state.withLock { $0.machine.advanced += duration }
  }

  func settle() async {}

  func pause() async {
    // Cut short only when the whole run is; then the next look is the last one.
    do { try await SystemClock().sleep(for: .milliseconds(20)) } catch { return }
  }

  func client(_ process: String) async throws(WorldError) -> ClientView {
    let status = try await status(process)
    let user = status["user"]
    return ClientView(
      state: status["state"]?.string ?? "unknown", reason: status["reason"]?.string,
      userNames: [user?["email"]?.string, user?["username"]?.string].compactMap(\.self), events: nil)
  }

  func form(_ process: String) async throws(WorldError) -> FormView {
    throw WorldError("chirp's screens are not looked at by this driver")
  }

  func store() async throws(WorldError) -> StoreView {
    let status = try await status("main")
    let id = status["sessionID"]?.string
    // What the store does not tell, the server does: how often the newest session was refreshed.
    let sessions = try await admin.call("GET", "state")["sessions"]?.array ?? []
    let user = status["user"]
    return StoreView(
      isPresent: id != nil, isSameSession: id != nil && id == state.withLock { $0.firstSession },
      rotations: sessions.last?["generation"]?.integer, pendingRevocations: nil,
      userNames: [user?["email"]?.string, user?["username"]?.string].compactMap(\.self),
      looseFiles: folder.looseFiles(below: "store"))
  }

  func token(_ kind: TokenKind, of process: String) async throws(WorldError) -> String {
    guard kind == .access else { throw WorldError("chirp shows no refresh token") }
    let call = try await run(["token"], as: process)
    let token = call.output.trimmingPrefix { $0.isWhitespace }.prefix { !$0.isWhitespace }
    guard call.exitCode == 0, !token.isEmpty else {
      throw WorldError("chirp token ended with \(call.exitCode): \(call.errors.prefix(300))")
    }
    return String(token)
  }

  /// What the server issues begins with these, so that one can be found without being known.
  func secrets() async -> [Secret] { [Secret("an access token", "at_"), Secret("a refresh token", "rt_")] }

  func outputs() async -> [Output] { state.withLock { $0.outputs } + folder.files(below: "store") }

  func close() async {
    let running = state.withLock { $0.running.values.flatMap(\.self) }
    for child in running { child.signal(SIGKILL) }
    for child in running { _ = await child.end() }
  }
}

extension Outcome {
  /// What a run of the program means in the words that every driver knows: its error's kind, else its exit code.
  fileprivate init(call: CLIWorld.Call) {
    if call.exitCode == 0 {
      self.init(.ok, body: CLIWorld.json(call.output))
      exitCode = 0
      return
    }
    let error = CLIWorld.json(call.errors)?["error"]
    let parts = (error?["kind"]?.string ?? "").split(separator: ".", maxSplits: 1).map(String.init)
    let kind: OutcomeKind =
      switch (parts.first, parts.last, call.exitCode) {
      case ("session", "notLoggedIn", _), ("session", "sessionEnded", _), ("session", "sessionReplaced", _):
        .notSignedIn
      case ("cancelled", _, _), (_, _, 3), (_, _, 130): .cancelled
      case (_, _, 5): .transient
      case (_, _, 6), (_, _, 7): .storage
      case ("api", _, _): .refused
      case (_, _, 4): .notSignedIn
      default: .other
      }
    self.init(
      kind, status: error?["status"]?.integer, error: parts.last,
      message: error?["message"]?.string ?? String(call.errors.prefix(300)),
      fields: (error?["fields"]?.object ?? [:]).compactMapValues(\.string),
      retryAfter: error?["retryAfter"]?.number.map { .clamped(seconds: $0) })
    exitCode = Int(call.exitCode)
  }
}

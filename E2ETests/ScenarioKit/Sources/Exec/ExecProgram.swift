// Threads of one's own are in Foundation alone.
internal import AuthModels
internal import AuthNetworking
internal import AuthNetworkingURLSession
internal import AuthSession
internal import AuthStorage
internal import Foundation
internal import Groundwork

/// This package's own client as a program that speaks the driver protocol on standard input and output: `e2e client`.
///
/// It is judged from outside like anybody else's, and shows what an adapter has to do.
package final class ExecProgram: Sendable {
  private static let verbs = [
    "hello", "configure", "login", "register", "call", "token", "refresh", "logout", "session", "events", "advance",
    "cancel",
  ]

  private struct State {
    var client: ClientProcess?
    var running: [Int: Task<Void, Never>] = [:]
  }

  private let clock = AdvancingClock()
  private let tasks = TaskStarter()
  private let state = Guarded(State())
  private let say: @Sendable (String) -> Void

  /// Makes the program.
  ///
  /// - Parameter say: writes a line on standard output.
  package init(say: @escaping @Sendable (String) -> Void) { self.say = say }

  /// Answers every line of standard input, until it ends.
  package func run() async {
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    Thread.detachNewThread {
      while let line = readLine() { continuation.yield(line) }
      continuation.finish()
    }
    for await line in lines {
      let message: JSONValue
      do {
        message = try JSONDecoder().decode(JSONValue.self, from: Data(line.utf8))
      } catch {
        answer(0, error: "other", "this is no JSON: \(line.prefix(100))")
        continue
      }
      take(message)
    }
  }

  private func take(_ message: JSONValue) {
    let id = message["id"]?.integer ?? 0
    let verb = message["do"]?.string ?? ""
    switch verb {
    case "hello":
      answer(
        id,
        value: [
          "name": "chirp's own modules", "version": .string("1"), "verbs": .array(Self.verbs.map { .string($0) }),
          "dialects": ["chirp", "envelope"],
          "tells": ["reason", "errors", "messages", "retry-after", "events", "user"],
        ])
    case "configure": configure(id, message)
    case "advance":
      clock.advance(by: .clamped(seconds: message["seconds"]?.number ?? 0))
      answer(id, value: [:])
    case "cancel":
      if let other = message["cancels"]?.integer { state.withLock { $0.running[other] }?.cancel() }
    case "session", "events":
      guard let client = state.withLock({ $0.client }) else {
        return answer(id, error: "other", "it has not been configured")
      }
      answer(id, value: verb == "events" ? ["events": .array(client.events.map { .string($0) })] : Self.session(client))
    default:
      guard let client = state.withLock({ $0.client }) else {
        return answer(id, error: "other", "it has not been configured")
      }
      guard let verb = Self.verb(verb, message) else {
        return answer(id, error: "unsupported", "it does not know \(verb)")
      }
      let task = tasks.start { [self] in
        let outcome = await client.perform(verb)
        state.withLock { $0.running[id] = nil }
        answer(id, outcome)
      }
      state.withLock { $0.running[id] = task }
    }
  }

  private func configure(_ id: Int, _ message: JSONValue) {
    let server: ServerIdentity
    do throws(ServerIdentityError) {
      server = try ServerIdentity(message["baseURL"]?.string ?? "")
    } catch {
      return answer(id, error: "other", error.message)
    }
    let life = KillSwitch()
    let store = SQLiteSessionStore(folder: message["storeDir"]?.string ?? "", time: clock)
    let client = ClientProcess(
      ClientProcess.Parts(
        server: server, profile: message["dialect"]?.string == "envelope" ? .envelope : .loginForm,
        transport: URLSessionTransport(options: URLSessionTransport.Options(connectionsPerHost: 64)), store: store,
        time: clock, tasks: tasks, life: life))
    state.withLock { $0.client = client }
    // A client reads its store when it starts, as an app does.
    tasks.start { [self] in
      _ = await client.engine.restore()
      answer(id, value: [:])
    }
  }

  private static func verb(_ name: String, _ message: JSONValue) -> Verb? {
    switch name {
    case "login":
      .login(identifier: message["identifier"]?.string ?? "", password: message["password"]?.string ?? "")
    case "register":
      .register(
        username: message["username"]?.string ?? "", email: message["email"]?.string ?? "",
        password: message["password"]?.string ?? "")
    case "call":
      .call(
        method: message["method"]?.string ?? "GET", path: message["path"]?.string ?? "/", body: message["body"])
    case "token": .token
    case "refresh": .refresh
    case "logout": .logout
    default: nil
    }
  }

  private static func session(_ client: ClientProcess) -> JSONValue {
    let view = client.view
    var members: [String: JSONValue] = ["state": .string(view.state)]
    members["reason"] = view.reason.map { .string($0) }
    if let first = view.userNames.first {
      var user: [String: JSONValue] = ["email": .string(first)]
      if view.userNames.count > 1 { user["username"] = .string(view.userNames[1]) }
      members["user"] = .object(user)
    }
    return .object(members)
  }

  private func answer(_ id: Int, _ outcome: Outcome) {
    guard outcome.kind != .ok, outcome.status == nil || outcome.error != nil || outcome.body == nil else {
      var value: [String: JSONValue] = [:]
      value["status"] = outcome.status.map { .number(Double($0)) }
      value["message"] = outcome.message.map { .string($0) }
      value["body"] = outcome.body
      return answer(id, value: .object(value))
    }
    var error: [String: JSONValue] = ["kind": .string(outcome.kind.rawValue)]
    error["status"] = outcome.status.map { .number(Double($0)) }
    error["code"] = outcome.error.map { .string($0) }
    error["message"] = outcome.message.map { .string($0) }
    error["retryAfter"] = outcome.retryAfter.map { .number($0.inSeconds) }
    write(["id": .number(Double(id)), "ok": false, "error": .object(error)])
  }

  private func answer(_ id: Int, value: JSONValue) { write(["id": .number(Double(id)), "ok": true, "value": value]) }

  private func answer(_ id: Int, error kind: String, _ message: String) {
    write(["id": .number(Double(id)), "ok": false, "error": ["kind": .string(kind), "message": .string(message)]])
  }

  private func write(_ message: JSONValue) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      say(String(decoding: try encoder.encode(message), as: UTF8.self))
    } catch {
      say("{\"id\":0,\"ok\":false,\"error\":{\"kind\":\"other\",\"message\":\"an answer could not be written\"}}")
    }
  }
}

internal import AuthModels
internal import AuthNetworking
internal import AuthSession
internal import AuthStorage
internal import Groundwork

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// One client process, put together from the package's modules as an app would do it.
final class ClientProcess: Sendable {
  /// What a process is made of.
  struct Parts: Sendable {
    var server: ServerIdentity
    var profile: Scenario.Profile
    var transport: any HTTPTransport
    var store: any SessionStore
    var time: any TimeSource
    var tasks: TaskStarter
    var life: KillSwitch
    /// What it does wrong, on purpose.
    var faults: Set<ClientFault> = []
    /// Whether its calls are tried again after a passing failure.
    var retries = false
  }

  let engine: SessionEngine
  let life: KillSwitch
  let parts: Parts
  /// The client without a token, for repositories.
  let plain: APIClient
  private let api: APIClient
  private let autoRefresh: AutoRefresh
  private let heard = Guarded<[SessionEvent]>([])
  private let said = Guarded<[String]>([])

  init(_ parts: Parts) {
    self.parts = parts
    life = parts.life
    let said = said
    let logging = LoggingInterceptor(time: parts.time) { line in said.withLock { $0.append(line) } }
    let around: [any HTTPInterceptor] = [
      UserAgentInterceptor(product: "scenario/1.0"), RequestIDInterceptor(),
    ]
    let faults = parts.faults
    let transport: any HTTPTransport =
      faults.isEmpty ? parts.transport : FaultyTransport(base: parts.transport, faults: faults)
    let time: any TimeSource = faults.contains(.ageByTheWallClock) ? WallAgedClock(base: parts.time) : parts.time
    plain = APIClient(
      baseURL: parts.server.baseURL, transport: transport, interceptors: around + [logging], time: time)
    let (slot, memory) = (SessionSlot(server: parts.server.text), FaultMemory())
    let store: any SessionStore = faults.isEmpty ? parts.store : FaultyStore(base: parts.store, faults: faults)
    var backend: any AuthBackend =
      parts.profile == .envelope ? EnvelopeBackend(client: plain) : ChirpBackend(client: plain)
    if !faults.isEmpty {
      backend = FaultyBackend(base: backend, faults: faults, memory: memory, store: store, slot: slot)
    }
    let (made, tasks) = (backend, parts.tasks)
    let another: @Sendable () -> SessionEngine = {
      SessionEngine(
        slot: slot, backend: made, store: store, time: time, tasks: tasks, options: Self.options(faults))
    }
    engine = another()
    autoRefresh = AutoRefresh(engine: engine)
    let authorizer: any RequestAuthorizer =
      faults.isEmpty
      ? engine : FaultyAuthorizer(engine: engine, faults: faults, memory: memory, another: another)
    let retrying: [any HTTPInterceptor] =
      parts.retries && !faults.contains(.retryLeftOut) ? [RetryInterceptor(time: time, random: { 0.5 })] : []
    api = APIClient(
      baseURL: parts.server.baseURL, transport: transport,
      interceptors: around + retrying + [BearerInterceptor(authorizer: authorizer), logging], time: time)
    let events = engine.events(limit: 1000)
    let heard = heard
    parts.tasks.start {
      for await event in events { heard.withLock { $0.append(event) } }
    }
  }

  /// What it believes.
  var view: ClientView {
    var view = ClientView(state: "", reason: nil, userNames: [], events: events)
    switch engine.snapshot.state {
    case .unknown: view.state = parts.faults.contains(.unknownIsSignedOut) ? "signedOut" : "unknown"
    case .unavailable: view.state = "unavailable"
    case .signedOut(let reason):
      view.state = "signedOut"
      view.reason =
        switch reason {
        case .neverSignedIn: "neverSignedIn"
        case .byUser: "byUser"
        case .refreshRefused: "refreshRefused"
        case .elsewhere: "elsewhere"
        }
    case .signedIn(let summary):
      view.state = "signedIn"
      if let user = summary.user { view.userNames = [user.email, user.username].compactMap(\.self) }
    }
    return view
  }

  /// What it has heard of its engine, by name.
  var events: [String] {
    let names = heard.withLock { $0 }.map(\.name)
    return parts.faults.contains(.eventsLost) ? names.filter { $0 != "refreshed" } : names
  }

  private static func options(_ faults: Set<ClientFault>) -> SessionOptions {
    var options = SessionOptions()
    // The middle of each jittered back-off: the same wait in each run.
    options.random = { 0.5 }
    if faults.contains(.fullLeewayAlways) || faults.contains(.expiredTokenUsed) || faults.contains(.noLeeway) {
      options.shortLifetime = .zero
    }
    if faults.contains(.noBounds) { (options.refreshBound, options.lockWait) = (.seconds(86_400), .seconds(86_400)) }
    if faults.contains(.breakerNeverTrips) { options.breakerLimit = 1_000_000 }
    if faults.contains(.noLeeway) { options.leeway = .zero }
    if faults.contains(.expiredTokenUsed) { options.leeway = .seconds(-100_000_000) }
    if faults.contains(.noBackOff) { (options.backOffBase, options.backOffLimit) = (.zero, .zero) }
    return options
  }

  /// All that it has said.
  var outputs: [Output] {
    let events = heard.withLock { $0 }.map { "\($0)" }
    return [
      Output("a client's log", said.withLock { $0 }.joined(separator: "\n")),
      Output("a client's events", events.joined(separator: "\n")), Output("a client's state", "\(engine.snapshot)"),
    ]
  }

  /// Ends what it does by itself.
  func stop() { autoRefresh.stop() }

  /// Does what a client verb says.
  func perform(_ verb: Verb) async -> Outcome {
    do {
      let outcome = try await carryOut(verb)
      // As `chirp` does after a networked call: sign-outs that the server has not heard of (S20).
      if outcome.kind == .ok { await engine.flushRevocations() }
      return outcome
    } catch {
      said.withLock { $0.append("\(error)") }
      if error is CancellationError, parts.faults.contains(.cancellationSignsOut) {
        parts.tasks.start { [engine] in do { _ = try await engine.signOut() } catch { return } }
      }
      return Outcome(error)
    }
  }

  private func carryOut(_ verb: Verb) async throws -> Outcome {
    switch verb {
    case .login(let identifier, let password):
      if parts.faults.contains(.signInNeedsASession) { _ = try await engine.validAccessToken() }
      _ = try await engine.signIn(Credentials(identifier: identifier, password: password))
    case .switchUser(let identifier, let password):
      _ = try await engine.signOut()
      _ = try await engine.signIn(Credentials(identifier: identifier, password: password))
    case .register(let username, let email, let password):
      _ = try await engine.signUp(Registration(username: username, email: email, password: password))
    case .call(let method, let path, let body): return try await call(method, path, body)
    case .token: _ = try await engine.validAccessToken()
    case .refresh: try await engine.refresh()
    case .auto: autoRefresh.start()
    case .logout:
      if parts.faults.contains(.serverFirst) { try await tellServerFirst() }
      _ = try await engine.signOut()
    case .restore: _ = await engine.restore()
    default: return Outcome(.other, message: "no client does this: \(verb)")
    }
    return Outcome(.ok)
  }

  /// A sign-out that asks the server for leave.
  func tellServerFirst() async throws {
    guard let token = try await parts.store.read(engine.slot).record?.refreshToken else { return }
    _ = try await plain.send(API.logout(refreshToken: token))
  }

  private func call(_ method: String, _ path: String, _ body: JSONValue?) async throws -> Outcome {
    let root = parts.profile == .envelope && !path.hasPrefix("/envelope") ? "/envelope" : ""
    var headers = HTTPFields()
    if body != nil { headers["Content-Type"] = "application/json" }
    let response = try await api.sendRaw(
      RawCall(
        HTTPMethod(rawValue: method), root + path, headers: headers, body: try body.map { try JSONEncoder().encode($0) }
      ))
    let answer: JSONValue?
    do { answer = try JSONDecoder().decode(JSONValue.self, from: response.body) } catch { answer = nil }
    let kind: OutcomeKind =
      switch response.status {
      case 200...299: .ok
      case 408, 425, 429, 500...599: .transient
      default: .refused
      }
    return Outcome(
      kind, status: response.status, error: response.status == 401 ? "unauthorized" : nil,
      message: answer?["reason"]?.string, body: answer)
  }
}

/// A clock by which tokens age as the wall clock goes.
private struct WallAgedClock: TimeSource {
  let base: any TimeSource

  var wallClock: Date { base.wallClock }
  var sinceBoot: Duration { .clamped(seconds: base.wallClock.timeIntervalSinceReferenceDate) }
  var bootID: String { "always" }

  func sleep(for duration: Duration) async throws { try await base.sleep(for: duration) }
}

extension SessionEvent {
  /// The event's name in scenario files.
  var name: String {
    switch self {
    case .signedIn: "signedIn"
    case .signedOut: "signedOut"
    case .refreshed: "refreshed"
    case .refreshFailing: "refreshFailing"
    case .unclassifiedRefreshAnswers: "unclassifiedRefreshAnswers"
    case .persistenceFailed: "persistenceFailed"
    case .persistenceRecovered: "persistenceRecovered"
    case .adopted: "adopted"
    case .replaced: "replaced"
    case .lifetimeShorterThanAsked: "lifetimeShorterThanAsked"
    case .missed: "missed"
    }
  }
}

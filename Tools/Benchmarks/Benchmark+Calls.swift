import AuthModels
import AuthNetworking
import AuthNetworkingCurl
import AuthNetworkingURLSession
import AuthSession
import AuthStorage
import Groundwork

extension Benchmark {
  /// An authed GET through the whole client, decoded, against `mock-server` in a process of its own.
  static let calls = Benchmark(name: "calls", summary: "authed GET /me through the whole client") { context in
    let server = try RunningProgram("\(context.programs)/mock-server", ["serve", "--port", "0", "--seed-user"])
    defer { server.terminate() }
    guard let line = server.firstLine(), let url = readyURL(line) else {
      throw BenchError("mock-server said no ready line. Build it: make bench.")
    }
    let atOnce = 32
    let curl = try await CallingClient(url, CurlTransport(options: .init(connectionsPerHost: atOnce)))
    let urlSession = try await CallingClient(url, URLSessionTransport(options: .init(connectionsPerHost: atOnce)))
    let raw = try RawCurl(url: "\(url)/me", token: curl.accessToken)

    let oneByOne = try await interleaved(
      rounds: context.rounds,
      [
        { try await seconds { for _ in 0..<300 { try await curl.call() } } / 300 },
        { try await seconds { for _ in 0..<300 { try await urlSession.call() } } / 300 },
        { try await seconds { try raw.oneByOne(300) } / 300 },
      ])
    let together = try await interleaved(
      rounds: context.rounds,
      [
        { try await perCall(of: curl, atOnce: atOnce, each: 40) },
        { try await perCall(of: urlSession, atOnce: atOnce, each: 40) },
        { try await seconds { try raw.together(atOnce, of: atOnce * 40) } / Double(atOnce * 40) },
      ])
    let one = "Authed `GET /me`, decoded, one after another"
    let many = "Authed `GET /me`, decoded, \(atOnce) at once, per call"
    return [
      Figure(
        name: one, unit: .seconds, samples: oneByOne[0], baselineName: "the same over URLSession",
        baseline: oneByOne[1], targets: [.factor(4)]),
      Figure(
        name: one, unit: .seconds, samples: oneByOne[0], baselineName: "a bare libcurl loop", baseline: oneByOne[2],
        targets: [.factor(0.7)]),
      Figure(
        name: many, unit: .seconds, samples: together[0], baselineName: "the same over URLSession",
        baseline: together[1], targets: [.factor(5)]),
      Figure(
        name: many, unit: .seconds, samples: together[0], baselineName: "a bare libcurl multi loop",
        baseline: together[2], targets: [.factor(0.5)]),
    ]
  }

  /// What one call takes while `callers` tasks make `count` calls each, in seconds.
  private static func perCall(of client: CallingClient, atOnce callers: Int, each count: Int) async throws -> Double {
    try await seconds {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<callers {
          group.addTask { for _ in 0..<count { try await client.call() } }
        }
        try await group.waitForAll()
      }
    } / Double(callers * count)
  }
}

/// The client as an app puts it together: an engine that is signed in, and calls that it authorizes.
private struct CallingClient {
  let accessToken: String
  private let client: APIClient

  init(_ url: String, _ transport: any HTTPTransport) async throws {
    let server = try ServerIdentity(url)
    let engine = SessionEngine(
      slot: SessionSlot(server: server.text),
      backend: ChirpBackend(client: APIClient(baseURL: server.baseURL, transport: transport)),
      store: InMemorySessionStore(time: clock), time: clock)
    _ = try await engine.signIn(Credentials(identifier: "anna@example.com", password: "password123"))
    accessToken = try await engine.validAccessToken()
    client = APIClient(
      baseURL: server.baseURL, transport: transport, interceptors: [BearerInterceptor(authorizer: engine)])
  }

  func call() async throws {
    let user = try await client.send(API.me())
    guard user.username == "anna" else { throw BenchError("GET /me is answered with \(user.username).") }
  }
}

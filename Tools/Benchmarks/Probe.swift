import AuthModels
import AuthNetworking
import AuthSession
import AuthStorage
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One path of the product, run a given number of times and nothing beside it: what `make bench-check` counts instructions of.
struct Probe: Sendable {
  /// All there are.
  static let all: [Probe] = [.hotPath, .recordCodec, .requestPath]

  /// The word on the command line.
  var name: String
  /// Runs the path so many times.
  var run: @Sendable (Int) async throws -> Void

  /// `validAccessToken()` while the token is good.
  static let hotPath = Probe(name: "hot-path") { count in
    let engine = try await BenchServer(realm: "probe").engine(store: InMemorySessionStore(time: clock), time: clock)
    for _ in 0..<count { _ = try await engine.validAccessToken() }
  }

  /// A session written as the store seals it, and read again.
  static let recordCodec = Probe(name: "record-codec") { count in
    var state = SlotState()
    state.record = Benchmark.sampleRecord(SessionSlot(server: "https://auth.example.com"))
    for _ in 0..<count { state = try SlotState(encoded: state.encoded(over: 0)) }
  }

  /// An authed GET through client and interceptors, decoded, the network left out.
  static let requestPath = Probe(name: "request-path") { count in
    let server = try BenchServer(realm: "probe")
    let engine = try await server.engine(store: InMemorySessionStore(time: clock), time: clock)
    let client = APIClient(
      baseURL: server.identity.baseURL, transport: SameAnswer(), interceptors: [BearerInterceptor(authorizer: engine)])
    for _ in 0..<count { _ = try await client.send(API.me()) }
  }

  /// Gives every request the same answer at once.
  private struct SameAnswer: HTTPTransport {
    private static let body = Data(
      #"{"id":"6d3f1e0a-6c1a-4a57-9a3e-0a4f5c1b2d3e","username":"anna","email":"anna@example.com","createdAt":"2026-11-30T10:00:00Z"}"#
        .utf8)

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
      HTTPResponse(status: 200, headers: ["Content-Type": "application/json"], body: Self.body)
    }
  }
}

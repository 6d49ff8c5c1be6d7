import AuthModels
import AuthNetworking
import AuthSession
import AuthStorage
import Groundwork
import MockServerCore
import MockServerInProcess

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A mock server in this process, and clients of it.
struct BenchServer: Sendable {
  let transport: DelayedTransport
  let identity: ServerIdentity

  /// A server with the user anna; `realm` keeps one contender's count from another's, `limit` is how many sessions and requests it remembers.
  init(realm: String, remembering limit: Int? = nil) throws {
    var configuration = MockServerConfiguration(
      users: [MockSeedUser(username: "anna", email: "anna@example.com", password: "password123")])
    if let limit { (configuration.maximumSessions, configuration.journalCapacity) = (limit, limit) }
    let server = MockAuthServer(configuration: configuration)
    transport = DelayedTransport(InProcessTransport(server: server))
    identity = try ServerIdentity("http://127.0.0.1:8080/r/\(realm)")
  }

  var client: APIClient { APIClient(baseURL: identity.baseURL, transport: transport) }

  /// The product: an engine that is signed in.
  func engine(store: any SessionStore, time: any TimeSource, account: String? = nil) async throws -> SessionEngine {
    let slot = account.map { SessionSlot(server: identity.text, account: $0) } ?? SessionSlot(server: identity.text)
    let engine = SessionEngine(
      slot: slot, backend: ChirpBackend(client: client), store: store, time: time)
    _ = try await engine.signIn(Credentials(identifier: "anna@example.com", password: "password123"))
    return engine
  }

  /// Signs in without the engine.
  func logIn(_ time: any TimeSource) async throws -> TokenBundle {
    bundle(try await client.send(API.login(email: "anna@example.com", password: "password123")), time)
  }

  /// Refreshes without the engine.
  func refresh(_ bundle: TokenBundle, _ time: any TimeSource) async throws -> TokenBundle {
    guard let token = bundle.refreshToken else { throw BenchError("There is no refresh token.") }
    return self.bundle(try await client.send(API.refresh(refreshToken: token)), time)
  }

  /// How many refreshes the server has in its journal.
  func refreshCount() async throws -> Double {
    try await admin(.get, "journal/count?operation=refresh", nil)["count"]?.number ?? -1
  }

  /// Lets a refresh token be used any number of times.
  func keepRefreshTokens() async throws {
    _ = try await admin(.put, "policy", ["rotation": "none"])
  }

  private func admin(_ method: HTTPMethod, _ path: String, _ body: JSONValue?) async throws -> JSONValue {
    guard let url = URL(string: "\(identity.text)/__mock/\(path)") else { throw BenchError("\(path) is no path.") }
    let encoded = try body.map { try JSONEncoder().encode($0) }
    let answer = try await transport.send(
      HTTPRequest(method: method, url: url, headers: ["Content-Type": "application/json"], body: encoded))
    guard answer.status == 200 || answer.status == 204 else {
      throw BenchError("The mock server answers \(answer.status) to \(path).")
    }
    return answer.body.isEmpty ? .null : try JSONDecoder().decode(JSONValue.self, from: answer.body)
  }

  private func bundle(_ tokens: TokenResponse, _ time: any TimeSource) -> TokenBundle {
    TokenBundle(
      accessToken: tokens.accessToken, refreshToken: tokens.refreshToken,
      accessTokenExpiry: tokens.expiresIn.map { time.wallClock.addingTimeInterval($0) })
  }
}

import AuthModels
import AuthNetworking
import Groundwork
import MockServerCore
import MockServerInProcess
import Testing
import VirtualTime

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A server with one user, and a client beside it; two machines on one virtual timeline.
struct Rig: Sendable {
  let clock: VirtualClock
  let server: MockAuthServer
  let transport: InProcessTransport
  var realm: MockRealm { server.realm() }

  init(_ clock: VirtualClock, _ tasks: TaskStarter, policy: MockPolicy = MockPolicy(), gate: MessageGate? = nil) {
    self.clock = clock
    let anna = MockSeedUser(username: "anna", email: "anna@example.com", password: "password123")
    server = MockAuthServer(
      configuration: MockServerConfiguration(policy: policy, seed: 1, users: [anna]),
      time: clock.anotherMachine(bootID: "server"), tasks: tasks)
    transport = InProcessTransport(server: server, time: clock, tasks: tasks, gate: gate)
  }

  func request(
    _ path: String, bearer: String? = nil, json: String? = nil, timeout: Duration? = nil, scheme: String = "https"
  ) throws -> HTTPRequest {
    var request = HTTPRequest(
      method: json == nil ? .get : .post, url: try #require(URL(string: "\(scheme)://mock.test\(path)")),
      body: json.map { Data($0.utf8) }, timeout: timeout)
    if json != nil { request.headers["Content-Type"] = "application/json" }
    if let bearer { request.headers["Authorization"] = "Bearer \(bearer)" }
    return request
  }

  func login() async throws -> (access: String, refresh: String) {
    let response = try await transport.send(
      request("/auth/login", json: #"{"email":"anna@example.com","password":"password123"}"#))
    let json = try JSONDecoder().decode(JSONValue.self, from: response.body)
    return (try #require(json["accessToken"]?.string), try #require(json["refreshToken"]?.string))
  }

  func refreshRequest(_ token: String, timeout: Duration? = nil) throws -> HTTPRequest {
    try request("/auth/refresh", json: #"{"refreshToken":"\#(token)"}"#, timeout: timeout)
  }

  func failure(of request: HTTPRequest) async -> TransportError? {
    do throws(TransportError) {
      _ = try await transport.send(request)
      return nil
    } catch {
      return error
    }
  }
}

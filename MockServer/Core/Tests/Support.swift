import Groundwork
import Testing

@testable import MockServerCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A time source that moves when told, and a scheduler whose closures run when their time has come.
final class HandTime: TimeSource, DeliveryScheduler {
  private let now = Guarded(Duration.seconds(1000))
  private let planned = Guarded<[(due: Duration, work: @Sendable () -> Void)]>([])

  /// 2030-01-01T00:00:00Z.
  let wallClock = Date(timeIntervalSince1970: 1_893_456_000)
  let bootID = "test"
  var sinceBoot: Duration { now.withLock { $0 } }
  var plannedCount: Int { planned.withLock { $0.count } }

  func sleep(for duration: Duration) async throws { Issue.record("nothing sleeps in these tests") }

  func schedule(after duration: Duration, _ work: @escaping @Sendable () -> Void) {
    let due = sinceBoot + duration
    planned.withLock { $0.append((due, work)) }
  }

  func pass(_ duration: Duration) {
    let end = now.withLock { now in
      now += duration
      return now
    }
    let due = planned.withLock { planned in
      let due = planned.filter { $0.due <= end }.sorted { $0.due < $1.due }
      planned.removeAll { $0.due <= end }
      return due
    }
    for (_, work) in due { work() }
  }
}

/// What a request was answered with, if it was.
final class Inbox: Sendable {
  private let deliveries = Guarded<[MockDelivery]>([])

  var all: [MockDelivery] { deliveries.withLock { $0 } }
  var one: MockDelivery? { all.first }
  var isEmpty: Bool { all.isEmpty }
  @Sendable func take(_ delivery: MockDelivery) { deliveries.withLock { $0.append(delivery) } }
}

struct Pair: Equatable {
  var access: String
  var refresh: String
}

/// A server with one user, anna, whose time moves by hand.
struct TestServer {
  let time = HandTime()
  let server: MockAuthServer
  var realm: MockRealm { server.realm() }
  static let password = "correct horse"

  init(
    _ policy: MockPolicy = MockPolicy(), clock: MockClockMode = .virtual, seed: UInt64 = 7,
    journalCapacity: Int = 10_000, allowRemoteAdmin: Bool = false, maximumRealms: Int = 100
  ) {
    let anna = MockSeedUser(username: "anna", email: "anna@example.com", password: Self.password)
    let configuration = MockServerConfiguration(
      policy: policy, clock: clock, seed: seed, allowRemoteAdmin: allowRemoteAdmin, users: [anna],
      journalCapacity: journalCapacity, maximumRealms: maximumRealms)
    server = MockAuthServer(configuration: configuration, time: time, scheduler: time)
  }

  /// Sends a request whose answer may come later.
  func send(
    _ method: String, _ target: String, _ json: String? = nil, bearer: String? = nil,
    headers: [MockRequest.Field] = []
  ) -> Inbox {
    var fields = headers
    if json != nil, !headers.contains(where: { $0.name == "Content-Type" }) {
      fields.append(MockRequest.Field("Content-Type", "application/json"))
    }
    if let bearer { fields.append(MockRequest.Field("Authorization", "Bearer \(bearer)")) }
    let request = MockRequest(method: method, target: target, headers: fields, body: Data((json ?? "").utf8))
    let inbox = Inbox()
    server.receive(request, deliver: inbox.take)
    return inbox
  }

  /// Sends a request that is answered at once.
  func ask(
    _ method: String, _ target: String, _ json: String? = nil, bearer: String? = nil,
    headers: [MockRequest.Field] = [], at location: SourceLocation = #_sourceLocation
  ) throws -> MockReply {
    let inbox = send(method, target, json, bearer: bearer, headers: headers)
    #expect(inbox.all.count == 1, sourceLocation: location)
    return try #require(inbox.one, sourceLocation: location).reply
  }

  func login(realm: String = "", at location: SourceLocation = #_sourceLocation) throws -> Pair {
    let body = #"{"email":"anna@example.com","password":"\#(Self.password)"}"#
    return try ask("POST", "\(realm)/auth/login", body, at: location).pair()
  }

  func refresh(_ token: String, at location: SourceLocation = #_sourceLocation) throws -> MockReply {
    try ask("POST", "/auth/refresh", #"{"refreshToken":"\#(token)"}"#, at: location)
  }

  func me(_ token: String, at location: SourceLocation = #_sourceLocation) throws -> Int {
    try ask("GET", "/me", bearer: token, at: location).status
  }

  func admin(_ method: String, _ call: String, _ json: String? = nil, realm: String = "") throws -> MockReply {
    try ask(method, "\(realm)/__mock/\(call)", json)
  }
}

extension MockReply {
  var text: String { String(decoding: body, as: UTF8.self) }

  func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  func json() throws -> JSONValue { try JSONDecoder().decode(JSONValue.self, from: body) }

  func pair() throws -> Pair {
    let json = try json()
    return Pair(
      access: try #require(json["accessToken"]?.string), refresh: try #require(json["refreshToken"]?.string))
  }

  var detail: String? {
    get throws { try json()["detail"]?.string }
  }
}

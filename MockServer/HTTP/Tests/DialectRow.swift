import Groundwork
import MockServerCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One answer of a dialect: how it comes about, and what it is to the letter.
struct DialectRow: Sendable, CustomStringConvertible {
  /// What the rows work with: anna has a session of the dialect, bob is a bystander.
  typealias Preparation = @Sendable (MockRealm, inout [String: String]) throws -> Void

  var name: String
  var dialect: MockDialect
  var method: String
  var target: String
  var headers: [String: String]
  var body: String?
  var prepare: Preparation
  var status: Int
  var golden: String?
  var expected: [String: String]
  var outcome: MockOutcome

  var description: String { "\(dialect): \(name)" }

  static let anna = MockSeedUser(username: "anna", email: "anna@example.com", password: "correct horse")
  static let bob = MockSeedUser(username: "bob", email: "bob@example.com", password: "battery staple")

  static let configuration = MockServerConfiguration(
    clock: .virtual, startsAt: Date(timeIntervalSince1970: 1_893_456_000), seed: 11, users: [anna, bob])

  /// `{NAME}` replaced by the variable of that name.
  static func filled(_ text: String, _ variables: [String: String]) -> String {
    variables.reduce(text) { $0.replacing("{\($1.key)}", with: $1.value) }
  }

  /// The variables that every row has, and its own.
  func variables(_ realm: MockRealm) throws -> [String: String] {
    let minted = try realm.mintSession(user: "anna@example.com", dialect: dialect)
    var variables = [
      "access": minted.accessToken, "refresh": minted.refreshToken, "session": minted.sessionID,
      "anon": realm.keys.anonKey, "service": realm.keys.serviceRoleKey,
      "anna": realm.snapshot.users.first { $0.username == "anna" }?.id ?? "",
      "bob": realm.snapshot.users.first { $0.username == "bob" }?.id ?? "",
    ]
    try prepare(realm, &variables)
    return variables
  }

  /// The request with everything filled in, for a realm.
  func request(_ realm: String, _ variables: [String: String]) -> MockRequest {
    var fields = [MockRequest.Field("Host", "localhost")]
    for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
      fields.append(MockRequest.Field(name, Self.filled(value, variables)))
    }
    let body = Data(Self.filled(self.body ?? "", variables).utf8)
    if self.body != nil { fields.append(MockRequest.Field("Content-Length", String(body.count))) }
    return MockRequest(
      method: method, target: "/r/\(realm)" + Self.filled(target, variables), headers: fields, body: body)
  }
}

extension MockRequest {
  /// The bytes of it on a connection that ends with the answer.
  var wireText: String {
    "\(method) \(target) HTTP/1.1\r\n" + headers.map { "\($0.name): \($0.value)\r\n" }.joined()
      + "Connection: close\r\n\r\n" + String(decoding: body, as: UTF8.self)
  }
}

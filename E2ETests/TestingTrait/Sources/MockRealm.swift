import Groundwork
import MockServerCore
import MockServerHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A realm of a mock server that belongs to one test: users, clock, scripts and journal of its own, behind a real socket.
///
/// ```swift
/// @Test(.mockRealm) func signsIn() async throws {
///   let realm = try MockRealm.current()
///   try await realm.addUser("anna", email: "anna@example.com", password: "password123")
///   … the client under test, against realm.baseURL …
///   #expect(try await realm.count(of: "login") == 1)
/// }
/// ```
/// All tests of a process share one server on a free port; realms are never shared, so tests run in parallel.
public struct MockRealm: Sendable {
  @TaskLocal static var ofThisTest: MockRealm?

  /// The realm's name.
  public let name: String
  /// The base URL for the client under test, without a slash at its end.
  public let baseURL: String
  let server: MockAuthServer

  /// The realm of the test that runs.
  ///
  /// - Throws: `MockRealmError`, outside a test with the trait `.mockRealm`.
  public static func current() throws(MockRealmError) -> MockRealm {
    guard let realm = ofThisTest else {
      throw MockRealmError("This test has no realm: give it the trait .mockRealm, and ask in the test's own task.")
    }
    return realm
  }

  /// Calls the admin API of the realm: `POST /__mock/revoke` and the like.
  ///
  /// - Parameters:
  ///   - path: under `/__mock/`.
  ///   - body: JSON text; nil for none.
  /// - Returns: the answer's JSON text.
  /// - Throws: `MockRealmError`, with the server's words, for an answer that is not 2xx.
  @discardableResult
  public func admin(_ method: String, _ path: String, _ body: String? = nil) async throws(MockRealmError) -> String {
    let reply = await withCheckedContinuation { continuation in
      server.receive(request(method, path, body)) { continuation.resume(returning: $0.reply) }
    }
    let text = String(decoding: reply.body, as: UTF8.self)
    guard (200...299).contains(reply.status) else {
      throw MockRealmError("The mock server answered \(method) \(path) with \(reply.status): \(text.prefix(300))")
    }
    return text
  }

  /// Makes an account.
  public func addUser(_ username: String, email: String, password: String) async throws(MockRealmError) {
    let user: JSONValue = [
      ["username": .string(username), "email": .string(email), "password": .string(password)]
    ]
    try await admin("POST", "users", try Self.text(user))
  }

  /// Lets time pass, for the server.
  public func advance(by duration: Duration) async throws(MockRealmError) {
    try await admin("POST", "clock", try Self.text(["advance": .string(duration.text)]))
  }

  /// How often an operation (`login`, `refresh`, `me` …) has been asked for.
  public func count(of operation: String) async throws(MockRealmError) -> Int {
    let answer = try await admin("GET", "journal/count?operation=\(operation)")
    do {
      return try JSONDecoder().decode(JSONValue.self, from: Data(answer.utf8))["count"]?.integer ?? 0
    } catch {
      throw MockRealmError("The count cannot be read: \(answer.prefix(100))")
    }
  }

  /// Every request so far as a sequence, oldest first: who asked for what, when by the realm's clock, and what came of it.
  public var sequence: String {
    // The admin API answers at once, on the caller's thread.
    let body = Guarded<Data?>(nil)
    server.receive(request("GET", "journal?since=0", nil)) { delivery in body.withLock { $0 = delivery.reply.body } }
    let entries: [JSONValue]
    do {
      entries = try JSONDecoder().decode(JSONValue.self, from: body.withLock { $0 } ?? Data())["entries"]?.array ?? []
    } catch {
      return "the journal cannot be read"
    }
    guard !entries.isEmpty else { return "no request reached the realm \(name)" }
    return entries.map(Self.line).joined(separator: "\n")
  }

  private static func line(_ entry: JSONValue) -> String {
    let text = { (name: String) in entry[name]?.string ?? "" }
    let request = "\(text("method")) \(text("path"))"
    let status = entry["status"]?.integer ?? 0
    let answer = status == 0 ? "kept back" : "\(status)"
    let fault = entry["fault"]?.string.map { ", broken: \($0)" } ?? ""
    return "\(text("at").dropFirst(11))  client → server  \(request)\n"
      + "               client \(fault.isEmpty ? "←" : "✗") server  \(answer) \(text("outcome"))\(fault)"
  }

  private func request(_ method: String, _ path: String, _ body: String?) -> MockRequest {
    MockRequest(
      method: method, target: "/r/\(name)/__mock/\(path)",
      headers: [MockRequest.Field("Host", "localhost"), MockRequest.Field("Content-Type", "application/json")],
      body: Data((body ?? "").utf8))
  }

  private static func text(_ value: JSONValue) throws(MockRealmError) -> String {
    do {
      return String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    } catch {
      throw MockRealmError("The request cannot be written as JSON.")
    }
  }
}

/// What a realm could not do.
public struct MockRealmError: Error, Sendable, CustomStringConvertible {
  /// One sentence.
  public let description: String

  init(_ description: String) { self.description = description }
}

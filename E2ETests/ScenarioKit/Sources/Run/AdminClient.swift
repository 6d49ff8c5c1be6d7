package import Groundwork
package import MockServerCore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The admin API of one realm, over whatever reaches the server.
package struct AdminClient: Sendable {
  /// The realm's name.
  package let realm: String
  private let send: @Sendable (MockRequest) async throws(WorldError) -> MockReply

  /// Makes a client.
  ///
  /// - Parameter send: brings a request to the server.
  package init(realm: String, send: @escaping @Sendable (MockRequest) async throws(WorldError) -> MockReply) {
    self.realm = realm
    self.send = send
  }

  /// Calls the admin API.
  ///
  /// - Parameter path: under `/__mock/`.
  /// - Throws: what the server says is wrong.
  @discardableResult
  package func call(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws(WorldError) -> JSONValue {
    let data: Data
    do {
      data = try body.map { try JSONEncoder().encode($0) } ?? Data()
    } catch {
      throw WorldError("the admin call \(method) \(path) cannot be written: \(error)")
    }
    let reply = try await send(
      MockRequest(
        method: method, target: "/r/\(realm)/__mock/\(path)",
        headers: [MockRequest.Field("Host", "localhost"), MockRequest.Field("Content-Type", "application/json")],
        body: data))
    let answer: JSONValue
    do {
      answer = reply.body.isEmpty ? .null : try JSONDecoder().decode(JSONValue.self, from: reply.body)
    } catch {
      throw WorldError("the admin API answered \(method) \(path) with \(reply.status) and no JSON")
    }
    guard (200...299).contains(reply.status) else {
      let reason = answer["reason"]?.string ?? answer["message"]?.string ?? answer["error"]?.string ?? "no reason given"
      throw WorldError("the admin API answered \(method) \(path) with \(reply.status): \(reason)")
    }
    return answer
  }

  /// Brings requests to a server in this process, without sockets.
  package static func inProcess(realm: String, server: any MockRequestHandler) -> AdminClient {
    AdminClient(realm: realm) { request in
      await withCheckedContinuation { continuation in
        server.receive(request) { continuation.resume(returning: $0.reply) }
      }
    }
  }

  /// All requests so far.
  package func journal() async throws(WorldError) -> [JournalEntry] {
    let answer = try await call("GET", "journal?since=0")
    return (answer["entries"]?.array ?? []).compactMap { JournalEntry($0) }
  }

  /// Waits until an operation has come so often.
  package func wait(for operation: String, count: Int, timeout: String) async throws(WorldError) -> Int {
    let answer = try await call(
      "GET", "journal/count?operation=\(operation)&wait=\(count)&timeout=\(timeout)")
    return answer["count"]?.integer ?? 0
  }

  /// The realm's sessions: how many live, how many have ended, and their ids, oldest first.
  package func sessions() async throws(WorldError) -> (live: [String], ended: [String]) {
    let sessions = try await call("GET", "state")["sessions"]?.array ?? []
    let ids = { (isAlive: Bool) in
      sessions.filter { $0["alive"]?.bool == isAlive }.compactMap { $0["id"]?.string }
    }
    return (ids(true), ids(false))
  }

  /// The script actions that no request has used, by operation or endpoint.
  package func unconsumed() async throws(WorldError) -> [String] {
    let scripts = try await call("GET", "state")["scripts"]?.object ?? [:]
    return scripts.sorted { $0.key < $1.key }.compactMap { target, script in
      guard let left = script["remaining"]?.integer, left > 0 else { return nil }
      return "\(target): \(left) left"
    }
  }
}

/// A request as the server's journal has it.
package struct JournalEntry: Sendable {
  /// 1, 2, 3 …
  package var sequence: Int
  /// When, on the server's clock.
  package var at: String
  /// What was asked for.
  package var operation: String
  /// The request line.
  package var request: String
  /// The answer's status; 0 while it is kept back.
  package var status: Int
  /// What became of it.
  package var outcome: String
  /// How its answer was broken.
  package var fault: String?
  /// What was wrong with it as HTTP.
  package var malformed: String?
  /// The session it belongs to.
  package var sessionID: String?

  /// Reads an entry of the admin API, or of a report of `e2e`, which has method and path in one.
  init?(_ json: JSONValue) {
    guard let sequence = json["seq"]?.integer, let operation = json["operation"]?.string else { return nil }
    self.sequence = sequence
    at = json["at"]?.string ?? ""
    self.operation = operation
    request = json["request"]?.string ?? "\(json["method"]?.string ?? "?") \(json["path"]?.string ?? "?")"
    status = json["status"]?.integer ?? 0
    outcome = json["outcome"]?.string ?? ""
    fault = json["fault"]?.string
    malformed = json["malformed"]?.string
    sessionID = json["sessionID"]?.string
  }

  /// The entry in one line.
  package var summary: String {
    let answer = status == 0 ? "kept back" : "\(status)"
    let notes = [outcome, fault.map { "broken: \($0)" }, malformed].compactMap(\.self).joined(separator: ", ")
    return "\(sequence)  \(at.dropFirst(11))  \(operation)  \(request) → \(answer) (\(notes))"
  }
}

import AuthModels
import AuthNetworking
import AuthNetworkingCurl
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The admin API of a `mock-server` in a process of its own.
struct AdminClient {
  private let base: String
  private let transport = CurlTransport()

  init(_ url: String) throws(BenchError) { base = "\(url)/__mock" }

  func put(_ path: String, _ body: JSONValue) async throws {
    _ = try await send(.put, path, body)
  }

  /// How many requests of the journal fit a query.
  func count(_ query: String) async throws -> Double {
    try await send(.get, "journal/count?\(query)", nil)["count"]?.number ?? -1
  }

  private func send(_ method: HTTPMethod, _ path: String, _ body: JSONValue?) async throws -> JSONValue {
    guard let url = URL(string: "\(base)/\(path)") else { throw BenchError("\(path) is no path.") }
    let answer = try await transport.send(
      HTTPRequest(
        method: method, url: url, headers: ["Content-Type": "application/json"],
        body: try body.map { try JSONEncoder().encode($0) }))
    guard 200...299 ~= answer.status else { throw BenchError("mock-server answers \(answer.status) to \(path).") }
    return answer.body.isEmpty ? .null : try JSONDecoder().decode(JSONValue.self, from: answer.body)
  }
}

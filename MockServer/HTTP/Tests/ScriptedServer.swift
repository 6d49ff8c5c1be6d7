import Groundwork
import MockServerCore

@testable import MockServerHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The whole mock server behind real sockets, plain or TLS, as `mock-server serve` puts it together.
struct ScriptedServer: Sendable {
  let server: MockAuthServer
  let port: UInt16
  /// The authority to trust; nil without TLS.
  let authority: String?
  var realm: MockRealm { server.realm() }

  /// Runs a test against a server that is stopped afterwards, with the user anna.
  static func run<Success: Sendable>(
    tls: Bool, change: (inout HTTPFront.Options) -> Void = { _ in },
    _ body: (ScriptedServer) async throws -> Success
  ) async throws -> Success {
    let loop = try EventLoop()
    let anna = MockSeedUser(username: "anna", email: "anna@example.com", password: "password123")
    let server = MockAuthServer(configuration: MockServerConfiguration(users: [anna]), scheduler: loop)
    var options = HTTPFront.Options()
    options.connectionFault = { server.takeConnectionFault() }
    if tls { options.tls = try TLSIdentity.throwAway(for: ["127.0.0.1"]) }
    change(&options)
    let front = HTTPFront(handler: server, options: options, loop: loop)
    let port = try front.start().port
    do {
      let success = try await body(ScriptedServer(server: server, port: port, authority: options.tls?.authority))
      await front.stop()
      return success
    } catch {
      await front.stop()
      throw error
    }
  }

  /// A connection of either kind.
  func connect() throws -> any WireClient {
    guard let authority else { return try PlainWire(port: port) }
    return try TLSWire(port: port, trusting: authority)
  }

  /// Sends one request on a connection of its own, and gives everything that came and how it ended.
  func ask(
    _ method: String, _ target: String, _ body: String = "", token: String? = nil, keepsAlive: Bool = false
  ) throws -> WireAnswer {
    let client = try connect()
    client.send(Self.request(method, target, body, token: token, keepsAlive: keepsAlive))
    return client.readAll()
  }

  static func request(
    _ method: String, _ target: String, _ body: String = "", token: String? = nil, keepsAlive: Bool = false
  ) -> String {
    let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
    return "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n\(authorization)Content-Type: application/json\r\n"
      + "Content-Length: \(body.utf8.count)\r\n\(keepsAlive ? "" : "Connection: close\r\n")\r\n\(body)"
  }

  /// Sets a script over the wire, as a test in another language does.
  func script(_ json: String) throws {
    let answer = try ask("PUT", "/__mock/scripts", json)
    guard answer.status == 204 else { throw RawClient.Failure(text: answer.text) }
  }

  /// Signs in without the wire.
  func tokens() throws -> MockMintedSession { try realm.mintSession(user: "anna@example.com") }
}

/// What came over a wire, and how it ended.
struct WireAnswer: Sendable {
  /// How the server's side ended, in words that both kinds of wire share.
  enum Ending: Sendable, Equatable {
    /// FIN; under TLS with a close_notify before it.
    case finished
    /// RST.
    case reset
    /// Under TLS alone: something came that is no TLS.
    case broken
    /// Under TLS alone: FIN without a close_notify.
    case cutOff
    /// Nothing came for 20 seconds.
    case timedOut
  }

  var text: String
  var ending: Ending
  /// How many reads it took.
  var pieces = 1

  var status: Int? { Answer(head: head)?.status }
  var head: String { text.firstRange(of: "\r\n\r\n").map { String(text[..<$0.upperBound]) } ?? text }
  var body: String { text.firstRange(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? "" }
  /// What the head promises.
  var length: Int? { Answer(head: head)?.length }
}

/// A connection that a test reads and writes by hand.
protocol WireClient {
  func send(_ text: String)
  func readAll() -> WireAnswer
}

final class PlainWire: WireClient {
  private let raw: RawClient

  init(port: UInt16) throws { raw = try RawClient(port: port) }

  deinit { raw.end() }

  func send(_ text: String) { raw.write(text) }

  func readAll() -> WireAnswer {
    var all: [UInt8] = []
    var pieces = 0
    while true {
      let (bytes, ending) = raw.readSome()
      all += bytes
      guard let ending else {
        pieces += 1
        continue
      }
      let end: WireAnswer.Ending =
        switch ending {
        case .fin: .finished
        case .reset: .reset
        case .timedOut: .timedOut
        }
      return WireAnswer(text: String(decoding: all, as: UTF8.self), ending: end, pieces: pieces)
    }
  }
}

final class TLSWire: WireClient {
  private let client: TLSClient

  init(port: UInt16, trusting authority: String) throws { client = try TLSClient(port: port, trusting: authority) }

  func send(_ text: String) { client.write(text) }

  func readAll() -> WireAnswer {
    let (text, ending, pieces) = client.readAllInPieces()
    let end: WireAnswer.Ending =
      switch ending {
      case .closeNotify: .finished
      case .cutOff: .cutOff
      case .reset: .reset
      case .broken: .broken
      }
    return WireAnswer(text: text, ending: end, pieces: pieces)
  }
}

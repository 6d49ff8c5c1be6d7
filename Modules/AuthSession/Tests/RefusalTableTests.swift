import AuthModels
import AuthNetworking
import AuthTestSupport
import Groundwork
import Testing

@testable import AuthSession

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("S10: what ends a session, and what passes")
struct RefusalTableTests {
  enum Verdict: Sendable, Equatable {
    case granted
    case refused(String?)
    case passing(ambiguous: Bool, unclassified: Bool)

    init(_ answer: RefreshAnswer) {
      switch answer {
      case .granted: self = .granted
      case .refused(let refusal): self = .refused(refusal.code)
      case .passing(let failure):
        self = .passing(ambiguous: failure.isAmbiguous, unclassified: failure.isUnclassified)
      }
    }
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var status: Int
    var body: String
    var verdict: Verdict
    var headers: HTTPFields = [:]
    var testDescription: String { "\(status) \(body.prefix(60))" }
  }

  private static let passes = Verdict.passing(ambiguous: false, unclassified: false)
  private static let odd = Verdict.passing(ambiguous: false, unclassified: true)
  private static let lost = Verdict.passing(ambiguous: true, unclassified: false)

  static let chirp = [
    Row(status: 200, body: #"{"accessToken":"a","refreshToken":"r","expiresIn":900}"#, verdict: .granted),
    Row(
      status: 401, body: #"{"error":true,"reason":"no","code":"invalid_grant","detail":"revoked"}"#,
      verdict: .refused("invalid_grant")),
    Row(status: 400, body: #"{"error":"invalid_grant"}"#, verdict: .refused("invalid_grant")),
    Row(status: 401, body: #"{"error":true,"reason":"Unauthorized"}"#, verdict: .refused(nil)),
    Row(status: 400, body: #"{"error":true,"reason":"Bad Request"}"#, verdict: odd),
    Row(status: 403, body: #"{"error":true,"reason":"Forbidden"}"#, verdict: odd),
    Row(status: 401, body: #"{"error":"invalid_client"}"#, verdict: passes),
    Row(status: 401, body: #"{"error":true,"reason":"x","code":"account_locked"}"#, verdict: odd),
    Row(status: 401, body: "<html>Sign in to the Wi-Fi</html>", verdict: odd),
    Row(status: 401, body: "", verdict: odd),
    Row(status: 404, body: #"{"error":true,"reason":"x","code":"invalid_grant"}"#, verdict: odd),
    Row(status: 200, body: "<html>Welcome to the hotel</html>", verdict: lost),
    Row(status: 200, body: #"{"accessToken":7}"#, verdict: lost),
    Row(status: 302, body: "", verdict: passes, headers: ["Location": "http://portal.example/"]),
    Row(status: 408, body: "", verdict: passes),
    Row(status: 425, body: "", verdict: passes),
    Row(status: 429, body: #"{"error":true,"reason":"slow down","code":"rate_limited"}"#, verdict: passes),
    Row(status: 500, body: #"{"error":true,"reason":"x","code":"invalid_grant"}"#, verdict: passes),
    Row(status: 503, body: "", verdict: passes),
    Row(status: 418, body: "", verdict: odd),
  ]

  @Test("chirp", arguments: chirp)
  func chirpTable(row: Row) async throws {
    let answer = try await answer(to: row) { ChirpBackend(client: $0) }
    #expect(Verdict(answer) == row.verdict)
  }

  static let envelope = [
    Row(status: 200, body: #"{"data":{"accessToken":"a","refreshToken":"r"}}"#, verdict: .granted),
    Row(status: 401, body: #"{"error":{"message":"Invalid token"}}"#, verdict: .refused(nil)),
    Row(status: 400, body: #"{"error":{"message":"Invalid token"}}"#, verdict: .refused(nil)),
    Row(status: 403, body: #"{"error":{"message":"Invalid token"}}"#, verdict: .refused(nil)),
    Row(status: 401, body: "<html></html>", verdict: odd),
    Row(status: 503, body: #"{"error":{"message":"Down"}}"#, verdict: passes),
  ]

  @Test("envelope", arguments: envelope)
  func envelopeTable(row: Row) async throws {
    let answer = try await answer(to: row) { EnvelopeBackend(client: $0) }
    #expect(Verdict(answer) == row.verdict)
  }

  @Test(
    "no answer passes, and is ambiguous where the request may have arrived", arguments: TransportError.Code.allCases,
    [true, false])
  func noAnswer(code: TransportError.Code, sent: Bool) {
    let error = APIError(TransportError(code, mayHaveBeenSent: sent, message: ""))
    #expect(Verdict(RefusalTable.chirp.judge(error)) == .passing(ambiguous: sent, unclassified: false))
  }

  @Test("cancellation passes")
  func cancellation() {
    #expect(Verdict(RefusalTable.chirp.judge(thrown: CancellationError())) == Self.lost)
  }

  private func answer(
    to row: Row, by backend: (APIClient) -> any AuthBackend
  ) async throws -> RefreshAnswer {
    let transport = StubTransport([.json(row.status, row.body, headers: row.headers)])
    let server = try ServerIdentity("http://localhost:8080")
    return await backend(APIClient(baseURL: server.baseURL, transport: transport)).refresh(refreshToken: "r")
  }
}

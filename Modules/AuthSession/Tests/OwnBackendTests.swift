// BEGIN
import AuthModels
import AuthNetworking
import AuthSession
import AuthStorage
import AuthTestSupport
import Groundwork
import Testing
import VirtualTime

struct TicketBackend: AuthBackend {
  let client: APIClient
  let dialect: AuthDialect = "tickets"

  func signIn(_ credentials: Credentials) async throws -> TokenGrant {
    try await ticket("/tickets", ["name": credentials.identifier, "secret": credentials.password], isSignIn: true)
  }

  func signUp(_ registration: Registration) async throws -> SignUpGrant {
    throw APIError(.notFound, detail: "Accounts are made by the box office.")
  }

  func refresh(refreshToken: String) async -> RefreshAnswer {
    do {
      return .granted(try await ticket("/tickets/renew", ["stub": refreshToken], isSignIn: false))
    } catch {
      // Which answers end the session: 400, 401 or 403 with one of these codes, in this server's own shape.
      return RefusalTable(shape: .oauth2, codes: ["stub_spent", "stub_unknown"], bareStatuses: []).judge(thrown: error)
    }
  }

  func revoke(_ tokens: PendingRevocation) async -> RevocationOutcome {
    guard let stub = tokens.refreshToken else { return .unsupported }
    return await RevocationOutcome {
      try await client.send(
        Endpoint<Void>(
          method: .post, path: "/tickets/void", jsonBody: JSONBody.object(["stub": stub]), requiresAuth: false,
          hasCredentialBody: true))
    }
  }

  func user(authorizedBy authorizer: any RequestAuthorizer) async throws -> SessionUser {
    struct Holder: Decodable, Sendable { let number: Int, name: String }
    let holder: Holder = try await client.authorized(by: authorizer).send(Endpoint(method: .get, path: "/holder"))
    return SessionUser(id: String(holder.number), username: holder.name)
  }

  private func ticket(_ path: String, _ body: KeyValuePairs<String, String?>, isSignIn: Bool) async throws -> TokenGrant
  {
    struct Ticket: Decodable, Sendable { let ticket: String, stub: String, minutes: Double }
    let (value, _) = try await client.exchange(
      Endpoint<Ticket>(
        method: .post, path: path, jsonBody: JSONBody.object(body), requiresAuth: false, hasCredentialBody: true,
        isSignIn: isSignIn))
    return TokenGrant(
      response: TokenResponse(accessToken: value.ticket, refreshToken: value.stub, expiresIn: value.minutes * 60))
  }
}
// END

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The page `own-backend.md`: its example is the type above, made from what the modules give everybody, and run here.
@Suite("The page on a backend of your own")
struct OwnBackendTests {
  /// The box office: tickets of 10 minutes, a stub good for one renewal.
  private final class BoxOffice: Sendable {
    private let state = Guarded<(ticket: Int, isClosed: Bool)>((0, false))

    func close() { state.withLock { $0.isClosed = true } }

    func answer(_ request: HTTPRequest) -> StubTransport.Answer {
      let body = String(decoding: request.body ?? Data(), as: UTF8.self)
      return state.withLock { state in
        switch request.url.path() {
        case "/tickets" where !body.contains(#""secret":"password123""#):
          return .json(401, #"{"error":"wrong_secret"}"#)
        case "/tickets/renew" where state.isClosed: return .json(403, #"{"error":"stub_unknown"}"#)
        case "/tickets/renew" where !body.contains("\"stub-\(state.ticket)\""):
          return .json(403, #"{"error":"stub_spent"}"#)
        case "/tickets", "/tickets/renew":
          state.ticket += 1
          return .json(200, "{\"ticket\":\"ticket-\(state.ticket)\",\"stub\":\"stub-\(state.ticket)\",\"minutes\":10}")
        case "/holder" where request.headers["Authorization"] == "Bearer ticket-\(state.ticket)":
          return .json(200, #"{"number":7,"name":"anna"}"#)
        case "/holder": return .json(401, #"{"error":"no_ticket"}"#)
        default: return .response(HTTPResponse(status: 204))
        }
      }
    }
  }

  @Test("the example signs in, renews, tells its user, survives trouble, ends when told so, and signs out")
  func example() async throws {
    let office = BoxOffice()
    let trouble = Guarded(false)
    let transport = StubTransport(otherwise: { request in
      trouble.withLock { $0 } ? .json(503, "") : office.answer(request)
    })
    try await withVirtualTime { clock, tasks in
      let server = try ServerIdentity("http://localhost:9000")
      let client = APIClient(baseURL: server.baseURL, transport: transport, time: clock)
      let store = InMemorySessionStore(time: clock)
      let engine = SessionEngine(
        slot: SessionSlot(server: server.text), backend: TicketBackend(client: client), store: store, time: clock,
        tasks: tasks)
      let wrong = await #expect(throws: APIError.self) {
        try await engine.signIn(Credentials(identifier: "anna", password: "x"))
      }
      #expect(wrong?.kind == .invalidCredentials)
      try await engine.signIn(Credentials(identifier: "anna", password: "password123"))
      try await clock.sleep(for: .seconds(601))
      #expect(try await engine.currentUser() == SessionUser(id: "7", username: "anna"))
      #expect(try await engine.validAccessToken() == "ticket-2")
      try await clock.sleep(for: .seconds(601))
      trouble.withLock { $0 = true }
      await #expect(throws: SessionError.self) { try await engine.validAccessToken() }
      guard case .signedIn = engine.snapshot.state else { Issue.record("trouble signed out"); return }
      trouble.withLock { $0 = false }
      try await clock.sleep(for: .seconds(60))
      #expect(try await engine.validAccessToken() == "ticket-3")
      #expect(try await engine.signOut().revoked)
      try await engine.signIn(Credentials(identifier: "anna", password: "password123"))
      office.close()
      try await clock.sleep(for: .seconds(601))
      await #expect(throws: SessionError.self) { try await engine.validAccessToken() }
      #expect(engine.snapshot.state == .signedOut(.refreshRefused(code: "stub_unknown", requestID: nil)))
    }
  }

  @Test("what stands on the page is what stands here, in 60 lines")
  func page() throws {
    var root = URL(filePath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let bytes = try #require(
      FileManager.default.contents(atPath: root.appending(path: "Documentation/own-backend.md").path))
    let here = String(decoding: try #require(FileManager.default.contents(atPath: #filePath)), as: UTF8.self)
    let begin = try #require(here.firstRange(of: "// BEGIN\n"))
    let end = try #require(here.firstRange(of: "// END\n"))
    let example = here[begin.upperBound..<end.lowerBound]
    #expect(example.split(separator: "\n", omittingEmptySubsequences: false).count <= 60)
    #expect(String(decoding: bytes, as: UTF8.self).contains("```swift\n\(example)```\n"))
  }
}

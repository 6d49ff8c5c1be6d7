import AuthModels
import AuthNetworking
import AuthStorage
import AuthTestSupport
import Groundwork
import Testing
import VirtualTime

@testable import AuthSession

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Answers of the Supabase auth API as `wire.md` has them, written out by hand.
enum SupabaseGolden {
  static let user = """
    {"id":"6f1c7a5e-2b5d-4a3e-9d6f-0a1b2c3d4e5f","aud":"authenticated","role":"authenticated","email":"anna@example.com",
    "phone":"","app_metadata":{"provider":"email","providers":["email"]},"user_metadata":{"username":"anna"},
    "identities":[],"created_at":"2026-11-30T19:17:02.123456Z","updated_at":"2026-11-30T19:17:02Z","is_anonymous":false}
    """

  static func session(_ access: String, _ refresh: String, expiresIn: String = "3600") -> String {
    """
    {"access_token":"\(access)","token_type":"bearer","expires_in":\(expiresIn),"expires_at":1796069822,
    "refresh_token":"\(refresh)","user":\(user),"weak_password":null}
    """
  }

  static func error(_ status: Int, _ code: String, _ message: String) -> StubTransport.Answer {
    .json(
      status, "{\"code\":\(status),\"error_code\":\"\(code)\",\"msg\":\"\(message)\"}",
      headers: ["x-sb-error-code": code])
  }

  /// A JSON Web Token with this payload; its signature is nobody's business here.
  static func token(_ payload: String) -> String {
    [#"{"alg":"HS256","typ":"JWT"}"#, payload, "signature"].map { Base64URL.encode($0.utf8) }.joined(separator: ".")
  }
}

@Suite("Supabase behind the seam (D4)")
struct SupabaseTests {
  private static let project = "https://abcdefghijklmnop.supabase.co"

  private func backend(_ transport: StubTransport) throws -> SupabaseBackend {
    try SupabaseBackend(client: client(transport), apiKey: "sb_publishable_abc")
  }

  private func client(_ transport: StubTransport) throws -> APIClient {
    APIClient(baseURL: try ServerIdentity(Self.project).baseURL, transport: transport)
  }

  private func json(_ request: HTTPRequest) throws -> JSONValue {
    try JSONDecoder().decode(JSONValue.self, from: try #require(request.body))
  }

  @Test("a sign-in sends the public key and gives tokens, lifetime and user")
  func signIn() async throws {
    let transport = StubTransport([.json(200, SupabaseGolden.session("a1", "r1"))])
    let grant = try await backend(transport).signIn(Credentials(identifier: "anna@example.com", password: "pässword"))
    #expect(grant.response == TokenResponse(accessToken: "a1", refreshToken: "r1", expiresIn: 3600))
    #expect(
      grant.user
        == SessionUser(id: "6f1c7a5e-2b5d-4a3e-9d6f-0a1b2c3d4e5f", email: "anna@example.com", username: "anna"))
    let request = try #require(transport.requests.first)
    #expect(request.method == .post)
    #expect(request.url.absoluteString == Self.project + "/auth/v1/token?grant_type=password")
    #expect(request.headers["apikey"] == "sb_publishable_abc")
    #expect(request.headers["Authorization"] == nil)
    #expect(request.hasCredentialBody)
    #expect(try json(request) == ["email": "anna@example.com", "password": "pässword"])
  }

  @Test(
    "a phone number signs in as one, and nothing else does",
    arguments: [
      ("+49 151 2345678", "phone"), ("4915123456", "phone"), ("anna@example.com", "email"), ("12345", "email"),
      ("", "email"), ("+491512x45678", "email"),
    ])
  func identifiers(typed: String, member: String) async throws {
    let transport = StubTransport([.json(200, SupabaseGolden.session("a1", "r1"))])
    _ = try await backend(transport).signIn(Credentials(identifier: typed, password: "p"))
    #expect(try json(transport.requests[0])[member] == .string(typed))
  }

  @Test("D4.6: a wrong password is invalid credentials")
  func wrongPassword() async throws {
    let transport = StubTransport([SupabaseGolden.error(400, "invalid_credentials", "Invalid login credentials")])
    let error = await #expect(throws: APIError.self) {
      try await backend(transport).signIn(Credentials(identifier: "anna@example.com", password: "wrong"))
    }
    #expect(error?.kind == .invalidCredentials)
    #expect(error?.serverMessage == "Invalid login credentials")
  }

  @Test(
    "the three error shapes say the same (S10)",
    arguments: [
      #"{"code":400,"error_code":"invalid_credentials","msg":"Invalid login credentials"}"#,
      #"{"code":"invalid_credentials","message":"Invalid login credentials"}"#,
      #"{"error":"invalid_grant","error_description":"Invalid login credentials"}"#,
    ])
  func shapes(body: String) async throws {
    let error = await #expect(throws: APIError.self) {
      try await backend(StubTransport([.json(400, body)]))
        .signIn(Credentials(identifier: "anna@example.com", password: "wrong"))
    }
    #expect(error?.kind == .invalidCredentials)
    #expect(error?.serverMessage == "Invalid login credentials")
  }

  @Test("a key that the project does not know is no wrong password")
  func unknownKey() async throws {
    let transport = StubTransport(otherwise: { _ in .json(401, #"{"message":"Invalid API key","hint":"x"}"#) })
    let backend = try backend(transport)
    let signIn = await #expect(throws: SupabaseKeyError.self) {
      try await backend.signIn(Credentials(identifier: "anna@example.com", password: "p"))
    }
    #expect(signIn?.code == .refused)
    await #expect(throws: SupabaseKeyError.self) {
      try await backend.signUp(Registration(username: nil, email: "anna@example.com", password: "p"))
    }
  }

  @Test("an address that waits to be confirmed is told in the server's words")
  func unconfirmed() async throws {
    let transport = StubTransport([SupabaseGolden.error(400, "email_not_confirmed", "Email not confirmed")])
    let error = await #expect(throws: APIError.self) {
      try await backend(transport).signIn(Credentials(identifier: "anna@example.com", password: "p"))
    }
    #expect(error?.kind == .validation)
    #expect(error?.userMessage == "Email not confirmed")
  }

  @Test("a sign-up with autoconfirm gives a session; the username goes along as metadata")
  func signUpConfirmed() async throws {
    let transport = StubTransport([.json(200, SupabaseGolden.session("a1", "r1"))])
    let outcome = try await backend(transport)
      .signUp(Registration(username: "anna", email: "anna@example.com", password: "password123"))
    guard case .session(let grant) = outcome else { Issue.record("no session: \(outcome)"); return }
    #expect(grant.response.refreshToken == "r1")
    let request = transport.requests[0]
    #expect(request.url.path() == "/auth/v1/signup")
    #expect(
      try json(request) == [
        "email": "anna@example.com", "password": "password123", "data": ["username": "anna"],
      ])
  }

  @Test("a sign-up without autoconfirm waits for the address, and signs nobody in")
  func signUpPending() async throws {
    let transport = StubTransport([.json(200, SupabaseGolden.user)])
    try await withVirtualTime { clock, tasks in
      let engine = try engine(transport, clock, tasks)
      let outcome = try await engine.signUp(
        Registration(username: nil, email: "anna@example.com", password: "password123"))
      #expect(outcome == .confirmationRequired(email: "anna@example.com"))
      _ = await engine.restore()
      #expect(engine.signedOutReason == .neverSignedIn)
      #expect(try json(transport.requests[0])["data"] == nil)
    }
  }

  @Test("D4.6: a taken address is a conflict, a weak password is about the password field")
  func signUpRefused() async throws {
    let transport = StubTransport([
      SupabaseGolden.error(422, "user_already_exists", "User already registered"),
      .json(
        422,
        #"{"code":422,"error_code":"weak_password","msg":"Password too short","weak_password":{"reasons":["length"]}}"#),
    ])
    let backend = try backend(transport)
    let registration = Registration(username: nil, email: "anna@example.com", password: "p")
    let taken = await #expect(throws: APIError.self) { try await backend.signUp(registration) }
    #expect(taken?.kind == .conflict)
    #expect(taken?.userMessage == "An account with this email already exists.")
    let weak = await #expect(throws: APIError.self) { try await backend.signUp(registration) }
    #expect(weak?.kind == .validation)
    #expect(weak?.fields == ["password": "Password too short"])
  }

  struct Lifetime: Sendable, CustomTestStringConvertible {
    var members: String
    var seconds: Double?
    var date: String?
    var testDescription: String { members }
  }

  @Test(
    "the lifetime is expires_in, else expires_at by the server's clock, else the token's own (S3)",
    arguments: [
      Lifetime(members: #""expires_in":1800,"expires_at":1"#, seconds: 1800),
      Lifetime(members: #""expires_in":"1800""#, seconds: 1800),
      Lifetime(members: #""expires_at":1796069822"#, seconds: 600, date: "Mon, 30 Nov 2026 20:07:02 GMT"),
      Lifetime(members: #""expires_in":null,"expires_at":"soon""#, seconds: 900),
      Lifetime(members: #""expires_in":{},"expires_at":[]"#, seconds: 900),
    ])
  func lifetimes(row: Lifetime) async throws {
    let token = SupabaseGolden.token(#"{"iat":1000,"exp":1900}"#)
    let headers = row.date.map { HTTPFields([HTTPField("Date", $0)]) } ?? [:]
    let transport = StubTransport([
      .json(200, "{\"access_token\":\"\(token)\",\"refresh_token\":\"r\",\(row.members)}", headers: headers)
    ])
    let grant = try await backend(transport).signIn(Credentials(identifier: "a@b.c", password: "p"))
    #expect(grant.response.expiresIn == row.seconds)
  }

  // MARK: Refreshing

  private static let passes = RefusalTableTests.Verdict.passing(ambiguous: false, unclassified: false)
  private static let odd = RefusalTableTests.Verdict.passing(ambiguous: false, unclassified: true)

  static let refreshes: [RefusalTableTests.Row] =
    [
      "refresh_token_not_found", "refresh_token_already_used", "session_not_found", "session_expired", "user_banned",
      "validation_failed",
    ].flatMap { (code: String) in
      [
        .init(
          status: 400, body: "{\"code\":400,\"error_code\":\"\(code)\",\"msg\":\"no\"}", verdict: .refused(code)),
        .init(status: 400, body: "{\"code\":\"\(code)\",\"message\":\"no\"}", verdict: .refused(code)),
      ]
    } + [
      .init(
        status: 400, body: #"{"error":"invalid_grant","error_description":"Invalid Refresh Token: Already Used"}"#,
        verdict: .refused("invalid_grant")),
      .init(
        status: 400, body: #"{"msg":"no"}"#, verdict: .refused("session_not_found"),
        headers: ["x-sb-error-code": "session_not_found"]),
      .init(status: 200, body: SupabaseGolden.session("a2", "r2"), verdict: .granted),
      .init(status: 403, body: #"{"code":403,"error_code":"bad_jwt","msg":"invalid JWT"}"#, verdict: odd),
      .init(status: 401, body: #"{"message":"No API key found in request"}"#, verdict: odd),
      .init(status: 401, body: #"{"message":"Invalid API key","hint":"Double check it"}"#, verdict: odd),
      .init(status: 400, body: #"{"code":400,"error_code":"bad_json","msg":"no"}"#, verdict: odd),
      .init(status: 400, body: #"{"error":"invalid_request","error_description":"no"}"#, verdict: odd),
      .init(
        status: 409, body: #"{"code":409,"error_code":"conflict","msg":"Too many concurrent refreshes"}"#, verdict: odd),
      .init(status: 429, body: #"{"code":429,"error_code":"over_request_rate_limit","msg":"no"}"#, verdict: passes),
      .init(
        status: 500, body: #"{"code":500,"error_code":"unexpected_failure","msg":"no","error_id":"1"}"#, verdict: passes
      ),
      .init(status: 504, body: #"{"code":504,"error_code":"request_timeout","msg":"no"}"#, verdict: passes),
      .init(status: 401, body: "<html>Sign in to the Wi-Fi</html>", verdict: odd),
    ]

  @Test("S10: what ends a session, and what passes", arguments: refreshes)
  func refreshTable(row: RefusalTableTests.Row) async throws {
    let transport = StubTransport([.json(row.status, row.body, headers: row.headers)])
    let answer = try await backend(transport).refresh(refreshToken: "r1")
    #expect(RefusalTableTests.Verdict(answer) == row.verdict)
    #expect(transport.requests.count == 1)
    #expect(transport.requests[0].url.query() == "grant_type=refresh_token")
    #expect(try json(transport.requests[0]) == ["refresh_token": "r1"])
  }

  // MARK: Through the engine

  private func engine(
    _ transport: StubTransport, _ clock: VirtualClock, _ tasks: TaskStarter
  ) throws -> SessionEngine {
    SessionEngine(
      slot: SessionSlot(server: Self.project), backend: try backend(transport),
      store: InMemorySessionStore(time: clock), time: clock, tasks: tasks)
  }

  @Test("S10: a 403 bad_jwt is an expired access token: one refresh, one resend, in an app's own calls too")
  func expiredToken() async throws {
    let transport = StubTransport([
      .json(200, SupabaseGolden.session("a1", "r1")),
      SupabaseGolden.error(403, "bad_jwt", "invalid JWT: token is expired"),
      .json(200, SupabaseGolden.session("a2", "r2")), .json(200, "[]"),
    ])
    try await withVirtualTime { clock, tasks in
      let engine = try engine(transport, clock, tasks)
      try await engine.signIn(Credentials(identifier: "anna@example.com", password: "p"))
      let app = try backend(transport).authorized(try client(transport), by: engine)
      let answer = try await app.sendRaw(RawCall(.get, "/rest/v1/posts?select=*"))
      #expect(answer.status == 200)
      #expect(
        transport.requests.map { $0.url.path() }.suffix(3) == ["/rest/v1/posts", "/auth/v1/token", "/rest/v1/posts"])
      #expect(transport.requests.map { $0.headers["Authorization"] } == [nil, "Bearer a1", nil, "Bearer a2"])
      #expect(transport.requests.allSatisfy { $0.headers["apikey"] == "sb_publishable_abc" })
    }
  }

  @Test(
    "a 403 that is about the request, not the token, refreshes nothing",
    arguments: [
      #"{"code":"42501","message":"new row violates row-level security policy"}"#,
      #"{"code":403,"error_code":"not_admin","msg":"User not allowed"}"#, "", "<html></html>",
    ])
  func forbidden(body: String) async throws {
    let transport = StubTransport([.json(200, SupabaseGolden.session("a1", "r1")), .json(403, body)])
    try await withVirtualTime { clock, tasks in
      let engine = try engine(transport, clock, tasks)
      try await engine.signIn(Credentials(identifier: "anna@example.com", password: "p"))
      let app = try backend(transport).authorized(try client(transport), by: engine)
      #expect(try await app.sendRaw(RawCall(.get, "/rest/v1/posts")).status == 403)
      #expect(transport.requests.count == 2)
      #expect(engine.isSignedIn)
    }
  }

  @Test("a session that was ended at the server is over here, with its reason (supabase-swift#793)")
  func endedElsewhere() async throws {
    let transport = StubTransport([
      .json(200, SupabaseGolden.session("a1", "r1")),
      SupabaseGolden.error(403, "session_not_found", "Session from session_id claim in JWT does not exist"),
      SupabaseGolden.error(400, "refresh_token_not_found", "Invalid Refresh Token: Refresh Token Not Found"),
    ])
    try await withVirtualTime { clock, tasks in
      let engine = try engine(transport, clock, tasks)
      try await engine.signIn(Credentials(identifier: "anna@example.com", password: "p"))
      let outcome = await World.outcome { try await engine.currentUser(fresh: true).id }
      #expect(outcome == "notLoggedIn")
      #expect(engine.signedOutReason == .refreshRefused(code: "refresh_token_not_found", requestID: nil))
    }
  }

  @Test("S9: a fresh token that is refused with bad_jwt again is unauthorized, and the session stays")
  func refusedTwice() async throws {
    let transport = StubTransport([
      .json(200, SupabaseGolden.session("a1", "r1")), SupabaseGolden.error(403, "bad_jwt", "x"),
      .json(200, SupabaseGolden.session("a2", "r2")), SupabaseGolden.error(403, "bad_jwt", "x"),
    ])
    try await withVirtualTime { clock, tasks in
      let engine = try engine(transport, clock, tasks)
      try await engine.signIn(Credentials(identifier: "anna@example.com", password: "p"))
      let outcome = await World.outcome { try await engine.currentUser(fresh: true).id }
      #expect(outcome == "unauthorized")
      #expect(engine.isSignedIn)
    }
  }

  @Test("an update changes what is given and tells the user as it is then")
  func update() async throws {
    let transport = StubTransport([.json(200, SupabaseGolden.session("a1", "r1")), .json(200, SupabaseGolden.user)])
    try await withVirtualTime { clock, tasks in
      let engine = try engine(transport, clock, tasks)
      try await engine.signIn(Credentials(identifier: "anna@example.com", password: "p"))
      let user = try await backend(transport).updateUser(
        password: "a new one", metadata: ["username": "anna"], authorizedBy: engine)
      #expect(user.username == "anna")
      let request = transport.requests[1]
      #expect(request.method == .put && request.hasCredentialBody)
      #expect(request.headers["Authorization"] == "Bearer a1")
      #expect(try json(request) == ["password": "a new one", "data": ["username": "anna"]])
    }
  }

  // MARK: Signing out

  @Test("a sign-out names its scope and sends the session's access token", arguments: [SignOutScope.local, .global])
  func signOut(scope: SignOutScope) async throws {
    let transport = StubTransport([
      .json(200, SupabaseGolden.session("a1", "r1")), .response(HTTPResponse(status: 204)),
    ])
    try await withVirtualTime { clock, tasks in
      let engine = try engine(transport, clock, tasks)
      try await engine.signIn(Credentials(identifier: "anna@example.com", password: "p"))
      let result = try await engine.signOut(scope: scope)
      #expect(result == SignOutResult(wasSignedIn: true, revoked: true))
      let request = transport.requests[1]
      #expect(request.url.path() == "/auth/v1/logout" && request.url.query() == "scope=\(scope.rawValue)")
      #expect(request.headers["Authorization"] == "Bearer a1")
      #expect(engine.signedOutReason == .byUser)
    }
  }

  @Test("a sign-out of the others leaves this session where it is")
  func signOutOthers() async throws {
    let transport = StubTransport([
      .json(200, SupabaseGolden.session("a1", "r1")), .response(HTTPResponse(status: 204)),
    ])
    try await withVirtualTime { clock, tasks in
      let engine = try engine(transport, clock, tasks)
      try await engine.signIn(Credentials(identifier: "anna@example.com", password: "p"))
      _ = try await engine.signOut(scope: .others)
      #expect(transport.requests[1].url.query() == "scope=others")
      #expect(engine.isSignedIn)
    }
  }

  struct SignOutAnswer: Sendable, CustomTestStringConvertible {
    var status: Int
    var body: String
    var outcome: String
    var testDescription: String { "\(status) \(body.prefix(50))" }
  }

  @Test(
    "what became of the session at the server, by its answer",
    arguments: [
      SignOutAnswer(status: 204, body: "", outcome: "revoked"),
      SignOutAnswer(
        status: 403, body: #"{"code":403,"error_code":"session_not_found","msg":"x"}"#, outcome: "revoked"),
      SignOutAnswer(status: 403, body: #"{"code":403,"error_code":"bad_jwt","msg":"x"}"#, outcome: "rejected"),
      SignOutAnswer(status: 401, body: #"{"message":"Invalid API key"}"#, outcome: "rejected"),
      SignOutAnswer(status: 401, body: #"{"code":401,"error_code":"no_authorization","msg":"x"}"#, outcome: "rejected"),
      SignOutAnswer(
        status: 400, body: #"{"code":400,"error_code":"validation_failed","msg":"x"}"#, outcome: "rejected"),
      SignOutAnswer(status: 429, body: "", outcome: "failed"), SignOutAnswer(status: 503, body: "", outcome: "failed"),
    ])
  func revocation(row: SignOutAnswer) async throws {
    let tokens = PendingRevocation(
      id: UUID(), slot: SessionSlot(server: Self.project), profile: "supabase", accessToken: "a1", refreshToken: "r1",
      since: Date(timeIntervalSince1970: 0))
    let outcome = try await backend(StubTransport([.json(row.status, row.body)])).revoke(tokens)
    #expect("\(outcome)".hasPrefix(row.outcome))
  }

  @Test("without an access token there is nothing to sign out with")
  func revocationWithoutToken() async throws {
    let tokens = PendingRevocation(
      id: UUID(), slot: SessionSlot(server: Self.project), profile: "supabase", accessToken: nil, refreshToken: "r1",
      since: Date(timeIntervalSince1970: 0))
    let transport = StubTransport()
    #expect(try await backend(transport).revoke(tokens) == .unsupported)
    #expect(transport.requests.isEmpty)
  }

  @Test(
    "D4.1, D4.4: the service signs in, is there again after a restart, and signs out, whatever the server says (D4.7)")
  func service() async throws {
    let transport = StubTransport([
      .json(200, SupabaseGolden.session("a1", "r1")), SupabaseGolden.error(403, "bad_jwt", "x"),
    ])
    try await withVirtualTime { clock, tasks in
      let store = InMemorySessionStore(time: clock)
      func launch() throws -> SupabaseAuthService {
        try SupabaseAuthService(
          project: Self.project, anonKey: "sb_publishable_abc", transport: transport, store: store, time: clock,
          tasks: tasks)
      }
      let first = try launch()
      #expect(try await first.currentUser == nil)
      let user = try await first.signIn(email: "anna@example.com", password: "p")
      #expect(user.id == UUID(uuidString: "6f1c7a5e-2b5d-4a3e-9d6f-0a1b2c3d4e5f") && user.email == "anna@example.com")
      let second = try launch()
      #expect(try await second.currentUser == user)
      #expect(transport.requests.count == 1, "a returning user costs no request")
      try await second.signOut()
      #expect(try await second.currentUser == nil)
      #expect(try await launch().currentUser == nil)
    }
  }

  // MARK: The key

  @Test(
    "D4.2: a key that opens everything is refused at construction, and the error says why",
    arguments: [
      ("sb_secret_abcdef", SupabaseKeyError.Code.secretKey), ("SB_SECRET_abcdef", .secretKey),
      (SupabaseGolden.token(#"{"role":"service_role","iss":"supabase"}"#), .serviceRole),
      (SupabaseGolden.token(#"{"role":"\u0073ervice_role"}"#), .serviceRole),
      (SupabaseGolden.token(#"{"role":["anon","service_role"]}"#), .serviceRole),
      (SupabaseGolden.token(#"{"role":"supabase_admin"}"#), .serviceRole), ("", .empty),
      ("sb_publishable_a b", .malformed),
      ("sb_publishable_a\r\nX: y", .malformed),
    ])
  func refusedKeys(key: String, code: SupabaseKeyError.Code) throws {
    let error = #expect(throws: SupabaseKeyError.self) {
      _ = try SupabaseBackend(client: client(StubTransport()), apiKey: key)
    }
    #expect(error?.code == code)
    let message = try #require(error).message
    #expect(key.isEmpty || !message.contains(key))
    if code == .serviceRole || code == .secretKey { #expect(message.contains("passes every access rule")) }
  }

  @Test(
    "D4.2: a public key is taken in both forms",
    arguments: [
      "sb_publishable_abcdef", SupabaseGolden.token(#"{"role":"anon","iss":"supabase"}"#), "local-development-key",
    ])
  func publicKeys(key: String) throws {
    #expect(try SupabaseKey(key).text == key)
    #expect(!"\(try SupabaseKey(key))".contains(key))
  }
}

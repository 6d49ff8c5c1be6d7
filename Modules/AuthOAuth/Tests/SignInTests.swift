import AuthModels
import AuthNetworking
import AuthSession
import AuthStorage
import AuthTestSupport
import Groundwork
import Testing
import VirtualTime

@testable import AuthOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Signing in to an authorization server (RFC 6749, 7009, 7636, 8628)")
struct SignInTests {
  private static let date = "Mon, 30 Nov 2026 20:00:00 GMT"
  private static let now = 1_796_068_800.0

  private static let metadata = ServerMetadata(
    issuer: "https://id.example", tokenEndpoint: "https://id.example/oauth/token?tenant=t",
    authorizationEndpoint: "https://id.example/authorize", deviceAuthorizationEndpoint: "https://id.example/device",
    revocationEndpoint: "https://id.example/revoke", userInfoEndpoint: "https://api.example/userinfo",
    keySet: "https://keys.example/jwks")

  private static func connection(
    _ authentication: ClientAuthentication = .none, scope: String? = "openid", metadata: ServerMetadata = metadata
  ) -> OAuth2Connection {
    OAuth2Connection(metadata: metadata, clientID: "client:1", authentication: authentication, scope: scope)
  }

  private func client(_ transport: StubTransport, time: any TimeSource = ManualClock()) throws -> APIClient {
    APIClient(
      baseURL: try #require(URL(string: "https://unused.example")), transport: transport, time: time)
  }

  private func signIn(
    _ transport: StubTransport, _ connection: OAuth2Connection = connection(), secret: ClientSecret? = nil
  ) throws -> OAuth2SignIn {
    OAuth2SignIn(client: try client(transport), connection: connection, secret: secret)
  }

  private static func tokens(_ more: String = "", access: String = "a1", refresh: String? = "r1")
    -> StubTransport.Answer
  {
    let refresh = refresh.map { ",\"refresh_token\":\"\($0)\"" } ?? ""
    return .json(
      200, "{\"access_token\":\"\(access)\",\"token_type\":\"bearer\",\"expires_in\":600\(refresh)\(more)}",
      headers: ["Date": date])
  }

  private static func error(_ status: Int, _ code: String) -> StubTransport.Answer {
    .json(status, "{\"error\":\"\(code)\",\"error_description\":\"words\"}")
  }

  private static var keys: StubTransport.Answer {
    get throws {
      let set: JSONValue = ["keys": [SigningKey.curve.json]]
      return .json(200, String(decoding: try JSONEncoder().encode(set), as: UTF8.self))
    }
  }

  private func form(_ request: HTTPRequest) throws -> [String: String] {
    #expect(request.headers["Content-Type"] == "application/x-www-form-urlencoded")
    #expect(request.hasCredentialBody)
    return try FormEncoding.decode(String(decoding: try #require(request.body), as: UTF8.self))
  }

  private func idToken(_ nonce: String?, _ changes: [String: JSONValue] = [:]) throws -> String {
    var claims: [String: JSONValue] = [
      "iss": "https://id.example", "sub": "user-1", "aud": "client:1", "iat": .number(Self.now),
      "exp": .number(Self.now + 300), "email": "anna@example.com",
    ]
    if let nonce { claims["nonce"] = .string(nonce) }
    claims.merge(changes) { _, new in new }
    return try SigningKey.curve.token(claims)
  }

  // MARK: The authorization code

  @Test("a code is redeemed with its verifier, and the ID token tells the user, by the server's clock")
  func code() async throws {
    let transport = StubTransport()
    let signIn = try signIn(transport)
    let request = try signIn.authorizationRequest(redirectURI: "http://127.0.0.1:5000/callback")
    transport.append(Self.tokens(",\"id_token\":\"\(try idToken(request.nonce))\""))
    transport.append(try Self.keys)
    let outcome = try await signIn.redeem(
      "http://127.0.0.1:5000/callback?code=c%201&state=\(request.state)", of: request)
    #expect(
      outcome.grant.response == TokenResponse(accessToken: "a1", refreshToken: "r1", expiresIn: 600, scope: "openid"))
    #expect(outcome.grant.user == SessionUser(id: "user-1", email: "anna@example.com"))
    #expect(outcome.grant.serverDate == Date(timeIntervalSince1970: Self.now))
    #expect(outcome.connection.subject == "user-1")
    let sent = transport.requests[0]
    #expect(sent.url.absoluteString == "https://id.example/oauth/token?tenant=t")
    #expect(
      try form(sent) == [
        "grant_type": "authorization_code", "code": "c 1", "redirect_uri": "http://127.0.0.1:5000/callback",
        "code_verifier": request.pkce.verifier, "client_id": "client:1",
      ])
    #expect(transport.requests[1].url.absoluteString == "https://keys.example/jwks")
  }

  @Test("an answer to another request redeems nothing: nothing is sent")
  func stateMismatch() async throws {
    let transport = StubTransport()
    let signIn = try signIn(transport)
    let request = try signIn.authorizationRequest(redirectURI: "http://127.0.0.1:5000/callback")
    let error = await #expect(throws: OAuthError.self) {
      try await signIn.redeem("http://127.0.0.1:5000/callback?code=c&state=other", of: request)
    }
    #expect(error?.code == .wrongState)
    #expect(transport.requests.isEmpty)
  }

  @Test("a code that was used before has its own error")
  func replay() async throws {
    let transport = StubTransport([Self.error(400, "invalid_grant")])
    let signIn = try signIn(transport)
    let request = try signIn.authorizationRequest(redirectURI: "http://127.0.0.1:5000/callback")
    let error = await #expect(throws: OAuthError.self) {
      try await signIn.redeem("http://127.0.0.1:5000/callback?code=c&state=\(request.state)", of: request)
    }
    #expect(error?.code == .codeRefused && error?.serverCode == .invalidGrant)
  }

  @Test("an ID token that is wrong stops the sign-in, and the tokens beside it are revoked")
  func wrongIDToken() async throws {
    let transport = StubTransport()
    let signIn = try signIn(transport)
    let request = try signIn.authorizationRequest(redirectURI: "http://127.0.0.1:5000/callback")
    transport.append(Self.tokens(",\"id_token\":\"\(try idToken("another"))\""))
    transport.append(try Self.keys)
    transport.append(.response(HTTPResponse(status: 200)))
    let error = await #expect(throws: OAuthError.self) {
      try await signIn.redeem("http://127.0.0.1:5000/callback?code=c&state=\(request.state)", of: request)
    }
    #expect(error?.code == .wrongNonce)
    #expect(transport.requests[2].url.path() == "/revoke")
    #expect(try form(transport.requests[2])["token"] == "r1")
  }

  @Test(
    "what the token endpoint refuses has its own error",
    arguments: [
      (401, "invalid_client", OAuthError.Code.clientRefused), (400, "unauthorized_client", .grantNotAllowed),
      (400, "unsupported_grant_type", .grantNotSupported), (400, "invalid_scope", .scopeRefused),
    ])
  func refusals(status: Int, code: String, expected: OAuthError.Code) async throws {
    let error = await #expect(throws: OAuthError.self) {
      try await signIn(StubTransport([Self.error(status, code)])).clientCredentials()
    }
    #expect(error?.code == expected)
    #expect(error?.message.contains("words") == true)
  }

  @Test("a token of a type that this client cannot send is none (RFC 6749 §7.1)")
  func tokenType() async throws {
    let transport = StubTransport([.json(200, #"{"access_token":"a","token_type":"mac"}"#)])
    let error = await #expect(throws: OAuthError.self) { try await signIn(transport).clientCredentials() }
    #expect(error?.code == .tokenTypeNotSupported)
  }

  // MARK: The client

  @Test("the client proves itself as told: not at all, by the header, or in the form (RFC 6749 §2.3.1)")
  func authentication() async throws {
    let secret = ClientSecret("s:ä+")
    for method in ClientAuthentication.allCases {
      let transport = StubTransport([Self.tokens(refresh: nil)])
      let given = method == .none ? nil : secret
      let outcome = try await signIn(transport, Self.connection(method, scope: nil), secret: given).clientCredentials()
      #expect(outcome.grant.response.refreshToken == nil)
      let request = transport.requests[0]
      let form = try form(request)
      switch method {
      case .none:
        #expect(form == ["grant_type": "client_credentials", "client_id": "client:1"])
        #expect(request.headers["Authorization"] == nil)
      case .basic:
        #expect(form == ["grant_type": "client_credentials"])
        let pair = Data("client%3A1:s%3A%C3%A4%2B".utf8).base64EncodedString()
        #expect(request.headers["Authorization"] == "Basic \(pair)")
      case .post:
        #expect(form == ["grant_type": "client_credentials", "client_id": "client:1", "client_secret": "s:ä+"])
        #expect(request.headers["Authorization"] == nil)
      }
    }
  }

  @Test("the password grant is a sign-in like any other; a wrong password is invalid credentials")
  func password() async throws {
    let transport = StubTransport([Self.tokens(), Self.error(400, "invalid_grant"), Self.error(401, "invalid_client")])
    let backend = OAuth2Backend(client: try client(transport), connection: Self.connection())
    let grant = try await backend.signIn(Credentials(identifier: "anna", password: "p&w=1"))
    #expect(grant.response.accessToken == "a1")
    #expect(
      try form(transport.requests[0]) == [
        "grant_type": "password", "username": "anna", "password": "p&w=1", "scope": "openid", "client_id": "client:1",
      ])
    let wrong = await #expect(throws: APIError.self) {
      try await backend.signIn(Credentials(identifier: "anna", password: "x"))
    }
    #expect(wrong?.kind == .invalidCredentials)
    let client = await #expect(throws: OAuthError.self) {
      try await backend.signIn(Credentials(identifier: "anna", password: "x"))
    }
    #expect(client?.code == .clientRefused, "a wrong client is no wrong password")
  }

  // MARK: Refreshing

  enum Verdict: Sendable, Equatable {
    case granted(String?)
    case refused(String?)
    case passing(ambiguous: Bool, unclassified: Bool)
  }

  @Test(
    "S10: invalid_grant alone ends a session; a new refresh token is optional",
    arguments: [
      (200, #"{"access_token":"a2","token_type":"Bearer","refresh_token":"r2"}"#, Verdict.granted("r2")),
      (200, #"{"access_token":"a2","token_type":"Bearer"}"#, .granted(nil)),
      (400, #"{"error":"invalid_grant"}"#, .refused("invalid_grant")),
      (401, #"{"error":"invalid_client"}"#, .passing(ambiguous: false, unclassified: false)),
      (400, #"{"error":"invalid_request"}"#, .passing(ambiguous: false, unclassified: true)),
      (400, #"{"error":"unauthorized_client"}"#, .passing(ambiguous: false, unclassified: true)),
      (400, #"{"error":"temporarily_unavailable"}"#, .passing(ambiguous: false, unclassified: true)),
      (503, "", .passing(ambiguous: false, unclassified: false)),
      (400, #"{"message":"invalid_grant"}"#, .passing(ambiguous: false, unclassified: true)),
      (200, #"{"access_token":"a2","token_type":"mac"}"#, .passing(ambiguous: true, unclassified: false)),
      (200, "<html>", .passing(ambiguous: true, unclassified: false)),
    ] as [(Int, String, Verdict)])
  func refresh(status: Int, body: String, expected: Verdict) async throws {
    let transport = StubTransport([.json(status, body)])
    let backend = OAuth2Backend(client: try client(transport), connection: Self.connection())
    let verdict: Verdict =
      switch await backend.refresh(refreshToken: "r1") {
      case .granted(let grant): .granted(grant.response.refreshToken)
      case .refused(let refusal): .refused(refusal.code)
      case .passing(let failure): .passing(ambiguous: failure.isAmbiguous, unclassified: failure.isUnclassified)
      }
    #expect(verdict == expected)
    #expect(transport.requests.count == 1)
    #expect(
      try form(transport.requests[0]) == [
        "grant_type": "refresh_token", "refresh_token": "r1", "client_id": "client:1",
      ])
  }

  // MARK: Through the engine

  @Test("through the engine: a code's session refreshes with the old token kept, tells its user, and is revoked")
  func engine() async throws {
    let transport = StubTransport()
    try await withVirtualTime { clock, tasks in
      let client = try client(transport, time: clock)
      let backend = OAuth2Backend(client: client, connection: Self.connection(scope: nil))
      let engine = SessionEngine(
        slot: SessionSlot(server: "https://id.example"), backend: backend, store: InMemorySessionStore(time: clock),
        time: clock, tasks: tasks)
      transport.append(Self.tokens())
      let outcome = try await OAuth2SignIn(client: client, connection: Self.connection(scope: nil)).password(
        Credentials(identifier: "anna", password: "p"))
      try await engine.signIn(with: outcome.grant)
      try await clock.sleep(for: .seconds(601))
      transport.append(Self.tokens(access: "a2", refresh: nil))
      #expect(try await engine.validAccessToken() == "a2")
      try await clock.sleep(for: .seconds(601))
      transport.append(Self.tokens(access: "a3", refresh: "r3"))
      #expect(try await engine.validAccessToken() == "a3")
      #expect(try form(transport.requests[2])["refresh_token"] == "r1", "the old one, since no new one came")
      transport.append(.json(200, #"{"sub":"user-1","preferred_username":"anna"}"#))
      #expect(try await engine.currentUser() == SessionUser(id: "user-1", username: "anna"))
      #expect(transport.requests[3].url.absoluteString == "https://api.example/userinfo")
      #expect(transport.requests[3].headers["Authorization"] == "Bearer a3")
      transport.append(.response(HTTPResponse(status: 200)))
      #expect(try await engine.signOut().revoked)
      #expect(
        try form(transport.requests[4]) == [
          "token": "r3", "token_type_hint": "refresh_token", "client_id": "client:1",
        ])
    }
  }

  @Test("userinfo of another user than the one who signed in is refused (OpenID Connect Core §5.3.2)")
  func wrongSubject() async throws {
    let transport = StubTransport([.json(200, #"{"sub":"user-2"}"#), .json(200, #"{"sub":"user-1"}"#)])
    var connection = Self.connection()
    connection.subject = "user-1"
    let backend = OAuth2Backend(client: try client(transport), connection: connection)
    let error = await #expect(throws: OAuthError.self) { try await backend.user(authorizedBy: FixedToken()) }
    #expect(error?.code == .wrongSubject)
    #expect(try await backend.user(authorizedBy: FixedToken()).id == "user-1")
  }

  private struct FixedToken: RequestAuthorizer {
    func authorize() async throws -> RequestAuthorization { RequestAuthorization(accessToken: "a", session: "s") }
    func authorizeAfterUnauthorized(
      _ refused: RequestAuthorization, endpoint: String
    ) async throws -> RequestAuthorization? { nil }
    func noteResend(_ authorization: RequestAuthorization, endpoint: String, accepted: Bool) async {}
    func checkStillCurrent(_ authorization: RequestAuthorization) throws {}
  }

  @Test(
    "what became of the tokens at the server (RFC 7009 §2.2)",
    arguments: [
      (200, "", "revoked"), (503, "", "failed"), (400, #"{"error":"unsupported_token_type"}"#, "rejected"),
      (401, #"{"error":"invalid_client"}"#, "rejected"),
    ])
  func revocation(status: Int, body: String, expected: String) async throws {
    let backend = OAuth2Backend(
      client: try client(StubTransport([.json(status, body)])), connection: Self.connection())
    let tokens = PendingRevocation(
      id: UUID(), slot: SessionSlot(server: "https://id.example"), profile: "oauth2", accessToken: "a1",
      refreshToken: nil, since: Date(timeIntervalSince1970: 0))
    #expect("\(await backend.revoke(tokens))".hasPrefix(expected))
    var bare = Self.metadata
    bare.revocationEndpoint = nil
    let without = OAuth2Backend(
      client: try client(StubTransport()), connection: Self.connection(metadata: bare))
    #expect(await without.revoke(tokens) == .unsupported)
  }

  // MARK: The device code

  private static let device = StubTransport.Answer.json(
    200,
    #"""
    {"device_code":"d1","user_code":"WDJB-MJHT","verification_uri":"https://id.example/device",
    "verification_uri_complete":"https://id.example/device?user_code=WDJB-MJHT","expires_in":120,"interval":5}
    """#)

  @Test("a device code is polled as often as the server allows, longer after slow_down and after trouble")
  func deviceCode() async throws {
    let transport = StubTransport([
      Self.device, Self.error(400, "authorization_pending"), Self.error(400, "slow_down"),
      Self.error(400, "authorization_pending"), .json(503, ""), Self.tokens(),
    ])
    try await withVirtualTime { clock, tasks in
      let start = clock.sinceBoot
      let times = Guarded<[Duration]>([])
      let shown = Guarded<DeviceAuthorization?>(nil)
      let signIn = OAuth2SignIn(client: try client(transport, time: clock), connection: Self.connection())
      let outcome = try await signIn.device(time: clock) { authorization in
        shown.withLock { $0 = authorization }
        times.withLock { $0.append(clock.sinceBoot - start) }
      }
      #expect(outcome.grant.response.accessToken == "a1")
      // 5 pending, 5 slow_down, 10 pending, 10 trouble, 20.
      #expect(clock.sinceBoot - start == .seconds(50))
      #expect(
        shown.withLock { $0 }
          == DeviceAuthorization(
            userCode: "WDJB-MJHT", verificationURI: "https://id.example/device",
            completeURI: "https://id.example/device?user_code=WDJB-MJHT", lifetime: .seconds(120)))
      #expect(try form(transport.requests[0]) == ["scope": "openid", "client_id": "client:1"])
      #expect(
        try form(transport.requests[1]) == [
          "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": "d1", "client_id": "client:1",
        ])
    }
  }

  @Test(
    "a device code that is refused or runs out has its own error",
    arguments: [("access_denied", OAuthError.Code.denied), ("expired_token", .deviceCodeExpired)])
  func deviceRefused(code: String, expected: OAuthError.Code) async throws {
    let transport = StubTransport([Self.device, Self.error(400, code)])
    try await withVirtualTime { clock, _ in
      let signIn = OAuth2SignIn(client: try client(transport, time: clock), connection: Self.connection())
      let error = await #expect(throws: OAuthError.self) { try await signIn.device(time: clock) { _ in } }
      #expect(error?.code == expected)
    }
  }

  @Test("nobody polls beyond the code's life, and a server without the endpoint is told so")
  func deviceEnds() async throws {
    let transport = StubTransport([Self.device], otherwise: { _ in Self.error(400, "authorization_pending") })
    try await withVirtualTime { clock, _ in
      let signIn = OAuth2SignIn(client: try client(transport, time: clock), connection: Self.connection())
      let error = await #expect(throws: OAuthError.self) { try await signIn.device(time: clock) { _ in } }
      #expect(error?.code == .deviceCodeExpired)
      #expect(transport.requests.count == 24, "one for the code, and one each 5 s of 120, the last one left out")
      var bare = Self.metadata
      bare.deviceAuthorizationEndpoint = nil
      let without = OAuth2SignIn(
        client: try client(transport, time: clock), connection: Self.connection(metadata: bare))
      let missing = await #expect(throws: OAuthError.self) { try await without.device(time: clock) { _ in } }
      #expect(missing?.code == .notSupported)
    }
  }

  @Test(
    "a page that is none is not shown to anybody",
    arguments: ["javascript:alert(1)", "https://id.example/\u{1B}[2J", "", "id.example/device"])
  func devicePage(page: String) async throws {
    let body: JSONValue = ["device_code": "d", "user_code": "u", "verification_uri": .string(page)]
    let text = String(decoding: try JSONEncoder().encode(body), as: UTF8.self)
    try await withVirtualTime { clock, _ in
      let signIn = OAuth2SignIn(
        client: try client(StubTransport([.json(200, text)]), time: clock), connection: Self.connection())
      await #expect(throws: APIError.self) { try await signIn.device(time: clock) { _ in } }
    }
  }
}

import AuthModels
import AuthNetworking
import AuthNetworkingCurl
import AuthNetworkingURLSession
import AuthTestSupport
import Foundation
import Groundwork
import MockServerCore
import MockServerHTTP
import Testing

/// The transports that are tried against the real server.
enum LiveTransport: CaseIterable, Sendable {
  case curl, urlSession

  func make(maximumResponseBytes: Int = 16 << 20) -> any HTTPTransport {
    switch self {
    case .curl: CurlTransport(options: .init(maximumResponseBytes: maximumResponseBytes))
    case .urlSession: URLSessionTransport(options: .init(maximumResponseBytes: maximumResponseBytes))
    }
  }
}

/// A mock server behind its real sockets, and a client that reaches it through them.
private struct LiveServer {
  let realm: MockRealm
  let front: HTTPFront
  let client: APIClient

  init(transport: any HTTPTransport) throws {
    let server = MockAuthServer(
      configuration: MockServerConfiguration(
        users: [MockSeedUser(username: "anna", email: "anna@example.com", password: "password123")]))
    realm = server.realm()
    front = HTTPFront(handler: server)
    let address = try front.start()
    client = APIClient(
      baseURL: try #require(URL(string: address.url)), transport: transport)
  }
}

/// Sends the token that it was made with.
private struct FixedAuthorizer: RequestAuthorizer {
  let token: String

  func authorize() async throws -> RequestAuthorization { RequestAuthorization(accessToken: token, session: "s") }
  func authorizeAfterUnauthorized(
    _ refused: RequestAuthorization, endpoint: String
  ) async throws -> RequestAuthorization? { nil }
  func noteResend(_ authorization: RequestAuthorization, endpoint: String, accepted: Bool) async {}
  func checkStillCurrent(_ authorization: RequestAuthorization) throws {}
}

@Suite("APIClient over real sockets against the mock server")
struct MockServerTests {
  private let anna = API.login(email: "anna@example.com", password: "password123")

  /// Runs `body` against a server of its own, and stops it.
  private func withServer(
    _ transport: any HTTPTransport, _ body: (LiveServer) async throws -> Void
  ) async throws {
    let live = try LiveServer(transport: transport)
    do {
      try await body(live)
    } catch {
      await live.front.stop()
      throw error
    }
    await live.front.stop()
  }

  private func failure<R: Sendable>(_ live: LiveServer, _ endpoint: Endpoint<R>) async -> APIError? {
    await #expect(throws: APIError.self) { _ = try await live.client.send(endpoint) }
  }

  @Test(
    "register, login, me, feed, post, refresh, logout: both sides read the wire format alike",
    arguments: LiveTransport.allCases)
  func wholeDialect(kind: LiveTransport) async throws {
    try await withServer(kind.make()) { live in
      let registered = try await live.client.send(
        API.register(username: "bob_1", email: "bob@example.com", password: "password456"))
      #expect(registered.username == "bob_1" && registered.email == "bob@example.com")
      let (tokens, response) = try await live.client.exchange(
        API.login(email: "bob@example.com", password: "password456"))
      #expect(tokens.refreshToken != nil && tokens.expiresIn == 900 && tokens.tokenType == "Bearer")
      #expect(response.headers["Date"].flatMap(HTTPDate.parse) != nil)

      let authed = APIClient(
        baseURL: live.client.baseURL, transport: kind.make(),
        interceptors: [
          UserAgentInterceptor(product: "chirp-tests/1"), RequestIDInterceptor(), RetryInterceptor(),
          BearerInterceptor(authorizer: FixedAuthorizer(token: tokens.accessToken)),
        ])
      #expect(try await authed.send(API.me()) == registered)
      let first = try await authed.send(API.feed(limit: 2))
      #expect(first.items.count == 2)
      let cursor = try #require(first.nextCursor)
      let second = try await authed.send(API.feed(limit: 2, cursor: cursor))
      #expect(Set(first.items.map(\.id)).isDisjoint(with: second.items.map(\.id)))

      let text = "Grüße, \"Welt\" \\ 😀\n"
      let post = try await authed.send(API.createPost(text: text, idempotencyKey: "key-1"))
      let again = try await authed.send(API.createPost(text: text, idempotencyKey: "key-1"))
      #expect(post.text == text && post.author == "bob_1" && again.id == post.id)
      #expect(live.realm.count(.post, .replayed) == 1)

      let refresh = try #require(tokens.refreshToken)
      let rotated = try await live.client.send(API.refresh(refreshToken: refresh))
      #expect(rotated.accessToken != tokens.accessToken && rotated.refreshToken != refresh)
      try await live.client.send(API.logout(refreshToken: try #require(rotated.refreshToken)))
      let dead = await failure(live, API.refresh(refreshToken: try #require(rotated.refreshToken)))
      #expect(dead?.serverCode == .invalidGrant && dead?.shape == .chirp && dead?.status == 401)
    }
  }

  @Test(
    "the envelope dialect: tokens without a lifetime, the user, the refusal (D2.2)", arguments: LiveTransport.allCases)
  func envelope(kind: LiveTransport) async throws {
    try await withServer(kind.make()) { live in
      let tokens = try await live.client.send(EnvelopeAPI.login(username: "anna", password: "password123"))
      #expect(tokens.expiresIn == nil)
      let authed = APIClient(
        baseURL: live.client.baseURL, transport: kind.make(),
        interceptors: [BearerInterceptor(authorizer: FixedAuthorizer(token: tokens.accessToken))])
      #expect(try await authed.send(EnvelopeAPI.me()).username == "anna")
      let rotated = try await live.client.send(EnvelopeAPI.refresh(refreshToken: try #require(tokens.refreshToken)))
      #expect(rotated.accessToken != tokens.accessToken)
      let refused = await failure(live, EnvelopeAPI.login(username: "anna", password: "wrong-password"))
      #expect(refused?.kind == .invalidCredentials && refused?.shape == .envelope)
    }
  }

  @Test("the server's refusals reach the right field and kind (D1.5, D1.7)", arguments: LiveTransport.allCases)
  func refusals(kind: LiveTransport) async throws {
    try await withServer(kind.make()) { live in
      let wrong = await failure(live, API.login(email: "anna@example.com", password: "not-this-one"))
      #expect(wrong?.kind == .invalidCredentials && wrong?.userMessage == "Invalid email or password.")
      let taken = await failure(
        live, API.register(username: "other", email: "anna@example.com", password: "password123"))
      #expect(taken?.kind == .conflict && taken?.serverCode == .emailTaken)
      let name = await failure(live, API.register(username: "anna", email: "new@example.com", password: "password123"))
      #expect(name?.kind == .conflict && name?.serverCode == .usernameTaken)
      let invalid = await failure(live, API.register(username: "a", email: "no", password: "short"))
      #expect(
        invalid?.kind == .validation && Set(invalid?.fields.keys.map { $0 } ?? []) == ["username", "email", "password"])
      let nobody = await failure(live, API.me())
      #expect(nobody?.kind == .unauthorized)
      let missing = await failure(live, Endpoint<Void>(method: .get, path: "/no/such/thing", requiresAuth: false))
      #expect(missing?.kind == .notFound)
    }
  }

  @Test("a raw call gives whatever comes, 405 and Allow included", arguments: LiveTransport.allCases)
  func raw(kind: LiveTransport) async throws {
    try await withServer(kind.make()) { live in
      let response = try await live.client.sendRaw(RawCall(.delete, "/me", requiresAuth: false))
      #expect(response.status == 405 && response.headers["Allow"] != nil)
    }
  }

  @Test("a scripted status, delay and Retry-After come through", arguments: LiveTransport.allCases)
  func scripted(kind: LiveTransport) async throws {
    try await withServer(kind.make()) { live in
      live.realm.script(
        .login, MockAction(status: 503, headers: [.init("Retry-After", "9")]), MockAction(status: 429), .real)
      let down = await failure(live, anna)
      #expect(down?.kind == .serverError && down?.retryAfter == .seconds(9))
      #expect(await failure(live, anna)?.kind == .rateLimited)
      _ = try await live.client.send(anna)
    }
  }

  @Test(
    "an answer that breaks on the wire is an error that says so, and the operation was done once",
    arguments: [
      (MockBreak.close, MockPhase.afterCommit), (.reset, .afterCommit), (.close, .midBody), (.reset, .midBody),
      (.truncate, .afterCommit), (.garbage, .afterCommit),
    ], LiveTransport.allCases)
  func broken(fault: (how: MockBreak, phase: MockPhase), kind: LiveTransport) async throws {
    try await withServer(kind.make()) { live in
      let tokens = try await live.client.send(anna)
      live.realm.script(.refresh, MockAction(breaks: fault.how, phase: fault.phase))
      let error = await failure(live, API.refresh(refreshToken: try #require(tokens.refreshToken)))
      #expect(error?.kind == .transport && error?.transport?.mayHaveBeenSent == true)
      #expect([.connectionLost, .malformedResponse].contains(error?.transport?.code))
      #expect(live.realm.count(.refresh) == 1)
    }
  }

  @Test(
    "an answer whose body is not what was promised is undecodable", arguments: [MockBreak.malformed, .wrongType],
    LiveTransport.allCases)
  func undecodable(how: MockBreak, kind: LiveTransport) async throws {
    try await withServer(kind.make()) { live in
      live.realm.script(.login, MockAction(breaks: how, phase: .afterCommit))
      let error = await failure(live, anna)
      #expect(error?.kind == .undecodable && error?.status == 200)
    }
  }

  @Test("a huge answer ends at the limit", arguments: LiveTransport.allCases)
  func huge(kind: LiveTransport) async throws {
    try await withServer(kind.make(maximumResponseBytes: 1 << 20)) { live in
      live.realm.script(.login, MockAction(breaks: .huge))
      #expect(await failure(live, anna)?.transport?.code == .responseTooLarge)
    }
  }

  @Test(
    "a held answer: cancelling ends the call at once, and the server has seen it once",
    arguments: LiveTransport.allCases)
  func held(kind: LiveTransport) async throws {
    try await withServer(kind.make()) { live in
      live.realm.script(.login, MockAction(hold: "door"))
      let task = Task { try await live.client.send(anna) }
      #expect(await live.realm.waitForCount(MockJournalFilter(operation: .login), atLeast: 1) == 1)
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(live.realm.count(.login) == 1)
    }
  }

  @Test("50 calls at once are 50 answers", arguments: LiveTransport.allCases)
  func concurrent(kind: LiveTransport) async throws {
    try await withServer(kind.make()) { live in
      let tokens = try await live.client.send(anna)
      let authed = APIClient(
        baseURL: live.client.baseURL, transport: kind.make(),
        interceptors: [BearerInterceptor(authorizer: FixedAuthorizer(token: tokens.accessToken))])
      try await withThrowingTaskGroup(of: PublicUser.self) { group in
        for _ in 0..<50 { group.addTask { try await authed.send(API.me()) } }
        for try await user in group { #expect(user.username == "anna") }
      }
      #expect(live.realm.count(.me, .ok) == 50)
    }
  }
}

import AuthModels
import AuthNetworking
import AuthTestSupport
import Foundation
import Groundwork
import Testing

@Suite("APIClient: the answer")
struct ResponseTests {
  private func failure<R: Sendable>(
    _ answer: StubTransport.Answer, _ endpoint: Endpoint<R>, time: any TimeSource = ManualClock()
  ) async -> APIError? {
    do {
      _ = try await client(StubTransport([answer]), time: time).send(endpoint)
      return nil
    } catch {
      return error as? APIError
    }
  }

  @Test("a login gives its tokens, and the whole answer beside them")
  func login() async throws {
    let transport = StubTransport([
      .json(
        200, #"{"accessToken":"a","refreshToken":"r","expiresIn":900,"tokenType":"Bearer"}"#,
        headers: ["Date": "Sun, 06 Nov 1994 08:49:37 GMT", "X-Request-ID": "abc"])
    ])
    let (value, response) = try await client(transport).exchange(API.login(email: "a@b.co", password: "12345678"))
    #expect(value == TokenResponse(accessToken: "a", refreshToken: "r", expiresIn: 900))
    #expect(response.headers["date"] == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(response.status == 200)
  }

  @Test("an envelope login has no lifetime, and may lack the refresh token (D2.1, D2.2)")
  func envelope() async throws {
    let transport = StubTransport([
      .json(200, #"{"data":{"accessToken":"a","refreshToken":"r"}}"#), .json(200, #"{"data":{"accessToken":"a"}}"#),
      .json(200, #"{"data":{"id":7,"username":"anna","email":"a@b.co"}}"#),
      .json(200, #"{"id":"u1","username":"anna"}"#),
    ])
    let client = client(transport)
    #expect(
      try await client.send(EnvelopeAPI.login(username: "u", password: "p"))
        == TokenResponse(accessToken: "a", refreshToken: "r", expiresIn: nil))
    #expect(try await client.send(EnvelopeAPI.refresh(refreshToken: "r")).refreshToken == nil)
    #expect(try await client.send(EnvelopeAPI.me()) == SessionUser(id: "7", email: "a@b.co", username: "anna"))
    #expect(try await client.send(EnvelopeAPI.me()) == SessionUser(id: "u1", username: "anna"))
  }

  @Test(
    "dates with and without fractions, and with offsets",
    arguments: [
      ("2026-11-30T19:17:02Z", 1_796_066_222.0), ("2026-11-30T19:17:02.5Z", 1_796_066_222.5),
      ("2026-11-30t19:17:02.123456789z", 1_796_066_222.123456789), ("2026-11-30T20:17:02+01:00", 1_796_066_222.0),
      ("2026-11-30T14:47:02-0430", 1_796_066_222.0), ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59Z", -1),
      ("2000-02-29T00:00:00Z", 951_782_400), ("0000-01-01T00:00:00Z", -62_167_219_200),
      ("9999-12-31T23:59:59Z", 253_402_300_799),
    ])
  func dates(text: String, seconds: Double) throws {
    let date = try #require(InternetDate.parse(text))
    #expect(abs(date.timeIntervalSince1970 - seconds) < 0.000_01)
  }

  @Test(
    "what is no date is none",
    arguments: [
      "", "now", "2026-11-30", "2026-11-30T19:17:02", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z",
      "1900-02-29T00:00:00Z",
      "2026-11-31T00:00:00Z", "2026-11-30T24:00:00Z", "2026-11-30T19:60:02Z", "2026-11-30T19:17:61Z",
      "2026-11-30T19:17:02.Z",
      "2026-11-30T19:17:02+1", "2026-11-30T19:17:02+25:00", "2026-11-30T19:17:02Zx", "20261130T191702Z",
      "-026-11-30T19:17:02Z",
      "2026-11-30T19:17:02.99999999999999999999999999999999999999999999999999Z", "２０２６-11-30T19:17:02Z",
    ])
  func noDates(text: String) {
    #expect(InternetDate.parse(text) == nil)
  }

  @Test("a user, a feed, an empty answer")
  func values() async throws {
    let transport = StubTransport([
      .json(200, #"{"id":"1","username":"anna","email":"a@b.co","createdAt":"2026-11-30T19:17:02.250Z"}"#),
      .json(
        200, #"{"items":[{"id":"p","author":"anna","text":"hi","createdAt":"2026-11-30T19:17:02Z"}],"nextCursor":null}"#
      ),
      .response(HTTPResponse(status: 204)),
    ])
    let client = client(transport)
    #expect(try await client.send(API.me()).username == "anna")
    let page = try await client.send(API.feed())
    #expect(page.items.map(\.text) == ["hi"] && page.nextCursor == nil)
    try await client.send(API.logout(refreshToken: "r"))
  }

  @Test("the documented refusals become what a caller can act on")
  func refusals() async {
    let login = API.login(email: "a@b.co", password: "12345678")
    let wrong = await failure(
      .json(401, #"{"error":true,"reason":"Invalid email or password.","code":"invalid_credentials"}"#), login)
    #expect(wrong?.kind == .invalidCredentials && wrong?.shape == .chirp && wrong?.status == 401)
    #expect(wrong?.userMessage == "Invalid email or password.")

    let bare = await failure(.json(401, #"{"error":true,"reason":"no"}"#), login)
    #expect(bare?.kind == .invalidCredentials && bare?.serverCode == nil && bare?.shape == .chirp)

    let enveloped = await failure(
      .json(401, #"{"error":{"message":"Nope"}}"#), EnvelopeAPI.login(username: "u", password: "p"))
    #expect(enveloped?.kind == .invalidCredentials && enveloped?.shape == .envelope)

    let dead = await failure(
      .json(401, #"{"error":true,"reason":"Reused","code":"invalid_grant","detail":"reused"}"#),
      API.refresh(refreshToken: "r"))
    #expect(dead?.kind == .unauthorized && dead?.serverCode == .invalidGrant && dead?.shape == .chirp)

    let oauth = await failure(
      .json(400, #"{"error":"invalid_grant","error_description":"gone"}"#), API.refresh(refreshToken: "r"))
    #expect(oauth?.serverCode == .invalidGrant && oauth?.shape == .oauth2 && oauth?.serverMessage == "gone")
    #expect(oauth?.kind == .validation)

    let taken = await failure(
      .json(409, #"{"error":true,"reason":"Taken","code":"email_taken","fields":{"email":"Taken."}}"#),
      API.register(username: "u", email: "e", password: "p"))
    #expect(taken?.kind == .conflict && taken?.fields == ["email": "Taken."])

    let invalid = await failure(
      .json(422, #"{"error":true,"reason":"Bad","code":"validation_failed","fields":{"password":"Short.","x":1}}"#),
      API.register(username: "u", email: "e", password: "p"))
    #expect(invalid?.kind == .validation && invalid?.fields == ["password": "Short."])

    let limited = await failure(
      .json(429, #"{"error":true,"reason":"Slow","code":"rate_limited"}"#, headers: ["Retry-After": "7"]), login)
    #expect(limited?.kind == .rateLimited && limited?.retryAfter == .seconds(7))

    let refused = await failure(
      .json(401, #"{"error":true,"reason":"expired","code":"invalid_token"}"#), API.me())
    #expect(refused?.kind == .unauthorized)
  }

  @Test(
    "every status has its kind, whatever the body",
    arguments: [
      (400, .clientError), (401, .unauthorized), (403, .forbidden), (404, .notFound), (405, .clientError),
      (408, .serverError),
      (409, .conflict), (410, .notFound), (413, .clientError), (422, .clientError), (425, .serverError),
      (429, .rateLimited),
      (500, .serverError), (502, .serverError), (503, .serverError), (511, .serverError), (599, .serverError),
      (302, .undecodable),
      (304, .undecodable), (100, .undecodable), (700, .undecodable), (0, .undecodable), (-1, .undecodable),
      (Int.max, .undecodable),
    ] as [(Int, APIError.Kind)])
  func statuses(status: Int, kind: APIError.Kind) async {
    for body in ["", "<html>login</html>", "null", "[]", "{", "{\"error\":1}", "\u{0}"] {
      let error = await failure(.json(status, body), API.me())
      #expect(error?.kind == kind, "\(body)")
      #expect(error?.shape == nil && error?.serverCode == nil)
      #expect(error?.status == status)
      #expect(error?.detail?.contains("status \(status)") == true)
    }
  }

  @Test(
    "a success that is not what the call promises is undecodable; the error names the fault and no value",
    arguments: [
      ("", "not the JSON"), ("<html>sign in to this network</html>", "not the JSON"), ("{\"secret", "not the JSON"),
      (#"{"refreshToken":"secret"}"#, "accessToken"), (#"{"accessToken":{"secret":1}}"#, "accessToken"),
      (#"{"accessToken":null}"#, "accessToken"), (#"["secret"]"#, "the top is no JSON object"),
      (#"{"accessToken":7}"#, "accessToken is no text"), (#"{"accessToken":""}"#, "accessToken"),
    ])
  func undecodable(body: String, hint: String) async {
    let error = await failure(.json(200, body), API.refresh(refreshToken: "secret"))
    #expect(error?.kind == .undecodable && error?.status == 200 && error?.transport == nil)
    #expect(error?.detail?.contains(hint) == true, "\(error?.detail ?? "-")")
    #expect(error.map { "\($0)\($0.userMessage)".contains("secret") } == false)
  }

  @Test("server words are cut, and cannot drive a terminal")
  func hostileWords() async throws {
    let long = String(repeating: "é", count: 5000)
    let cut = await failure(.json(400, "{\"error\":true,\"reason\":\"\(long)\"}"), API.me())
    #expect(cut?.serverMessage?.count == 300)
    let escape = await failure(
      .json(400, #"{"error":true,"reason":"a\u001b[2J\r\nb\u202e\u0007","code":"x y","fields":{"\u001bn":"\u001b"}}"#),
      API.me())
    #expect(escape?.serverMessage == "a[2J  b")
    #expect(escape?.serverCode == nil)
    #expect(escape?.fields == ["n": ""])
  }

  @Test("a huge or deep error body is not read, and does not trap")
  func hugeError() async {
    let huge = await failure(
      .json(401, "{\"error\":true,\"reason\":\"" + String(repeating: "x", count: 70_000) + "\"}"), API.me())
    #expect(huge?.kind == .unauthorized && huge?.shape == nil)
    let deep = await failure(.json(401, String(repeating: "[", count: 60_000)), API.me())
    #expect(deep?.shape == nil)
    let many = await failure(
      .json(
        422,
        "{\"error\":true,\"reason\":\"x\",\"fields\":{"
          + (0..<1000).map { "\"f\($0)\":\"y\"" }.joined(separator: ",") + "}}"), API.me())
    #expect(many?.fields.count == 32)
  }

  @Test(
    "Retry-After: seconds or a date, against the server's clock, held within a day",
    arguments: [
      ("0", nil, .zero), ("120", nil, .seconds(120)), ("  5", nil, .seconds(5)),
      ("99999999999999999999999", nil, .seconds(86_400)),
      ("9223372036854775807", nil, .seconds(86_400)), ("86401", nil, .seconds(86_400)), ("-5", nil, nil),
      ("1.5", nil, nil),
      ("soon", nil, nil), ("", nil, nil),
      ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:07 GMT", .seconds(30)),
      ("Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:07 GMT", .seconds(30)),
      ("Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:07 GMT", .seconds(30)),
      ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 09:49:07 GMT", .zero),
      ("Thu, 01 Jan 2026 00:01:00 GMT", nil, .seconds(60)), ("Thu, 01 Jan 2026 00:01:00 GMT", "garbage", .seconds(60)),
      ("Fri, 31 Dec 9999 23:59:59 GMT", nil, .seconds(86_400)), ("Sun, 31 Feb 2026 00:00:00 GMT", nil, nil),
      ("Sun, 06 Nov 1994 08:49:37 CET", nil, nil),
    ] as [(String, String?, Duration?)])
  func retryAfter(value: String, date: String?, expected: Duration?) async {
    var headers: HTTPFields = ["Retry-After": value]
    headers["Date"] = date
    // The manual clock stands at 2026-01-01T00:00:00Z.
    #expect(await failure(.json(503, "", headers: headers), API.me())?.retryAfter == expected)
  }

  @Test("no answer: the transport's error is inside, with the id that was sent")
  func transportError() async {
    let lost = TransportError(.connectionLost, mayHaveBeenSent: true, message: "gone")
    let transport = StubTransport([.failure(lost)])
    let error = await #expect(throws: APIError.self) {
      try await client(transport, [RequestIDInterceptor(makeID: { "id-1" })]).send(API.me())
    }
    #expect(error == APIError(lost, requestID: "id-1"))
  }

  @Test("the server's request id wins over the one that was sent")
  func requestID() async {
    let transport = StubTransport([.json(500, "", headers: ["x-request-id": "theirs"]), .json(500, "")])
    let client = client(transport, [RequestIDInterceptor(makeID: { "ours" })])
    for expected in ["theirs", "ours"] {
      let error = await #expect(throws: APIError.self) { try await client.send(API.me()) }
      #expect(error?.requestID == expected)
    }
  }

  @Test("cancellation is a CancellationError, at any stage")
  func cancellation() async {
    let transport = StubTransport([.held("h", .json(200, "{}"))])
    let task = Task { try await client(transport).send(plain()) }
    await transport.requests(atLeast: 1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    let raw = StubTransport([.failure(TransportError(.cancelled, mayHaveBeenSent: true, message: ""))])
    await #expect(throws: CancellationError.self) {
      try await client(raw).sendRaw(RawCall(.get, "/x", requiresAuth: false))
    }
  }

  @Test(
    "a credential does not go over plain HTTP, except to this machine or where it was allowed by name (S24)",
    arguments: [
      ("http://api.example", false), ("http://127.evil.example", false), ("http://127.0.0.1.evil.example", false),
      ("http://localhost.evil.example", false), ("http://10.0.0.1", false), ("http://127.1", false),
      ("http://0.0.0.0", false),
      ("http://notlocalhost", false), ("http://127.0.0.256", false), ("http://127.0.0.01", false),
      ("https://api.example", true), ("http://localhost:8080", true), ("http://LOCALHOST", true),
      ("http://localhost.", true),
      ("http://api.localhost", true), ("http://127.0.0.1:1", true), ("http://127.255.0.9", true),
      ("http://[::1]:80", true),
    ])
  func insecure(base: String, isAllowed: Bool) async throws {
    for endpoint in [
      plain(.post, "/auth/login", body: Data("{}".utf8), hasCredentialBody: true),
      plain(.get, "/x", headers: ["authorization": "Bearer x"]), plain(.get, "/x", headers: ["Cookie": "a=b"]),
    ] {
      let transport = StubTransport(otherwise: { _ in .json(200, "{}") })
      if isAllowed {
        _ = try await client(transport, base: base).send(endpoint)
      } else {
        let error = await #expect(throws: APIError.self) { try await client(transport, base: base).send(endpoint) }
        #expect(error?.transport?.code == .insecureConnection)
        #expect(error?.transport?.mayHaveBeenSent == false)
        #expect(transport.requests.isEmpty)
        _ = try await client(transport, base: base, allowInsecureHTTP: true).send(endpoint)
        // Without a credential plain HTTP is fine.
        _ = try await client(transport, base: base).send(plain())
      }
    }
  }
}

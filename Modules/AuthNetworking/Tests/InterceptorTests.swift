import AuthModels
import AuthNetworking
import AuthTestSupport
import Foundation
import Groundwork
import Testing

/// Writes down that it was passed, on the way out and on the way back.
private struct Marker: HTTPInterceptor {
  let name: String
  let log: Guarded<[String]>

  func intercept(
    _ request: HTTPRequest, context: RequestContext, next: @Sendable (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    log.withLock { $0.append("\(name)>") }
    let response = try await next(request)
    log.withLock { $0.append("\(name)<") }
    return response
  }
}

/// A clock on which every wait is over at once, and is written down.
private final class RecordingClock: TimeSource {
  private let clock = LeapingClock()
  private let log = Guarded<[Duration]>([])

  var waits: [Duration] { log.withLock { $0 } }
  var wallClock: Date { clock.wallClock }
  var sinceBoot: Duration { clock.sinceBoot }
  var bootID: String { clock.bootID }

  func sleep(for duration: Duration) async throws {
    log.withLock { $0.append(duration) }
    try await clock.sleep(for: duration)
  }
}

@Suite("The chain, user agent, request id (D3.9)")
struct ChainTests {
  @Test("the first interceptor is the outermost")
  func order() async throws {
    let log = Guarded<[String]>([])
    let markers = ["a", "b", "c"].map { Marker(name: $0, log: log) }
    _ = try await client(StubTransport([.json(200, "")]), markers).send(plain())
    #expect(log.withLock { $0 } == ["a>", "b>", "c>", "c<", "b<", "a<"])
  }

  @Test("user agent and request id are set, unless the call brings its own")
  func fields() async throws {
    let transport = StubTransport(otherwise: { _ in .json(200, "") })
    let count = Guarded(0)
    let client = client(
      transport,
      [
        UserAgentInterceptor(product: "chirp/1.0"),
        RequestIDInterceptor(makeID: {
          count.withLock {
            $0 += 1; return "id-\($0)"
          }
        }),
      ])
    _ = try await client.send(plain())
    _ = try await client.send(plain())
    _ = try await client.send(plain(headers: ["user-agent": "mine", "x-request-id": "own"]))
    #expect(transport.requests.map { $0.headers["User-Agent"] } == ["chirp/1.0", "chirp/1.0", "mine"])
    #expect(transport.requests.map { $0.headers["X-Request-ID"] } == ["id-1", "id-2", "own"])
  }

  @Test("ids that nobody chose differ")
  func freshIDs() async throws {
    let transport = StubTransport(otherwise: { _ in .json(200, "") })
    let client = client(transport, [RequestIDInterceptor()])
    for _ in 0..<20 { _ = try await client.send(plain()) }
    #expect(Set(transport.requests.compactMap { $0.headers["X-Request-ID"] }).count == 20)
  }
}

@Suite("RetryInterceptor")
struct RetryInterceptorTests {
  private let lost = TransportError(.connectionLost, mayHaveBeenSent: true, message: "gone")

  /// Sends on a clock on which every wait is over at once; gives the waits, and checks their number.
  private func run(
    _ transport: StubTransport, _ endpoint: Endpoint<Data> = plain(), policy: RetryPolicy = RetryPolicy(),
    random: [Double] = [0.5], waits expected: Int
  ) async -> (result: Result<Data, any Error>, waits: [Duration]) {
    let clock = RecordingClock()
    let random = SequenceRandom(random)
    let client = client(
      transport, [RetryInterceptor(policy: policy, time: clock, random: { random.next() })], time: clock)
    let result = await Task { try await client.send(endpoint) }.result
    #expect(clock.waits.count == expected)
    return (result, clock.waits)
  }

  @Test("passing statuses are tried again, with the body as it was", arguments: [408, 425, 429, 502, 503, 504])
  func statuses(status: Int) async throws {
    let transport = StubTransport([.json(status, ""), .json(status, ""), .json(200, "ok")])
    let (result, waits) = await run(transport, plain(.put, "/x", body: Data("b".utf8)), waits: 2)
    #expect(try result.get() == Data("ok".utf8))
    #expect(transport.requests.map(\.body) == Array(repeating: Data("b".utf8), count: 3))
    #expect(waits == [.milliseconds(100), .milliseconds(200)])
  }

  @Test(
    "passing transport failures are tried again",
    arguments: [TransportError.Code.cannotConnect, .timedOut, .connectionLost, .malformedResponse])
  func failures(code: TransportError.Code) async throws {
    let transport = StubTransport([
      .failure(TransportError(code, mayHaveBeenSent: true, message: "")), .json(200, "ok"),
    ])
    #expect(try await run(transport, waits: 1).result.get() == Data("ok".utf8))
  }

  @Test("everything else is final", arguments: [200, 301, 400, 401, 403, 404, 409, 422, 500, 501])
  func finalStatuses(status: Int) async {
    let transport = StubTransport([.json(status, ""), .json(200, "")])
    _ = await run(transport, waits: 0)
    #expect(transport.requests.count == 1)
  }

  @Test(
    "failures that another try cannot mend are final",
    arguments: [
      TransportError.Code.tlsFailure, .responseTooLarge, .redirectRefused, .insecureConnection, .invalidRequest,
      .cancelled,
    ])
  func finalFailures(code: TransportError.Code) async {
    let transport = StubTransport([.failure(TransportError(code, mayHaveBeenSent: true, message: "")), .json(200, "")])
    _ = await run(transport, waits: 0)
    #expect(transport.requests.count == 1)
  }

  @Test("a call that is not idempotent, or carries a credential, is sent once")
  func onlyIdempotent() async {
    var keyed = plain(.put, "/x", hasCredentialBody: true)
    keyed.isIdempotent = true
    for endpoint in [plain(.post, "/x"), plain(.patch, "/x"), keyed] {
      for answer in [StubTransport.Answer.json(503, ""), .failure(lost)] {
        let transport = StubTransport([answer, .json(200, "")])
        _ = await run(transport, endpoint, waits: 0)
        #expect(transport.requests.count == 1)
      }
    }
    let post = StubTransport([.failure(lost), .json(200, "")])
    var withKey = plain(.post, "/x")
    withKey.isIdempotent = true
    _ = await run(post, withKey, waits: 1)
    #expect(post.requests.count == 2)
  }

  @Test("when the attempts run out, the last answer is reported as it is")
  func attemptsRunOut() async {
    let transport = StubTransport(otherwise: { _ in .json(503, #"{"error":true,"reason":"down"}"#) })
    let (result, waits) = await run(transport, policy: RetryPolicy(maximumAttempts: 5), random: [1], waits: 4)
    #expect(throws: APIError.self) { try result.get() }
    #expect(transport.requests.count == 5)
    #expect(waits == [.milliseconds(200), .milliseconds(400), .milliseconds(800), .milliseconds(1600)])
  }

  @Test("the jitter is full: from nothing to the ceiling, and the ceiling is held")
  func jitter() async {
    let policy = RetryPolicy(maximumAttempts: 4, baseDelay: .seconds(4), maximumDelay: .seconds(10))
    #expect(
      (1...40).map { policy.ceiling(afterAttempts: $0) }.prefix(4) == [
        .seconds(4), .seconds(8), .seconds(10), .seconds(10),
      ])
    #expect(policy.ceiling(afterAttempts: Int.max) == .seconds(10))
    #expect(policy.ceiling(afterAttempts: Int.min) == .seconds(4))
    let transport = StubTransport(otherwise: { _ in .json(503, "") })
    let (_, waits) = await run(transport, policy: policy, random: [1, 0.25, 0.5], waits: 3)
    #expect(waits == [.seconds(4), .seconds(2), .seconds(5)])
  }

  @Test("a source of randomness that is broken does no harm", arguments: [-5.0, 7.0, .nan, .infinity])
  func brokenRandom(value: Double) async {
    let transport = StubTransport([.json(503, ""), .json(200, "ok")])
    let clock = ManualClock()
    let client = client(transport, [RetryInterceptor(time: clock, random: { value })], time: clock)
    let task = Task { try await client.send(plain()) }
    if value > 0 {
      await clock.sleepers(atLeast: 1)
      #expect((clock.advanceToNextSleeper() ?? .zero) <= .milliseconds(200))
    }
    await #expect(throws: Never.self) { try await task.value }
  }

  @Test("Retry-After is kept, seconds or date; the back-off where it is longer")
  func retryAfter() async {
    let transport = StubTransport([
      .json(503, "", headers: ["Retry-After": "7"]),
      .json(
        429, "", headers: ["Retry-After": "Thu, 01 Jan 2026 00:00:20 GMT", "Date": "Thu, 01 Jan 2026 00:00:10 GMT"]),
      .json(503, "", headers: ["Retry-After": "0"]), .json(200, "ok"),
    ])
    let (_, waits) = await run(transport, policy: RetryPolicy(maximumAttempts: 4), random: [1], waits: 3)
    #expect(waits == [.seconds(7), .seconds(10), .milliseconds(800)])
  }

  @Test("a wait that would outlast the total time is not begun")
  func totalTime() async {
    let transport = StubTransport(otherwise: { _ in .json(503, "", headers: ["Retry-After": "20"]) })
    let (result, waits) = await run(
      transport, policy: RetryPolicy(maximumAttempts: 9, totalTime: .seconds(50)), waits: 2)
    #expect(waits == [.seconds(20), .seconds(20)])
    #expect(throws: APIError.self) { try result.get() }
    let patient = StubTransport(otherwise: { _ in .json(503, "", headers: ["Retry-After": "99999999999999999"]) })
    let outcome = await run(patient, waits: 0)
    #expect(throws: APIError.self) { try outcome.result.get() }
    #expect(patient.requests.count == 1)
  }

  @Test("cancellation ends the wait, and is not retried")
  func cancellation() async {
    let clock = ManualClock()
    let transport = StubTransport(otherwise: { _ in .json(503, "") })
    let client = client(transport, [RetryInterceptor(time: clock, random: { 1 })], time: clock)
    let task = Task { try await client.send(plain()) }
    await clock.sleepers(atLeast: 1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(transport.requests.count == 1)
  }

  @Test("an authorizer's error is not retried")
  func authorizerError() async {
    let transport = StubTransport([])
    let authorizer = StubAuthorizer(tokens: [nil])
    let clock = ManualClock()
    await #expect(throws: StubAuthorizer.NoToken.self) {
      try await client(transport, [RetryInterceptor(time: clock), BearerInterceptor(authorizer: authorizer)])
        .send(plain(requiresAuth: true))
    }
    #expect(authorizer.events == [.authorize])
  }

  @Test("standing before the bearer interceptor, each attempt asks for a token anew")
  func withBearer() async throws {
    let transport = StubTransport([.json(503, ""), .json(401, ""), .json(200, "ok")])
    let authorizer = StubAuthorizer(tokens: ["first", "later"])
    let clock = ManualClock()
    let client = client(
      transport,
      [
        RequestIDInterceptor(makeID: { "one" }), RetryInterceptor(time: clock, random: { 1 }),
        BearerInterceptor(authorizer: authorizer),
      ])
    let task = Task { try await client.send(plain(requiresAuth: true)) }
    await clock.sleepers(atLeast: 1)
    clock.advanceToNextSleeper()
    _ = try await task.value
    #expect(
      transport.requests.map { $0.headers["Authorization"] } == ["Bearer first", "Bearer later", "Bearer second"])
    #expect(transport.requests.map { $0.headers["X-Request-ID"] } == ["one", "one", "one"])
  }
}

@Suite("LoggingInterceptor and Redaction")
struct LoggingInterceptorTests {
  private func lines(
    _ endpoint: Endpoint<Data>, _ answer: StubTransport.Answer, detail: LoggingInterceptor.Detail = .bodies,
    base: String = "https://api.example", authorizer: StubAuthorizer? = nil
  ) async -> String {
    let log = Guarded<[String]>([])
    let logging = LoggingInterceptor(detail: detail, time: ManualClock()) { line in log.withLock { $0.append(line) } }
    var interceptors: [any HTTPInterceptor] = [logging]
    if let authorizer { interceptors.insert(BearerInterceptor(authorizer: authorizer), at: 0) }
    do {
      _ = try await client(StubTransport([answer]), interceptors, base: base).send(endpoint)
    } catch {
      #expect(error is APIError)
    }
    return log.withLock { $0 }.joined(separator: "\n")
  }

  @Test("each attempt is a line out and a line back")
  func plainLines() async {
    #expect(
      await lines(plain(.get, "/feed", query: [(name: "limit", value: "2")]), .json(200, "{}"), detail: .lines)
        == "> GET https://api.example/feed?limit=2\n< 200 GET https://api.example/feed?limit=2 0 ms (2 bytes)")
  }

  @Test("no token, cookie, key, password or code shows at any detail", arguments: LoggingInterceptor.Detail.allCases)
  func secrets(detail: LoggingInterceptor.Detail) async {
    let secret = "s3cr3t"
    let query = [
      "access_token", "token", "code", "api_key", "apikey", "Password", "client_secret", "id_token", "sig", "state",
    ]
    .map { (name: $0, value: secret) }
    let headers: HTTPFields = [
      "Cookie": secret, "apikey": secret, "X-Api-Key": secret, "Proxy-Authorization": secret, "X-Auth-Token": secret,
      "X-Ok": "shown",
      "Content-Type": "application/json",
    ]
    let body = Data(#"{"password":"s3cr3t","nested":[{"refreshToken":"s3cr3t","text":"visible"}],"n":null}"#.utf8)
    let answer = StubTransport.Answer.json(
      200, #"{"data":{"accessToken":"s3cr3t","expiresIn":5}}"#,
      headers: [
        "Set-Cookie": "a=s3cr3t", "Location": "https://u:s3cr3t@h/x?token=s3cr3t#access_token=s3cr3t",
        "Content-Type": "application/json",
      ])
    for requiresCredential in [true, false] {
      let endpoint = plain(
        .post, "/x", query: query, headers: headers, body: body, requiresAuth: true,
        hasCredentialBody: requiresCredential)
      let text = await lines(endpoint, answer, detail: detail, authorizer: StubAuthorizer(tokens: [secret]))
      #expect(!text.contains(secret), "\(text)")
      #expect(text.contains("●●●"))
      #expect(text.contains("shown") == (detail >= .headers))
      #expect(text.contains("visible") == (detail == .bodies && !requiresCredential))
    }
  }

  @Test("a body of JSON is shown without its secrets, any other by its size")
  func bodies() {
    func shown(_ text: String, _ type: String? = "application/json; charset=utf-8") -> String {
      Redaction.body(Data(text.utf8), contentType: type)
    }
    #expect(shown(#"{"b":1,"access_token":"x","a":["y"]}"#) == #"{"a":["y"],"access_token":"●●●","b":1}"#)
    #expect(shown(#"{"token":null,"password":{"a":1}}"#) == #"{"password":"●●●","token":null}"#)
    #expect(shown("token=x", "application/x-www-form-urlencoded") == "(7 bytes)")
    #expect(shown("{broken") == "(7 bytes)")
    #expect(shown("{}", nil) == "(2 bytes)")
    #expect(shown(String(repeating: "[", count: 10_000)) == "(10000 bytes)")
    #expect(shown("[" + String(repeating: "1,", count: 20_000) + "1]") == "(40003 bytes)")
  }

  @Test(
    "URLs lose users, fragments and secret parameters, however they are written",
    arguments: [
      ("https://h/x", "https://h/x"), ("https://h/x?a=1&token=z&b=2", "https://h/x?a=1&token=●●●&b=2"),
      ("https://u:p@h/x", "https://●●●@h/x"), ("https://u@h:8/x@y", "https://●●●@h:8/x@y"),
      ("https://h/#frag", "https://h/#●●●"),
      ("/x?TOKEN=z", "/x?TOKEN=●●●"), ("/x?%74oken=z", "/x?%74oken=●●●"),
      ("/x?refresh-token=z", "/x?refresh-token=●●●"),
      ("/x?token", "/x?token"), ("/x?a=b=c&code=1=2", "/x?a=b=c&code=●●●"), ("", ""), ("//u:p@h/x", "//●●●@h/x"),
      ("?%=1", "?%=1"),
      ("https://h/x?%zz=1&%74%6f%6b%65%6e=q", "https://h/x?%zz=1&%74%6f%6b%65%6e=●●●"),
    ])
  func urls(text: String, expected: String) {
    #expect(Redaction.url(text) == expected)
  }

  @Test("a failure is a line, too, and control characters stay out of the log")
  func failures() async {
    let lost = StubTransport.Answer.failure(TransportError(.connectionLost, mayHaveBeenSent: true, message: "gone"))
    #expect(await lines(plain(), lost).hasSuffix("! GET https://api.example/x 0 ms connectionLost: gone"))
    let escape = await lines(plain(), .json(200, "", headers: ["X-A": "\u{1B}[2J"]))
    #expect(!escape.contains("\u{1B}"))
  }
}

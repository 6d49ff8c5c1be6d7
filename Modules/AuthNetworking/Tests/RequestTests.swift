import AuthModels
import AuthNetworking
import AuthTestSupport
import Foundation
import Testing

@Suite("APIClient: the request")
struct RequestTests {
  private func sent(
    _ endpoint: Endpoint<Data>, base: String = "https://api.example"
  ) async throws -> HTTPRequest {
    let transport = StubTransport([.json(200, "{}")])
    _ = try await client(transport, base: base).send(endpoint)
    return try #require(transport.requests.first)
  }

  @Test(
    "base path and path join with one slash",
    arguments: [
      ("https://h.example", "/me", "https://h.example/me"), ("https://h.example/", "/me", "https://h.example/me"),
      ("https://h.example/v1", "/me", "https://h.example/v1/me"),
      ("https://h.example/v1/", "me", "https://h.example/v1/me"),
      ("https://h.example/v1//", "/me/", "https://h.example/v1/me/"),
      ("https://h.example:8443/a/b", "/", "https://h.example:8443/a/b/"),
      ("http://[::1]:8080/r/x", "/me", "http://[::1]:8080/r/x/me"),
      ("HTTPS://H.example/A%20B", "/c", "https://H.example/A%20B/c"),
      ("https://h.example", "", "https://h.example/"),
      ("https://bücher.example", "/x", "https://xn--bcher-kva.example/x"),
    ])
  func join(base: String, path: String, expected: String) async throws {
    let text = try await sent(plain(.get, path), base: base).url.absoluteString
    // A host beyond ASCII may stay as it is, percent-encoded or in its ASCII form.
    if base.contains("ü") {
      #expect(text.hasSuffix("cher.example/x") || text == expected)
    } else {
      #expect(text == expected)
    }
  }

  @Test(
    "a path is escaped, not interpreted",
    arguments: [
      ("/a b", "/a%20b"), ("/a%20b", "/a%2520b"), ("/ä", "/%C3%A4"), ("/a?b#c", "/a%3Fb%23c"),
      ("/a:b@c;d=e,f", "/a:b@c;d=e,f"),
      ("/a\\b", "/a%5Cb"), ("/😀", "/%F0%9F%98%80"), ("/a\"<>^`{|}", "/a%22%3C%3E%5E%60%7B%7C%7D"), ("/...", "/..."),
      ("/.a", "/.a"),
      ("/%2e%2e", "/%252e%252e"), ("/[x]", "/%5Bx%5D"),
    ])
  func path(path: String, expected: String) async throws {
    #expect(try await sent(plain(.get, path)).url.absoluteString == "https://api.example" + expected)
  }

  @Test("query names and values arrive as they were, in order, doubles included")
  func query() async throws {
    let query = [
      (name: "a", value: "1&b=2"), (name: "a", value: "x y+z"), (name: "ä=", value: "100%"), (name: "e", value: ""),
      (name: "s", value: "/?#'😀"),
    ]
    let url = try await sent(plain(.get, "/f", query: query)).url
    #expect(
      url.absoluteString
        == "https://api.example/f?a=1%26b%3D2&a=x%20y%2Bz&%C3%A4%3D=100%25&e=&s=%2F%3F%23%27%F0%9F%98%80")
    let items = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems)
    #expect(items.map(\.name) == query.map(\.name))
    #expect(items.map(\.value) == query.map(\.value))
  }

  @Test(
    "what would leave the base path, the line or the field is refused, and nothing is sent",
    arguments: [
      plain(.get, "/.."), plain(.get, "/a/../b"), plain(.get, "/a/.."), plain(.get, "."),
      plain(.get, "//evil.example/x"),
      plain(.get, "/a//b"), plain(.get, "/a\r\nHost: evil"), plain(.get, "/a\nb"), plain(.get, "/\0"),
      plain(.get, "/\u{7F}"),
      plain(.get, "/x", query: [(name: "a", value: "\r\n")]), plain(.get, "/x", query: [(name: "a\n", value: "")]),
      plain(.get, "/x", headers: ["X-A": "b\r\nX-B: c"]), plain(.get, "/x", headers: ["X-A": "b\nc"]),
      plain(.get, "/x", headers: ["X A": "b"]), plain(.get, "/x", headers: ["": "b"]),
      plain(.get, "/x", headers: ["X\r\n": "b"]),
      plain(.get, "/x", headers: ["Content-Length": "5"]), plain(.get, "/x", headers: ["transfer-encoding": "chunked"]),
      plain(.get, "/x", headers: ["Host": "evil"]), plain("GET /x HTTP/1.1\r\nA: b\r\n\r\nGET", "/x"), plain("", "/x"),
      plain("GE T", "/x"),
    ])
  func refused(endpoint: Endpoint<Data>) async {
    let transport = StubTransport([.json(200, "{}")])
    let error = await #expect(throws: APIError.self) { try await client(transport).send(endpoint) }
    #expect(error?.transport?.code == .invalidRequest)
    #expect(error?.transport?.mayHaveBeenSent == false)
    #expect(transport.requests.isEmpty)
  }

  @Test(
    "an unusable server URL makes every call fail in words, never a trap",
    arguments: [
      "ftp://h.example", "file:///etc", "https:///x", "https://h.example?x=1", "https://h.example#f",
      "https://u@h.example",
      "https://u:p@h.example", "/relative", "mailto:a@b.c", "https://h.example/a/../b", "https://h.example/%2e%2E",
    ])
  func badBase(base: String) async {
    let transport = StubTransport([.json(200, "{}")])
    let error = await #expect(throws: APIError.self) { try await client(transport, base: base).send(plain()) }
    #expect(error?.transport?.code == .invalidRequest)
    #expect(transport.requests.isEmpty)
  }

  @Test(
    "a target as typed keeps its escapes and its query",
    arguments: [
      ("/feed?limit=2&x=a%26b", "/feed?limit=2&x=a%26b"), ("me", "/me"), ("/a%2Fb/c d", "/a%2Fb/c%20d"),
      ("/x?q=a b&c=ä", "/x?q=a%20b&c=%C3%A4"),
      ("/100%", "/100%25"), ("/%zz", "/%25zz"), ("/x?", "/x?"), ("/x?a?b", "/x?a?b"), ("/x#frag", "/x%23frag"),
    ])
  func rawTarget(target: String, expected: String) async throws {
    let transport = StubTransport([.json(404, "{}")])
    let response = try await client(transport).sendRaw(RawCall(.get, target, requiresAuth: false))
    #expect(response.status == 404)
    #expect(transport.requests.first?.url.absoluteString == "https://api.example" + expected)
  }

  @Test(
    "a target as typed cannot leave the server either",
    arguments: [
      "/../x", "/%2e%2e/x", "/.%2E/x", "/a/%2e", "//evil.example/", "https://evil.example/", "/a\r\nb", "/a%0d%0ab",
      "/x?a=%0A", "/x?\n",
      "/%00",
    ])
  func rawRefused(target: String) async {
    let transport = StubTransport([.json(200, "{}")])
    let error = await #expect(throws: APIError.self) {
      try await client(transport).sendRaw(RawCall(.get, target, requiresAuth: false))
    }
    #expect(error?.transport?.code == .invalidRequest)
    #expect(transport.requests.isEmpty)
  }

  @Test(
    "the chirp and envelope calls are what the wire format says (D1.2, D2.2, D3.2)")
  func endpoints() async throws {
    struct Call {
      var method: HTTPMethod
      var path: String
      var body: String?
      var requiresAuth: Bool
      var hasCredential: Bool
    }
    func describe<R>(_ endpoint: Endpoint<R>) -> Call {
      Call(
        method: endpoint.method, path: endpoint.path, body: endpoint.body.map { String(decoding: $0, as: UTF8.self) },
        requiresAuth: endpoint.requiresAuth, hasCredential: endpoint.hasCredentialBody)
    }
    func check(_ call: Call, _ method: HTTPMethod, _ path: String, _ body: String?, auth: Bool, credential: Bool) {
      #expect(call.method == method && call.path == path && call.body == body, "\(path)")
      #expect(call.requiresAuth == auth && call.hasCredential == credential, "\(path)")
    }
    check(
      describe(API.login(email: "a@b.co", password: "p\"\\\n😀")), .post, "/auth/login",
      #"{"email":"a@b.co","password":"p\"\\\u000a😀"}"#, auth: false, credential: true)
    check(
      describe(API.register(username: "u", email: "e", password: "p")), .post, "/auth/register",
      #"{"username":"u","email":"e","password":"p"}"#, auth: false, credential: true)
    check(
      describe(API.refresh(refreshToken: "r")), .post, "/auth/refresh", #"{"refreshToken":"r"}"#, auth: false,
      credential: true)
    check(
      describe(API.logout(refreshToken: "r")), .post, "/auth/logout", #"{"refreshToken":"r"}"#, auth: false,
      credential: true)
    check(describe(API.me()), .get, "/me", nil, auth: true, credential: false)
    check(describe(API.feed()), .get, "/feed", nil, auth: true, credential: false)
    check(describe(API.createPost(text: "hi")), .post, "/posts", #"{"text":"hi"}"#, auth: true, credential: false)
    check(
      describe(EnvelopeAPI.login(username: "u", password: "p")), .post, "/envelope/login",
      #"{"username":"u","password":"p"}"#, auth: false, credential: true)
    check(
      describe(EnvelopeAPI.refresh(refreshToken: "r")), .post, "/envelope/refresh", #"{"refreshToken":"r"}"#,
      auth: false,
      credential: true)
    check(describe(EnvelopeAPI.me()), .get, "/envelope/me", nil, auth: true, credential: false)
    #expect(API.feed(limit: 5, cursor: "c&d").query.map { "\($0.name)=\($0.value)" } == ["limit=5", "cursor=c&d"])
    #expect(!API.createPost(text: "x").isIdempotent)
    let post = API.createPost(text: "x", idempotencyKey: "k")
    #expect(post.isIdempotent && post.headers["Idempotency-Key"] == "k")
    #expect(API.login(email: "", password: "").headers["Content-Type"] == "application/json")
    #expect(!API.refresh(refreshToken: "r").isIdempotent)
  }

  @Test("any text makes valid JSON, and comes back as it was")
  func jsonBody() throws {
    let texts = [
      "", "\"", "\\", "\u{0}\u{1F}\u{7F}", "\u{2028}\r\n\t", "😀ä", "</script>", String(repeating: "x", count: 100_000),
    ]
    for text in texts {
      let decoded = try JSONDecoder().decode([String: String].self, from: JSONBody.object(["a": text, "b": nil]))
      #expect(decoded == ["a": text])
    }
    #expect(String(decoding: JSONBody.object([:]), as: UTF8.self) == "{}")
  }

  @Test("a body is encoded, an unencodable one is an error")
  func encodedBody() throws {
    let endpoint: Endpoint<PublicUser> = try Endpoint(method: .put, path: "/x", json: ["b": 1, "a": 2])
    #expect(endpoint.body.map { String(decoding: $0, as: UTF8.self) } == #"{"a":2,"b":1}"#)
    #expect(throws: EncodingError.self) {
      let _: Endpoint<PublicUser> = try Endpoint(method: .put, path: "/x", json: [Double.infinity])
    }
  }
}

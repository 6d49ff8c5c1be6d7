import Groundwork
import MockServerCore
import Testing

@testable import MockServerHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A well-behaved client that asks without pause while others attack.
private final class Bystander: Sendable {
  private struct State {
    var answers = 0
    var failures: [String] = []
    var isDone = false
    var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Guarded(State())

  /// Asks on one connection until it is told to stop.
  func ask(_ port: UInt16, token: String) {
    do {
      let client = try RawClient(port: port)
      defer { client.end() }
      while !state.withLock({ $0.isDone }) {
        client.write("GET /me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(token)\r\n\r\n")
        let answer = try client.readAnswer()
        note(answer.status == 200 ? nil : "\(answer.status)")
      }
    } catch {
      note("\(error)")
    }
  }

  private func note(_ failure: String?) {
    let ready = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.answers += 1
      if let failure {
        state.failures.append(failure)
        state.isDone = true
      }
      let ready = state.waiters.filter { $0.count <= state.answers || state.isDone }
      state.waiters.removeAll { $0.count <= state.answers || state.isDone }
      return ready.map(\.continuation)
    }
    for continuation in ready { continuation.resume() }
  }

  /// Returns when so many more answers have come.
  func more(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isReady = state.withLock { state in
        if state.isDone { return true }
        state.waiters.append((state.answers + count, continuation))
        return false
      }
      if isReady { continuation.resume() }
    }
  }

  func stop() -> (answers: Int, failures: [String]) {
    state.withLock { state in
      state.isDone = true
      return (state.answers, state.failures)
    }
  }
}

@Suite("Attacks at real sockets: a proper status, nobody else held up, nothing smuggled")
struct AttackTests {
  /// Runs an attack while a bystander is served without a failure, before, during and after it.
  private func attack(
    change: (inout HTTPFront.Options) -> Void = { _ in }, _ body: @escaping @Sendable (ScriptedServer) throws -> Void
  ) async throws {
    try await ScriptedServer.run(tls: false, change: change) { server in
      let token = try server.tokens().accessToken
      let bystander = Bystander()
      async let watching: Void = onThread { bystander.ask(server.port, token: token) }
      await bystander.more(3)
      try await onThread { try body(server) }
      await bystander.more(3)
      let (answers, failures) = bystander.stop()
      try await watching
      #expect(answers >= 6 && failures == [])
    }
  }

  /// Sends bytes on a connection of their own and reads all that comes.
  private static func send(_ server: ScriptedServer, _ bytes: [UInt8], endsWriting: Bool = true) throws -> WireAnswer {
    let client = try RawClient(port: server.port)
    defer { client.end() }
    client.write(bytes)
    if endsWriting { client.endWriting() }
    let (answer, ending) = client.readAll()
    let end: WireAnswer.Ending = ending == .fin ? .finished : ending == .reset ? .reset : .timedOut
    return WireAnswer(text: String(decoding: answer, as: UTF8.self), ending: end)
  }

  private static func send(_ server: ScriptedServer, _ text: String) throws -> WireAnswer {
    try send(server, Array(text.utf8))
  }

  /// How many answers came.
  private static func count(_ answer: WireAnswer) -> Int {
    answer.text.components(separatedBy: "HTTP/1.1 ").dropFirst().count { $0.first?.isNumber == true }
  }

  @Test("request smuggling: each shape is refused with one answer, and what stands behind it is never a request")
  func smuggling() async throws {
    let smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
    let post = "POST /auth/login HTTP/1.1\r\nHost: a\r\n"
    let shapes: [(String, Int)] = [
      ("\(post)Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
      ("\(post)Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n", 400),
      ("\(post)Content-Length: 0\r\nContent-Length: 5\r\n\r\nhello", 400),
      ("\(post)Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 400),
      ("\(post)Content-Length: 5, 5\r\n\r\nhello", 400),
      ("\(post)Content-Length: +3\r\n\r\nabc", 400), ("\(post)Content-Length: 0x3\r\n\r\nabc", 400),
      ("\(post)Content-Length: -1\r\n\r\n", 400), ("\(post)Content-Length: 3 3\r\n\r\nabc", 400),
      ("\(post)Content-Length: \r\n\r\n", 400), ("\(post)Content-Length: ３\r\n\r\nabc", 400),
      ("\(post)Content-Length: 18446744073709551617\r\n\r\na", 413),
      ("\(post)Content-Length : 3\r\n\r\nabc", 400), ("\(post)Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400),
      ("\(post) Content-Length: 3\r\n\r\nabc", 400), ("\(post)X: a\r\n b\r\n\r\n", 400),
      ("\(post)Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 400),
      ("\(post)Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", 400),
      ("\(post)Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n", 501),
      ("\(post)Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
      ("\(post)Transfer-Encoding:\u{0B}chunked\r\n\r\n0\r\n\r\n", 400),
      ("\(post)X: a\u{0}b\r\n\r\n", 400), ("\(post)X: a\rb\r\n\r\n", 400), ("\(post)X: a\nY: b\r\n\r\n", 400),
      ("GET /me HTTP/1.1\nHost: a\n\n", 400), ("GET /me HTTP/1.1\r\nHost: a\r\n\n", 400),
      ("GET /me HTTP/1.1\r\n\r\n", 400), ("GET /me HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
      ("GET /me HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400), ("GET /me HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
      ("GET /me HTTP/1.1\r\nHost: a/b\r\n\r\n", 400), ("GET /me HTTP/1.1\r\nHost: a:99999\r\n\r\n", 400),
      ("GET  /me HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET /me  HTTP/1.1\r\nHost: a\r\n\r\n", 400),
      ("GET /me HTTP/1.10\r\nHost: a\r\n\r\n", 400), ("GET /me http/1.1\r\nHost: a\r\n\r\n", 400),
      ("GET /me HTTP/2.0\r\nHost: a\r\n\r\n", 505), ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
      ("G\u{0}T /me HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET /me\u{0} HTTP/1.1\r\nHost: a\r\n\r\n", 400),
      ("\r\n\r\n\r\nGET /me HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 501),
      ("\(post)Expect: 200-ok\r\nContent-Length: 1\r\n\r\na", 417),
    ]
    try await attack { server in
      for (shape, status) in shapes {
        let before = server.realm.journal().count
        let answer = try Self.send(server, shape + smuggled)
        #expect(answer.status == status && answer.ending == .finished, "\(shape.debugDescription): \(answer)")
        #expect(Self.count(answer) == 1, "\(shape.debugDescription)")
        #expect(!server.realm.journal(since: before).contains { $0.path == "/smuggled" }, "\(shape.debugDescription)")
      }
      // Every one of them is in the journal as what it is.
      #expect(server.realm.journal().filter { $0.outcome == .malformed }.count == shapes.count)
    }
  }

  @Test("bad chunks: each is refused, and an endless chunk-size line at once")
  func chunks() async throws {
    let head = "POST /auth/login HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    let shapes: [(String, Int)] = [
      ("+3\r\nabc\r\n0\r\n\r\n", 400), ("0x3\r\nabc\r\n0\r\n\r\n", 400), ("-3\r\nabc\r\n0\r\n\r\n", 400),
      (" 3\r\nabc\r\n0\r\n\r\n", 400), ("3 \r\nabc\r\n0\r\n\r\n", 400), ("g\r\n", 400), ("\r\n", 400),
      ("3\nabc\r\n0\r\n\r\n", 400), ("3\r\nabcd\r\n0\r\n\r\n", 400), ("3\r\nabc0\r\n\r\n", 400),
      ("3;a=\u{0}\r\nabc\r\n0\r\n\r\n", 400), ("ffffffffffffffff\r\n", 413), ("fffffffffffffffffffff\r\n", 413),
      ("7fffffffffffffff\r\n", 413), ("3\r\nabc\r\n0\r\nX: \u{0}\r\n\r\n", 400), ("3\r\nabc\r\n0\r\n X\r\n\r\n", 400),
      (String(repeating: "0", count: 1_000_000), 400),
      (String(repeating: "1;\(String(repeating: "x", count: 200))\r\na\r\n", count: 200), 400),
      ("3\r\nab", 400),
    ]
    try await attack { server in
      for (shape, status) in shapes {
        let answer = try Self.send(server, head + shape)
        #expect(answer.status == status && Self.count(answer) == 1, "\(shape.prefix(40).debugDescription): \(answer)")
      }
    }
  }

  @Test("header bombs: too many, too long, too long in all, and a request line without an end")
  func bombs() async throws {
    try await attack { server in
      let many = (0..<20_000).map { "X-\($0): 1\r\n" }.joined()
      let long = "X: \(String(repeating: "a", count: 5_000_000))\r\n"
      let all = (0..<99).map { "X-\($0): \(String(repeating: "b", count: 1000))\r\n" }.joined()
      for fields in [many, long, all] {
        let answer = try Self.send(server, "GET /me HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
        #expect(answer.status == 431 && answer.ending == .finished, "\(answer)")
      }
      #expect(try Self.send(server, "GET /\(String(repeating: "a", count: 5_000_000))").status == 414)
      #expect(try Self.send(server, "\(String(repeating: "A", count: 5_000_000)) / HTTP/1.1\r\n").status == 414)
      #expect(
        try Self.send(server, "\(String(repeating: "A", count: 500)) / HTTP/1.1\r\nHost: a\r\n\r\n").status == 501)
    }
  }

  @Test("slow-loris: a hundred connections that trickle are given up with 408 while the others are served")
  func slowLoris() async throws {
    try await attack { options in
      options.requestTimeout = .milliseconds(400)
    } _: { server in
      let clients = try (0..<100).map { _ in try RawClient(port: server.port) }
      defer { for client in clients { client.end() } }
      for client in clients { client.write("GET /me HTTP/1.1\r\nHost: a\r\nX-") }
      // Trickling buys no time: the time-out counts from the first byte.
      for client in clients { client.write("a") }
      for client in clients {
        let (bytes, ending) = client.readAll()
        let answer = WireAnswer(text: String(decoding: bytes, as: UTF8.self), ending: .finished)
        #expect(answer.status == 408 && ending == .fin, "\(answer.text)")
      }
      #expect(server.realm.journal().filter { $0.status == 408 }.count == 100)
    }
  }

  @Test("bodies of 100 MB are refused before they are read, by length and by chunks")
  func largeBodies() async throws {
    try await attack { server in
      let block = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
      for framing in ["Content-Length: 104857600", "Transfer-Encoding: chunked"] {
        let client = try RawClient(port: server.port)
        defer { client.end() }
        client.write("POST /auth/login HTTP/1.1\r\nHost: a\r\n\(framing)\r\n\r\n")
        if framing.hasPrefix("T") { client.write("6400000\r\n") }
        // A client that sends on regardless: it may be cut off, and must not be answered twice.
        for _ in 0..<100 where client.write(block) { continue }
        let (bytes, _) = client.readAll()
        let answer = WireAnswer(text: String(decoding: bytes, as: UTF8.self), ending: .finished)
        #expect(answer.text.isEmpty || answer.status == 413 && Self.count(answer) == 1, "\(answer.text)")
      }
      #expect(server.realm.journal().filter { $0.status == 413 }.count == 2)
      // Within the front's limit and over the core's: read, and refused by the dialect.
      let large = String(repeating: " ", count: (1 << 20) + 1)
      #expect(try server.ask("POST", "/auth/login", large).status == 413)
    }
  }

  @Test("pipelining: ten thousand requests in one write are answered in order; what follows a refusal is not read")
  func pipelining() async throws {
    try await attack { server in
      let client = try RawClient(port: server.port)
      defer { client.end() }
      // The writer must not wait for a server that waits for its reader.
      for round in 0..<100 {
        client.write((0..<100).map { "GET /\(round)-\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
        for number in 0..<100 {
          let answer = try client.readAnswer()
          #expect(answer.status == 404, "\(round)-\(number)")
        }
      }
      client.write("GET /last HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\nGET /never HTTP/1.1\r\nHost: a\r\n\r\n")
      client.endWriting()
      let (bytes, ending) = client.readAll()
      #expect(Self.count(WireAnswer(text: String(decoding: bytes, as: UTF8.self), ending: .finished)) == 2)
      #expect(ending == .fin)
      // The journal is a ring, and the bystander is in it too.
      let paths = server.realm.journal().map(\.path).filter { $0 != "/me" }
      let all = (0..<10_000).map { "/\($0 / 100)-\($0 % 100)" } + ["/last", ""]
      #expect(paths.count > 1000 && paths == all.suffix(paths.count))
      #expect(!paths.contains("/never"))
    }
  }

  @Test("bytes that are no UTF-8, in the target, in fields and in the body, get a proper status")
  func invalidUTF8() async throws {
    let bad: [UInt8] = [0xC3, 0x28, 0xFF, 0xFE, 0xED, 0xA0, 0x80, 0xF8]
    @Sendable func request(_ parts: String, _ middle: [UInt8], _ rest: String) -> [UInt8] {
      Array(parts.utf8) + middle + Array(rest.utf8)
    }
    try await attack { server in
      #expect(try Self.send(server, request("GET /", bad, " HTTP/1.1\r\nHost: a\r\n\r\n")).status == 400)
      #expect(try Self.send(server, request("G", bad, " /me HTTP/1.1\r\nHost: a\r\n\r\n")).status == 400)
      #expect(try Self.send(server, request("GET /me HTTP/1.1\r\nHost: ", bad, "\r\n\r\n")).status == 400)
      #expect(try Self.send(server, request("GET /me HTTP/1.1\r\nHost: a\r\n", bad, ": x\r\n\r\n")).status == 400)
      for field in ["Authorization: Bearer ", "X-Request-ID: ", "Idempotency-Key: ", "Origin: ", "Content-Type: "] {
        let answer = try Self.send(server, request("GET /me HTTP/1.1\r\nHost: a\r\n\(field)", bad, "\r\n\r\n"))
        #expect(answer.status == 401, "\(field)")
      }
      let body = Array(#"{"email":""#.utf8) + bad + Array(#"","password":"x"}"#.utf8)
      let head =
        "POST /auth/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: \(body.count)\r\n\r\n"
      #expect(try Self.send(server, Array(head.utf8) + body).status == 400)
      #expect(try server.ask("GET", "/feed?cursor=%FF%FE&limit=%C3%28").status == 401)
      #expect(try server.ask("GET", "/__mock/journal/count?path=%FF").status == 400)
    }
  }

  @Test(
    "path tricks reach nothing that they should not",
    arguments: [
      ("/../etc/passwd", 404), ("/..%2f..%2fetc/passwd", 404), ("/%2e%2e/__mock/state", 404), ("//__mock/state", 404),
      ("/./__mock/state", 404), ("/me/../__mock/state", 404), ("/%5f%5fmock/state", 404), ("/__MOCK/state", 404),
      ("/__mock%2fstate", 404), ("/__mock/state/", 404), ("/__mock/../me", 404), ("/r/../me", 400), ("/r/./me", 400),
      ("/r//me", 400), ("/r/%2e%2e/me", 400), ("/r/a%2fb/me", 400), ("/me%00", 404), ("/me;x=y", 404), ("/me%20", 404),
      ("/ME", 404), ("/me/", 404), ("//me", 404), ("/me//", 404), ("/r/\(String(repeating: "x", count: 65))/me", 400),
      ("http://evil.example/me", 401), ("http://a@b/me", 400), ("/me?/../../x", 401), ("/me#frag", 400),
      ("*", 400), ("me", 400), ("\\me", 400), ("/\\..\\me", 404), ("/r/a/r/b/me", 404),
    ])
  func paths(target: String, status: Int) async throws {
    try await ScriptedServer.run(tls: false) { server in
      try await onThread {
        let answer = try Self.send(server, "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        #expect(answer.status == status && answer.ending == .finished, "\(answer)")
        #expect(!answer.body.contains("\"policy\""))
      }
    }
  }

  @Test("the admin API is not reached by another name for this machine, nor by a page's form")
  func rebinding() async throws {
    try await ScriptedServer.run(tls: false) { server in
      try await onThread {
        for field in [
          "Host: evil.example", "Host: 127.0.0.1.evil.example", "Host: localhost.evil.example", "Host: 128.0.0.1",
          "Host: 127.0.0.1\r\nOrigin: http://evil.example", "Host: 127.0.0.1\r\nOrigin: null",
          "Host: 127.0.0.1\r\nSec-Fetch-Site: cross-site", "Host: 127.0.0.1\r\nOrigin: http://localhost",
        ] {
          let answer = try Self.send(
            server, "POST /__mock/reset HTTP/1.1\r\n\(field)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
          #expect(answer.status == 403, "\(field): \(answer)")
        }
        #expect(server.realm.snapshot.users.count == 1)
      }
    }
  }

  @Test("a thousand connections that come and go at once leave everything as it was")
  func churn() async throws {
    try await attack { server in
      for _ in 0..<10 {
        let clients = try (0..<100).map { _ in try RawClient(port: server.port) }
        for (index, client) in clients.enumerated() where index % 3 != 0 {
          client.write(index % 3 == 1 ? "GET" : "\r\n")
        }
        for client in clients { client.end() }
      }
    }
  }
}

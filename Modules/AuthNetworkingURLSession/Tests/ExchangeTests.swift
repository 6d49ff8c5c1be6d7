import AuthModels
import AuthNetworking
import AuthNetworkingURLSession
import AuthTestSupport
import Foundation
import Groundwork
import Testing

@Suite("URLSessionTransport: plain exchanges")
struct ExchangeTests {
  @Test("method, target, header fields and body arrive byte for byte", arguments: ["POST", "PUT", "PATCH", "DELETE"])
  func arrivesAsSent(method: String) async throws {
    let server = try RawServer { connection in
      while connection.readRequest() != nil { connection.write(answer("200 OK", "hello", headers: ["X-Kind: a"])) }
    }
    defer { server.stop() }
    let body = Data((0..<5000).map { UInt8($0 % 256) })
    let response = try await URLSessionTransport().send(
      HTTPRequest(
        method: HTTPMethod(rawValue: method), url: server.url("/a%20b/c%2Fd?x=1%262&y=%C3%A4"),
        headers: ["Authorization": "Bearer t", "Content-Type": "application/json", "X-Mine": "yes"], body: body))
    #expect(response.status == 200)
    #expect(String(decoding: response.body, as: UTF8.self) == "hello")
    #expect(response.headers["x-kind"] == "a")
    let request = try #require(server.requests.first)
    #expect(request.line == "\(method) /a%20b/c%2Fd?x=1%262&y=%C3%A4 HTTP/1.1")
    #expect(request.field("Authorization") == "Bearer t")
    #expect(request.field("Content-Type") == "application/json")
    #expect(request.field("X-Mine") == "yes")
    #expect(request.field("Host") == "127.0.0.1:\(server.port)")
    #expect(request.body == body)
    #expect(server.requests.count == 1)
  }

  @Test("a POST without a body says so with Content-Length: 0", arguments: [nil, Data()])
  func emptyPost(body: Data?) async throws {
    let server = try RawServer(answering: { _ in answer("204 No Content") })
    defer { server.stop() }
    let response = try await URLSessionTransport().send(
      HTTPRequest(method: .post, url: server.url("/x"), body: body))
    #expect(response.status == 204)
    #expect(response.body.isEmpty)
    #expect(server.requests.first?.field("Content-Length") == "0")
  }

  @Test("a body where the platform cannot send one is refused, not dropped", arguments: ["GET", "HEAD", "TRACE"])
  func noBody(method: String) async throws {
    let server = try RawServer(answering: { _ in answer("200 OK") })
    defer { server.stop() }
    let error = await #expect(throws: TransportError.self) {
      try await URLSessionTransport().send(
        HTTPRequest(method: HTTPMethod(rawValue: method), url: server.url("/x"), body: Data("x".utf8)))
    }
    #expect(error?.code == .invalidRequest)
    #expect(server.connectionCount == 0)
  }

  @Test("HEAD gives the head and no body")
  func head() async throws {
    let server = try RawServer(answering: { _ in "HTTP/1.1 200 OK\r\nContent-Length: 500\r\nETag: q\r\n\r\n" })
    defer { server.stop() }
    let response = try await URLSessionTransport().send(HTTPRequest(method: .head, url: server.url("/x")))
    #expect(response.status == 200)
    #expect(response.headers["ETag"] == "q")
    #expect(response.body.isEmpty)
  }

  @Test(
    "an answer of any status is an answer, its body included",
    arguments: [
      "200 OK", "201 Created", "400 Bad", "403 No", "404 Gone", "407 Proxy", "418 Tea", "429 Slow", "503 Down",
    ])
  func anyStatus(status: String) async throws {
    let server = try RawServer(answering: { _ in answer(status, "{\"a\":1}") })
    defer { server.stop() }
    let response = try await URLSessionTransport().send(HTTPRequest(method: .get, url: server.url("/x")))
    #expect("\(response.status)" == status.prefix(3))
    #expect(String(decoding: response.body, as: UTF8.self) == "{\"a\":1}")
  }

  @Test(
    "a 401 with any challenge comes through, and the resend with a body neither traps nor hangs",
    arguments: [
      nil, "Bearer error=\"invalid_token\", error_description=\"expired\"", "Basic realm=\"x\"",
      "Digest realm=\"x\", nonce=\"y\", qop=\"auth\"", "Negotiate", "Bearer", "", "Basic", ",,,=",
    ])
  func challenge(value: String?) async throws {
    let server = try RawServer(answering: { request in
      request.field("Authorization") == "Bearer new"
        ? answer("200 OK", "{}")
        : answer("401 Unauthorized", "{\"no\":1}", headers: value.map { ["WWW-Authenticate: \($0)"] } ?? [])
    })
    defer { server.stop() }
    let transport = URLSessionTransport()
    for method in [HTTPMethod.put, .post] {
      var request = HTTPRequest(
        method: method, url: server.url("/x"), headers: ["Authorization": "Bearer old"], body: Data("{\"text\":1}".utf8)
      )
      let refused = try await transport.send(request)
      #expect(refused.status == 401)
      #expect(String(decoding: refused.body, as: UTF8.self) == "{\"no\":1}")
      request.headers["Authorization"] = "Bearer new"
      let accepted = try await transport.send(request)
      #expect(accepted.status == 200)
    }
    #expect(server.requests.count == 4)
    #expect(server.requests.allSatisfy { $0.body == Data("{\"text\":1}".utf8) })
  }

  @Test("50 requests at once all get their own answer, over a bounded number of connections")
  func concurrent() async throws {
    let server = try RawServer(answering: { answer("200 OK", $0.line) })
    defer { server.stop() }
    let transport = URLSessionTransport()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<50 {
        group.addTask {
          let response = try await transport.send(HTTPRequest(method: .get, url: server.url("/n/\(index)")))
          #expect(String(decoding: response.body, as: UTF8.self) == "GET /n/\(index) HTTP/1.1")
        }
      }
      try await group.waitForAll()
    }
    #expect(server.requests.count == 50)
    #expect(server.mostOpenAtOnce <= 6)
  }

  @Test("cookies are neither kept nor sent")
  func noCookies() async throws {
    let server = try RawServer(answering: { _ in answer("200 OK", "", headers: ["Set-Cookie: a=b; Path=/"]) })
    defer { server.stop() }
    let transport = URLSessionTransport()
    for _ in 0..<2 { _ = try await transport.send(HTTPRequest(method: .get, url: server.url("/"))) }
    #expect(server.requests.count == 2)
    #expect(server.requests.allSatisfy { $0.field("Cookie") == nil })
  }

  @Test("an answer that may be cached is asked for again")
  func noCache() async throws {
    let server = try RawServer(answering: { _ in answer("200 OK", "x", headers: ["Cache-Control: max-age=3600"]) })
    defer { server.stop() }
    let transport = URLSessionTransport()
    for _ in 0..<2 { _ = try await transport.send(HTTPRequest(method: .get, url: server.url("/"))) }
    #expect(server.requests.count == 2)
  }

  @Test("a field's value that breaks the line never leaves, nor does what sets the framing")
  func injection() async throws {
    let server = try RawServer(answering: { _ in answer("200 OK") })
    defer { server.stop() }
    let bad: [HTTPFields] = [
      ["X-A": "b\r\nX-C: d"], ["X-A": "b\nc"], ["X-A": "\0"], ["X A": "b"], ["": "b"], ["X:A": "b"],
      ["Content-Length": "3"], ["Transfer-Encoding": "chunked"], ["Host": "other"],
    ]
    for headers in bad {
      let error = await #expect(throws: TransportError.self) {
        try await URLSessionTransport().send(HTTPRequest(method: .get, url: server.url("/"), headers: headers))
      }
      #expect(error?.code == .invalidRequest)
      #expect(error?.mayHaveBeenSent == false)
    }
    #expect(server.connectionCount == 0)
  }

  @Test("chunked answers are put together")
  func chunked() async throws {
    let server = try RawServer(answering: { _ in
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
    })
    defer { server.stop() }
    let response = try await URLSessionTransport().send(HTTPRequest(method: .get, url: server.url("/")))
    #expect(String(decoding: response.body, as: UTF8.self) == "hello world")
  }
}

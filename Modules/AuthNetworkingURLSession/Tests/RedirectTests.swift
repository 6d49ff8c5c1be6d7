import AuthModels
import AuthNetworking
import AuthNetworkingURLSession
import AuthTestSupport
import Foundation
import Groundwork
import Testing

@Suite("URLSessionTransport: redirects (S24)")
struct RedirectTests {
  private func redirecting(to location: @escaping @Sendable () -> String, status: String = "302 Found") throws
    -> RawServer
  {
    try RawServer(answering: { request in
      request.line.contains("/start")
        ? answer(status, "moved", headers: ["Location: \(location())"]) : answer("200 OK", "arrived")
    })
  }

  @Test(
    "a redirect to another port is returned, and its target hears nothing",
    arguments: ["301 Moved", "302 Found", "303 See", "307 Temporary", "308 Permanent"])
  func crossPort(status: String) async throws {
    let other = try RawServer(answering: { _ in answer("200 OK", "stolen") })
    defer { other.stop() }
    let target = "\(other.url("/take"))"
    let server = try redirecting(to: { target }, status: status)
    defer { server.stop() }
    for headers in [["Authorization": "Bearer secret"], ["Cookie": "a=b"], [:]] as [HTTPFields] {
      let response = try await URLSessionTransport().send(
        HTTPRequest(method: .get, url: server.url("/start"), headers: headers))
      #expect("\(response.status)" == status.prefix(3))
      #expect(response.headers["Location"] == target)
      #expect(String(decoding: response.body, as: UTF8.self) == "moved")
    }
    #expect(other.connectionCount == 0)
  }

  @Test("a redirect to another host name for the same machine, or another scheme, is returned")
  func crossHost() async throws {
    let port = Guarded<UInt16>(0)
    for location in [
      "http://localhost:%/x", "https://127.0.0.1:%/x", "//localhost:%/x", "http://u:p@127.0.0.1:%/x",
      "ftp://127.0.0.1:%/",
    ] {
      let server = try redirecting(to: {
        location.replacingOccurrences(of: "%", with: "\(port.withLock { $0 })")
      })
      defer { server.stop() }
      port.withLock { $0 = server.port }
      let response = try await URLSessionTransport().send(
        HTTPRequest(method: .get, url: server.url("/start"), headers: ["Authorization": "Bearer secret"]))
      #expect(response.status == 302, "\(location)")
      #expect(server.requests.count == 1, "\(location)")
    }
  }

  @Test("a redirect on the same server is followed, the token goes along")
  func sameOrigin() async throws {
    let server = try redirecting(to: { "/end?x=1" })
    defer { server.stop() }
    let response = try await URLSessionTransport().send(
      HTTPRequest(method: .get, url: server.url("/start"), headers: ["Authorization": "Bearer secret"]))
    #expect(response.status == 200)
    #expect(String(decoding: response.body, as: UTF8.self) == "arrived")
    #expect(server.requests.map(\.line) == ["GET /start HTTP/1.1", "GET /end?x=1 HTTP/1.1"])
    #expect(server.requests.allSatisfy { $0.field("Authorization") == "Bearer secret" })
  }

  @Test(
    "a body with a credential is never redirected", arguments: ["301 Moved", "302 Found", "303 See", "307 T", "308 P"])
  func credentialBody(status: String) async throws {
    let server = try redirecting(to: { "/end" }, status: status)
    defer { server.stop() }
    let response = try await URLSessionTransport().send(
      HTTPRequest(
        method: .post, url: server.url("/start"), body: Data("password".utf8), hasCredentialBody: true))
    #expect("\(response.status)" == status.prefix(3))
    #expect(server.requests.count == 1)
  }

  @Test("303 turns a POST into a GET without its body; 307 keeps both")
  func methods() async throws {
    for (status, line, body) in [
      ("303 See", "GET /end HTTP/1.1", ""), ("302 Found", "GET /end HTTP/1.1", ""),
      ("307 T", "POST /end HTTP/1.1", "text"),
      ("308 P", "POST /end HTTP/1.1", "text"),
    ] {
      let server = try redirecting(to: { "/end" }, status: status)
      defer { server.stop() }
      let response = try await URLSessionTransport().send(
        HTTPRequest(
          method: .post, url: server.url("/start"), headers: ["Content-Type": "text/plain"], body: Data("text".utf8)))
      #expect(response.status == 200, "\(status)")
      #expect(server.requests.last?.line == line, "\(status)")
      #expect(server.requests.last.map { String(decoding: $0.body, as: UTF8.self) } == body, "\(status)")
    }
  }

  @Test("a redirect in a circle ends after five")
  func circle() async throws {
    let server = try RawServer(answering: { _ in answer("302 Found", "", headers: ["Location: /again"]) })
    defer { server.stop() }
    let error = await #expect(throws: TransportError.self) {
      try await URLSessionTransport().send(HTTPRequest(method: .get, url: server.url("/start")))
    }
    #expect(error?.code == .redirectRefused)
    #expect(server.requests.count == 6)
  }

  @Test("a 3xx without a usable Location is an answer like any other", arguments: ["", "http://", "::::", "\u{7F}"])
  func badLocation(location: String) async throws {
    let server = try RawServer(answering: { _ in answer("302 Found", "x", headers: ["Location: \(location)"]) })
    defer { server.stop() }
    // An empty reference means the same page, and so ends as a circle.
    do {
      let response = try await URLSessionTransport().send(HTTPRequest(method: .get, url: server.url("/start")))
      #expect(response.status == 302)
    } catch {
      #expect(error.code == .redirectRefused)
    }
  }

  @Test("304 and 300 are no redirects")
  func otherThreeHundreds() async throws {
    for status in ["300 Choices", "304 Not Modified"] {
      let server = try RawServer(answering: { _ in "HTTP/1.1 \(status)\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n" })
      defer { server.stop() }
      let response = try await URLSessionTransport().send(HTTPRequest(method: .get, url: server.url("/")))
      #expect("\(response.status)" == status.prefix(3))
      #expect(server.requests.count == 1)
    }
  }
}

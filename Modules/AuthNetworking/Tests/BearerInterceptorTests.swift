import AuthModels
import AuthNetworking
import AuthTestSupport
import Foundation
import Groundwork
import Testing

@Suite("BearerInterceptor (D3.5, S8, S9, S18, S24)")
struct BearerInterceptorTests {
  private let me = plain(.put, "/me", body: Data("body".utf8), requiresAuth: true)

  private func tokens(_ transport: StubTransport) -> [String?] {
    transport.requests.map { $0.headers["Authorization"] }
  }

  @Test("the token goes along, and the answer is delivered while the session is current")
  func plainCall() async throws {
    let authorizer = StubAuthorizer()
    let transport = StubTransport([.json(200, "ok")])
    let body = try await client(transport, [BearerInterceptor(authorizer: authorizer)]).send(me)
    #expect(body == Data("ok".utf8))
    #expect(tokens(transport) == ["Bearer first"])
    #expect(authorizer.events == [.authorize, .check(token: "first")])
  }

  @Test("the token's own type stands before it")
  func tokenType() async throws {
    let authorizer = StubAuthorizer(refreshed: .init(accessToken: "second", tokenType: "DPoP", session: "s1"))
    let transport = StubTransport([.json(401, ""), .json(200, "ok")])
    _ = try await client(transport, [BearerInterceptor(authorizer: authorizer)]).send(me)
    #expect(tokens(transport) == ["Bearer first", "DPoP second"])
  }

  @Test("a call without auth asks for no token, and its 401 is nobody's business")
  func withoutAuth() async {
    let authorizer = StubAuthorizer()
    let transport = StubTransport([.json(401, "")])
    let error = await #expect(throws: APIError.self) {
      try await client(transport, [BearerInterceptor(authorizer: authorizer)]).send(
        API.login(email: "a", password: "b"))
    }
    #expect(error?.kind == .invalidCredentials)
    #expect(authorizer.events.isEmpty)
    #expect(tokens(transport) == [nil])
  }

  @Test("a 401 is resent once, body and all, with the other token")
  func resend() async throws {
    let authorizer = StubAuthorizer()
    let transport = StubTransport([.json(401, ""), .json(200, "ok")])
    #expect(try await client(transport, [BearerInterceptor(authorizer: authorizer)]).send(me) == Data("ok".utf8))
    #expect(tokens(transport) == ["Bearer first", "Bearer second"])
    #expect(transport.requests.map(\.body) == [Data("body".utf8), Data("body".utf8)])
    #expect(
      authorizer.events == [
        .authorize, .afterUnauthorized(token: "first", endpoint: "PUT /me"), .check(token: "second"),
        .noteResend(token: "second", endpoint: "PUT /me", accepted: true), .check(token: "second"),
      ])
  }

  @Test("a second 401 is unauthorized, and is told; nothing is sent a third time")
  func secondUnauthorized() async {
    let authorizer = StubAuthorizer()
    let transport = StubTransport([.json(401, ""), .json(401, "")])
    let error = await #expect(throws: APIError.self) {
      try await client(transport, [BearerInterceptor(authorizer: authorizer)]).send(me)
    }
    #expect(error?.kind == .unauthorized)
    #expect(transport.requests.count == 2)
    #expect(authorizer.events.contains(.noteResend(token: "second", endpoint: "PUT /me", accepted: false)))
  }

  @Test("where the authorizer gives no other token, the 401 is reported as it is")
  func noOtherToken() async {
    let authorizer = StubAuthorizer(refreshed: nil)
    let transport = StubTransport([.json(401, "")])
    let error = await #expect(throws: APIError.self) {
      try await client(transport, [BearerInterceptor(authorizer: authorizer)]).send(me)
    }
    #expect(error?.kind == .unauthorized)
    #expect(transport.requests.count == 1)
    #expect(authorizer.events.last == .check(token: "first"))
  }

  @Test("a token of another session is never used for the resend (S18)")
  func otherSession() async {
    let authorizer = StubAuthorizer(refreshed: .init(accessToken: "stranger", session: "s2"))
    let transport = StubTransport([.json(401, "")])
    await #expect(throws: APIError.self) {
      try await client(transport, [BearerInterceptor(authorizer: authorizer)]).send(me)
    }
    #expect(tokens(transport) == ["Bearer first"])
  }

  @Test("anything but a 401 never refreshes", arguments: [200, 204, 400, 403, 404, 419, 500, 503])
  func otherStatuses(status: Int) async {
    let authorizer = StubAuthorizer()
    let transport = StubTransport([.json(status, "")])
    do {
      _ = try await client(transport, [BearerInterceptor(authorizer: authorizer)]).send(me)
    } catch {
      #expect((error as? APIError)?.status == status)
    }
    #expect(authorizer.events == [.authorize, .check(token: "first")])
  }

  @Test("any answer or failure of the resend is reported as it is", arguments: [403, 500, 404])
  func resendFails(status: Int) async {
    let authorizer = StubAuthorizer()
    let transport = StubTransport([.json(401, ""), .json(status, "")])
    let error = await #expect(throws: APIError.self) {
      try await client(transport, [BearerInterceptor(authorizer: authorizer)]).send(me)
    }
    #expect(error?.status == status)
    #expect(authorizer.events.contains(.noteResend(token: "second", endpoint: "PUT /me", accepted: true)))

    let lost = TransportError(.connectionLost, mayHaveBeenSent: true, message: "gone")
    let broken = StubTransport([.json(401, ""), .failure(lost)])
    let other = StubAuthorizer()
    let failure = await #expect(throws: APIError.self) {
      try await client(broken, [BearerInterceptor(authorizer: other)]).send(me)
    }
    #expect(failure?.transport == lost)
    #expect(!other.events.contains { if case .noteResend = $0 { true } else { false } })
  }

  @Test("the authorizer's errors come through untouched")
  func authorizerErrors() async {
    let none = StubTransport([])
    await #expect(throws: StubAuthorizer.NoToken.self) {
      try await client(none, [BearerInterceptor(authorizer: StubAuthorizer(tokens: [nil]))]).send(me)
    }
    #expect(none.requests.isEmpty)

    let authorizer = StubAuthorizer()
    authorizer.state.withLock { $0.refreshError = StubAuthorizer.Ended() }
    let transport = StubTransport([.json(401, "")])
    await #expect(throws: StubAuthorizer.Ended.self) {
      try await client(transport, [BearerInterceptor(authorizer: authorizer)]).send(me)
    }
    #expect(transport.requests.count == 1)
  }

  @Test("an answer for a session that has ended meanwhile is not delivered (S18)", arguments: [200, 403, 500])
  func endedMeanwhile(status: Int) async {
    let authorizer = StubAuthorizer()
    authorizer.state.withLock { $0.endsAfterChecks = 0 }
    let transport = StubTransport([.json(status, "secret")])
    await #expect(throws: StubAuthorizer.Ended.self) {
      try await client(transport, [BearerInterceptor(authorizer: authorizer)]).send(me)
    }
  }

  @Test(
    "a session that ended while its 401 was handled: no resend; while the resend ran: no answer (S18)",
    arguments: [0, 1])
  func endedDuringResend(checks: Int) async {
    let authorizer = StubAuthorizer()
    authorizer.state.withLock { $0.endsAfterChecks = checks }
    let transport = StubTransport([.json(401, ""), .json(200, "secret")])
    await #expect(throws: StubAuthorizer.Ended.self) {
      try await client(transport, [BearerInterceptor(authorizer: authorizer)]).send(me)
    }
    #expect(transport.requests.count == 1 + checks)
  }

  @Test("over plain HTTP to a foreign host no token is even asked for (S24)")
  func insecure() async throws {
    let authorizer = StubAuthorizer()
    let transport = StubTransport(otherwise: { _ in .json(200, "ok") })
    let interceptors: [any HTTPInterceptor] = [BearerInterceptor(authorizer: authorizer)]
    let error = await #expect(throws: APIError.self) {
      try await client(transport, interceptors, base: "http://api.example").send(me)
    }
    #expect(error?.transport?.code == .insecureConnection)
    #expect(authorizer.events.isEmpty && transport.requests.isEmpty)
    _ = try await client(transport, interceptors, base: "http://api.example", allowInsecureHTTP: true).send(me)
    _ = try await client(transport, interceptors, base: "http://localhost:80").send(me)
    #expect(transport.requests.count == 2)
  }

  @Test("a token that would break the header line is not sent, nor shown")
  func brokenToken() async {
    let authorizer = StubAuthorizer(tokens: ["bad\r\nX-Evil: 1"])
    let transport = StubTransport([.json(200, "ok")])
    let error = await #expect(throws: APIError.self) {
      try await client(transport, [BearerInterceptor(authorizer: authorizer)]).send(me)
    }
    #expect(error?.transport?.code == .invalidRequest)
    #expect(error.map { "\($0)".contains("Evil") } == false)
    #expect(transport.requests.isEmpty)
  }

  @Test("a raw call takes part like any other")
  func raw() async throws {
    let authorizer = StubAuthorizer()
    let transport = StubTransport([.json(401, ""), .json(418, "tea"), .json(401, "")])
    let client = client(transport, [BearerInterceptor(authorizer: authorizer)])
    let response = try await client.sendRaw(RawCall(.post, "/x?a=1", body: Data("b".utf8)))
    #expect(response.status == 418)
    #expect(authorizer.events.contains(.afterUnauthorized(token: "first", endpoint: "POST /x")))
    #expect(transport.requests.map(\.body) == [Data("b".utf8), Data("b".utf8)])
    #expect(try await client.sendRaw(RawCall(.get, "/x", requiresAuth: false)).status == 401)
  }
}

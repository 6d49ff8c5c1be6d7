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

@Suite("A server by its description")
struct RESTBackendTests {
  /// djangorestframework-simplejwt, with rotation and blacklist.
  private static let simpleJWT = #"""
    {
      "name": "simplejwt",
      "signIn": {"path": "/api/token/", "identifier": "username"},
      "refresh": {"path": "/api/token/refresh/", "token": "refresh"},
      "signOut": {"path": "/api/token/blacklist/"},
      "user": {"path": "/api/me/"},
      "tokens": {"accessToken": "access", "refreshToken": "refresh"},
      "errors": {"code": "code", "message": "detail", "endsSession": ["token_not_valid"]}
    }
    """#

  /// fastapi-users: forms, no refresh, codes in place of words.
  private static let fastAPI = #"""
    {
      "name": "fastapi-users",
      "signIn": {"path": "/auth/db/login", "form": true, "identifier": "username", "constants": {"grant_type": "password"}},
      "signUp": {"path": "/auth/register"},
      "signOut": {"path": "/auth/db/logout", "accessToken": true, "refreshToken": false},
      "user": {"path": "/users/me"},
      "errors": {"code": "detail", "invalidCredentials": ["LOGIN_BAD_CREDENTIALS"], "taken": ["REGISTER_USER_ALREADY_EXISTS"]}
    }
    """#

  private func backend(_ text: String, _ transport: StubTransport) throws -> RESTBackend {
    RESTBackend(
      client: APIClient(baseURL: try ServerIdentity("http://localhost:8000").baseURL, transport: transport),
      description: try RESTDescription(text))
  }

  private func json(_ request: HTTPRequest) throws -> JSONValue {
    try JSONDecoder().decode(JSONValue.self, from: try #require(request.body))
  }

  @Test("names, paths and lifetimes are the description's: a lifetime comes from the token where the answer has none")
  func signIn() async throws {
    let token = SupabaseGolden.token(#"{"iat":1000,"exp":1300}"#)
    let transport = StubTransport([.json(200, "{\"access\":\"\(token)\",\"refresh\":\"r1\"}")])
    let grant = try await backend(Self.simpleJWT, transport).signIn(Credentials(identifier: "anna", password: "p"))
    #expect(grant.response == TokenResponse(accessToken: token, refreshToken: "r1", expiresIn: 300))
    #expect(transport.requests[0].url.absoluteString == "http://localhost:8000/api/token/")
    #expect(try json(transport.requests[0]) == ["username": "anna", "password": "p"])
  }

  @Test("a form is a form, with its constants; a refresh token that nobody could spend is dropped")
  func form() async throws {
    let transport = StubTransport([.json(200, #"{"access_token":"a","refresh_token":"r","token_type":"bearer"}"#)])
    let grant = try await backend(Self.fastAPI, transport).signIn(Credentials(identifier: "a@b.c", password: "p&q"))
    #expect(grant.response == TokenResponse(accessToken: "a", refreshToken: nil, expiresIn: nil))
    let body = String(decoding: try #require(transport.requests[0].body), as: UTF8.self)
    #expect(body == "grant_type=password&password=p%26q&username=a%40b.c")
    #expect(transport.requests[0].headers["Content-Type"] == "application/x-www-form-urlencoded")
  }

  @Test(
    "S10 by the description: listed codes end the session, everything else passes",
    arguments: [
      (401, #"{"detail":"Token is blacklisted","code":"token_not_valid"}"#, true),
      (403, #"{"detail":"x","code":"token_not_valid"}"#, true), (401, #"{"detail":"x"}"#, false),
      (401, #"{"detail":"x","code":"user_inactive"}"#, false), (500, #"{"code":"token_not_valid"}"#, false),
      (401, "<html>", false), (404, #"{"code":"token_not_valid"}"#, false), (400, #"{"error":"invalid_grant"}"#, true),
    ])
  func refusals(status: Int, body: String, ends: Bool) async throws {
    let answer = try await backend(Self.simpleJWT, StubTransport([.json(status, body)])).refresh(refreshToken: "r1")
    if case .refused = answer { #expect(ends) } else { #expect(!ends) }
  }

  @Test("errors are told as the project's own: wrong credentials, a taken address, what is wrong with a field")
  func errors() async throws {
    let transport = StubTransport([
      .json(400, #"{"detail":"LOGIN_BAD_CREDENTIALS"}"#), .json(400, #"{"detail":"REGISTER_USER_ALREADY_EXISTS"}"#),
      .json(400, #"{"email":["Enter a valid email address."],"password":["Too short.","Too common."]}"#),
    ])
    let backend = try backend(Self.fastAPI, transport)
    let wrong = await #expect(throws: APIError.self) {
      try await backend.signIn(Credentials(identifier: "a", password: "b"))
    }
    #expect(wrong?.kind == .invalidCredentials)
    let registration = Registration(username: nil, email: "a@b.c", password: "p")
    let taken = await #expect(throws: APIError.self) { try await backend.signUp(registration) }
    #expect(taken?.kind == .conflict)
    let fields = await #expect(throws: APIError.self) { try await backend.signUp(registration) }
    #expect(fields?.fields == ["email": "Enter a valid email address.", "password": "Too short. Too common."])
  }

  @Test(
    "a member that a description calls by any name, a known one too, traps nothing",
    arguments: ["email", "username", "password", "login"])
  func memberNames(name: String) async throws {
    let text = "{\"signIn\":{\"path\":\"/l\",\"identifier\":\"\(name)\",\"password\":\"password\"}}"
    let transport = StubTransport([.json(400, "{\"\(name)\":[\"This field is required.\"]}")])
    let error = await #expect(throws: APIError.self) {
      try await backend(text, transport).signIn(Credentials(identifier: "a", password: "b"))
    }
    #expect(error?.fields.values.contains("This field is required.") == true)
  }

  @Test("through the engine: rotation, the user, and a sign-out that sends what the server wants")
  func engine() async throws {
    let token = SupabaseGolden.token(#"{"iat":1000,"exp":1300}"#)
    let transport = StubTransport([
      .json(200, "{\"access\":\"\(token)\",\"refresh\":\"r1\"}"), .json(200, #"{"access":"a2","refresh":"r2"}"#),
      .json(200, #"{"id":7,"username":"anna","email":"anna@example.com"}"#), .json(200, "{}"),
    ])
    try await withVirtualTime { clock, tasks in
      let engine = SessionEngine(
        slot: SessionSlot(server: "http://localhost:8000"), backend: try backend(Self.simpleJWT, transport),
        store: InMemorySessionStore(time: clock), time: clock, tasks: tasks)
      try await engine.signIn(Credentials(identifier: "anna", password: "p"))
      try await clock.sleep(for: .seconds(301))
      #expect(try await engine.currentUser() == SessionUser(id: "7", email: "anna@example.com", username: "anna"))
      #expect(try json(transport.requests[1]) == ["refresh": "r1"])
      #expect(transport.requests[2].headers["Authorization"] == "Bearer a2")
      #expect(try await engine.signOut().revoked)
      #expect(try json(transport.requests[3]) == ["refresh": "r2"])
    }
  }

  @Test("a sign-out by access token sends no body, and without the token is none")
  func signOutByAccessToken() async throws {
    let transport = StubTransport([.response(HTTPResponse(status: 204))])
    let backend = try backend(Self.fastAPI, transport)
    var tokens = PendingRevocation(
      id: UUID(), slot: SessionSlot(server: "s"), profile: "rest", accessToken: "a1", refreshToken: nil,
      since: Date(timeIntervalSince1970: 0))
    #expect(await backend.revoke(tokens) == .revoked)
    #expect(transport.requests[0].headers["Authorization"] == "Bearer a1" && transport.requests[0].body == nil)
    tokens.accessToken = nil
    #expect(await backend.revoke(tokens) == .unsupported)
  }

  @Test(
    "a description that cannot be meant is refused, by the name of what is wrong",
    arguments: [
      ("", "no JSON"), ("[]", "no object"), ("{}", "signIn is missing"), (#"{"signIn":{}}"#, "path of signIn"),
      (#"{"signIn":{"path":"login"}}"#, "slash"),
      (#"{"signIn":{"path":"/l","identifer":"x"}}"#, "Did you mean identifier?"),
      (#"{"signIn":{"path":"/l"},"refesh":{"path":"/r"}}"#, "Did you mean refresh?"),
      (#"{"signIn":{"path":"/l","form":"yes"}}"#, "neither true nor false"),
      (#"{"signIn":{"path":"/l"},"tokens":{}}"#, "tokens.accessToken"),
      (#"{"signIn":{"path":"/l"},"errors":{"endsSessionWithoutCode":[500]}}"#, "no other status ends a session"),
      (#"{"signIn":{"path":"/l"},"errors":{"endsSession":"x"}}"#, "no list of texts"),
      (#"{"signIn":{"path":"/l","constants":{"a":1}}}"#, "no object of texts"),
      (#"{"name":7,"signIn":{"path":"/l"}}"#, "no text"),
    ])
  func unusable(text: String, words: String) {
    let error = #expect(throws: RESTDescriptionError.self) { try RESTDescription(text) }
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }
}

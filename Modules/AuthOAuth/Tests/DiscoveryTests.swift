import AuthModels
import AuthNetworking
import AuthTestSupport
import Groundwork
import Testing

@testable import AuthOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Discovery: where the metadata stand, and whose they are (RFC 8414)")
struct DiscoveryTests {
  private func client(_ transport: StubTransport, allowInsecureHTTP: Bool = false) throws -> APIClient {
    APIClient(
      baseURL: try #require(URL(string: "https://unused.example")), transport: transport,
      allowInsecureHTTP: allowInsecureHTTP)
  }

  private func document(_ issuer: String, _ more: String = "") -> String {
    "{\"issuer\":\"\(issuer)\",\"token_endpoint\":\"https://id.example/token\"\(more)}"
  }

  @Test(
    "a path stands behind the well-known part (RFC 8414 §3.1), or before it (OpenID Connect Discovery §4)",
    arguments: [
      (
        "https://id.example",
        [
          "https://id.example/.well-known/oauth-authorization-server",
          "https://id.example/.well-known/openid-configuration",
        ]
      ),
      (
        "https://id.example:8443/r/team/",
        [
          "https://id.example:8443/.well-known/oauth-authorization-server/r/team",
          "https://id.example:8443/r/team/.well-known/openid-configuration",
          "https://id.example:8443/.well-known/openid-configuration/r/team",
        ]
      ),
    ])
  func places(issuer: String, expected: [String]) async throws {
    #expect(try ServerMetadata.places(of: issuer) == expected)
    let transport = StubTransport(otherwise: { _ in .json(404, "{}") })
    let error = await #expect(throws: OAuthError.self) {
      try await ServerMetadata.discover(issuer: issuer, client: client(transport))
    }
    #expect(error?.code == .noMetadata)
    #expect(transport.requests.map(\.url.absoluteString) == expected)
    #expect(transport.requests.allSatisfy { $0.headers["Authorization"] == nil })
  }

  @Test("the first place that has them counts; a page for people in its place is none")
  func found() async throws {
    let transport = StubTransport([
      .response(HTTPResponse(status: 200, headers: ["Content-Type": "text/html"], body: Data("<html>".utf8))),
      .json(
        200,
        document(
          "https://id.example",
          #"""
          ,"authorization_endpoint":"https://id.example/authorize","jwks_uri":"https://keys.example/jwks",
          "userinfo_endpoint":"https://id.example/me","revocation_endpoint":"https://id.example/revoke",
          "device_authorization_endpoint":"https://id.example/device","code_challenge_methods_supported":["plain","S256"],
          "token_endpoint_auth_methods_supported":["client_secret_post"],"authorization_response_iss_parameter_supported":true,
          "scopes_supported":["openid"]
          """#)),
    ])
    let metadata = try await ServerMetadata.discover(issuer: "https://id.example/", client: client(transport))
    #expect(
      metadata
        == ServerMetadata(
          issuer: "https://id.example", tokenEndpoint: "https://id.example/token",
          authorizationEndpoint: "https://id.example/authorize",
          deviceAuthorizationEndpoint: "https://id.example/device",
          revocationEndpoint: "https://id.example/revoke", userInfoEndpoint: "https://id.example/me",
          keySet: "https://keys.example/jwks", clientAuthentications: ["client_secret_post"], scopes: ["openid"],
          codeChallengeMethods: ["plain", "S256"], sendsIssuer: true))
    #expect(metadata.usualScope == "openid")
    #expect(metadata.authentication(hasSecret: true) == .post)
    #expect(metadata.authentication(hasSecret: false) == .none)
    #expect(ServerMetadata(issuer: "i", tokenEndpoint: "t").authentication(hasSecret: true) == .basic)
  }

  @Test(
    "metadata of another issuer are not used, and the next place is not asked",
    arguments: ["https://evil.example", "http://id.example", "https://id.example/other", "https://ID.example", ""])
  func wrongIssuer(named: String) async throws {
    let transport = StubTransport(otherwise: { _ in .json(200, self.document(named)) })
    let error = await #expect(throws: OAuthError.self) {
      try await ServerMetadata.discover(issuer: "https://id.example", client: client(transport))
    }
    #expect(error?.code == .wrongIssuer)
    #expect(transport.requests.count == 1)
  }

  @Test(
    "metadata that cannot be used are told apart from none",
    arguments: [
      "{}", #"{"issuer":"https://id.example"}"#, #"{"issuer":7,"token_endpoint":"https://id.example/token"}"#,
      #"{"issuer":"https://id.example","token_endpoint":"http://id.example/token"}"#,
      #"{"issuer":"https://id.example","token_endpoint":"javascript:alert(1)"}"#,
      #"{"issuer":"https://id.example","token_endpoint":"https://a@id.example/token"}"#,
      #"{"issuer":"https://id.example","token_endpoint":"https://id.example/t","authorization_endpoint":"file:///etc/passwd"}"#,
      #"{"issuer":"https://id.example","token_endpoint":"https://id.example/t","jwks_uri":"http://id.example/keys"}"#,
    ])
  func unusable(body: String) async throws {
    let error = await #expect(throws: OAuthError.self) {
      try await ServerMetadata.discover(issuer: "https://id.example", client: client(StubTransport([.json(200, body)])))
    }
    #expect(error?.code == .badMetadata)
  }

  @Test("plain HTTP is for this machine, or where it was allowed by name (S24)")
  func plainHTTP() async throws {
    let local = #"{"issuer":"http://127.0.0.1:8080","token_endpoint":"http://127.0.0.1:8080/oauth2/token"}"#
    let metadata = try await ServerMetadata.discover(
      issuer: "http://127.0.0.1:8080", client: client(StubTransport([.json(200, local)])))
    #expect(metadata.tokenEndpoint == "http://127.0.0.1:8080/oauth2/token")
    let lan = #"{"issuer":"http://id.lan","token_endpoint":"http://id.lan/token"}"#
    let allowed = try await ServerMetadata.discover(
      issuer: "http://id.lan", client: client(StubTransport([.json(200, lan)]), allowInsecureHTTP: true))
    #expect(allowed.tokenEndpoint == "http://id.lan/token")
  }

  @Test("a server that cannot be reached, or has a problem, is not a server without metadata", arguments: [503, 429])
  func trouble(status: Int) async throws {
    let transport = StubTransport([.json(status, "{}")])
    let error = await #expect(throws: APIError.self) {
      try await ServerMetadata.discover(issuer: "https://id.example", client: client(transport))
    }
    #expect(error?.status == status)
    #expect(transport.requests.count == 1)
    await #expect(throws: APIError.self) {
      try await ServerMetadata.discover(issuer: "https://id.example", client: client(StubTransport()))
    }
  }

  @Test(
    "what is no issuer is told so", arguments: ["", "id.example", "https://id.example?x=1", "https://id.example#x"])
  func noIssuer(text: String) async throws {
    let error = await #expect(throws: OAuthError.self) {
      try await ServerMetadata.discover(issuer: text, client: client(StubTransport()))
    }
    #expect(error?.code == .badMetadata)
  }
}

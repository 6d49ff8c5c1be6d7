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

@Suite("The request for a code, and what comes back (RFC 6749 §4.1, RFC 7636, RFC 9207)")
struct AuthorizationTests {
  private static let redirect = "http://127.0.0.1:51234/callback"

  private func request(
    scope: String? = "openid profile", sendsIssuer: Bool = false, endpoint: String = "https://id.example/authorize",
    methods: [String]? = ["S256"], extra: [(name: String, value: String)] = []
  ) throws(OAuthError) -> AuthorizationRequest {
    try AuthorizationRequest(
      metadata: ServerMetadata(
        issuer: "https://id.example", tokenEndpoint: "https://id.example/token", authorizationEndpoint: endpoint,
        codeChallengeMethods: methods, sendsIssuer: sendsIssuer), clientID: "client 1", redirectURI: Self.redirect,
      scope: scope, extra: extra)
  }

  private func parameters(_ url: String) throws -> [String: String] {
    try FormEncoding.decode(url.drop { $0 != "?" }.dropFirst())
  }

  private func code(_ request: AuthorizationRequest, _ callback: String) -> OAuthError.Code? {
    do {
      _ = try request.code(in: callback)
      return nil
    } catch {
      return error.code
    }
  }

  @Test("the request names client, redirect, scope, state, nonce and the challenge of RFC 7636")
  func url() throws {
    let request = try request(extra: [("login_hint", "anna@example.com"), ("state", "fixed")])
    #expect(request.url.hasPrefix("https://id.example/authorize?response_type=code&client_id=client%201&"))
    let parameters = try parameters(request.url)
    #expect(parameters["redirect_uri"] == Self.redirect)
    #expect(parameters["scope"] == "openid profile")
    #expect(parameters["state"] == request.state && parameters["nonce"] == request.nonce)
    #expect(parameters["code_challenge"] == request.pkce.challenge)
    #expect(parameters["code_challenge_method"] == "S256")
    #expect(parameters["login_hint"] == "anna@example.com")
    #expect(!request.url.contains(request.pkce.verifier))
    #expect(
      PKCE(verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk").challenge
        == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "RFC 7636 appendix B")
    #expect(
      try self.request(endpoint: "https://id.example/a?tenant=x").url.hasPrefix(
        "https://id.example/a?tenant=x&response_type"))
  }

  @Test("each request has a state, nonce and verifier of its own; without openid there is no nonce")
  func fresh() throws {
    let (first, second) = (try request(), try request())
    #expect(first.state != second.state && first.nonce != second.nonce && first.pkce.verifier != second.pkce.verifier)
    #expect(first.state.utf8.count == 43 && first.pkce.verifier.utf8.count == 43)
    #expect(try request(scope: "profile openidx").nonce == nil)
    #expect(try parameters(request(scope: nil).url)["scope"] == nil)
  }

  @Test("a server that takes no S256, or has no such endpoint, is not asked")
  func notSupported() {
    #expect(throws: OAuthError.self) { try request(methods: ["plain"]) }
    #expect(throws: OAuthError.self) {
      try AuthorizationRequest(
        metadata: ServerMetadata(issuer: "i", tokenEndpoint: "t"), clientID: "c", redirectURI: Self.redirect, scope: nil
      )
    }
  }

  @Test("a code is taken from the answer to this very request")
  func good() throws {
    let request = try request()
    #expect(try request.code(in: "\(Self.redirect)?code=a%2Bb+c&state=\(request.state)") == "a+b c")
    let named = "\(Self.redirect)?state=\(request.state)&iss=https%3A%2F%2Fid.example&code=c&session_state=x"
    #expect(try request.code(in: named) == "c")
  }

  @Test(
    "a redirect to another address is refused: scheme, host, port or path",
    arguments: [
      "http://127.0.0.1:51235/callback", "https://127.0.0.1:51234/callback", "http://localhost:51234/callback",
      "http://127.0.0.1:51234/callback/", "http://127.0.0.1:51234/other", "http://127.0.0.1:51234/callback%2F",
      "http://127.0.0.1:51234/callback#", "http://evil.example/?x=http://127.0.0.1:51234/callback", "",
    ])
  func redirect(address: String) throws {
    let request = try request()
    #expect(code(request, "\(address)?code=c&state=\(request.state)") == .wrongRedirect)
  }

  @Test("the state is the one that was sent, or the answer is not used, not even its error")
  func state() throws {
    let request = try request()
    for state in [
      "", "state=", "state=\(request.state)x", "state=\(request.state.dropLast())", "State=\(request.state)",
    ] {
      #expect(code(request, "\(Self.redirect)?code=c&\(state)") == .wrongState, "\(state)")
      #expect(code(request, "\(Self.redirect)?error=access_denied&\(state)") == .wrongState, "\(state)")
    }
    let other = try self.request()
    #expect(code(request, "\(Self.redirect)?code=c&state=\(other.state)") == .wrongState)
    #expect(code(request, Self.redirect) == .wrongState)
  }

  @Test("a parameter that stands there twice is refused, whatever it is", arguments: ["code", "state", "iss", "other"])
  func duplicates(name: String) throws {
    let request = try request()
    let good = "code=c&state=\(request.state)&iss=https://id.example&other=1"
    let value = try #require(FormEncoding.decode(good)[name])
    #expect(code(request, "\(Self.redirect)?\(good)&\(name)=\(value)") == .duplicateParameter)
    #expect(
      code(request, "\(Self.redirect)?\(good)&%\(String(name.utf8.first ?? 0, radix: 16))\(name.dropFirst())=x")
        == .duplicateParameter)
  }

  @Test("another issuer in the answer is refused, and a missing one where the server always sends it (RFC 9207 §2.4)")
  func issuer() throws {
    let request = try request()
    let good = "\(Self.redirect)?code=c&state=\(request.state)"
    #expect(code(request, good + "&iss=https://evil.example") == .wrongIssuer)
    #expect(code(request, good + "&iss=https://id.example/") == .wrongIssuer)
    #expect(code(request, good + "&iss=") == .wrongIssuer)
    #expect(code(request, good) == nil)
    let strict = try self.request(sendsIssuer: true)
    #expect(code(strict, "\(Self.redirect)?code=c&state=\(strict.state)") == .wrongIssuer)
    #expect(code(strict, "\(Self.redirect)?code=c&state=\(strict.state)&iss=https://id.example") == nil)
  }

  @Test("a no is told with its code and words; an answer without a code is none")
  func denied() throws {
    let request = try request()
    let error = #expect(throws: OAuthError.self) {
      try request.code(
        in: "\(Self.redirect)?error=access_denied&error_description=Not+today&state=\(request.state)&code=c")
    }
    #expect(error?.code == .denied && error?.serverCode == "access_denied")
    #expect(error?.message == "The server gave no access (access_denied): Not today")
    #expect(code(request, "\(Self.redirect)?state=\(request.state)") == .missingCode)
    #expect(code(request, "\(Self.redirect)?state=\(request.state)&code=") == .missingCode)
  }

  @Test("forms are read as browsers write them; a broken escape stands for itself")
  func forms() throws {
    #expect(
      try FormEncoding.decode("a=1+2&b=%C3%A4&&c&d=%zz%4&=x&e=%+1") == [
        "a": "1 2", "b": "ä", "c": "", "d": "%zz%4", "": "x", "e": "% 1",
      ])
    #expect(FormEncoding.encode([("a b", "ä&=+")]) == "a%20b=%C3%A4%26%3D%2B")
  }
}

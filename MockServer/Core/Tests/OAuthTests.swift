import Groundwork
import Testing

@testable import MockServerCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("The OAuth 2 dialect: pages, clients, ID tokens, and scripts that hold in every dialect")
struct OAuthTests {
  let test = TestServer()
  private static let form = [MockRequest.Field("Content-Type", "application/x-www-form-urlencoded")]
  private static let request =
    "/oauth2/authorize?response_type=code&client_id=chirp&redirect_uri=http%3A%2F%2F127.0.0.1%3A4711%2F&state=s"
    + "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"

  private func post(_ target: String, _ body: String) throws -> MockReply {
    try test.ask("POST", target, body, headers: Self.form)
  }

  private func claims(_ token: String) throws -> JSONValue {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    return try JSONDecoder().decode(JSONValue.self, from: Data(#require(Base64URL.decode(parts[1]))))
  }

  @Test("the form carries the request along, shows nothing as markup, and is neither kept nor framed")
  func page() throws {
    let reply = try test.ask("GET", "\(Self.request)&nonce=%22%3E%3Cscript%3E&scope=email")
    #expect(reply.status == 200)
    #expect(reply.header("Content-Type") == "text/html; charset=utf-8" && reply.header("Cache-Control") == "no-store")
    #expect(reply.header("Content-Security-Policy")?.contains("frame-ancestors 'none'") == true)
    #expect(reply.text.contains(#"name="nonce" value="&quot;&gt;&lt;script&gt;""#))
    #expect(!reply.text.contains("<script"))
    #expect(reply.text.contains(#"name="state" value="s""#) && reply.text.contains("<label for=\"password\">"))
  }

  @Test("a wrong password shows the form again, with the name and without the password")
  func wrongPassword() throws {
    let query = Self.request.split(separator: "?")[1]
    let reply = try post("/oauth2/authorize", "\(query)&username=anna&password=geheim123&decision=allow")
    #expect(reply.status == 403)
    #expect(reply.text.contains("Invalid username or password.") && reply.text.contains(#"value="anna""#))
    #expect(!reply.text.contains("geheim123"))
    #expect(test.realm.count(.authorize, .invalidCredentials) == 1)
    let right = try post("/oauth2/authorize", "\(query)&username=anna&password=correct+horse&decision=allow")
    #expect(right.status == 302)
    #expect(right.header("Location")?.hasPrefix("http://127.0.0.1:4711/?code=") == true)
    #expect(right.header("Location")?.hasSuffix("&state=s&iss=http%3A%2F%2Flocalhost") == true)
  }

  @Test("an unknown client or redirect is a page, never a redirect")
  func noRedirect() throws {
    let good = "response_type=code&client_id=chirp&user=anna"
    for query in [
      "client_id=nobody", "", good, "\(good)&redirect_uri=http%3A%2F%2Fevil.example%2F",
      "\(good)&redirect_uri=http%3A%2F%2F127.0.0.1.evil.example%2F",
      "\(good)&redirect_uri=http%3A%2F%2F127.0.0.1%3A0%2F", "\(good)&redirect_uri=http%3A%2F%2F127.0.0.1%40evil%2F",
      "\(good)&redirect_uri=http%3A%2F%2F127.0.0.1%2F%0D%0AX%3A1", "\(good)&redirect_uri=http%3A%2F%2F127.0.0.1%2F%23f",
      "\(good)&redirect_uri=http%3A%2F%2F127.0.0.1%2F&redirect_uri=http%3A%2F%2F127.0.0.1%2F",
      "\(good)&client_id=chirp&redirect_uri=http%3A%2F%2F127.0.0.1%2F", "a=%zz",
    ] {
      let reply = try test.ask("GET", "/oauth2/authorize?\(query)")
      #expect(reply.status == 400 && reply.header("Location") == nil, "\(query)")
    }
  }

  @Test(
    "where codes may go",
    arguments: [
      ("http://127.0.0.1/cb", "http://127.0.0.1:1/cb", true), ("http://127.0.0.1/cb", "http://127.0.0.1/cb", true),
      ("http://127.0.0.1/cb", "http://127.0.0.1:1/other", false), ("http://[::1]/*", "http://[::1]:9/x?y", true),
      ("http://127.0.0.1/cb", "http://127.0.0.1:70000/cb", false),
      ("https://app.example/cb", "https://app.example/cb", true),
      ("https://app.example/cb", "https://app.example:444/cb", false), ("app://cb/*", "app://cb/done", true),
      ("https://app.example/*", "https://app.example.evil/x", false),
      ("http://localhost/*", "http://localhostx/", false),
      ("https://app.example/cb", "https://app.example/cb/..", false),
    ])
  func redirects(registered: String, address: String, ok: Bool) {
    #expect(MockOAuthClient(id: "c", redirectURIs: [registered]).allows(redirect: address) == ok)
  }

  @Test("clients are registered by the admin API, which shows no secret")
  func clients() throws {
    let body =
      #"[{"id":"app","secret":"geheim","redirectURIs":["https://a.example/cb"],"grants":["password"],"scopes":["x"]}]"#
    let reply = try test.admin("PUT", "clients", body)
    #expect(
      reply.text == #"{"clients":[{"id":"app","confidential":true,"redirectURIs":["https://a.example/cb"],"#
        + #""grants":["password"],"scopes":["x"]}]}"#)
    #expect(try test.admin("GET", "clients").text == reply.text)
    #expect(!"\(test.realm.clients)".contains("geheim"))
    let token = try post(
      "/oauth2/token", "grant_type=password&client_id=app&client_secret=geheim&username=anna&password=correct+horse")
    #expect(try token.json()["scope"] == "x" && token.json()["refresh_token"] == nil)
    let refused = try post(
      "/oauth2/token", "grant_type=refresh_token&client_id=app&client_secret=geheim&refresh_token=x")
    #expect(try refused.json()["error"] == "unauthorized_client")
    for bad in [
      "{}", "[{}]", #"[{"id":""}]"#, #"[{"id":"a"},{"id":"a"}]"#, #"[{"id":"a","grants":["tea"]}]"#,
      #"[{"id":"a","redirectURIs":["/cb"]}]"#, #"[{"id":"a","scopes":["a b"]}]"#, #"[{"id":"a","sceret":"x"}]"#,
    ] {
      #expect([400, 409].contains(try test.admin("PUT", "clients", bad).status), "\(bad)")
    }
  }

  @Test("an ID token is as it should be but for the flaw that the policy names", arguments: MockIDTokenFlaw.allCases)
  func flaws(flaw: MockIDTokenFlaw) throws {
    let body = "grant_type=password&client_id=chirp&username=anna&password=correct+horse"
    let good = try #require(try post("/oauth2/token", body).json()["id_token"]?.string)
    let goodClaims = try claims(good)
    let keys = test.realm.step { state, _, _ in state.keys }
    #expect(throws: Never.self) { try JWT.read(good, keys: keys) }
    test.realm.policy.idTokenFlaw = flaw
    let token = try post("/oauth2/token", body).json()["id_token"]?.string
    guard flaw != .missing else {
      #expect(token == nil)
      return
    }
    let bad = try #require(token)
    let badClaims = try claims(bad)
    let changed = Set(goodClaims.object?.keys.map(\.self) ?? []).union(badClaims.object?.keys.map(\.self) ?? [])
      .filter { goodClaims[$0] != badClaims[$0] && $0 != "at_hash" }
    switch flaw {
    case .audience: #expect(changed == ["aud"])
    case .issuer: #expect(changed == ["iss"])
    case .subject: #expect(changed == ["sub"])
    case .expired: #expect(changed == ["exp"] && badClaims["exp"]?.integer == 1_893_452_400)
    case .early: #expect(changed == ["iat", "nbf", "exp"])
    case .signature, .key, .unsigned:
      #expect(changed.isEmpty)
      #expect(throws: JWT.Flaw.self) { try JWT.read(bad, keys: keys) }
    case .nonce, .missing: #expect(changed.isEmpty)
    }
  }

  @Test("the nonce comes back in the ID token, or another if the policy says so")
  func nonce() throws {
    for (flaw, expected) in [(nil, "n1"), (.nonce, "another-nonce")] as [(MockIDTokenFlaw?, String)] {
      test.realm.policy.idTokenFlaw = flaw
      let location = try #require(
        try test.ask("GET", "\(Self.request)&nonce=n1&user=anna").header("Location"))
      let code = try #require(location.split(separator: "code=").last?.split(separator: "&").first)
      let reply = try post(
        "/oauth2/token",
        "grant_type=authorization_code&client_id=chirp&code=\(code)&redirect_uri=http%3A%2F%2F127.0.0.1%3A4711%2F"
          + "&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
      let token = try #require(try reply.json()["id_token"]?.string)
      #expect(try claims(token)["nonce"]?.string == expected)
    }
  }

  @Test("the metadata of a realm stand where RFC 8414 puts them, and name the realm")
  func metadata() throws {
    for target in [
      "/.well-known/oauth-authorization-server/r/x", "/.well-known/openid-configuration/r/x",
      "/r/x/.well-known/oauth-authorization-server",
    ] {
      let reply = try test.ask("GET", target, headers: [MockRequest.Field("Host", "127.0.0.1:8080")])
      #expect(try reply.json()["issuer"] == "http://127.0.0.1:8080/r/x", "\(target)")
    }
    #expect(try test.ask("GET", "/.well-known/openid-configuration/r/a%2fb").status == 400)
  }

  // MARK: Every dialect

  /// A refresh in each dialect, from a session that was made without a login.
  private func refresh(_ dialect: MockDialect) throws -> MockReply {
    let pair = try test.realm.mintSession(user: "anna@example.com", dialect: dialect)
    let key = [MockRequest.Field("apikey", test.realm.keys.anonKey)]
    switch dialect {
    case .envelope: return try test.ask("POST", "/envelope/refresh", #"{"refreshToken":"\#(pair.refreshToken)"}"#)
    case .supabase:
      return try test.ask(
        "POST", "/auth/v1/token?grant_type=refresh_token", #"{"refresh_token":"\#(pair.refreshToken)"}"#, headers: key)
    case .oauth2:
      return try post("/oauth2/token", "grant_type=refresh_token&client_id=chirp&refresh_token=\(pair.refreshToken)")
    case .chirp, .none: return try test.refresh(pair.refreshToken)
    }
  }

  @Test(
    "a script for the operation holds in each dialect, which answers in its own words, and the journal knows the session",
    arguments: [MockDialect.chirp, .envelope, .supabase, .oauth2])
  func scripts(dialect: MockDialect) throws {
    test.realm.script(.refresh, .status(400), .status(503), MockAction(phase: .afterCommit, revoke: .session))
    #expect(try refresh(dialect).status == 400)
    #expect(try refresh(dialect).status == 503)
    #expect(try refresh(dialect).status == 200)
    #expect(try refresh(dialect).status == 200)
    let entries = test.realm.journal()
    #expect(entries.map(\.operation) == [.refresh, .refresh, .refresh, .refresh])
    #expect(entries.map(\.dialect) == Array(repeating: dialect, count: 4))
    #expect(entries.map(\.outcome) == [.scripted, .scripted, .rotated, .rotated])
    let sessions = test.realm.snapshot.sessions
    #expect(entries.map(\.sessionID) == sessions.map(\.id))
    #expect(sessions.map(\.endedBy) == [nil, nil, .script, nil])
  }

  @Test(
    "a refresh whose answer breaks breaks in each dialect",
    arguments: [MockDialect.chirp, .envelope, .supabase, .oauth2])
  func faults(dialect: MockDialect) throws {
    test.realm.script(.refresh, .breaks(.malformed, phase: .afterCommit), .breaks(.wrongType, phase: .afterCommit))
    #expect(throws: (any Error).self) { try refresh(dialect).json() }
    let wrong = try refresh(dialect).json()
    let token = wrong["access_token"] ?? wrong["accessToken"] ?? wrong["data"]?["accessToken"]
    #expect(token?.number != nil)
    #expect(test.realm.count(.refresh, .rotated) == 2)
  }
}

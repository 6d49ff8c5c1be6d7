import AuthCLI
import AuthTestSupport
import Groundwork
import MockServerCore
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `--verbose`: what a trace shows, and what it never does, whatever the server answers.
@Suite struct TraceTests {
  private let world = CommandLineWorld()

  @Test(
    "what was learned is hidden plain, percent-encoded, as JSON writes it, and with anything around it",
    arguments: [
      "hunter2!", "pass word/+%", "pä\"ss\\wörd", "aaaa", "a.b-c_d~e", "eyJhbGciOiJIUzI1NiJ9.e30.sig-nature", "😀😀😀",
    ])
  func learned(secret: String) throws {
    let mask = SecretMask()
    mask.learn(secret)
    let percent = secret.utf8.map { byte in
      let scalar = Unicode.Scalar(byte)
      let isPlain = byte < 128 && (scalar.properties.isAlphabetic || "0123456789-._~".unicodeScalars.contains(scalar))
      return isPlain ? String(scalar) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }.joined()
    let json = String(decoding: try JSONEncoder().encode(JSONValue.string(secret)), as: UTF8.self)
    for text in [
      secret, "x\(secret)y", "\(secret)\u{301}", "\(secret)\(secret)", "GET /a?b=\(percent)&c=d", json, "[\(json)]",
      json.replacing("/", with: "\\/"), "\r\n\(secret)\0",
    ] {
      let shown = mask.masked(text)
      for form in [secret, percent, String(json.dropFirst().dropLast())] {
        #expect(!Array(shown.utf8).contains(Array(form.utf8)), "\(text) shows \(form)")
      }
    }
    #expect(mask.masked("nothing to hide") == "nothing to hide")
  }

  @Test("a secret that begins with another one is hidden whole")
  func prefixes() {
    let mask = SecretMask()
    mask.learn("secret")
    mask.learn("secret-and-more")
    #expect(mask.masked("a secret-and-more b secret c") == "a ●●● b ●●● c")
  }

  @Test(
    "what looks like a credential is hidden though nobody has seen it",
    arguments: [
      ("Bearer abcdefgh12345678", "Bearer ●●●"), ("said: bearer abcdefgh12345678==, so", "said: bearer ●●●, so"),
      ("Basic YW5uYTpwYXNz", "Basic ●●●"), ("DPoP abcdefgh.ijkl", "DPoP ●●●"),
      ("{\"a\":\"eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.\"}", "{\"a\":\"●●●\"}"),
      ("<https://x.org/?access_token=abc%20def&a=b>; rel=next", "<https://x.org/?access_token=●●●&a=b>; rel=next"),
      ("password=hunter2", "password=●●●"), ("api_key=k;sid=1", "api_key=●●●;sid=●●●"),
    ])
  func patterns(text: String, expected: String) {
    #expect(SecretMask().masked(text) == expected)
  }

  @Test(
    "what is none stays readable",
    arguments: [
      "the bearer of this", "Basic auth is off", "GET http://localhost:8080/feed?limit=2", "eyJ", "a=b", "token", "",
      "Bearer", "Bearer realm=\"x\", error=\"invalid_token\"", "text/html; charset=utf-8", "😀 ok",
    ])
  func prose(text: String) {
    #expect(SecretMask().masked(text) == text)
  }

  @Test("a server that echoes tokens and passwords in fields, bodies and URLs: the trace shows none, halves neither")
  func hostileServer() async throws {
    await world.login()
    let token = try await world.run("token", "--json").json()["token"]?.string ?? ""
    #expect(token.count > 8)
    let filler = String(repeating: "x", count: 995)
    world.realm.script(
      .me,
      MockAction(
        status: 200,
        body: .object([
          "note": .string("you sent \(token)"), "nested": .array([.object(["refresh_token": "rt-secret-0123456789"])]),
          "again": "it was rt-secret-0123456789.", "next": .string("/me?access_token=\(token)&page=2"),
          token: "as a name", "code": "invalid_grant", "why": "code invalid_grant",
        ]),
        headers: [
          .init("X-Echo", "Authorization: Bearer \(token)"),
          .init("X-Long", "\(filler) \(token)"),
          .init("Set-Cookie", "sid=cookie-secret-0123456789; Path=/"),
          .init("X-Cookie", "cookie-secret-0123456789"),
          .init("Link", "</me?token=\(token)>; rel=next"), .init("X-Api-Key", "k-e-y"),
        ]))
    let outcome = await world.run(
      "api", "GET", "/me?password=query-secret-1&x=y", "--verbose", "--header", "X-Client-Secret: header-secret-1",
      "--header", "X-Note: header-secret-1 is secret")
    #expect(outcome.code == 0)
    #expect(outcome.output.contains(token), "data are what the server sent")
    let trace = outcome.error
    for secret in [
      token, "rt-secret-0123456789", "cookie-secret-0123456789", "query-secret-1", "header-secret-1", "k-e-y",
      String(token.prefix(token.count / 2)), String(token.suffix(token.count / 2)),
    ] {
      #expect(!trace.contains(secret), "\(secret)")
    }
    for part in ["> GET ", "x=y", "X-Echo", "you sent ●●●", "page=2", "why", "invalid_grant", "< 200"] {
      #expect(trace.contains(part), "\(part)")
    }
    // What was learned from a field's name is known where it stands without one.
    #expect(trace.contains("X-Note: ●●● is secret"))
  }

  @Test("the bodies of a sign-in, a refresh and a registration are not shown, and their secrets nowhere else")
  func credentials() async throws {
    world.realm.script(
      .login,
      MockAction(
        status: 401, body: .object(["error": .object(["code": "invalid_credentials", "message": "not password123"])]),
        headers: [.init("X-Echo", "password123")]))
    let refused = await world.login("--verbose")
    #expect(refused.code == 4)
    #expect(refused.error.contains("X-Echo: ●●●"))
    #expect(!refused.error.contains("password123"))
    let login = await world.login("--verbose")
    #expect(login.code == 0 && !login.error.contains("password123"))
    let token = try await world.run("token", "--json").json()["token"]?.string ?? "?"
    #expect(!login.error.contains(token))
    let refresh = await world.run("refresh", "--verbose")
    let renewed = try await world.run("token", "--json").json()["token"]?.string ?? "?"
    #expect(refresh.error.contains("/auth/refresh") && renewed != token)
    for secret in [token, renewed] { #expect(!refresh.error.contains(secret)) }
    let register = await world.run(
      "register", "--username", "bob", "--email", "bob@example.com", "--password-stdin", "-v",
      console: ScriptedConsole(input: "another-secret\n"))
    #expect(register.code == 0)
    #expect(register.error.contains("not shown") && !register.error.contains("another-secret"))
  }

  @Test("the environment's token is hidden wherever it comes back")
  func override() async throws {
    world.realm.script(
      .me,
      MockAction(
        status: 401, body: .object(["you": "sent my-own-token-1"]), headers: [.init("X", "my-own-token-1")]
      ))
    let outcome = await world.run(
      "api", "GET", "/me", "--server", CommandLineWorld.url, "-v", environment: ["CHIRP_TOKEN": "my-own-token-1"])
    #expect(outcome.code == 4)
    #expect(outcome.error.contains("sent ●●●") && !outcome.error.contains("my-own-token-1"))
  }

  @Test("every request that leaves is shown with its Authorization, hidden; a token that comes back to whoami is, too")
  func asItLeaves() async throws {
    await world.login()
    let token = try await world.run("token", "--json").json()["token"]?.string ?? "?"
    for environment in [[:], ["CHIRP_TOKEN": token]] {
      world.realm.script(
        .me,
        MockAction(
          status: 200, body: .object(["id": "1", "username": "anna", "email": "a@b.cc", "note": .string(token)]),
          headers: [.init("X-Echo", token)]))
      let outcome = await world.run("whoami", "-v", environment: environment)
      #expect(outcome.error.contains(">   Authorization: ●●●"))
      #expect(outcome.error.contains("X-Echo: ●●●") && !outcome.error.contains(token))
    }
  }

  @Test(
    "a token that no header can carry is refused before anything is sent, and not repeated",
    arguments: ["a\nb", "a b", "ä", "\u{1B}x"])
  func oddOverride(token: String) async throws {
    await world.login()
    let requests = world.realm.journal().count
    let outcome = await world.run("whoami", environment: ["CHIRP_TOKEN": token])
    #expect(outcome.code == 2)
    #expect(outcome.error.contains("CHIRP_TOKEN") && !outcome.error.contains(token))
    #expect(world.realm.journal().count == requests)
  }

  @Test("whoever renews or ends the stored session hears that CHIRP_TOKEN stays")
  func overrideStays() async throws {
    await world.login()
    for command in ["refresh", "logout"] {
      let outcome = await world.run(command, environment: ["CHIRP_TOKEN": "my-own-token-1"])
      #expect(outcome.code == 0)
      #expect(outcome.error.contains("CHIRP_TOKEN is set"), "\(command)")
    }
  }

  @Test("a hint to sign in leads to the server that was named; an empty folder is refused")
  func hints() async throws {
    await world.login()
    let other = await world.run("whoami", "--server", "http://localhost:9", "--account", "work")
    #expect(other.code == 4)
    #expect(other.error.contains("chirp login --server http://localhost:9 --account work"))
    #expect(await world.run("status", "--state-dir", "").code == 2)
  }
}

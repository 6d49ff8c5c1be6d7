import AuthCLI
import AuthModels
import AuthNetworking
import AuthStorage
import AuthTestSupport
import Groundwork
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// `chirp login --dialect oauth2`: the browser's way there and back over a real port, against a server's answers written out by hand.
struct OAuthCommandTests {
  private static let url = "https://id.example"
  private let clock = ManualClock()
  private let transport: StubTransport
  private let store: InMemorySessionStore
  private let opened = Guarded<[String]>([])

  init() {
    let clock = clock
    store = InMemorySessionStore(time: clock)
    let grants = Guarded(0)
    transport = StubTransport(otherwise: { request in
      switch request.url.path() {
      case "/.well-known/oauth-authorization-server":
        return .json(
          200,
          #"""
          {"issuer":"https://id.example","authorization_endpoint":"https://id.example/authorize",
          "token_endpoint":"https://id.example/token","revocation_endpoint":"https://id.example/revoke",
          "userinfo_endpoint":"https://id.example/userinfo","device_authorization_endpoint":"https://id.example/device",
          "code_challenge_methods_supported":["S256"]}
          """#)
      case "/token":
        let count = grants.withLock { count in
          count += 1
          return count
        }
        return .json(
          200,
          "{\"access_token\":\"a\(count)\",\"token_type\":\"Bearer\",\"expires_in\":600,\"refresh_token\":\"r\(count)\"}"
        )
      case "/device":
        return .json(
          200,
          #"{"device_code":"d","user_code":"WDJB-MJHT","verification_uri":"https://id.example/device","interval":1}"#)
      case "/userinfo": return .json(200, #"{"sub":"user-1","preferred_username":"anna"}"#)
      case "/revoke", "/me": return .json(200, "{}")
      default: return .json(404, "{}")
      }
    })
  }

  private func run(
    _ arguments: [String], environment: [String: String] = [:], files: [String: String] = [:],
    browse: @escaping @Sendable (String) -> Void = { _ in }
  ) async -> CommandLineWorld.Outcome {
    let console = ScriptedConsole()
    let (store, transport, opened) = (store, transport, opened)
    let program = ChirpCommandLine(
      parts: CommandLineParts(
        console: console, environment: ["HOME": "/home/anna"].merging(environment) { _, new in new }, time: clock,
        openStore: { folder, _ in .init(store: store, location: folder, keySource: "keyfile") },
        makeTransport: { _ in transport },
        readFile: { path, _ in
          guard let text = files[path] else { throw ConsoleError.failed("\(path) cannot be read: no such file.") }
          return Array(text.utf8)
        },
        openBrowser: { url in
          opened.withLock { $0.append(url) }
          browse(url)
        }))
    let code = await program.run(arguments)
    return .init(code: code, output: console.output, error: console.error, questions: console.questions)
  }

  private static let login = ["login", "--server", url, "--dialect", "oauth2", "--client-id", "cli"]

  /// The parameters of the page that the browser was to open.
  private static func parameters(_ url: String) -> [String: String] {
    var parameters: [String: String] = [:]
    for item in URLComponents(string: url)?.queryItems ?? [] { parameters[item.name] = item.value }
    return parameters
  }

  /// Goes where the server would send the browser.
  private static func comeBack(_ query: @escaping @Sendable ([String: String]) -> String) -> @Sendable (String) -> Void
  {
    { page in
      let parameters = parameters(page)
      guard let redirect = parameters["redirect_uri"].flatMap({ URL(string: $0) }), let port = redirect.port else {
        return
      }
      let target = "\(redirect.path)?\(query(parameters))"
      DetachedThread.start {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        _ = withUnsafePointer(to: &address) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
          }
        }
        let head = Array("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n".utf8)
        _ = head.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        var answer = [UInt8](repeating: 0, count: 4096)
        while recv(descriptor, &answer, answer.count, 0) > 0 {}
      }
    }
  }

  private func form(_ path: String) throws -> String {
    let request = try #require(transport.requests.last { $0.url.path() == path })
    return String(decoding: try #require(request.body), as: UTF8.self)
  }

  @Test("by the browser: there with PKCE, back to this machine, and later commands need no flag")
  func browser() async throws {
    let signedIn = await run(Self.login, browse: Self.comeBack { "code=c1&state=\($0["state"] ?? "")" })
    #expect(signedIn.code == 0, "\(signedIn.error)")
    let page = try #require(opened.withLock { $0 }.first)
    let parameters = Self.parameters(page)
    #expect(page.hasPrefix("https://id.example/authorize?") && parameters["code_challenge_method"] == "S256")
    #expect(parameters["redirect_uri"]?.hasPrefix("http://127.0.0.1:") == true)
    #expect(signedIn.error.contains(page), "the address is shown as well")
    let form = try form("/token")
    #expect(
      form.contains("grant_type=authorization_code") && form.contains("code=c1") && form.contains("client_id=cli"))
    #expect(await run(["token"]).output == "a1\n")
    #expect(await run(["status"]).output.contains("\nBackend  OAuth 2: client cli at https://id.example\n"))
    #expect(await run(["whoami"]).output == "anna\n")
    let asked = transport.requests.count
    #expect(await run(["refresh"]).code == 0)
    #expect(transport.requests.count == asked + 1, "a refresh is one request: nobody asks for metadata again")
    #expect(await run(["logout"]).error == "Signed out.\n")
    #expect(try self.form("/revoke").contains("token=r2"))
    let again = await run(["login"], browse: Self.comeBack { "code=c2&state=\($0["state"] ?? "")" })
    #expect(again.code == 0, "\(again.error)")
  }

  @Test(
    "what comes back wrong is refused by its own error, and nothing is bought",
    arguments: [
      ("code=c&state=other", "oauth.wrongState", Int32(4)),
      ("code=c&code=d&state=STATE", "oauth.duplicateParameter", 4),
      ("code=c&state=STATE&iss=https://evil.example", "oauth.wrongIssuer", 4), ("state=STATE", "oauth.missingCode", 4),
      ("error=access_denied&state=STATE", "oauth.denied", 4),
    ])
  func refused(query: String, kind: String, code: Int32) async throws {
    let outcome = await run(
      Self.login + ["--json"],
      browse: Self.comeBack { query.replacing("STATE", with: $0["state"] ?? "") })
    #expect(outcome.code == code)
    let last = outcome.error.split(separator: "\n").last.map(String.init) ?? ""
    let json = try JSONDecoder().decode(JSONValue.self, from: Data(last.utf8))
    #expect(json["error"]?["kind"]?.string == kind)
    #expect(!transport.requests.contains { $0.url.path() == "/token" })
    #expect(await run(["status"]).code == 4)
  }

  @Test("nobody comes back: it ends in time, with exit 5")
  func timeOut() async {
    let outcome = await run(Self.login + ["--no-browser", "--wait", "1s"])
    #expect(outcome.code == 5)
    #expect(opened.withLock { $0 } == [])
    #expect(outcome.error.contains("https://id.example/authorize?"))
  }

  @Test("as the client itself, with a secret whose file's name is kept, and not the secret")
  func clientCredentials() async throws {
    let files = ["/secret": "s3cr3t-of-the-client\n"]
    let signedIn = await run(
      Self.login + ["--grant", "client-credentials", "--client-secret-file", "/secret"], files: files)
    #expect(signedIn.code == 0, "\(signedIn.error)")
    let request = try #require(transport.requests.last)
    #expect(request.headers["Authorization"] == "Basic " + Data("cli:s3cr3t-of-the-client".utf8).base64EncodedString())
    let kept = try #require(await store.read(SessionSlot(server: Self.url)).connection)
    #expect(kept.contains("/secret") && !kept.contains("s3cr3t"))
    #expect(await run(["refresh"], files: files).code == 0)
    let without = await run(["refresh"])
    #expect(without.code == 2 && without.error.contains("/secret"))
  }

  @Test("a server that has no metadata is named by its endpoints; a stray option is a usage error")
  func endpoints() async throws {
    let named = await run([
      "login", "--server", "https://other.example", "--dialect", "oauth2", "--client-id", "cli", "--grant",
      "client-credentials", "--endpoint", "token=https://id.example/token",
    ])
    #expect(named.code == 0, "\(named.error)")
    #expect(!transport.requests.contains { $0.url.path().contains("well-known") })
    for wrong in [
      ["--endpoint", "tokn=https://id.example/t"], ["--endpoint", "token"], ["--endpoint", "token=ftp://x"],
    ] {
      #expect(await run(Self.login + wrong).code == 2, "\(wrong)")
    }
    #expect(await run(["login", "--server", Self.url, "--client-id", "cli", "--email", "a@b.cd"]).code == 2)
    #expect(await run(["login", "--server", Self.url, "--dialect", "oauth2"]).error.contains("--client-id"))
    #expect(await run(Self.login + ["--device", "--grant", "code"]).code == 2)
    #expect(await run(Self.login + ["--client-auth", "basic"]).code == 2)
  }
}

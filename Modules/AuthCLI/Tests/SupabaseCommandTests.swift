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

/// `chirp --dialect supabase`: what it sends, keeps and says, against answers written out by hand.
struct SupabaseCommandTests {
  private static let url = "https://abc.supabase.co"
  private static let key = "sb_publishable_abc"
  private let clock = ManualClock()
  private let transport = StubTransport()
  private let store: InMemorySessionStore

  init() {
    store = InMemorySessionStore(time: clock)
  }

  private func run(
    _ arguments: String..., console: ScriptedConsole = ScriptedConsole(), environment: [String: String] = [:]
  ) async -> CommandLineWorld.Outcome {
    let (store, transport) = (store, transport)
    let program = ChirpCommandLine(
      parts: CommandLineParts(
        console: console, environment: ["HOME": "/home/anna"].merging(environment) { _, new in new }, time: clock,
        openStore: { folder, _ in .init(store: store, location: folder, keySource: "keyfile") },
        makeTransport: { _ in transport }))
    let code = await program.run(arguments)
    return .init(code: code, output: console.output, error: console.error, questions: console.questions)
  }

  private func session(_ access: String, _ refresh: String) -> StubTransport.Answer {
    .json(
      200,
      """
      {"access_token":"\(access)","token_type":"bearer","expires_in":3600,"refresh_token":"\(refresh)",
      "user":{"id":"6f1c7a5e-2b5d-4a3e-9d6f-0a1b2c3d4e5f","email":"anna@example.com"}}
      """)
  }

  private func login() async -> CommandLineWorld.Outcome {
    transport.append(session("a1", "r1"))
    return await run(
      "login", "--server", Self.url, "--dialect", "supabase", "--api-key", Self.key, "--email", "anna@example.com",
      "--password-stdin", console: ScriptedConsole(input: "password123\n"))
  }

  @Test("the dialect and the public key are given once: later commands know them, also after a sign-out")
  func keeps() async throws {
    #expect(await login().code == 0)
    let status = await run("status")
    #expect(status.output.hasPrefix("Signed in as anna@example.com.\n"))
    #expect(status.output.contains("\nBackend  Supabase\n"))
    #expect(try await run("status", "--json").json()["dialect"]?.string == "supabase")
    #expect(await run("token").output == "a1\n")
    transport.append(.json(200, "[]"))
    #expect(await run("api", "GET", "/rest/v1/posts?select=*").output == "[]")
    #expect(transport.requests.last?.headers["apikey"] == Self.key)
    #expect(transport.requests.last?.headers["Authorization"] == "Bearer a1")
    transport.append(.response(HTTPResponse(status: 204)))
    #expect(await run("logout").error == "Signed out.\n")
    #expect(try await run("status", "--json").json()["dialect"]?.string == "supabase")
    transport.append(session("a2", "r2"))
    let again = await run(
      "login", "--email", "anna@example.com", "--password-stdin", console: ScriptedConsole(input: "password123\n"))
    #expect(again.code == 0)
    #expect(transport.requests.last?.url.absoluteString == Self.url + "/auth/v1/token?grant_type=password")
    #expect(transport.requests.last?.headers["apikey"] == Self.key)
  }

  @Test("D4.2: a service-role key is a usage error that says why, and nothing is sent or kept")
  func serviceRole() async throws {
    let refused = await run(
      "login", "--server", Self.url, "--dialect", "supabase", "--email", "a@example.com", "--password-stdin",
      console: ScriptedConsole(input: "password123\n"), environment: ["CHIRP_API_KEY": "sb_secret_do_not_repeat"])
    #expect(refused.code == 2)
    #expect(refused.error.contains("passes every access rule"))
    #expect(!refused.error.contains("do_not_repeat"))
    #expect(transport.requests.isEmpty)
    #expect(await store.slots().isEmpty)
  }

  @Test("without a key, or with one where none belongs, the command line is wrong")
  func keyUsage() async throws {
    let missing = await run("login", "--server", Self.url, "--dialect", "supabase", "--email", "a@example.com")
    #expect(missing.code == 2)
    #expect(missing.error.contains("--api-key"))
    let stray = await run("login", "--server", Self.url, "--api-key", Self.key, "--email", "a@example.com")
    #expect(stray.code == 2)
    #expect(stray.error.contains("belongs to dialect supabase"))
  }

  @Test("register asks for no username, and tells of the mail that waits to be answered")
  func register() async throws {
    transport.append(
      .json(200, #"{"id":"6f1c7a5e-2b5d-4a3e-9d6f-0a1b2c3d4e5f","email":"new@example.com","identities":[]}"#))
    let pending = await run(
      "register", "--server", Self.url, "--dialect", "supabase", "--api-key", Self.key, "--email", "new@example.com",
      "--password-stdin", console: ScriptedConsole(input: "password123\n"))
    #expect(pending.code == 0)
    #expect(pending.error == "Follow the link in the mail to new@example.com, then sign in.\n")
    #expect(await run("status").code == 4)
    transport.append(session("a1", "r1"))
    let done = await run(
      "register", "--server", Self.url, "--dialect", "supabase", "--api-key", Self.key, "--email", "new@example.com",
      "--password-stdin", "--json", console: ScriptedConsole(input: "password123\n"))
    #expect(try done.json()["outcome"]?.string == "signedIn")
    #expect(await run("token", "--server", Self.url).output == "a1\n")
  }

  @Test("a sign-out of the others keeps this session; a global one says so")
  func scopes() async throws {
    _ = await login()
    transport.append(.response(HTTPResponse(status: 204)))
    let others = await run("logout", "--scope", "others")
    #expect(others.code == 0)
    #expect(others.error == "Your other sessions are signed out; this one stays.\n")
    #expect(transport.requests.last?.url.query() == "scope=others")
    #expect(await run("status").code == 0)
    transport.append(.response(HTTPResponse(status: 204)))
    #expect(await run("logout", "--scope", "global").error == "Signed out, here and everywhere else.\n")
    #expect(transport.requests.last?.url.query() == "scope=global")
    let nobody = await run("logout", "--scope", "others")
    #expect(nobody.code == 0)
    #expect(nobody.error == "Nobody was signed in: you signed out before.\n")
  }
}

import AuthCLI
import AuthModels
import AuthStorage
import AuthTestSupport
import CommandLineTable
import Groundwork
import MockServerCore
import MockServerInProcess
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The commands, from their arguments to their exit codes, against the mock server in process.
struct CommandTests {
  private let world = CommandLineWorld(policy: MockPolicy(accessTTL: .seconds(900)))

  // MARK: The spine

  @Test("login, whoami, token, api, logout: the session lives from command to command")
  func spine() async throws {
    let login = await world.login()
    #expect(login.code == 0)
    #expect(login.output == "", "data alone goes to standard output")
    #expect(login.error == "Signed in to \(CommandLineWorld.url) as anna@example.com.\n")
    let unasked = await world.run("status")
    #expect(unasked.output.contains("User     not known here yet; to ask the server: chirp whoami\n"))
    let who = await world.run("whoami")
    #expect(who.code == 0)
    #expect(who.output == "anna <anna@example.com>\n")
    #expect(await world.run("status").output.hasPrefix("Signed in as anna <anna@example.com>.\n"))
    let token = await world.run("token")
    #expect(token.code == 0)
    #expect(token.error == "")
    #expect(token.output.hasSuffix("\n") && token.output.split(separator: "\n").count == 1)
    let api = await world.run("api", "get", "/me")
    #expect(api.code == 0)
    #expect(try api.json()["email"]?.string == "anna@example.com")
    let logout = await world.run("logout")
    #expect(logout.code == 0)
    #expect(logout.error == "Signed out.\n")
    let after = await world.run("whoami")
    #expect(after.code == 4)
    #expect(after.error.contains("you signed out"))
    #expect(world.realm.count(.logout) == 1)
  }

  @Test("an expired token is renewed once, by whichever command comes first")
  func renews() async throws {
    await world.login()
    let before = await world.run("token").output
    world.clock.advance(by: .seconds(901))
    let after = await world.run("token")
    #expect(after.code == 0)
    #expect(after.output != before)
    #expect(await world.run("whoami").code == 0)
    #expect(world.realm.count(.refresh) == 1)
  }

  @Test("a 401 costs one refresh, and the command works")
  func survives401() async throws {
    await world.login()
    world.realm.script(.me, .status(401))
    #expect(await world.run("api", "GET", "/me").code == 0)
    #expect(world.realm.count(.refresh) == 1)
  }

  @Test("a session that the server has ended: exit 4 with the reason, also later (S22)")
  func endedByServer() async throws {
    await world.login()
    world.realm.revoke(.all)
    let who = await world.run("whoami")
    #expect(who.code == 4)
    #expect(who.error.contains("invalid_grant"))
    #expect(who.error.contains("chirp login"))
    let status = await world.run("status", "--json")
    #expect(status.code == 4)
    #expect(try status.json()["reason"]?.string == "refreshRefused")
    #expect(try status.json()["code"]?.string == "invalid_grant")
    #expect(await world.run("token").code == 4)
    #expect(world.realm.count(.refresh) == 1, "a refused token is not sent again")
    let logout = await world.run("logout")
    #expect(logout.code == 0)
    #expect(logout.error == "Already signed out: the server ended the session.\n")
    #expect(try await world.run("logout", "--json").json()["reason"]?.string == "refreshRefused")
  }

  @Test("refresh renews and tells until when; min-ttl renews only if it must")
  func refresh() async throws {
    await world.login()
    let first = await world.run("token").output
    #expect(await world.run("token", "--min-ttl", "5m").output == first)
    let second = await world.run("token", "--min-ttl", "14m59s900ms")
    #expect(second.code == 2, "a duration has one unit")
    world.clock.advance(by: .seconds(60))
    #expect(await world.run("token", "--min-ttl", "895s").output != first)
    let refresh = await world.run("refresh", "--json")
    #expect(refresh.code == 0)
    #expect(try refresh.json()["expiresIn"]?.number == 900)
    #expect(world.realm.count(.refresh) == 2)
  }

  // MARK: Status

  @Test("status tells state, server, account, expiry and place, and asks no server")
  func status() async throws {
    await world.login()
    let requests = world.realm.journal().count
    let transports = world.transportsMade.withLock { $0 }
    let status = await world.run("status")
    #expect(status.code == 0)
    for part in ["Signed in", CommandLineWorld.url, "default", "in 15 min", "/home/anna/.local/state/chirp", "keyfile"]
    {
      #expect(status.output.contains(part), "\(part)")
    }
    let json = try await world.run("status", "--json").json()
    #expect(json["state"]?.string == "signedIn")
    #expect(json["expiresIn"]?.integer == 900)
    #expect(json["store"]?["keySource"]?.string == "keyfile")
    world.clock.advance(by: .seconds(7200))
    #expect(await world.run("status").output.contains("1 h ago"))
    #expect(world.realm.journal().count == requests)
    #expect(world.transportsMade.withLock { $0 } == transports, "no transport is made for what stays here")
  }

  @Test("status says why nobody is signed in, with exit 4")
  func statusSignedOut() async throws {
    let never = await world.run("status", "--json")
    #expect(never.code == 4)
    #expect(try never.json()["reason"]?.string == "neverSignedIn")
    await world.login()
    _ = await world.run("logout")
    let out = await world.run("status")
    #expect(out.code == 4)
    #expect(out.output.contains("You signed out."))
    #expect(out.output.contains(CommandLineWorld.url))
  }

  @Test(
    "a store that cannot be read is never told as signed out (S21)",
    arguments: [
      (StoreError.Code.corrupted, Int32(7)), (.insecurePermissions, 7), (.locked, 6), (.unavailable, 6), (.busy, 5),
    ])
  func unreadableStore(code: StoreError.Code, exit: Int32) async throws {
    await world.login()
    for operation in [FaultySessionStore.Operation.read, .lastSignedIn] {
      world.store.failAll(operation, with: StoreError(code, "The store has a problem."))
    }
    for command in ["status", "whoami", "token", "refresh", "logout"] {
      let outcome = await world.run(command, "--json")
      #expect(outcome.code == exit, "\(command)")
      #expect(outcome.output == "")
      #expect(try outcome.errorJSON()["error"]?["kind"]?.string == "store.\(code.rawValue)")
      #expect(try outcome.errorJSON()["error"]?["exitCode"]?.integer == Int(exit))
    }
  }

  // MARK: Signing in

  @Test("a wrong password is 4, in words and as JSON, and nothing is stored")
  func wrongPassword() async throws {
    let console = ScriptedConsole(input: "not the one\n")
    let outcome = await world.run(
      "login", "--server", CommandLineWorld.url, "--email", "anna@example.com", "--password-stdin", "--json",
      console: console)
    #expect(outcome.code == 4)
    let error = try #require(try outcome.errorJSON()["error"])
    #expect(error["kind"]?.string == "api.invalidCredentials")
    #expect(error["exitCode"]?.integer == 4)
    #expect(!outcome.error.contains("not the one"))
    #expect(await world.run("status").code == 4)
  }

  @Test(
    "the password comes from standard input or a file, one line, untrimmed but for its end",
    arguments: [
      ("password123\n", true), ("password123\r\n", true), ("password123", true), (" password123\n", false),
      ("password123 \n", false),
    ])
  func passwordSources(content: String, works: Bool) async throws {
    let fromInput = await world.run(
      "login", "--server", CommandLineWorld.url, "--email", "anna@example.com", "--password-stdin",
      console: ScriptedConsole(input: content))
    #expect((fromInput.code == 0) == works)
    let fromFile = await world.run(
      "login", "--server", CommandLineWorld.url, "--email", "anna@example.com", "--password-file", "/pw",
      files: ["/pw": content])
    #expect((fromFile.code == 0) == works)
  }

  @Test(
    "bad password sources are usage errors",
    arguments: [
      ["--password-stdin"], ["--password-file", "/none"], ["--password-file", "/two"],
      ["--password-stdin", "--password-file", "/pw"],
    ])
  func badPasswordSources(options: [String]) async throws {
    let outcome = await world.run(
      ["login", "--server", CommandLineWorld.url, "--email", "anna@example.com"] + options,
      files: ["/two": "one\ntwo\n", "/pw": "password123"])
    #expect(outcome.code == 2)
    #expect(world.realm.count(.login) == 0)
  }

  @Test("without a terminal nothing is asked: what is missing is named")
  func noTerminal() async throws {
    let outcome = await world.run("login", "--server", CommandLineWorld.url)
    #expect(outcome.code == 2)
    #expect(outcome.error.contains("--email"))
    let second = await world.run("login", "--server", CommandLineWorld.url, "--email", "anna@example.com")
    #expect(second.code == 2)
    #expect(second.error.contains("--password-stdin"))
  }

  @Test("a second argument of login may be a password: it is not repeated")
  func strayPassword() async throws {
    let outcome = await world.run("login", "s3cret-word")
    #expect(outcome.code == 2)
    #expect(!outcome.error.contains("s3cret-word"))
  }

  @Test("a server is needed to sign in, and the error says how to name it")
  func noServer() async throws {
    let outcome = await world.run(
      "login", "--email", "anna@example.com", "--password-stdin", console: ScriptedConsole(input: "password123"))
    #expect(outcome.code == 2)
    #expect(outcome.error.contains("--server URL") && outcome.error.contains("CHIRP_SERVER"))
    let token = await world.run("token")
    #expect(token.code == 4)
    #expect(token.error.contains("chirp login --server URL"))
  }

  @Test("the environment names the server as the flag does")
  func serverFromEnvironment() async throws {
    let outcome = await world.run(
      "login", "--email", "anna@example.com", "--password-stdin", console: ScriptedConsole(input: "password123"),
      environment: ["CHIRP_SERVER": "localhost:8080/"])
    #expect(outcome.code == 0)
    #expect(await world.run("whoami", "--server", "http://LOCALHOST:8080").code == 0)
  }

  @Test("credentials go over plain HTTP to no other machine, unless allowed by name (S24)")
  func insecure() async throws {
    let console = ScriptedConsole(input: "password123")
    let outcome = await world.run(
      "login", "--server", "http://example.com", "--email", "anna@example.com", "--password-stdin", console: console)
    #expect(outcome.code == 2)
    #expect(world.realm.journal().isEmpty)
    let allowed = await world.run(
      "login", "--server", "http://example.com", "--email", "anna@example.com", "--password-stdin",
      "--allow-insecure-http", console: ScriptedConsole(input: "password123"))
    #expect(allowed.code == 0)
  }

  @Test("envelope: by username, no lifetime, and the dialect is remembered (D2)")
  func envelope() async throws {
    let login = await world.run(
      "login", "--server", CommandLineWorld.url, "--dialect", "envelope", "--username", "anna", "--password-stdin",
      console: ScriptedConsole(input: "password123"))
    #expect(login.code == 0, "\(login.error)")
    let status = try await world.run("status", "--json").json()
    #expect(status["dialect"]?.string == "envelope")
    #expect(status["expiresAt"] == nil)
    #expect(await world.run("whoami").code == 0)
    #expect(await world.run("whoami", "--dialect", "chirp").code == 2)
    #expect(await world.run("feed").code == 2)
  }

  // MARK: Making an account

  @Test("register makes an account; what the server refuses is told field by field (D1.6, D1.7)")
  func register() async throws {
    let done = await world.run(
      "register", "--server", CommandLineWorld.url, "--username", "bob", "--email", "bob@example.com",
      "--password-stdin", "--json", console: ScriptedConsole(input: "password456"))
    #expect(done.code == 0)
    #expect(try done.json()["outcome"]?.string == "registered")
    #expect(try done.json()["user"]?["username"]?.string == "bob")
    let taken = await world.run(
      "register", "--server", CommandLineWorld.url, "--username", "bobby", "--email", "bob@example.com",
      "--password-stdin", console: ScriptedConsole(input: "password456"))
    #expect(taken.code == 1)
    let bad = await world.run(
      "register", "--server", CommandLineWorld.url, "--username", "b", "--email", "bob", "--password-stdin",
      console: ScriptedConsole(input: "short"))
    #expect(bad.code == 1)
    for field in ["email", "password", "username"] {
      #expect(bad.error.contains("\(field): "), "\(field)")
    }
    let json = try await world.run(
      "register", "--server", CommandLineWorld.url, "--username", "b", "--email", "bob", "--password-stdin", "--json",
      console: ScriptedConsole(input: "short")
    ).errorJSON()["error"]
    #expect(json?["status"]?.integer == 422)
    #expect(json?["fields"]?.object.map { $0.keys.sorted() } == ["email", "password", "username"])
  }

  @Test("a password on the command line is refused, and both ways to give one are named")
  func passwordOption() async throws {
    let outcome = await world.run("login", "--email", "anna@example.com", "--password", "hunter2")
    #expect(outcome.code == 2)
    #expect(outcome.error.contains("--password-stdin or --password-file") && !outcome.error.contains("hunter2"))
  }

  // MARK: Requests

  @Test(
    "api: 1 for other 4xx, 4 for a 401, 5 for 429 and 5xx; the body is printed all the same",
    arguments: [
      (404, Int32(1)), (403, 1), (422, 1), (429, 5), (500, 5), (503, 5),
    ])
  func apiStatus(status: Int, exit: Int32) async throws {
    await world.login()
    world.realm.script(.me, MockAction(status: status, body: .object(["a": "b"])))
    let outcome = await world.run("api", "GET", "/me", "--json")
    #expect(outcome.code == exit)
    #expect(try outcome.errorJSON()["error"]?["status"]?.integer == status)
    #expect(outcome.output.contains("\"b\""))
    #expect(outcome.error.contains("\(status)"))
  }

  @Test("api sends a body, its header fields, and shows the answer's head on demand")
  func apiBody() async throws {
    await world.login()
    let post = await world.run("api", "POST", "/posts", "--data", #"{"text":"Hello"}"#, "--include")
    #expect(post.code == 0)
    #expect(post.output.hasPrefix("HTTP 201\n"))
    #expect(post.output.contains("\n\n{"))
    let file = await world.run(
      "api", "POST", "/posts", "-d", "@/post", "-H", "Idempotency-Key: one",
      files: ["/post": #"{"text":"From a file"}"#])
    #expect(file.code == 0)
    let again = await world.run(
      "api", "POST", "/posts", "-d", "-", "-H", "Idempotency-Key: one",
      console: ScriptedConsole(input: #"{"text":"From a file"}"#))
    #expect(try again.json()["id"] == file.json()["id"])
    let feed = await world.run("feed", "--limit", "2")
    #expect(feed.output.split(separator: "\n").count == 2)
    #expect(feed.output.contains("From a file"))
  }

  @Test(
    "api refuses whole URLs and bad header fields before anything is sent",
    arguments: [
      ["GET", "http://example.com/me"], ["GET", "me"], ["G T", "/me"], ["GET", "/me", "-H", "secret-without-colon"],
    ])
  func apiUsage(arguments: [String]) async throws {
    await world.login()
    let requests = world.realm.journal().count
    let outcome = await world.run(["api"] + arguments)
    #expect(outcome.code == 2)
    #expect(!outcome.error.contains("secret-without-colon"))
    #expect(world.realm.journal().count == requests)
  }

  @Test("CHIRP_TOKEN takes the session's place, says so, and is never refreshed")
  func tokenOverride() async throws {
    await world.login()
    let token = await world.run("token").output.split(separator: "\n").joined()
    let environment = ["CHIRP_TOKEN": token]
    let who = await world.run("whoami", environment: environment)
    #expect(who.code == 0)
    #expect(who.error.contains("CHIRP_TOKEN"))
    #expect(await world.run("token", environment: environment).output == token + "\n")
    let bad = await world.run("api", "GET", "/me", environment: ["CHIRP_TOKEN": "no-such-token"])
    #expect(bad.code == 4)
    #expect(!bad.error.contains("no-such-token"))
    #expect(world.realm.count(.refresh) == 0)
    let who2 = await world.run("whoami", environment: ["CHIRP_TOKEN": "no-such-token"])
    #expect(who2.code == 4)
    let status = await world.run("status", environment: environment)
    #expect(status.error.contains("CHIRP_TOKEN"))
    let json = await world.run("whoami", "--json", environment: ["CHIRP_TOKEN": "no-such-token"])
    let lines = try json.error.split(separator: "\n").map {
      try JSONDecoder().decode(JSONValue.self, from: Data($0.utf8))
    }
    #expect(lines.count == 2 && lines[0]["notice"] != nil && lines[1]["error"]?["exitCode"]?.integer == 4)
  }

  @Test("verbose traces requests on standard error, and no secret among them")
  func verbose() async throws {
    let login = await world.login("--verbose")
    #expect(login.error.contains("POST") && login.error.contains("/auth/login"))
    #expect(!login.error.contains(CommandLineWorld.password))
    let token = await world.run("token").output.split(separator: "\n").joined()
    let who = await world.run("whoami", "-v")
    #expect(who.error.contains("GET"))
    #expect(!who.error.contains(token))
  }

  @Test("no network is 5, with JSON on standard error and nothing on standard output")
  func offline() async throws {
    await world.login()
    world.transport.isOffline = true
    let outcome = await world.run("whoami", "--json")
    #expect(outcome.code == 5)
    #expect(outcome.output == "")
    #expect(try outcome.errorJSON()["error"]?["kind"]?.string == "transport.cannotConnect")
    #expect(await world.run("token").code == 0, "a good token needs no network")
  }

  // MARK: Signing out

  @Test("offline sign-out works, and the next networked command tells the server after its own output (S20)")
  func offlineLogout() async throws {
    await world.login()
    world.transport.isOffline = true
    let logout = await world.run("logout", "--json")
    #expect(logout.code == 0)
    #expect(try logout.json()["signedOut"]?.array?.first?["revoked"]?.bool == false)
    world.transport.isOffline = false
    #expect(world.realm.count(.logout) == 0)
    await world.login()
    #expect(world.realm.count(.logout) == 1)
  }

  @Test("logout without a session is no error; scopes that the dialect has not are")
  func logoutEdges() async throws {
    #expect(await world.run("logout").code == 0)
    await world.login()
    #expect(await world.run("logout", "--scope", "global").code == 2)
    #expect(await world.run("status").code == 0, "nothing was ended")
    #expect(await world.run("logout").code == 0)
    let again = await world.run("logout")
    #expect(again.code == 0)
    #expect(again.error.contains("Nobody was signed in"))
  }

  @Test("accounts are kept apart, listed, and signed out together")
  func accounts() async throws {
    await world.login()
    await world.login("--account", "work")
    let list = await world.run("accounts")
    #expect(list.output.split(separator: "\n").count == 2)
    #expect(list.output.contains("* work"))
    #expect(await world.run("whoami", "--account", "default").code == 0)
    let out = await world.run("logout", "--all-accounts", "--json")
    #expect(out.code == 0)
    #expect(try out.json()["signedOut"]?.array?.count == 2)
    #expect(await world.run("status", "--account", "default").code == 4)
    #expect(await world.run("status").code == 4)
  }

  @Test("a store that cannot be written: signing out is told as failed (exit 6), and the server is told (S20)")
  func logoutReadOnly() async throws {
    await world.login()
    world.store.failAll(.update, with: StoreError(.readOnly, "The folder is read-only."))
    let outcome = await world.run("logout")
    #expect(outcome.code == 6)
    #expect(world.realm.count(.logout) == 1)
  }

  @Test("a sign-in that cannot be saved fails, and its tokens are revoked (S21)")
  func loginReadOnly() async throws {
    world.store.failAll(.update, with: StoreError(.full, "The disk is full."))
    let outcome = await world.login()
    #expect(outcome.code == 6)
    #expect(world.realm.count(.logout) == 1)
  }

  // MARK: The table

  @Test("the table is sound, and every command has a help page of 80 columns")
  func table() async throws {
    #expect(ChirpProgram.table.problems() == [])
    for command in ChirpProgram.table.root.commands {
      let help = await world.run(command.name, "--help")
      #expect(help.code == 0)
      #expect(help.output.contains(command.summary))
      #expect(help.output.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(command.name)")
    }
    let help = await world.run("help", "options")
    for code in ExitCode.allCases { #expect(help.output.contains("\(code.rawValue)  ")) }
  }

  @Test("an unknown command or flag is 2, with the nearest name; JSON errors also before anything is understood")
  func unknown() async throws {
    let command = await world.run("logni")
    #expect(command.code == 2)
    #expect(command.error.contains("login"))
    let flag = await world.run("status", "--jsno")
    #expect(flag.code == 2)
    #expect(flag.error.contains("--json"))
    let json = await world.run("--json", "logni")
    #expect(try json.errorJSON()["error"]?["kind"]?.string == "usage")
  }

  @Test("a reader that has gone ends the command quietly")
  func brokenPipe() async throws {
    await world.login()
    let outcome = await world.run("token", console: ScriptedConsole(isClosed: true))
    #expect(outcome.code == 0)
    #expect(outcome.error == "")
  }

  @Test(
    "colors only on a terminal, and not when they are unwanted",
    arguments: [
      (true, [:], [], true), (false, [:], [], false), (true, ["NO_COLOR": "1"], [], false),
      (true, ["TERM": "dumb"], [], false), (true, [:], ["--no-color"], false),
    ] as [(Bool, [String: String], [String], Bool)])
  func colors(isTerminal: Bool, environment: [String: String], options: [String], expected: Bool) async throws {
    let console = ScriptedConsole(errorIsTerminal: isTerminal)
    let outcome = await world.run(["token"] + options, console: console, environment: environment)
    #expect(outcome.code == 4)
    #expect(outcome.error.contains("\u{1B}[") == expected)
  }

  @Test(
    "a name that cannot be one is refused before anything is sent",
    arguments: ["email", "account"], ["", "  ", "a\u{1B}[31m@b.cc", "a@b.cc\n", "a\u{85}@b.cc", "a\u{FFFD}@b.cc"])
  func badNames(option: String, value: String) async throws {
    let name = option == "email" ? ["--email=\(value)"] : ["--email", "anna@example.com", "--account=\(value)"]
    let outcome = await world.run(
      ["login", "--server", CommandLineWorld.url, "--password-stdin"] + name,
      console: ScriptedConsole(input: "password123\n"))
    #expect(outcome.code == 2)
    #expect(outcome.error.contains("--\(option)"))
    #expect(world.realm.count(.login) == 0)
  }

  @Test("a file without a name, and a header that belongs to the session, are refused")
  func badAPIOptions() async throws {
    await world.login()
    let data = await world.run("api", "POST", "/posts", "--data", "@")
    #expect(data.code == 2)
    #expect(data.error.contains("--data: the file's name is missing"))
    let password = await world.run("login", "--email", "anna@example.com", "--password-file=")
    #expect(password.code == 2)
    #expect(password.error.contains("--password-file: the file's name is missing"))
    for field in ["Authorization: Bearer geheim", "authorization:x"] {
      let header = await world.run("api", "GET", "/me", "--header", field)
      #expect(header.code == 2)
      #expect(header.error.contains("CHIRP_TOKEN") && !header.error.contains("geheim"))
    }
    #expect(world.realm.count(.me) == 0)
  }
}

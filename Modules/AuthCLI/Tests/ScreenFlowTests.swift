import AuthCLI
import AuthStorage
import AuthTestSupport
import Groundwork
import MockServerCore
import TerminalRecording
import TerminalScreen
import Testing

/// The screens from the command line to the exit code, on a terminal in memory: what needs no real one is tested on every machine.
@Suite(.timeLimit(.minutes(1)))
struct ScreenFlowTests {
  private let world = CommandLineWorld()
  private let screen = ScriptedScreen()
  private let login = ["login", "--server", CommandLineWorld.url]

  private func run(_ arguments: [String], environment: [String: String] = [:]) async -> CommandLineWorld.Outcome {
    await world.run(
      arguments, console: ScriptedConsole(typed: []),
      environment: ["TERM": "xterm", "LANG": "C.UTF-8"].merging(environment) { _, new in new }, screen: screen)
  }

  @Test("form, home, Logout, form again, Esc: the root switches on who is signed in (D1.4, D2.3, D5.5)")
  func inAndOut() async throws {
    async let outcome = run(login)
    await screen.wait(forText: "Password")
    screen.type("anna@example.com\rpassword123\r")
    let home = await screen.wait(forText: "Welcome!")
    #expect(home.text.contains("Signed in as anna@example.com"))
    #expect(home.text.contains("at \(CommandLineWorld.url)"))
    #expect(!home.showsCursor)
    screen.type("\t\r")
    let form = await screen.wait(forText: "Password")
    #expect(!form.text.contains("anna@"), "nobody's email is left there")
    screen.type("\u{1B}")
    let ended = await outcome
    #expect(ended.code == 3)
    #expect(world.realm.count(.logout) == 1)
    #expect(screen.opened == 1 && screen.closed == 1)
    #expect(screen.terminal.isSane)
    #expect(screen.terminal.unknown == [])
  }

  @Test("a form at rest is not drawn again: a drawing is no change that asks for another")
  func rest() async throws {
    async let outcome = run(login)
    await screen.wait(forText: "Password")
    screen.type("anna")
    await screen.wait(forText: "anna")
    // Whatever waits for the main actor has its turn between two of these.
    for _ in 0..<200 { await MainActor.run {} }
    let drawings = screen.drawings
    for _ in 0..<200 { await MainActor.run {} }
    #expect(screen.drawings == drawings)
    screen.type("\u{1B}")
    #expect(await outcome.code == 3)
  }

  @Test("Done keeps the session, and standard output has the same JSON as without a screen")
  func json() async throws {
    async let outcome = run(login + ["--json"])
    await screen.wait(forText: "Password")
    screen.type("anna@example.com\rpassword123\r")
    await screen.wait(forText: "Welcome!")
    screen.type(" ")
    let ended = await outcome
    #expect(ended.code == 0)
    #expect(try ended.json().object?["identifier"] == "anna@example.com")
    #expect(await world.run("whoami").code == 0)
  }

  @Test("who is signed in sees home at once; nothing is asked of the server (D2.3)")
  func returning() async throws {
    await world.login()
    let before = world.realm.count(MockJournalFilter())
    async let outcome = run(login)
    await screen.wait(forText: "Welcome!")
    screen.type("\u{1B}")
    #expect(await outcome.code == 0)
    #expect(world.realm.count(MockJournalFilter()) == before)
  }

  @Test("dialect envelope has its own words and asks for a username (D2.2, D2.4)")
  func envelope() async throws {
    async let outcome = run(login + ["--dialect", "envelope"])
    let form = await screen.wait(forText: "Username")
    #expect(form.text.contains("Login"))
    screen.type("anna\rpassword123\r")
    let home = await screen.wait(forText: "Welcome!")
    #expect(home.text.contains("Logout"))
    screen.type("\r")
    #expect(await outcome.code == 0)
  }

  @Test("Ctrl-C, Ctrl-\\ and Ctrl-Z do what the terminal would have done, also while a request runs")
  func signalKeys() async throws {
    world.realm.script(.login, .hold("never"))
    async let outcome = run(login)
    await screen.wait(forText: "Password")
    screen.type("anna@example.com\rpassword123\r")
    await screen.wait(forText: "stop waiting")
    screen.type("\u{3}\u{1C}\u{1A}")
    screen.send(.resumed)
    screen.type("\u{1B}")
    await screen.wait(forText: "cancel")
    #expect(screen.raised == [.interrupt, .quit, .suspend])
    screen.type("\u{1B}")
    #expect(await outcome.code == 3)
    world.realm.release(hold: "never")
  }

  @Test("a terminal that is gone ends it with 3, and is closed")
  func gone() async throws {
    async let outcome = run(login)
    await screen.wait(forText: "Password")
    screen.send(.ended)
    #expect(await outcome.code == 3)
    #expect(screen.closed == 1)
  }

  @Test("a store that cannot be read is told as such: no form, which would be a lie (S21)")
  func unreadableStore() async throws {
    world.store.failAll(.read, with: StoreError(.locked, "The key store is locked."))
    let outcome = await run(login)
    #expect(outcome.code == 6)
    #expect(outcome.error.contains("The key store is locked."))
    #expect(screen.opened == 0)
  }

  @Test(
    "plain prompts where a screen is not wanted, or not possible (--accessible, TERM, no terminal)",
    arguments: [(["--accessible"], "xterm"), ([], "dumb"), ([], ""), ([], "dumb-emacs")])
  func noScreen(more: [String], name: String) async throws {
    let outcome = await run(login + more, environment: ["TERM": name])
    #expect(outcome.code == 3)
    #expect(outcome.questions.map(\.prompt) == ["Email: "])
    #expect(screen.opened == 0)
  }

  @Test(
    "a trace of requests on the same terminal would be written all over a screen: then there is none",
    arguments: [true, false])
  func verbose(errorIsTerminal: Bool) async throws {
    screen.send(.ended)
    let outcome = await world.run(
      login + ["--verbose"], console: ScriptedConsole(typed: [], errorIsTerminal: errorIsTerminal),
      environment: ["TERM": "xterm"], screen: screen)
    #expect(outcome.code == 3)
    #expect(screen.opened == (errorIsTerminal ? 0 : 1))
  }

  @Test("what is given on the command line is not asked for: no screen for the rest")
  func givenEmail() async throws {
    let outcome = await run(login + ["--email", "anna@example.com"])
    #expect(outcome.questions.map(\.prompt) == ["Password: "])
    #expect(screen.opened == 0)
  }

  @Test("sign-up leads to the sign-in form with the email filled in; leaving there keeps the account (D1.6)")
  func signUp() async throws {
    async let outcome = run(["register", "--server", CommandLineWorld.url])
    await screen.wait(forText: "Create account")
    screen.type("bob\rbob@example.com\rpassword456\r")
    let form = await screen.wait(forText: "Your account is ready. Log in.")
    #expect(form.text.contains("bob@example.com"))
    #expect(form.showsCursor)
    screen.type("\u{1B}")
    let ended = await outcome
    #expect(ended.code == 0)
    #expect(ended.error.contains("chirp login --email bob@example.com"))
  }
}

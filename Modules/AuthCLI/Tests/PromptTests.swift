import AuthCLI
import MockServerCore
import MockServerInProcess
import Testing

/// Plain prompts on a terminal, run by the login form's own model.
struct PromptTests {
  private let world = CommandLineWorld()
  private let start = ["login", "--server", CommandLineWorld.url]

  @Test("email and password are asked for, the password hidden, and the session is there")
  func login() async throws {
    let outcome = await world.run(start, console: ScriptedConsole(typed: [" anna@example.com ", "password123"]))
    #expect(outcome.code == 0)
    #expect(outcome.questions.map(\.prompt) == ["Email: ", "Password: "])
    #expect(outcome.questions.map(\.isHidden) == [false, true])
    #expect(outcome.output == "")
    #expect(!outcome.error.contains("password123"))
    #expect(await world.run("whoami").code == 0)
  }

  @Test("what is given is not asked for")
  func given() async throws {
    let outcome = await world.run(
      start + ["--email", "anna@example.com"], console: ScriptedConsole(typed: ["password123"]))
    #expect(outcome.code == 0)
    #expect(outcome.questions.map(\.prompt) == ["Password: "])
  }

  @Test("a bad value shows its error and is asked again; nothing is sent meanwhile (D5.2, D5.7)")
  func badValues() async throws {
    let outcome = await world.run(
      start, console: ScriptedConsole(typed: ["anna@", "anna@example.com", "short", "password123"]))
    #expect(outcome.code == 0)
    #expect(outcome.error.contains("Enter a valid email, like name@example.com."))
    #expect(outcome.error.contains("Use at least 8 characters."))
    #expect(outcome.questions.map(\.isHidden) == [false, false, true, true])
    #expect(world.realm.count(.login) == 1)
  }

  @Test(
    "a wrong password shows D5's message; the email is kept, the password asked again: a line, which a screen reader reads (D5.4, D5.9)"
  )
  func wrongPassword() async throws {
    let outcome = await world.run(
      start, console: ScriptedConsole(typed: ["anna@example.com", "wrong-password", "", "password123"]))
    #expect(outcome.code == 0)
    #expect(outcome.error.contains("Wrong email or password."))
    #expect(outcome.questions.map(\.prompt) == ["Email: ", "Password: ", "Email [anna@example.com]: ", "Password: "])
  }

  @Test("after three refusals the command ends with 4")
  func threeTries() async throws {
    let outcome = await world.run(
      start,
      console: ScriptedConsole(typed: [
        "anna@example.com", "wrong-password", "", "wrong-password", "", "wrong-password",
      ]))
    #expect(outcome.code == 4)
    #expect(world.realm.count(.login) == 3)
  }

  @Test("a server that cannot be reached ends it at once with 5: typing again would not help")
  func offline() async throws {
    world.transport.isOffline = true
    let outcome = await world.run(start, console: ScriptedConsole(typed: ["anna@example.com", "password123", "", ""]))
    #expect(outcome.code == 5)
    #expect(outcome.questions.count == 2)
  }

  @Test("Ctrl-D at any question is 3", arguments: [[], ["anna@example.com"], ["anna@example.com", "short"]])
  func endOfInput(typed: [String]) async throws {
    let outcome = await world.run(start, console: ScriptedConsole(typed: typed))
    #expect(outcome.code == 3)
    #expect(world.realm.count(.login) == 0)
  }

  @Test("register asks for a new password twice, and again if the two differ (D1.6)")
  func register() async throws {
    let outcome = await world.run(
      ["register", "--server", CommandLineWorld.url],
      console: ScriptedConsole(
        typed: ["bob", "bob@example.com", "password456", "password465", "password456", "password456"]))
    #expect(outcome.code == 0)
    #expect(outcome.error.contains("not the same"))
    #expect(outcome.questions.filter(\.isHidden).count == 4)
    #expect(world.realm.count(.register) == 1)
  }

  @Test("a taken email is shown at its field, and only that is asked again (D1.7, D4.6)")
  func takenEmail() async throws {
    let outcome = await world.run(
      ["register", "--server", CommandLineWorld.url, "--username", "bob", "--password-stdin"],
      console: ScriptedConsole(typed: ["password456", "anna@example.com", "bob@example.com"]))
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(outcome.questions.map(\.prompt) == ["Password: ", "Email: ", "Email [anna@example.com]: "])
  }
}

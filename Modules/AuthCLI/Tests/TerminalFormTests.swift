import Groundwork
import MockServerCore
import MockServerHTTP
import TerminalRecording
import TerminalScreen
import Testing

#if canImport(Glibc)
  import Glibc

  /// The login form as a person sees it: the built `chirp` on a terminal, against a mock server behind a socket.
  @Suite(
    .serialized, .enabled(if: PseudoTerminal.obstacle == nil, "no terminal on this machine"), .timeLimit(.minutes(3)))
  struct TerminalFormTests {
    private let emailError = "Enter a valid email, like name@example.com."
    private let passwordError = "Use at least 8 characters."

    @Test("the example flow of the document, in order, on a terminal (D5.11)")
    func exampleFlow() async throws {
      try await ProcessWorld.run { world in
        let terminal = try world.screen()
        try await terminal.wait(forText: "Password")

        // Type `anna@`, leave: an error under the email.
        await terminal.type("anna@")
        try await terminal.wait(forText: "anna@")
        #expect(!terminal.screen.text.contains(emailError))
        await terminal.type("\t")
        var screen = try await terminal.wait(forText: emailError)
        let email = try #require(screen.lines.firstIndex { $0.contains("anna@") })
        let error = try #require(screen.lines.firstIndex { $0.contains(emailError) })
        #expect(error == email + 2, "it stands under its field, below the box")

        // Fix it: the error goes while typing.
        await terminal.type("\u{1B}[Z")
        await terminal.type("example.co")
        screen = try await terminal.wait(for: "no error") { [emailError] in
          $0.text.contains("anna@example.co") && !$0.text.contains(emailError)
        }
        await terminal.type("m")
        #expect(isDisabled(screen))

        // Type 8 characters: the button is enabled.
        await terminal.type("\twrong-p")
        screen = try await terminal.wait(forText: "•••••••")
        #expect(isDisabled(screen))
        await terminal.type("w")
        try await terminal.wait(for: "the button enabled") { !isDisabled($0) }

        // Submit: a spinner, the fields locked.
        world.realm.script(.login, .hold("answer"))
        await terminal.type("\r")
        screen = try await terminal.wait(for: "a spinner in the button") { $0.isSpinning }
        #expect(isDisabled(screen))
        #expect(!screen.showsCursor)
        _ = await world.realm.waitForCount(MockJournalFilter(operation: .login), atLeast: 1)
        let clears = terminal.screen.clears
        await terminal.type("x\r\t\ry\u{C}")
        try await terminal.wait(for: "all of it read, and the screen drawn anew") {
          $0.clears > clears && $0.isSpinning
        }
        world.realm.release(hold: "answer")

        // Wrong password: the server's words, under the button.
        screen = try await terminal.wait(forText: "Wrong email or password.")
        let message = try #require(screen.lines.firstIndex { $0.contains("Wrong email or password.") })
        #expect(message == (try buttonRow(screen)) + 1)
        #expect(screen.text.contains("│ ••••••••     "), "what was typed meanwhile went nowhere")
        #expect(world.realm.count(.login) == 1)

        // Edit the password: the message is gone.
        await terminal.type("2")
        try await terminal.wait(for: "no message") { !$0.text.contains("Wrong email or password.") }

        // And a welcome at the end (D5.5).
        await terminal.type("\u{15}password123\r")
        screen = try await terminal.wait(forText: "Welcome!")
        #expect(screen.text.contains("Signed in as anna@example.com"))
        #expect(screen.text.contains("Log out"))
        await terminal.type("\r")
        #expect(await terminal.exitCode() == 0)
        await terminal.waitForLastOutput()
        #expect(terminal.screen.isSane)
        #expect(terminal.screen.unknown == [])
        #expect(terminal.screen.text.contains("Signed in to"))
        let written = String(decoding: terminal.written, as: UTF8.self)
        #expect(!written.contains("password123") && !written.contains("wrong-p"))
        #expect(try await world.chirp("whoami").code == 0)
      }
    }

    @Test("submitting an invalid form moves the cursor to the first bad field and shows every error (D5.7)")
    func invalidSubmit() async throws {
      try await ProcessWorld.run { world in
        let terminal = try world.screen()
        try await terminal.wait(forText: "Log in")
        await terminal.type("anna@example.com\t\t\r")
        let screen = try await terminal.wait(forText: passwordError)
        #expect(try caretRow(screen) == fieldRow(screen, 1))
        await terminal.type("\u{1B}[A\u{15}\u{1B}[B\u{1B}[B ")
        try await terminal.wait(for: "both errors, the cursor in the email") {
          $0.text.contains(emailError) && $0.text.contains(passwordError)
            && (try? caretRow($0)) == (try? fieldRow($0, 0))
        }
        #expect(world.realm.count(.login) == 0)
        await terminal.type("\u{1B}")
        #expect(await terminal.exitCode() == 3)
      }
    }

    @Test("Return in the email moves to the password, and there it submits (D5.7)")
    func returnKey() async throws {
      try await ProcessWorld.run { world in
        let terminal = try world.screen()
        try await terminal.wait(forText: "Log in")
        await terminal.type("anna@example.com\r")
        try await terminal.wait(for: "the cursor in the password") { (try? caretRow($0)) == (try? fieldRow($0, 1)) }
        await terminal.type("password123\r")
        try await terminal.wait(forText: "Welcome!")
        await terminal.type("\u{1B}")
        #expect(await terminal.exitCode() == 0)
      }
    }

    @Test("a pasted line break never submits; what is pasted lands where the cursor is")
    func paste() async throws {
      try await ProcessWorld.run { world in
        let terminal = try world.screen()
        try await terminal.wait(forText: "Log in")
        await terminal.paste("  anna@example.com\n")
        await terminal.type("\t")
        await terminal.paste("password123\r\n")
        let screen = try await terminal.wait(forText: "•••••••••••")
        #expect(!screen.isSpinning)
        await terminal.type("\u{7F}3")
        try await terminal.wait(for: "still the form") { !isDisabled($0) }
        #expect(world.realm.count(.login) == 0)
        await terminal.type("\r")
        try await terminal.wait(forText: "Welcome!")
        #expect(world.realm.count(.login) == 1)
        await terminal.type("\r")
        #expect(await terminal.exitCode() == 0)
      }
    }

    @Test("emoji, wide and combining characters: Backspace takes a whole one, the caret stands where the next goes")
    func wideCharacters() async throws {
      try await ProcessWorld.run { world in
        let terminal = try world.screen()
        try await terminal.wait(forText: "Log in")
        await terminal.type("a你👨‍👩‍👧e\u{301}")
        var screen = try await terminal.wait(forText: "a你👨‍👩‍👧e\u{301}")
        #expect(screen.cursor.column == 4 + 6)
        await terminal.type("\u{1B}[D\u{7F}")
        screen = try await terminal.wait(forText: "a你e\u{301}")
        #expect(screen.cursor.column == 4 + 3)
        await terminal.type("\u{1B}[H好")
        screen = try await terminal.wait(forText: "好a你e\u{301}")
        #expect(screen.cursor.column == 4 + 2)
        // The password of four characters, however many scalars they have.
        await terminal.type("\t你👨‍👩‍👧e\u{301}🇩🇪")
        try await terminal.wait(forText: "│ ••••     ")
        await terminal.type("\u{1B}")
        #expect(await terminal.exitCode() == 3)
      }
    }

    @Test("two Returns at once send one request (D5.8); one too many does not sign out again")
    func doubleReturn() async throws {
      try await ProcessWorld.run { world in
        let terminal = try world.screen()
        try await terminal.wait(forText: "Log in")
        await terminal.type("anna@example.com\rpassword123\r\r\r")
        _ = await world.realm.waitForCount(MockJournalFilter(operation: .login), atLeast: 1)
        try await terminal.wait(for: "the welcome, or the end") { $0.text.contains("Welcome!") || !$0.isAlternate }
        await terminal.type("\r")
        #expect(await terminal.exitCode() == 0)
        #expect(world.realm.count(.login) == 1)
        #expect(world.realm.count(.logout) == 0)
      }
    }

    @Test("who is signed in sees home at once, and only Logout leads back to the form (D2.3, D4.3, D4.7)")
    func home() async throws {
      try await ProcessWorld.run { world in
        try await world.login()
        let terminal = try world.screen()
        let screen = try await terminal.wait(forText: "Welcome!")
        #expect(screen.text.contains("at \(world.url)"))
        #expect(screen.text.contains("then renewed"))
        #expect(!String(decoding: terminal.written, as: UTF8.self).contains("Password"), "the form never flashes by")
        await terminal.type("\t\r")
        try await terminal.wait(forText: "Password")
        await terminal.type("\u{1B}")
        #expect(await terminal.exitCode() == 3)
        #expect(world.realm.count(.logout) == 1, "the server is told, also if the screen is left at once")
        #expect(try await world.chirp("status").code == 4)
      }
    }

    @Test("Esc while a request runs stops waiting; the form takes input again, and says nothing wrong")
    func giveUp() async throws {
      try await ProcessWorld.run { world in
        world.realm.script(.login, .hold("never"))
        let terminal = try world.screen()
        try await terminal.wait(forText: "Log in")
        await terminal.type("anna@example.com\rpassword123\r")
        try await terminal.wait(for: "a spinner") { $0.isSpinning }
        _ = await world.realm.waitForCount(MockJournalFilter(operation: .login), atLeast: 1)
        await terminal.type("\u{1B}")
        let screen = try await terminal.wait(for: "the form again") { !$0.isSpinning && $0.showsCursor }
        #expect(!screen.text.contains("!"))
        world.realm.removeScripts()
        world.realm.release(hold: "never")
        await terminal.type("\r")
        try await terminal.wait(forText: "Welcome!")
        await terminal.type("\r")
        #expect(await terminal.exitCode() == 0)
      }
    }

    @Test("no connection is told under the button, and the form stays")
    func offline() async throws {
      try await ProcessWorld.run { world in
        let terminal = try world.screen(["login", "--server", "http://127.0.0.1:9"])
        try await terminal.wait(forText: "Log in")
        await terminal.type("anna@example.com\rpassword123\r")
        try await terminal.wait(forText: "No connection to the server. Check your network and")
        await terminal.type("\u{1B}")
        #expect(await terminal.exitCode() == 3)
      }
    }

    @Test("sign up, see a taken name at its field, then sign in to the new account (D1.6, D1.7, D4.6)")
    func register() async throws {
      try await ProcessWorld.run { world in
        let terminal = try world.screen(["register"])
        try await terminal.wait(forText: "Create account")
        await terminal.type("bob\ranna@example.com\rpassword456\r")
        let screen = try await terminal.wait(forText: "This email already has an account.")
        #expect(try caretRow(screen) == fieldRow(screen, 1))
        await terminal.type("\u{15}bob@example.com\r\r")
        try await terminal.wait(forText: "Your account is ready. Log in.")
        try await terminal.wait(for: "the email filled in, the cursor in the password") {
          $0.text.contains("bob@example.com") && (try? caretRow($0)) == (try? fieldRow($0, 1))
        }
        await terminal.type("password456\r")
        try await terminal.wait(forText: "Signed in as bob@example.com")
        await terminal.type("\r")
        #expect(await terminal.exitCode() == 0)
        #expect(try await world.chirp("whoami").output.contains("bob"))
      }
    }

    @Test("NO_COLOR writes no color, and a locale without UTF-8 no sign beyond ASCII")
    func plainStyles() async throws {
      try await ProcessWorld.run { world in
        let terminal = try world.screen(environment: ["NO_COLOR": "1", "LANG": "C"])
        try await terminal.wait(forText: "Log in")
        await terminal.type("anna@\tpw\t\r")
        try await terminal.wait(forText: emailError)
        await terminal.type("\u{1B}")
        #expect(await terminal.exitCode() == 3)
        await terminal.waitForLastOutput()
        let written = String(decoding: terminal.written, as: UTF8.self)
        #expect(!written.contains("\u{1B}[31m") && !written.contains(";31m") && !written.contains("34m"))
        #expect(written.utf8.allSatisfy { $0 < 0x80 })
      }
    }

    @Test("--accessible, TERM=dumb and no TERM ask line by line; the password is not shown, Ctrl-D ends it")
    func lines() async throws {
      try await ProcessWorld.run { world in
        for (arguments, name) in [(["login", "--accessible"], "xterm"), (["login"], "dumb"), (["login"], "")] {
          let terminal = try world.screen(arguments, environment: ["TERM": name])
          try await terminal.wait(forText: "Email:")
          #expect(!terminal.screen.isAlternate)
          await terminal.type("anna@example.com\n")
          try await terminal.wait(forText: "Password:")
          #expect(!terminal.echoes)
          await terminal.type("\u{4}")
          #expect(await terminal.exitCode() == 3)
        }
        let terminal = try world.screen(["login", "--accessible"])
        try await terminal.wait(forText: "Email:")
        await terminal.type("anna@example.com\n")
        try await terminal.wait(forText: "Password:")
        await terminal.type("password123\n")
        try await terminal.wait(forText: "Welcome!")
        #expect(await terminal.exitCode() == 0)
        #expect(!String(decoding: terminal.written, as: UTF8.self).contains("\u{1B}"))
      }
    }
  }

  // MARK: What is seen

  /// The line that the button is on.
  private func buttonRow(_ screen: EmulatedTerminal) throws -> Int {
    try #require(screen.lines.firstIndex { $0.contains("Log in ") && $0.contains("[") })
  }

  /// Whether the button is drawn as one that cannot be pressed.
  private func isDisabled(_ screen: EmulatedTerminal) -> Bool {
    guard let row = screen.lines.firstIndex(where: { $0.contains("Log in ") && $0.contains("[") }) else { return false }
    return !screen.cells[row].contains { $0.style.isReversed }
  }

  /// The line that a field's text stands on.
  private func fieldRow(_ screen: EmulatedTerminal, _ index: Int) throws -> Int {
    let rows = screen.lines.indices.filter { screen.lines[$0].contains("│") }
    try #require(index < rows.count)
    return rows[index]
  }

  private func caretRow(_ screen: EmulatedTerminal) throws -> Int {
    try #require(screen.showsCursor)
    return screen.cursor.row
  }

  extension EmulatedTerminal {
    /// Whether the button shows that a request is under way.
    var isSpinning: Bool {
      lines.contains { line in line.contains("[") && "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏".contains { line.contains($0) } }
    }
  }
#endif

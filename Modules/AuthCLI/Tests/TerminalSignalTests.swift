import Groundwork
import MockServerCore
import MockServerHTTP
import TerminalRecording
import TerminalScreen
import Testing

#if canImport(Glibc)
  import Glibc

  /// Whatever happens to the process or its terminal: the terminal is given back as it was.
  @Suite(
    .serialized, .enabled(if: PseudoTerminal.obstacle == nil, "no terminal on this machine"), .timeLimit(.minutes(3)))
  struct TerminalSignalTests {
    @Test(
      "a signal gives the terminal back, whatever the form is doing, and tells its number",
      arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGALRM] as [Int32], [true, false])
    func signals(signal: Int32, whileWorking: Bool) async throws {
      try await ProcessWorld.run { world in
        world.realm.script(.login, .hold("never"))
        let fresh = try PseudoTerminal(["/bin/sleep", "60"], environment: [:])
        defer { fresh.send(SIGKILL) }
        let terminal = try world.screen()
        let keeper = try terminal.keep()
        defer { close(keeper) }
        try await terminal.wait(forText: "Log in")
        #expect(!terminal.echoes)
        await terminal.type("anna@example.com\rpassword123")
        // Else the terminal may be given back before it has all of that, and would echo the rest.
        try await terminal.wait(forText: String(repeating: "•", count: 11))
        if whileWorking {
          await terminal.type("\r")
          _ = await world.realm.waitForCount(MockJournalFilter(operation: .login), atLeast: 1)
        }
        terminal.send(signal)
        #expect(await terminal.exitCode() == 128 + signal)
        #expect(terminal.settings?.text == fresh.settings?.text)
        try await terminal.wait(for: "the main screen") { $0.isSane }
        world.realm.removeScripts()
        world.realm.release(hold: "never")
        #expect(terminal.screen.text == "", "nothing of the form is left")
      }
    }

    @Test("a crash gives the terminal back, too, and stays a crash", arguments: [SIGSEGV, SIGILL, SIGABRT] as [Int32])
    func crash(signal: Int32) async throws {
      try await ProcessWorld.run { world in
        let terminal = try world.screen()
        let keeper = try terminal.keep()
        defer { close(keeper) }
        try await terminal.wait(forText: "Log in")
        terminal.send(signal)
        #expect(await terminal.exitCode() == 1000 + signal)
        #expect(terminal.echoes)
        try await terminal.wait(for: "the main screen") { $0.isSane }
      }
    }

    @Test("Ctrl-C is 130 and Ctrl-\\ is 131, also while a request runs", arguments: [("\u{3}", 130), ("\u{1C}", 131)])
    func keys(key: String, code: Int32) async throws {
      try await ProcessWorld.run { world in
        world.realm.script(.login, .hold("never"))
        for whileWorking in [false, true] {
          let terminal = try world.screen()
          let keeper = try terminal.keep()
          defer { close(keeper) }
          try await terminal.wait(forText: "Log in")
          await terminal.type("anna@example.com\rpassword123" + (whileWorking ? "\r" : ""))
          if whileWorking { _ = await world.realm.waitForCount(MockJournalFilter(operation: .login), atLeast: 1) }
          await terminal.type(key)
          #expect(await terminal.exitCode() == code)
          #expect(terminal.echoes)
          try await terminal.wait(for: "the main screen") { $0.isSane }
        }
        world.realm.removeScripts()
        world.realm.release(hold: "never")
      }
    }

    @Test("Ctrl-Z gives the shell its terminal; fg brings the form back with everything typed")
    func suspendAndResume() async throws {
      try await ProcessWorld.run { world in
        let path = try ChirpProcess.path()
        let terminal = try PseudoTerminal(
          ["/bin/dash", "-i"], environment: world.screenEnvironment.merging(["PS1": "ready> "]) { _, new in new })
        try await terminal.wait(forText: "ready>")
        await terminal.type("\(path) login; echo code=$?\n")
        try await terminal.wait(for: "the form") { $0.isAlternate && $0.text.contains("Password") }
        await terminal.type("anna@exa")
        try await terminal.wait(forText: "anna@exa")
        await terminal.type("\u{1A}")
        var screen = try await terminal.wait(for: "the shell") { !$0.isAlternate && $0.text.contains("Stopped") }
        #expect(screen.isSane)
        #expect(terminal.echoes)
        await terminal.type("echo shell is here\n")
        try await terminal.wait(forText: "shell is here\n")
        await terminal.type("fg; echo code=$?\n")
        screen = try await terminal.wait(for: "the form again") { $0.isAlternate && $0.text.contains("anna@exa") }
        #expect(!terminal.echoes)
        await terminal.type("mple.com\tpassword123\r")
        try await terminal.wait(forText: "Welcome!")
        await terminal.type("\r")
        try await terminal.wait(forText: "code=0")
        #expect(terminal.screen.isSane)
        await terminal.type("exit\n")
        #expect(await terminal.exitCode() == 0)
      }
    }

    @Test("started in the background it waits for fg, and leaves the shell's terminal alone until then")
    func background() async throws {
      try await ProcessWorld.run { world in
        let path = try ChirpProcess.path()
        let terminal = try PseudoTerminal(
          ["/bin/dash", "-i"], environment: world.screenEnvironment.merging(["PS1": "ready> "]) { _, new in new })
        try await terminal.wait(forText: "ready>")
        await terminal.type("\(path) login &\n")
        // Dash tells of a stopped job before its next prompt.
        for _ in 0..<300 {
          await terminal.type("\n")
          do throws(PseudoTerminal.Failure) {
            try await terminal.wait(forText: "Stopped", within: .milliseconds(100))
            break
          } catch {}
        }
        #expect(terminal.screen.isSane && terminal.echoes)
        await terminal.type("fg\n")
        try await terminal.wait(for: "the form") { $0.isAlternate && $0.text.contains("Password") }
        await terminal.type("\u{1B}")
        // Not before its prompt: what is typed for a screen that is being left is thrown away.
        try await terminal.wait(for: "the shell") { !$0.isAlternate && $0.text.hasSuffix("ready>") }
        await terminal.type("exit\n")
        _ = await terminal.exitCode()
        #expect(terminal.screen.isSane)
      }
    }

    @Test("nothing of it depends on where standard output and standard error go")
    func redirected() async throws {
      try await ProcessWorld.run { world in
        let script = "\"$@\" --json >\"$HOME/out\" 2>\"$HOME/err\" </dev/tty; echo code=$?"
        let terminal = try PseudoTerminal(
          ["/bin/sh", "-c", script, "sh", try ChirpProcess.path(), "login"], environment: world.screenEnvironment)
        try await terminal.wait(for: "the form") { $0.isAlternate && $0.text.contains("Password") }
        await terminal.type("anna@example.com\rpassword123\r")
        try await terminal.wait(forText: "Welcome!")
        await terminal.type("\r")
        try await terminal.wait(forText: "code=0")
        #expect(terminal.screen.isSane)
        #expect(try text(of: "\(world.home)/out").contains("\"identifier\":\"anna@example.com\""))
        #expect(try text(of: "\(world.home)/err") == "")
      }
    }

    @Test("stopped by force and continued it takes the terminal again, whatever was done to it meanwhile")
    func stoppedByForce() async throws {
      try await ProcessWorld.run { world in
        let terminal = try world.screen()
        let keeper = try terminal.keep()
        defer { close(keeper) }
        try await terminal.wait(forText: "Log in")
        await terminal.type("anna@")
        try await terminal.wait(forText: "anna@")
        terminal.send(SIGSTOP)
        #expect(await terminal.waitForStop())
        var mode = termios()
        tcgetattr(keeper, &mode)
        mode.c_lflag |= tcflag_t(ECHO | ICANON | ISIG)
        tcsetattr(keeper, TCSANOW, &mode)
        _ = write(keeper, "\u{1B}[?1049lrubbish", 15)
        try await terminal.wait(forText: "rubbish")
        terminal.send(SIGCONT)
        try await terminal.wait(for: "the form") { $0.isAlternate && $0.text.contains("anna@") }
        #expect(!terminal.echoes)
        await terminal.type("\u{1B}")
        #expect(await terminal.exitCode() == 3)
      }
    }

    @Test(
      "what was typed while the process was stopped is no key: the system's line editing may leave a lone Esc of it")
    func typedWhileStopped() async throws {
      try await ProcessWorld.run { world in
        world.realm.script(.login, .hold("never"))
        let terminal = try world.screen()
        try await terminal.wait(forText: "Log in")
        let keeper = try terminal.keep()
        defer { close(keeper) }
        await terminal.type("anna@example.com\tpassword123\r")
        _ = await world.realm.waitForCount(MockJournalFilter(operation: .login), atLeast: 1)
        terminal.send(SIGSTOP)
        #expect(await terminal.waitForStop())
        var mode = termios()
        tcgetattr(keeper, &mode)
        mode.c_lflag |= tcflag_t(ECHO | ICANON | ISIG)
        tcsetattr(keeper, TCSANOW, &mode)
        // An arrow key of which the erase character takes the end away.
        await terminal.type("\u{1B}[A\u{7F}\u{7F}")
        try await terminal.wait(for: "its echo") { $0.text.contains("^[") && !$0.text.contains("^[[") }
        terminal.send(SIGCONT)
        try await terminal.wait(for: "the form") { !terminal.echoes && $0.isAlternate && $0.isSpinning }
        // Twice, since the first may be the drawing that follows a stop: what was typed before has been acted on then.
        for _ in 0..<2 {
          let clears = terminal.screen.clears
          await terminal.type("\u{C}")
          try await terminal.wait(for: "another drawing") { $0.clears > clears }
        }
        try await terminal.wait(for: "a request that is still waited for", within: .seconds(10)) { $0.isSpinning }
        terminal.send(SIGTERM)
        _ = await terminal.exitCode()
        #expect(world.realm.count(.login) == 1)
        world.realm.removeScripts()
        world.realm.release(hold: "never")
      }
    }

    @Test("a terminal of any size shows the field that is typed in; growing brings everything back")
    func resizing() async throws {
      try await ProcessWorld.run { world in
        let terminal = try world.screen(["register"])
        try await terminal.wait(forText: "Create account")
        await terminal.type("bob\r")
        for (step, shape) in [(40, 14), (30, 8), (20, 4), (12, 2), (3, 1), (120, 50), (80, 24)].enumerated() {
          let size = ScreenSize(columns: shape.0, rows: shape.1)
          terminal.resize(size)
          await terminal.type("é")
          let typed = String(repeating: "é", count: step + 1)
          try await terminal.wait(for: "a caret in \(shape)") {
            $0.size == size && $0.showsCursor && (shape.0 < 20 || $0.text.contains(typed))
          }
        }
        let screen = try await terminal.wait(forText: "Password")
        #expect(screen.text.contains("ééééééé"))
        #expect(screen.unknown == [])
        await terminal.type("\u{1B}")
        #expect(await terminal.exitCode() == 3)
      }
    }

    @Test("a terminal that is gone ends the process")
    func hangUp() async throws {
      try await ProcessWorld.run { world in
        let terminal = try world.screen()
        try await terminal.wait(forText: "Log in")
        terminal.hangUp()
        let code = await terminal.exitCode()
        #expect(code == 129 || code == 3)
      }
    }
  }

  /// Sessions that no person would have: random keys, bytes, pastes, sizes and signals, each from its seed.
  @Suite(
    .serialized, .enabled(if: PseudoTerminal.obstacle == nil, "no terminal on this machine"), .timeLimit(.minutes(5)))
  struct HostileTerminalTests {
    /// Runs `chirp login` under a shell that notes the terminal's settings before and after; `stop` says when.
    private func session(_ world: ProcessWorld) throws -> PseudoTerminal {
      // Without `noflsh` the system throws away what was written and not read yet when Ctrl-Z is typed, the farewell to the screen among it.
      let script =
        "stty noflsh; trap : INT QUIT HUP TERM TSTP; stty -g >\"$HOME/before\"; \"$@\"; "
        // A signal that is meant for the program may come when it has ended already, and end this instead.
        + "until stty -g >\"$HOME/after\"; do :; done; echo over"
      return try PseudoTerminal(
        ["/bin/sh", "-c", script, "sh", try ChirpProcess.path(), "login"],
        environment: world.screenEnvironment.merging(
          ["PATH": "/usr/bin:/bin"]) { _, new in new })
    }

    private func check(_ world: ProcessWorld, _ terminal: PseudoTerminal, seed: UInt64) async throws {
      _ = await terminal.exitCode()
      await terminal.waitForLastOutput()
      let before = try text(of: "\(world.home)/before")
      let after = try text(of: "\(world.home)/after")
      #expect(!before.isEmpty && before == after, "seed \(seed): \(before)→ \(after)")
      let screen = terminal.screen
      #expect(!screen.isAlternate && screen.showsCursor && !screen.bracketsPaste && screen.wraps, "seed \(seed)")
    }

    @Test("while a request runs nothing sends a second one, and any end leaves the terminal sane", arguments: 1...25)
    func whileWorking(seed: Int) async throws {
      try await ProcessWorld.run { world in
        world.realm.script(.login, .hold("never"))
        var random = SeededGenerator(seed: UInt64(seed))
        let terminal = try session(world)
        try await terminal.wait(for: "the form") { $0.isAlternate && $0.text.contains("Password") }
        await terminal.type("anna@example.com\tpassword123\r")
        _ = await world.realm.waitForCount(MockJournalFilter(operation: .login), atLeast: 1)
        for _ in 0..<40 { await random.torment(terminal, mayLeave: false) }
        await random.end(terminal)
        try await check(world, terminal, seed: UInt64(seed))
        #expect(world.realm.count(.login) == 1, "seed \(seed)")
        world.realm.removeScripts()
        world.realm.release(hold: "never")
      }
    }

    @Test(
      "any keys in any order, and any end, leave the terminal sane; each request has its own Return", arguments: 26...50
    )
    func anything(seed: Int) async throws {
      try await ProcessWorld.run { world in
        var random = SeededGenerator(seed: UInt64(seed))
        let terminal = try session(world)
        try await terminal.wait(for: "the form") { $0.isAlternate && $0.text.contains("Password") }
        await terminal.type("anna@example.com\twrong-password")
        for _ in 0..<40 where terminal.screen.isAlternate { await random.torment(terminal, mayLeave: true) }
        await random.end(terminal)
        try await check(world, terminal, seed: UInt64(seed))
        #expect(world.realm.count(.login) <= random.returns, "seed \(seed)")
      }
    }
  }

  /// The start of a file; "" if it is not there.
  private func text(of path: String) throws -> String {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 1024)
    let count = read(file, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
  }

  /// What a hostile person does, from a seed (SplitMix64).
  private struct SeededGenerator {
    private var state: UInt64
    /// How many Returns and spaces were typed.
    private(set) var returns = 0

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    mutating func below(_ bound: Int) -> Int {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
      return Int((z ^ z >> 31) % UInt64(bound))
    }

    mutating func torment(_ terminal: PseudoTerminal, mayLeave: Bool) async {
      let keys = [
        "\r", "\r\r", "\t", "\u{1B}[Z", "\u{1B}[A", "\u{1B}[B", "\u{1B}[C", "\u{1B}[D", " ", "a", "你", "👨‍👩‍👧", "e\u{301}",
        "\u{7F}", "\u{17}", "\u{B}", "\u{C}", "\u{1}", "\u{5}", "\u{4}", "\u{1B}[3~", "\u{1B}[1;5D", "\u{1B}OM",
        "\u{1B}[13u",
        "\u{1B}]11;rgb:0/0/0\u{7}", "\u{1B}[24;80R", "\u{1B}[200~", "\u{1B}[201~", "\u{13}", "\u{11}", "\u{1B}x",
      ]
      switch below(12) {
      case 0: await terminal.paste((0..<below(6)).map { _ in keys[below(keys.count)] }.joined())
      case 1:
        let noise = (0..<below(40)).map { _ in UInt8(below(256)) }.filter { byte in
          // Keys that leave are typed on purpose alone.
          ![0x03, 0x1A, 0x1B, 0x1C].contains(byte) && (mayLeave || byte >= 0x20)
        }
        returns += noise.filter { [0x0A, 0x0D, 0x20].contains($0) }.count
        await terminal.type(noise)
      case 2: terminal.resize(ScreenSize(columns: 1 + below(120), rows: 1 + below(40)))
      case 3: kill(-terminal.pid, SIGWINCH)
      case 4: kill(-terminal.pid, SIGCONT)
      case 5:
        kill(-terminal.pid, SIGTSTP)
        kill(-terminal.pid, SIGCONT)
      case 6 where mayLeave && below(8) == 0: await terminal.type("\u{1B}")
      case 7:
        await terminal.type("\u{1A}")
        kill(-terminal.pid, SIGCONT)
      default:
        let key = keys[below(keys.count)]
        returns += key.filter { $0 == "\r" || $0 == " " }.count + (key == "\u{1B}OM" || key == "\u{1B}[13u" ? 1 : 0)
        await terminal.type(key)
      }
    }

    /// Ends the session one way or the other.
    mutating func end(_ terminal: PseudoTerminal) async {
      kill(-terminal.pid, [SIGTERM, SIGHUP, SIGQUIT, SIGINT][below(4)])
      // A stop may still be on its way, and come after this.
      for _ in 0..<300 {
        kill(-terminal.pid, SIGCONT)
        do {
          try await terminal.wait(forText: "over", within: .milliseconds(100))
          return
        } catch {}
      }
      kill(-terminal.pid, SIGKILL)
    }
  }
#endif

import MockServerCore
import MockServerHTTP
import TerminalRecording
import TerminalScreen

#if canImport(Glibc)
  import Glibc

  /// One sign-in from the empty form to the welcome, with a picture of each state on the way.
  struct PictureSession {
    struct Failure: Error, CustomStringConvertible {
      var description: String
    }

    let chirp: String
    let folder: String

    func run() async throws {
      let server = MockAuthServer(
        configuration: MockServerConfiguration(
          users: [MockSeedUser(username: "anna", email: "anna@example.com", password: "password123")]))
      let front = HTTPFront(handler: server)
      let url = try front.start().url
      var template = Array("/tmp/chirp-pictures-XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil else { throw Failure(description: "no folder: \(errno)") }
      let home = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      let terminal = try PseudoTerminal(
        [chirp, "login", "--server", url],
        environment: ["HOME": home, "CHIRP_STATE_DIR": "\(home)/state", "TERM": "xterm-256color", "LANG": "C.UTF-8"],
        size: ScreenSize(columns: 62, rows: 19))
      defer { terminal.send(SIGKILL) }
      let realm = server.realm()

      try await draw("1-empty", "The sign-in form, empty", try await terminal.wait(forText: "Password"))

      await terminal.type("anna@\t")
      try await draw(
        "2-field-error", "The email was left with a bad value: its error stands under it",
        try await terminal.wait(forText: "Enter a valid email"))

      await terminal.type("\u{1B}[Zexample.com\twrong-password")
      try await draw(
        "3-ready", "Both fields are good: the button is enabled",
        try await terminal.wait(for: "the button") { screen in
          screen.cells.contains { $0.contains { $0.style.isReversed } }
        })

      realm.script(.login, .hold("answer"))
      await terminal.type("\r")
      try await draw(
        "4-working", "A request runs: fields locked, a spinner in the button", try await terminal.wait(forText: "⠹"))

      realm.release(hold: "answer")
      try await draw(
        "5-refused", "The server refused: its message stands under the button",
        try await terminal.wait(forText: "Wrong email or password."))

      await terminal.type("\u{15}password123\r")
      try await draw(
        "6-home", "The home screen: who is signed in, and the way out", try await terminal.wait(forText: "Welcome!"))

      await terminal.type("\r")
      guard await terminal.exitCode() == 0 else { throw Failure(description: "chirp did not end well") }
      await front.stop()
    }

    private func draw(_ name: String, _ title: String, _ screen: EmulatedTerminal) async throws {
      guard screen.unknown.isEmpty else { throw Failure(description: "\(name): \(screen.unknown)") }
      let path = "\(folder)/terminal-\(name).svg"
      let text = screen.picture(title: title)
      guard let file = fopen(path, "w") else { throw Failure(description: "\(path) cannot be written") }
      defer { fclose(file) }
      guard fputs(text, file) >= 0 else { throw Failure(description: "\(path) cannot be written") }
      print(path)
    }
  }
#endif

import AuthForms
import TerminalRecording
import TerminalScreen
import Testing

@testable import AuthCLI

/// What keys mean on a form's screen, and what it looks like in every size.
struct FormScreenTests {
  private let look = ScreenLook(environment: ["LANG": "C.UTF-8"], noColor: false)
  private let around = FormScreen.Surroundings(server: "https://auth.example.com", keys: ("keys", "working"))

  /// A form and its screen, fed with keys as the page does it.
  private struct Desk {
    var form: FormState
    var screen: FormScreen
    var effects: [FormEffect] = []

    init(_ specification: FormSpecification = AuthProfile.loginForm.login) {
      form = FormState(specification)
      screen = FormScreen(form)
      follow()
    }

    mutating func follow() {
      if let event = screen.follow(form) {
        effects += form.handle(event)
        _ = screen.follow(form)
      }
    }

    @discardableResult
    mutating func press(_ keys: Key...) -> [FormScreen.Action] {
      var all: [FormScreen.Action] = []
      for key in keys {
        let actions = screen.handle(key, form)
        all += actions
        for case .form(let event) in actions { effects += form.handle(event) }
        follow()
      }
      return all
    }

    mutating func type(_ text: String) {
      for scalar in text.unicodeScalars { press(.text(String(Character(scalar)))) }
    }
  }

  @Test("Tab and Down go from field to field to the button and around, Shift-Tab and Up the other way (D5.7)")
  func order() {
    var desk = Desk()
    var seen = [desk.screen.target]
    for key in [Key.tab, .down, .tab, .backTab, .up, .up] {
      desk.press(key)
      seen.append(desk.screen.target)
    }
    #expect(
      seen == [
        .field(.email), .field(.password), .button, .field(.email), .button, .field(.password), .field(.email),
      ])
  }

  @Test(
    "leaving a field by any of these keys shows its error (D5.2)", arguments: [Key.tab, .down, .backTab, .up, .enter])
  func leaving(key: Key) {
    var desk = Desk()
    desk.type("anna@")
    #expect(desk.form.error(for: .email) == nil)
    desk.press(key)
    #expect(desk.form.error(for: .email) != nil)
  }

  @Test("on the button text and pastes go nowhere; Return and Space press it")
  func button() {
    for key in [Key.enter, .text(" ")] {
      var desk = Desk()
      desk.press(.tab, .tab)
      #expect(desk.press(.text("x"), .paste("y"), .backspace) == [])
      #expect(desk.press(key) == [.form(.submitPressed)])
      #expect(desk.screen.target == .field(.email), "an invalid form sends the cursor to its first bad field")
    }
  }

  @Test("while a request runs every key but Esc does nothing, and Esc gives up (D5.3, D5.8)")
  func locked() {
    var desk = Desk()
    desk.type("anna@example.com")
    desk.press(.enter)
    desk.type("password123")
    desk.press(.enter)
    #expect(desk.form.isSubmitting)
    let before = desk.form
    #expect(desk.press(.enter, .tab, .text("x"), .paste("y"), .backspace, .up, .deleteToStart) == [])
    #expect(desk.form == before)
    #expect(desk.press(.escape) == [.giveUp])
    #expect(desk.effects.filter { if case .submit = $0 { true } else { false } }.count == 1)
  }

  @Test("after a refusal without a field the cursor is in the password, whatever had it before", arguments: [0, 1])
  func afterRefusal(tabs: Int) {
    var desk = Desk()
    desk.type("anna@example.com")
    desk.press(.enter)
    desk.type("password123")
    for _ in 0..<tabs { desk.press(.tab) }
    desk.press(.enter)
    _ = desk.form.handle(.refused(submission: 1, FormRefusal(message: "Wrong email or password.")))
    desk.follow()
    #expect(desk.screen.target == .field(.password))
    desk.press(.backspace)
    #expect(desk.form.message == nil, "editing clears the message (D5.4)")
    #expect(desk.form[.password] == "password12")
  }

  @Test("moving the caret is no edit: the server's message stays (D5.4)")
  func movingIsNoEdit() {
    var desk = Desk()
    desk.type("anna@example.com")
    desk.press(.enter)
    desk.type("password123")
    desk.press(.enter)
    _ = desk.form.handle(.refused(submission: 1, FormRefusal(message: "Wrong email or password.")))
    desk.follow()
    #expect(desk.press(.left, .home, .end, .delete, .wordLeft) == [])
    #expect(desk.form.message != nil)
  }

  @Test("a form that comes with its email begins in the password")
  func prefilled() {
    var form = FormState(AuthProfile.loginForm.login)
    _ = form.handle(.edited(.email, "anna@example.com"))
    #expect(FormScreen(form).target == .field(.password))
  }

  @Test("in every size a field that is typed in is seen, with its caret; nothing leaves the screen")
  func everySize() {
    for specification in [AuthProfile.loginForm.login, AuthProfile.loginForm.registration, AuthProfile.chirp.login] {
      var desk = Desk(specification)
      desk.press(.tab, .tab, .tab, .tab)
      for target in 0...specification.fields.count {
        for columns in [1, 2, 5, 9, 20, 39, 40, 60, 80, 200] {
          for rows in [1, 2, 3, 5, 8, 13, 16, 22, 24, 60] {
            let size = ScreenSize(columns: columns, rows: rows)
            let frame = desk.screen.frame(desk.form, around, size: size, look: look, spinner: 0)
            #expect(frame.lines.count <= rows)
            guard case .field = desk.screen.target else { continue }
            let cursor = frame.cursor
            #expect(cursor.map { (0..<rows).contains($0.row) } == true, "\(columns) x \(rows), target \(target)")
          }
        }
        desk.press(.tab)
      }
    }
  }

  @Test("a server's text is drawn as text: it moves nothing and colors nothing")
  func hostileMessage() {
    var desk = Desk()
    desk.type("anna@example.com")
    desk.press(.enter)
    desk.type("password123")
    desk.press(.enter)
    _ = desk.form.handle(.refused(submission: 1, FormRefusal(message: "No\u{1B}[2J\u{1B}]0;x\u{7}\u{202E}pe\r\nNext")))
    desk.follow()
    let size = ScreenSize(columns: 80, rows: 24)
    var writer = FrameWriter()
    var terminal = EmulatedTerminal(size: size)
    terminal.feed(writer.draw(desk.screen.frame(desk.form, around, size: size, look: look, spinner: 0), size: size))
    #expect(terminal.unknown == [] && terminal.bells == 0)
    #expect(terminal.text.contains("Email"))
    #expect(!terminal.text.unicodeScalars.contains("\u{202E}"))
  }

  @Test("nothing of what is typed is in a description")
  func noSecretPrinted() {
    var desk = Desk()
    desk.press(.tab)
    desk.type("password123")
    var dumped = ""
    dump(desk.screen, to: &dumped)
    #expect(!dumped.contains("password123") && !"\(desk.screen)".contains("password123"))
  }

  @Test(
    "the locale says which signs there are, NO_COLOR and --no-color say that there are no colors",
    arguments: [
      (["LANG": "C.UTF-8"], false, true, true), (["LANG": "de_DE.utf8"], false, true, true), ([:], false, true, true),
      (["LANG": "C"], false, false, true), (["LANG": "C.UTF-8", "LC_ALL": "POSIX"], false, false, true),
      (["LANG": "de_DE.ISO-8859-1"], false, false, true), (["NO_COLOR": "1"], false, true, false),
      ([:], true, true, false),
      (["TERM": "linux"], false, false, true),
    ] as [([String: String], Bool, Bool, Bool)])
  func looks(environment: [String: String], noColor: Bool, isUnicode: Bool, isColored: Bool) {
    let look = ScreenLook(environment: environment, noColor: noColor)
    #expect((look.signs == .unicode) == isUnicode)
    #expect(look.usesColor == isColored)
  }

  @Test("long texts wrap at spaces, and within a word that is too long")
  func wrapping() {
    #expect(ScreenLayout.wrapped("one two three", 7) == ["one two", "three"])
    #expect(ScreenLayout.wrapped("abcdefgh", 3) == ["abc", "def", "gh"])
    #expect(ScreenLayout.wrapped("你好你好", 5) == ["你好", "你好"])
    #expect(ScreenLayout.wrapped("", 5) == [""])
  }
}

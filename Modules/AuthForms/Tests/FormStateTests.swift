import AuthForms
import Testing

/// D5's rules on the state machine alone.
struct FormStateTests {
  private let anna = "anna@example.com"
  private var form: FormState { FormState(AuthProfile.loginForm.login) }
  private let emailError = "Enter a valid email, like name@example.com."
  private let passwordError = "Use at least 8 characters."

  private func filled(_ email: String = "anna@example.com", _ password: String = "password123") -> FormState {
    var form = form
    _ = form.handle(.edited(.email, email))
    _ = form.handle(.edited(.password, password))
    return form
  }

  private func submitting() throws -> (form: FormState, submission: FormSubmission) {
    var form = filled()
    let effects = form.handle(.submitPressed)
    let submission = effects.compactMap { if case .submit(let asked) = $0 { asked } else { nil } }.first
    return (form, try #require(submission))
  }

  @Test("typing a bad value shows nothing before the field was left once (D5.2)")
  func noErrorWhileFirstTyping() {
    var form = form
    for text in ["a", "an", "anna@"] {
      #expect(form.handle(.edited(.email, text)) == [])
      #expect(form.error(for: .email) == nil)
    }
  }

  @Test("leaving a field with a bad value shows its error, and says it aloud (D5.2, D5.9)")
  func leavingShowsTheError() {
    var form = form
    _ = form.handle(.edited(.email, "anna@"))
    #expect(form.handle(.left(.email)) == [.announce(emailError)])
    #expect(form.error(for: .email) == emailError)
    #expect(form.error(for: .password) == nil)
  }

  @Test("leaving a field with a good value shows nothing")
  func leavingGoodValue() {
    var form = filled()
    #expect(form.handle(.left(.email)) == [])
    #expect(form.error(for: .email) == nil)
  }

  @Test("after a field was left once its error comes and goes while typing (D5.2)")
  func liveValidation() {
    var form = form
    _ = form.handle(.left(.email))
    #expect(form.error(for: .email) == emailError)
    _ = form.handle(.edited(.email, anna))
    #expect(form.error(for: .email) == nil)
    _ = form.handle(.edited(.email, "anna@example"))
    #expect(form.error(for: .email) == emailError)
  }

  @Test("moving the cursor from one field to another leaves the first, also without being told so")
  func enteringLeavesThePreviousField() {
    var form = form
    #expect(form.handle(.entered(.password)) == [])
    #expect(form.handle(.entered(.email)) == [.announce(passwordError)])
    #expect(form.focus == .email)
    #expect(form.handle(.left(.password)) == [], "a late report of the same move changes nothing")
    #expect(form.focus == .email)
  }

  @Test(
    "the button is enabled by a good email and 8 characters, and not by less (D5.1, D5.3)",
    arguments: [
      ("anna@example.com", "12345678", true), ("anna@example.com", "1234567", false), ("anna@", "12345678", false),
      ("", "12345678", false), ("anna@example.com", "", false), ("anna example@x.com", "12345678", false),
      ("  anna@example.com  ", "12345678", true), ("anna@example.com", "        ", true),
    ])
  func button(email: String, password: String, enabled: Bool) {
    #expect(filled(email, password).canSubmit == enabled)
  }

  @Test("an email goes out trimmed, a password as it was typed (D5.1)")
  func trimming() throws {
    var form = filled("  anna@example.com\t", "  pass word ")
    let effects = form.handle(.submitPressed)
    #expect(
      effects == [
        .hideKeyboard,
        .submit(FormSubmission(number: 1, values: [.email: anna, .password: "  pass word "])),
      ])
    #expect(form[.email] == "  anna@example.com\t", "what was typed stays as it is")
  }

  @Test("a submission locks the fields, disables the button and hides the keyboard (D5.3, D5.7)")
  func submittingLocks() throws {
    var (form, _) = try submitting()
    #expect(form.isSubmitting)
    #expect(form.isLocked)
    #expect(!form.canSubmit)
    #expect(form.focus == nil)
    #expect(form.handle(.edited(.email, "other@example.com")) == [])
    #expect(form.handle(.entered(.email)) == [])
    #expect(form[.email] == anna)
    #expect(form.focus == nil)
  }

  @Test("a submission takes the cursor out of its field, and so leaves it: its error shows from then on (D5.2)")
  func submittingLeavesTheField() {
    var form = filled()
    _ = form.handle(.entered(.password))
    _ = form.handle(.submitPressed)
    _ = form.handle(.refused(submission: 1, FormRefusal(message: "Wrong email or password.")))
    _ = form.handle(.edited(.password, "short"))
    #expect(form.error(for: .password) == passwordError)
    #expect(form.error(for: .email) == nil)
  }

  @Test("a second press while one runs sends nothing (D5.8)")
  func doubleSubmit() throws {
    var (form, _) = try submitting()
    #expect(form.handle(.submitPressed) == [])
    #expect(form.handle(.returnPressed(.password)) == [])
  }

  @Test("submitting an invalid form shows every error and moves the cursor to the first bad field (D5.7)")
  func invalidSubmit() {
    var form = form
    #expect(form.handle(.submitPressed) == [.focus(.email), .announce(emailError)])
    #expect(form.focus == .email)
    #expect(form.error(for: .email) == emailError)
    #expect(form.error(for: .password) == passwordError)
    #expect(!form.isSubmitting)
    form = filled(anna, "short")
    #expect(form.handle(.submitPressed) == [.focus(.password), .announce(passwordError)])
  }

  @Test("Return in email moves to password, also past a bad value; Return in password submits (D5.7)")
  func returnKey() {
    var form = form
    #expect(form.handle(.returnPressed(.email)) == [.announce(emailError), .focus(.password)])
    #expect(form.focus == .password)
    form = filled()
    #expect(form.handle(.returnPressed(.email)) == [.focus(.password)])
    #expect(form.handle(.returnPressed(.password)).first == .hideKeyboard)
    #expect(form.isSubmitting)
  }

  @Test(
    "the server's error stands with the button until either field is edited (D5.4)",
    arguments: [
      FieldName.email, .password,
    ])
  func messageGoesWithAnEdit(edited: FieldName) throws {
    var (form, submission) = try submitting()
    let effects = form.handle(
      .refused(submission: submission.number, FormRefusal(message: "Wrong email or password.")))
    #expect(effects == [.announce("Wrong email or password.")])
    #expect(form.message == "Wrong email or password.")
    #expect(form.canSubmit)
    _ = form.handle(.left(edited))
    _ = form.handle(.edited(edited, form[edited]))
    #expect(form.message != nil, "leaving a field, or setting what it holds, is no edit")
    _ = form.handle(.edited(edited, form[edited] + "x"))
    #expect(form.message == nil)
  }

  @Test("each submission clears the message of the one before (D1.5)")
  func submitClearsTheMessage() throws {
    var (form, submission) = try submitting()
    _ = form.handle(.refused(submission: submission.number, FormRefusal(message: "Wrong email or password.")))
    _ = form.handle(.submitPressed)
    #expect(form.message == nil)
    #expect(form.isSubmitting)
  }

  @Test("the server's refusal of a field stands under that field and goes when it is edited (D1.7)")
  func serverFieldErrors() {
    var form = FormState(AuthProfile.chirp.registration)
    _ = form.handle(.edited(.username, "anna"))
    _ = form.handle(.edited(.email, anna))
    _ = form.handle(.edited(.password, "password123"))
    _ = form.handle(.submitPressed)
    let effects = form.handle(
      .refused(submission: 1, FormRefusal(message: nil, fields: [.email: "Taken.", .password: "Too common."])))
    #expect(effects == [.announce("Taken."), .announce("Too common."), .focus(.email)])
    #expect(form.focus == .email)
    #expect(form.error(for: .email) == "Taken.")
    _ = form.handle(.edited(.email, "other@example.com"))
    #expect(form.error(for: .email) == nil)
    #expect(form.error(for: .password) == "Too common.", "another field's refusal stays")
    #expect(form.error(for: .username) == nil)
  }

  @Test("an edit that changes nothing but the bytes is an edit: what is sent is what was typed last (D5.1, D5.4)")
  func equivalentTexts() throws {
    let (composed, decomposed) = ("p\u{E9}nible12", "pe\u{301}nible12")
    #expect(composed == decomposed, "Swift takes them for the same")
    var form = filled(anna, composed)
    _ = form.handle(.submitPressed)
    _ = form.handle(.refused(submission: 1, FormRefusal(message: "Wrong email or password.")))
    _ = form.handle(.edited(.password, decomposed))
    #expect(form.message == nil)
    guard case .submit(let submission)? = form.handle(.submitPressed).last else {
      Issue.record("nothing was sent")
      return
    }
    #expect(Array(submission[.password].utf8) == Array(decomposed.utf8))
  }

  @Test("an answer to a submission that is no longer awaited changes nothing")
  func staleAnswers() throws {
    var (form, submission) = try submitting()
    #expect(form.handle(.refused(submission: submission.number + 1, FormRefusal(message: "late"))) == [])
    #expect(form.isSubmitting)
    _ = form.handle(.abandoned(submission: submission.number))
    #expect(!form.isSubmitting)
    #expect(form.message == nil)
    #expect(form.handle(.accepted(submission: submission.number)) == [])
    #expect(!form.isAccepted)
    _ = form.handle(.submitPressed)
    #expect(form.handle(.refused(submission: submission.number, FormRefusal(message: "late"))) == [])
    #expect(form.isSubmitting, "the first submission's answer is not the second one's")
  }

  @Test("an accepted form forgets the password and takes no further press until it is reset")
  func accepted() throws {
    var (form, submission) = try submitting()
    #expect(form.handle(.accepted(submission: submission.number)) == [])
    #expect(form.isAccepted)
    #expect(form[.password] == "")
    #expect(form.handle(.submitPressed) == [])
    _ = form.handle(.reset)
    #expect(form[.email] == "")
    #expect(form.error(for: .email) == nil)
    #expect(!form.isAccepted)
  }

  @Test("a reset in mid-submission makes its answer a stale one")
  func resetWhileSubmitting() throws {
    var (form, submission) = try submitting()
    _ = form.handle(.reset)
    #expect(form.handle(.accepted(submission: submission.number)) == [])
    #expect(!form.isAccepted)
    _ = form.handle(.edited(.email, anna))
    _ = form.handle(.edited(.password, "password123"))
    _ = form.handle(.submitPressed)
    #expect(form.handle(.refused(submission: submission.number, FormRefusal(message: "late"))) == [])
  }

  @Test("neither a form nor a submission prints what was typed")
  func noSecretPrinted() throws {
    let (form, submission) = try submitting()
    for text in ["\(form)", "\(submission)", String(reflecting: form), String(reflecting: submission)] {
      #expect(!text.contains("password123"))
    }
    var dumped = ""
    dump(form, to: &dumped)
    dump(submission, to: &dumped)
    #expect(!dumped.contains("password123"))
  }

  @Test("the example flow of the document, in order (D5.11)")
  func exampleFlow() throws {
    var form = form
    _ = form.handle(.entered(.email))
    _ = form.handle(.edited(.email, "anna@"))
    #expect(form.error(for: .email) == nil)
    _ = form.handle(.left(.email))
    #expect(form.error(for: .email) == emailError)
    _ = form.handle(.entered(.email))
    _ = form.handle(.edited(.email, anna))
    #expect(form.error(for: .email) == nil)
    #expect(!form.canSubmit)
    _ = form.handle(.entered(.password))
    _ = form.handle(.edited(.password, "wrong-pw"))
    #expect(form.canSubmit)
    _ = form.handle(.returnPressed(.password))
    #expect(form.isSubmitting && form.isLocked)
    _ = form.handle(.refused(submission: 1, FormRefusal(message: "Wrong email or password.")))
    #expect(form.message == "Wrong email or password.")
    _ = form.handle(.edited(.password, "wrong-pw2"))
    #expect(form.message == nil)
    #expect(form.canSubmit)
  }
}

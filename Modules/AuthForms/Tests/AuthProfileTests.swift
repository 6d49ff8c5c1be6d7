import AuthForms
import Testing

/// The four profiles' texts and hints, as the documents have them.
struct AuthProfileTests {
  @Test("every profile has a text for every key that the code reads, and no other (D2.4)", arguments: AuthProfile.all)
  func keysAreComplete(profile: AuthProfile) {
    #expect(Set(profile.strings.keys) == Set(StringKey.all))
    #expect(profile.strings.keys.allSatisfy { !profile.strings[$0].isEmpty })
  }

  @Test(
    "the documents' own texts stand in their profiles",
    arguments: [
      ("envelope", "Login.UsernameField.Title", "Username"), ("envelope", "Login.PasswordField.Title", "Password"),
      ("envelope", "Login.LoginButton.Title", "Login"), ("envelope", "Home.Title", "Welcome!"),
      ("envelope", "Home.LogoutButton.Title", "Logout"), ("chirp", "Login.Title", "Welcome back"),
      ("chirp", "Login.LoginButton.Title", "Log In"),
      ("chirp", "Login.Error.InvalidCredentials", "Invalid email or password."),
      ("loginForm", "Login.LoginButton.Title", "Log in"), ("loginForm", "Home.LogoutButton.Title", "Log out"),
      ("loginForm", "Login.EmailField.Error", "Enter a valid email, like name@example.com."),
      ("loginForm", "Login.PasswordField.Error", "Use at least 8 characters."),
      ("loginForm", "Login.Error.InvalidCredentials", "Wrong email or password."),
    ])
  func texts(profile: String, key: String, text: String) throws {
    let profile = try #require(AuthProfile.named(profile))
    #expect(profile.strings[StringKey(rawValue: key)] == text)
  }

  @Test("an unknown key shows itself")
  func unknownKey() {
    #expect(AuthProfile.loginForm.strings["No.Such.Key"] == "No.Such.Key")
  }

  @Test("placeholders are filled, also with text that looks like one")
  func placeholders() {
    let table = StringsTable(["K": "Wait {seconds} s, {seconds}!"])
    #expect(table["K", filling: ["seconds": "{seconds}"]] == "Wait {seconds} s, {seconds}!")
    #expect(table["K", filling: ["seconds": "7"]] == "Wait 7 s, 7!")
  }

  @Test("the keyboard and the password manager are told what D5.6 says, and in chirp what D1 says")
  func hints() throws {
    let email = try #require(AuthProfile.loginForm.login[.email])
    #expect(email.hints == FieldHints(keyboard: .email, contentType: .username, returnKey: .next))
    #expect(!email.hints.capitalizes && !email.hints.autocorrects)
    let password = try #require(AuthProfile.loginForm.login[.password])
    #expect(password.hints == FieldHints(contentType: .password, isSecure: true, returnKey: .go))
    #expect(AuthProfile.chirp.login[.email]?.hints.contentType == .emailAddress)
    #expect(AuthProfile.chirp.registration[.password]?.hints.contentType == .newPassword)
  }

  @Test("D2 signs in by username, the others by email")
  func identifiers() {
    #expect(AuthProfile.envelope.identifierField == .username)
    #expect([AuthProfile.loginForm, .chirp, .supabase].allSatisfy { $0.identifierField == .email })
  }

  @Test("D1 takes any @, D5 only name@domain.tld (D1.5, D5.1)")
  func strictness() {
    #expect(AuthProfile.chirp.login[.email]?.accepts("anna@host") == true)
    #expect(AuthProfile.chirp.login[.email]?.accepts("anna") == false)
    #expect(AuthProfile.loginForm.login[.email]?.accepts("anna@host") == false)
  }

  @Test("the server's error stands under the button in D5, above it in D1")
  func placement() {
    #expect(AuthProfile.loginForm.login.messagePlacement == .belowButton)
    #expect(AuthProfile.chirp.login.messagePlacement == .aboveButton)
  }

  @Test("the shared button style is D2.5's; only the color differs")
  func buttonStyle() {
    let blue = MainButtonStyle()
    #expect((blue.fontSize, blue.maximumHeight, blue.cornerRadius) == (24, 60, 10))
    #expect(blue.isBold && blue.fillsWidth && blue.color == .blue)
    #expect(MainButtonStyle.screenPadding == 30)
    var red = MainButtonStyle(color: .red)
    red.color = .blue
    #expect(red == blue)
  }
}

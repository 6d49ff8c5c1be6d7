import AuthModels
import Testing

@Suite("Passwords and usernames")
struct FieldRuleTests {
  @Test("a password of 8 to 128 characters is taken, as it is")
  func passwordLength() throws {
    for count in [8, 9, 127, 128] {
      let text = String(repeating: "p", count: count)
      #expect(try PasswordRule.account.validate(text).get() == text)
    }
    #expect(PasswordRule.login.accepts(String(repeating: "p", count: 1000)))
  }

  @Test("a shorter or longer one is refused in plain words (D5.1)")
  func passwordRefused() {
    func issue(_ text: String) -> ValidationIssue? {
      switch PasswordRule.account.validate(text) {
      case .success: nil
      case .failure(let issue): issue
      }
    }
    #expect(issue("")?.reason == .empty)
    #expect(issue("")?.message == "Use at least 8 characters.")
    #expect(issue("1234567")?.reason == .tooShort)
    #expect(issue("1234567")?.message == "Use at least 8 characters.")
    #expect(issue(String(repeating: "p", count: 129))?.reason == .tooLong)
    #expect(issue(String(repeating: "p", count: 129))?.message == "Use at most 128 characters.")
    #expect(issue("secret")?.description.contains("secret") == false)
  }

  @Test("characters are code points, spaces count, nothing is trimmed")
  func passwordCharacters() throws {
    #expect(PasswordRule.login.accepts("        "))
    #expect(try PasswordRule.login.validate(" pass word ").get() == " pass word ")
    #expect(PasswordRule.login.accepts("ääääääää"))
    #expect(!PasswordRule.login.accepts("äääääää"))
    // One family is seven code points; one letter more makes eight.
    #expect(!PasswordRule.login.accepts("👨‍👩‍👧‍👦"))
    #expect(PasswordRule.login.accepts("👨‍👩‍👧‍👦1"))
  }

  @Test(
    "a username is 3 to 32 letters, digits, underscores",
    arguments: ["abc", "A_1", "___", "user_name_01", "a2345678901234567890123456789012"])
  func username(text: String) throws {
    #expect(try UsernameRule.validate("  \(text)\n").get() == text)
    #expect(UsernameRule.accepts(text))
  }

  @Test(
    "any other username is refused",
    arguments: [
      ("", .empty), ("ab", .tooShort), ("a23456789012345678901234567890123", .tooLong), ("a b", .malformed),
      ("a-b", .malformed), ("añb", .malformed), ("a.b", .malformed), ("абв", .malformed), ("１２３", .malformed),
      ("a\u{0}b", .malformed),
    ] as [(String, ValidationIssue.Reason)])
  func badUsername(text: String, reason: ValidationIssue.Reason) {
    let issue = #expect(throws: ValidationIssue.self) { try UsernameRule.validate(text).get() }
    #expect(issue?.reason == reason)
    #expect(issue?.field == .username)
  }
}

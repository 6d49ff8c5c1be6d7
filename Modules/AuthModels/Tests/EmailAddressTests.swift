import AuthModels
import Testing

@Suite("Email addresses (D5.1)")
struct EmailAddressTests {
  static let accepted: [String] = [
    "anna@example.com", "a@b.co", "first.last@example.com", "first+tag@example.com", "ANNA@EXAMPLE.COM",
    "a_b-c@sub.domain.example.co.uk", "1234567890@example.com", "x@example.museum", "!#$%&'*+-/=?^_`{|}~@example.com",
    "a.b.c.d.e@example.com", "\"john..doe\"@example.com", "\"a@b\"@example.com", "\"quote\\\"inside\"@example.com",
    "\"back\\\\slash\"@example.com", "\".\"@example.com", "o'brien@example.ie", "user@xn--bcher-kva.example",
    "user@xn--p1b6ci4b4b3a.xn--11b5bs8d", "user@bücher.example", "user@例え.テスト", "用户@例子.广告", "θσερ@εχαμπλε.ψομ",
    "Dörte@Sörensen.example.com", "коля@пример.рф", "उपयोगकर्ता@उदाहरण.कॉम", "chậu@việt.vn", "a\u{301}b@example.com",
    "emoji😀@example.com", "user@a-b.com", "user@1.com", "user@123.example", "user@3com.example", "user@ex--ample.com",
    "user@نامه\u{200C}ای.com", "user@l·l.cat",
  ]

  static let refused: [String] = [
    "", " ", "anna", "anna@", "@example.com", "anna@example", "anna@.com", "anna@example.", "anna@example.com.",
    "anna@@example.com", "an na@example.com", "anna@exam ple.com", "anna@example.c", "anna@example.1",
    "anna@example.12",
    "anna@127.0.0.1", "anna@[127.0.0.1]", "anna@[IPv6:::1]", ".anna@example.com", "anna.@example.com",
    "an..na@example.com", "anna@exa..mple.com", "anna@-example.com", "anna@example-.com", "anna@exam_ple.com",
    "anna@exam!ple.com", "a\"b@example.com", "\"\"@example.com", "\"a b\"@example.com", "\"a\"b\"@example.com",
    "\"unclosed@example.com", "\"end\\\"@example.com", "an(comment)na@example.com", "anna@example.com (work)",
    "Anna <anna@example.com>", "mailto:anna@example.com, b@c.de", "anna,bob@example.com", "anna;bob@example.com",
    "anna\u{0}@example.com", "anna@exam\u{0}ple.com", "anna\r\n@example.com", "anna@example.com\r\nBcc: x",
    "anna\u{200B}b@example.com", "anna\u{202E}b@example.com", "anna\u{A0}b@example.com", "anna@example。com",
    "anna@😀.com",
    "anna@exam\u{200B}ple.com", "anna@\u{301}a.com", "anna\\@example.com", "<anna>@example.com", "anna@example.com/",
    "anna@example:25.com", "anna@exam%70le.com", "a b@c d.e f", "@", "@@", "a@b", "\u{FEFF}@example.com",
  ]

  @Test("is taken as it is", arguments: accepted)
  func accepts(text: String) throws {
    #expect(try EmailAddress(text).text == text)
    #expect(EmailRule.accepts(text))
  }

  @Test("is refused, with the words of D5.1", arguments: refused)
  func refuses(text: String) {
    let issue = #expect(throws: ValidationIssue.self) { try EmailAddress(text) }
    #expect(issue?.field == .email)
    #expect(issue?.message == "Enter a valid email, like name@example.com.")
    #expect(!EmailRule.accepts(text))
  }

  @Test("the table is long enough to mean something")
  func tableSize() {
    #expect(Set(Self.accepted + Self.refused).count >= 60)
  }

  @Test(
    "white space at the ends is trimmed, of every kind",
    arguments: [" ", "  \t", "\n", "\r\n", "\u{A0}", "\u{3000}", "\u{2003}"])
  func trims(space: String) throws {
    #expect(try EmailAddress(space + "anna@example.com" + space).text == "anna@example.com")
    #expect(EmailAddress.trimmed(space) == "")
  }

  @Test("name and domain are split at the last @")
  func parts() throws {
    let address = try EmailAddress("\"a@b\"@example.com")
    #expect(address.name == "\"a@b\"")
    #expect(address.domain == "example.com")
  }

  @Test("lengths are held in bytes: 64 before the @, 63 a label, 254 in all")
  func lengths() {
    func letters(_ count: Int) -> String { String(repeating: "a", count: count) }
    #expect(EmailRule.accepts("\(letters(64))@example.com"))
    #expect(!EmailRule.accepts("\(letters(65))@example.com"))
    #expect(EmailRule.accepts("a@\(letters(63)).com"))
    #expect(!EmailRule.accepts("a@\(letters(64)).com"))
    let domain = "\(letters(61)).\(letters(61)).\(letters(61)).com"
    #expect("\(letters(64))@\(domain)".utf8.count == 254)
    #expect(EmailRule.accepts("\(letters(64))@\(domain)"))
    #expect(!EmailRule.accepts("\(letters(64))@a\(domain)"))
    #expect(!EmailRule.accepts("\(String(repeating: "ä", count: 33))@example.com"))
  }

  @Test("a huge input is refused, and quickly")
  func huge() {
    for text in [
      String(repeating: "a", count: 1_000_000), String(repeating: "a@", count: 500_000),
      "a@" + String(repeating: "b.", count: 500_000), String(repeating: "\"", count: 1_000_000),
    ] {
      let issue = #expect(throws: ValidationIssue.self) { try EmailAddress(text) }
      #expect(issue?.reason == .tooLong)
    }
  }

  @Test("D1's rule asks for an @ and no more")
  func containsAt() throws {
    #expect(try EmailRule.containsAt.validate(" a@ ").get() == "a@")
    #expect(throws: ValidationIssue.self) { try EmailRule.containsAt.validate("anna").get() }
    #expect(throws: ValidationIssue.self) { try EmailRule.address.validate("a@").get() }
  }
}

import TerminalScreen
import Testing

/// One line's editing, by what a person takes for a character.
struct TextInputTests {
  private func typed(_ text: String, _ keys: Key...) -> TextInput {
    var input = TextInput()
    for scalar in text.unicodeScalars { input.handle(.text(String(Character(scalar)))) }
    for key in keys { input.handle(key) }
    return input
  }

  @Test(
    "Backspace takes a whole character, of however many scalars",
    arguments: ["e\u{301}", "你", "👍🏽", "👨‍👩‍👧‍👦", "🇩🇪", "1\u{FE0F}\u{20E3}", "각", "नि"])
  func backspace(character: String) {
    let input = typed("a" + character, .backspace)
    #expect(input.value == "a")
    #expect(input.caret == 1)
  }

  @Test("the caret goes from character to character and never into one")
  func moving() {
    var input = typed("a👨‍👩‍👧b", .left, .left)
    #expect(input.caret == 1)
    input.insert("e\u{301}")
    #expect(input.value == "ae\u{301}👨‍👩‍👧b")
    #expect(input.caret == 2)
    input.handle(.delete)
    #expect(input.value == "ae\u{301}b")
  }

  @Test("an accent that is typed joins the letter before the caret, and the caret stays behind both")
  func joining() {
    var input = typed("eb", .left)
    input.insert("\u{301}")
    #expect(input.value == "e\u{301}b")
    #expect(input.caret == 1)
    var family = typed("👨👩", .left)
    family.insert("\u{200D}")
    #expect(family.value.count == 1)
    #expect(family.caret == 1)
  }

  @Test("words: left, right, delete; to the start; to the end")
  func words() {
    #expect(typed("anna.b@example.com", .wordLeft).caret == 15)
    #expect(typed("anna.b@example.com", .deleteWord).value == "anna.b@example.")
    #expect(typed("ab cd", .home, .wordRight).caret == 2)
    #expect(typed("ab cd", .left, .deleteToEnd).value == "ab c")
    #expect(typed("ab cd", .left, .deleteToStart).value == "d")
  }

  @Test("a pasted line break is left out, and with it every control; a tab only where one may be")
  func controls() {
    var input = TextInput()
    input.handle(.paste("pass\r\nword\n\u{1B}[A\u{7}\u{2028}\t!"))
    #expect(input.value == "password[A!")
    var secret = TextInput()
    secret.handle(.paste("a\tb\n"), keepsTabs: true)
    #expect(secret.value == "a\tb")
  }

  @Test("a paste of any size is bounded, and cut between scalars")
  func bounded() {
    var input = TextInput()
    input.insert(String(repeating: "你", count: 100_000))
    #expect(input.value.utf8.count <= TextInput.limit)
    #expect(input.value.allSatisfy { $0 == "你" })
  }

  @Test("a long text scrolls: the caret is always seen, wide characters are never cut", arguments: [1, 2, 5, 20])
  func window(width: Int) {
    var input = typed(String(repeating: "a你👍", count: 20))
    for _ in 0...input.value.count {
      let seen = input.window(width: width)
      #expect(CellWidth.of(seen.text) <= width)
      #expect((0..<width).contains(seen.caret))
      input.handle(.left)
    }
    #expect(input.caret == 0)
    #expect(input.window(width: 10).text.hasPrefix("a你👍"))
  }

  @Test("a password is dots, one a character, and is in no description")
  func masked() {
    let input = typed("pa👨‍👩‍👧s")
    #expect(input.window(width: 20, mask: "•") == ("••••", 4))
    var dumped = ""
    dump(input, to: &dumped)
    #expect(!dumped.contains("pa") || dumped.contains("characters"))
    #expect(!"\(input)".contains("👨"))
  }

  @Test("a character that cannot be seen is shown as one that stands for it, and never turns the text around")
  func invisible() {
    #expect(TextInput("a\u{200B}").window(width: 9).text == "a\u{FFFD}" || TextInput("a\u{200B}").value.count == 1)
    #expect(!TextInput("a\u{202E}b").window(width: 9).text.unicodeScalars.contains("\u{202E}"))
    #expect(TextInput("\u{301}a").window(width: 9).text == "\u{FFFD}a")
  }

  @Test("any keys in any order keep the caret inside", arguments: 1...20 as ClosedRange<UInt64>)
  func anyKeys(seed: UInt64) {
    var random = SeededBytes(seed)
    let keys: [Key] = [
      .backspace, .delete, .deleteWord, .deleteToEnd, .left, .right, .home, .end, .wordLeft, .wordRight, .text("a"),
      .text("\u{301}"), .text("👍"), .text("\u{200D}"), .text("🏽"), .text("🇩"), .text("你"), .paste("x y"),
      .text("\u{915}"),
      .text("\u{94D}"),
    ]
    var input = TextInput()
    for _ in 0..<500 {
      input.handle(keys[random.below(keys.count)])
      #expect((0...input.value.count).contains(input.caret))
      let seen = input.window(width: 7)
      #expect((0..<7).contains(seen.caret))
      #expect(CellWidth.of(seen.text) <= 7)
    }
  }
}

import TerminalRecording
import TerminalScreen
import Testing

/// The terminal in memory, and what `FrameWriter` draws on it.
struct EmulatedTerminalTests {
  private func shown(_ text: String, _ columns: Int = 20, _ rows: Int = 4) -> EmulatedTerminal {
    var terminal = EmulatedTerminal(size: ScreenSize(columns: columns, rows: rows))
    terminal.feed(text.utf8)
    return terminal
  }

  @Test("text, line ends, the cursor's moves and erasing")
  func basics() {
    let terminal = shown("one\r\ntwo\u{1B}[1;2HX\u{1B}[2;2H\u{1B}[K\u{1B}[3;1Hend")
    #expect(terminal.text == "oXe\nt\nend")
    #expect(terminal.cursor == .init(row: 2, column: 3))
    #expect(terminal.unknown == [])
  }

  @Test("wide characters take two cells, and half of one that is overwritten goes")
  func wide() {
    #expect(shown("你好").cursor.column == 4)
    #expect(shown("你好\u{1B}[1;2Hx").text == " x好")
    #expect(shown("👨‍👩‍👧|").cursor.column == 3)
    #expect(shown("e\u{301}|").cursor.column == 2)
  }

  @Test("at the right edge lines wrap, or with mode 7 off stay")
  func wrapping() {
    #expect(shown("abcdef", 4).text == "abcd\nef")
    #expect(shown("\u{1B}[?7labcdef", 4).text == "abcf")
    #expect(shown("1\r\n2\r\n3\r\n4\r\n5").text == "2\n3\n4\n5")
  }

  @Test("the alternate screen hides the main one, which comes back whole")
  func alternate() {
    var terminal = shown("$ chirp")
    terminal.feed(FrameWriter.enter)
    terminal.feed("\u{1B}[1;1Hform".utf8)
    #expect(terminal.isAlternate && terminal.bracketsPaste && !terminal.isSane)
    #expect(terminal.text == "form")
    terminal.feed(FrameWriter.leave)
    #expect(terminal.text == "$ chirp")
    #expect(terminal.isSane)
    #expect(terminal.unknown == [])
  }

  @Test("what it does not know it tells")
  func unknown() {
    #expect(shown("\u{1B}[5n").unknown == ["CSI 5n"])
    #expect(shown("\u{1B}[?1000h").unknown.count == 1)
  }

  @Test("bytes may be cut anywhere")
  func cut() {
    let bytes = Array("a\u{1B}[1m你\u{1B}[0m\u{1B}[2;3Hé👍".utf8)
    var whole = EmulatedTerminal(size: ScreenSize(columns: 20, rows: 4))
    whole.feed(bytes)
    var cut = EmulatedTerminal(size: ScreenSize(columns: 20, rows: 4))
    for byte in bytes { cut.feed([byte]) }
    #expect(cut.cells == whole.cells)
    #expect(cut.cursor == whole.cursor)
  }

  @Test("a difference drawn over the last frame is the frame drawn anew", arguments: 1...30 as ClosedRange<Int>)
  func differences(seed: Int) {
    var random = seed
    func below(_ bound: Int) -> Int {
      random = (random &* 1_103_515_245 &+ 12345) & 0x7FFF_FFFF
      return (random >> 8) % bound
    }
    let words = ["", "Email", "你好", "👨‍👩‍👧", "e\u{301}", "a long piece of text", "❤\u{FE0F}", "─│"]
    let size = ScreenSize(columns: 24, rows: 6)
    var writer = FrameWriter()
    var drawn = EmulatedTerminal(size: size)
    for _ in 0..<40 {
      let frame = ScreenFrame(
        lines: (0..<below(8)).map { _ in
          ScreenLine((0..<below(4)).map { _ in .init(words[below(words.count)], .init(isBold: below(2) == 0)) })
        },
        cursor: below(3) == 0 ? nil : .init(row: below(6), column: below(24)))
      drawn.feed(writer.draw(frame, size: size))
      var fresh = FrameWriter()
      var anew = EmulatedTerminal(size: size)
      anew.feed(fresh.draw(frame, size: size))
      #expect(drawn.cells == anew.cells)
      #expect(drawn.showsCursor == (frame.cursor != nil))
      if frame.cursor != nil { #expect(drawn.cursor == anew.cursor) }
      #expect(!drawn.isDrawing)
      #expect(drawn.unknown == [])
      #expect(writer.draw(frame, size: size) == [], "nothing has changed")
    }
  }

  @Test("without colors no color is written; bold is")
  func colors() {
    let frame = ScreenFrame(lines: [ScreenLine("x", TextStyle(isBold: true, color: .red))])
    var colored = FrameWriter()
    var plain = FrameWriter(usesColor: false)
    let size = ScreenSize(columns: 8, rows: 2)
    #expect(String(decoding: colored.draw(frame, size: size), as: UTF8.self).contains("\u{1B}[1;31m"))
    #expect(String(decoding: plain.draw(frame, size: size), as: UTF8.self).contains("\u{1B}[1m"))
  }

  @Test("a control character in a text never reaches the terminal")
  func controls() {
    var writer = FrameWriter()
    let bytes = writer.draw(
      ScreenFrame(lines: [ScreenLine("a\u{1B}[2Jb\u{7}\u{9B}c\r")]), size: ScreenSize(columns: 20, rows: 2))
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(!text.contains("\u{7}") && !text.contains("\u{9B}"))
    #expect(text.contains("a[2Jbc"))
  }
}

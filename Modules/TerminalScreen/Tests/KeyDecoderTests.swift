import Testing

@testable import TerminalScreen

/// Bytes to keys.
struct KeyDecoderTests {
  /// Keys with neighbouring parts of a paste joined: how a paste is cut is left open.
  private func joined(_ keys: [Key]) -> [Key] {
    keys.reduce(into: []) { result, key in
      if case .paste(let more) = key, case .paste(let text) = result.last {
        result[result.count - 1] = .paste(text + more)
      } else {
        result.append(key)
      }
    }
  }

  private func keys(_ text: String) -> [Key] {
    var decoder = KeyDecoder()
    return joined(decoder.feed(text.utf8) + decoder.pause())
  }

  @Test(
    "each sequence is one key, whichever terminal sends it",
    arguments: [
      ("a", .text("a")), ("é", .text("é")), ("你", .text("你")), ("👍", .text("👍")), ("\r", .enter), ("\n", .enter),
      ("\t", .tab), ("\u{1B}[Z", .backTab), ("\u{1B}", .escape), ("\u{7F}", .backspace), ("\u{8}", .backspace),
      ("\u{1B}[A", .up), ("\u{1B}OA", .up), ("\u{1B}[B", .down), ("\u{1B}OB", .down), ("\u{1B}[C", .right),
      ("\u{1B}[D", .left), ("\u{1B}[H", .home), ("\u{1B}OH", .home), ("\u{1B}[1~", .home), ("\u{1B}[7~", .home),
      ("\u{1B}[F", .end), ("\u{1B}[4~", .end), ("\u{1B}[3~", .delete), ("\u{1B}[1;5C", .wordRight),
      ("\u{1B}[1;3D", .wordLeft), ("\u{1B}[1;2C", .right), ("\u{1B}b", .wordLeft), ("\u{1B}f", .wordRight),
      ("\u{1B}\u{7F}", .deleteWord), ("\u{17}", .deleteWord), ("\u{15}", .deleteToStart), ("\u{B}", .deleteToEnd),
      ("\u{1}", .home), ("\u{5}", .end), ("\u{3}", .interrupt), ("\u{1A}", .suspend), ("\u{1C}", .quit),
      ("\u{C}", .redraw), ("\u{1B}[13u", .enter), ("\u{1B}[9;2u", .backTab), ("\u{1B}[27u", .escape),
      ("\u{1B}[99;5u", .interrupt), ("\u{1B}[228u", .text("ä")), ("\u{1B}[27;5;99~", .interrupt),
      ("\u{1B}[27;2;13~", .enter), ("\u{1B}OM", .enter),
    ] as [(String, Key)])
  func single(bytes: String, key: Key) {
    #expect(keys(bytes) == [key])
  }

  @Test(
    "what is not known is swallowed whole: no half of it is typed",
    arguments: [
      "\u{1B}[5~", "\u{1B}[15;2~", "\u{1B}[?62;22c", "\u{1B}[24;80R", "\u{1B}]11;rgb:0000/0000/0000\u{7}",
      "\u{1B}]11;rgb:0000/0000/0000\u{1B}\\", "\u{1B}P1+r544e\u{1B}\\", "\u{1B}[<0;10;10M", "\u{1B}OP", "\u{1B}x",
      "\u{1B}é", "\u{1B}[I", "\u{1B}[57441u", "\u{0}", "\u{7}", "\u{85}",
    ])
  func unknown(bytes: String) {
    #expect(keys(bytes + "q").filter { $0 != .tab } == [.text("q")])
  }

  @Test("a combining accent is a scalar of its own: the editor joins it to its letter")
  func combining() {
    #expect(keys("e\u{301}") == [.text("e"), .text("\u{301}")])
  }

  @Test("a paste is text, whatever is in it; what is typed behind it is typed")
  func paste() {
    #expect(keys("\u{1B}[200~a\r\nb\u{3}\u{1B}[A\u{1B}[201~\r") == [.paste("a\r\nb\u{3}\u{1B}[A"), .enter])
    #expect(keys("\u{1B}[200~\u{1B}[201~x") == [.text("x")])
  }

  @Test("Esc alone is a key once nothing follows; an arrow that comes in two parts is an arrow")
  func escapeAlone() {
    var decoder = KeyDecoder()
    #expect(decoder.feed([0x1B]) == [])
    #expect(decoder.feed(Array("[A".utf8)) == [.up])
    #expect(decoder.feed([0x1B]) == [])
    #expect(decoder.pause() == [.escape])
    #expect(decoder.feed(Array("A".utf8)) == [.text("A")])
    #expect(decoder.feed([0x1B, 0x1B]) + decoder.pause() == [.escape, .escape])
  }

  @Test("a sequence that a slow line cuts is waited for, not typed")
  func slowLine() {
    var decoder = KeyDecoder()
    #expect(decoder.feed(Array("\u{1B}[".utf8)) + decoder.pause() + decoder.feed([0x41]) == [.up])
    #expect(decoder.feed([0xC3]) + decoder.pause() + decoder.feed([0xA4]) == [.text("ä")])
  }

  @Test("a paste whose end never comes does not lock Ctrl-C out")
  func endlessPaste() {
    var decoder = KeyDecoder()
    #expect(decoder.feed(Array("\u{1B}[200~abc".utf8)) == [.paste("abc")])
    #expect(decoder.feed([0x03]) == [.paste("\u{3}")], "pasted in one go it is text")
    _ = decoder.pause()
    #expect(decoder.feed([0x03]) == [.interrupt])
    #expect(decoder.feed([0x61]) == [.text("a")])
  }

  @Test("Alt-] does not swallow what is typed after it")
  func controlStringByHand() {
    var decoder = KeyDecoder()
    #expect(decoder.feed(Array("\u{1B}]".utf8)) + decoder.pause() + decoder.feed([0x61]) == [.text("a")])
    #expect(decoder.feed(Array("\u{1B}]abc\u{3}".utf8)) == [.interrupt])
  }

  @Test(
    "bytes that are no UTF-8 are left out; what is around them is not",
    arguments: [
      ([0x61, 0xFF, 0x62], "ab"), ([0xC3, 0x61], "a"), ([0xC0, 0x80, 0x61], "a"), ([0xED, 0xA0, 0x80, 0x61], "a"),
      ([0xF5, 0x61], "a"), ([0xE2, 0x82, 0x61], "a"), ([0x80, 0x61], "a"), ([0xF0, 0x80, 0x80, 0x80, 0x61], "a"),
    ] as [([UInt8], String)])
  func malformed(bytes: [UInt8], text: String) {
    var decoder = KeyDecoder()
    #expect(decoder.feed(bytes) == text.map { .text(String($0)) })
  }

  @Test("however the bytes are cut, the keys are the same", arguments: 1...40 as ClosedRange<UInt64>)
  func cutAnywhere(seed: UInt64) {
    var random = SeededBytes(seed)
    for _ in 0..<100 {
      let bytes = random.terminalInput(parts: 12)
      var whole = KeyDecoder()
      let expected = joined(whole.feed(bytes) + whole.pause())
      var cut = KeyDecoder()
      var keys: [Key] = []
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = random.below(4) + 1
        keys += cut.feed(rest.prefix(count))
        rest = rest.dropFirst(count)
      }
      keys += cut.pause()
      #expect(joined(keys) == expected, "seed \(seed): \(bytes)")
    }
  }

  @Test(
    "no bytes make it trap, grow without bound, or give out a control as text", arguments: 1...20 as ClosedRange<UInt64>
  )
  func noise(seed: UInt64) {
    var random = SeededBytes(seed)
    var decoder = KeyDecoder()
    for _ in 0..<400 {
      let bytes = (0..<random.below(64)).map { _ in random.byte() }
      for key in decoder.feed(bytes) + (random.below(8) == 0 ? decoder.pause() : []) {
        if case .text(let text) = key {
          #expect(text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
        }
      }
    }
    #expect(decoder.waiting <= 80)
  }
}

/// Bytes from a seed (SplitMix64), some of them such as terminals send.
struct SeededBytes {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
    return z ^ z >> 31
  }

  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
  mutating func byte() -> UInt8 { UInt8(truncatingIfNeeded: next()) }

  mutating func terminalInput(parts: Int) -> [UInt8] {
    let pieces = [
      "a", "é", "👨‍👩‍👧", "\r", "\t", "\u{1B}[A", "\u{1B}OB", "\u{1B}[1;5C", "\u{1B}[200~", "\u{1B}[201~", "\u{1B}", "\u{3}",
      "\u{7F}", "\u{1B}]0;x\u{7}", "\u{1B}[13u", "\u{1B}b", "xyz", "\u{1B}[", "\u{1B}[201", "\u{1B}\u{1B}",
    ]
    return (0..<parts).flatMap { _ in
      below(6) == 0 ? [byte(), byte()] : Array(pieces[below(pieces.count)].utf8)
    }
  }
}

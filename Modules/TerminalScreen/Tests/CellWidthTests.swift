import TerminalScreen
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// Widths, against the documents' cases and against another implementation.
struct CellWidthTests {
  @Test(
    "characters take the cells that terminals give them",
    arguments: [
      ("a", 1), ("ä", 1), ("a\u{308}", 1), ("你", 2), ("ｱ", 1), ("Ａ", 2), ("각", 2), ("\u{1100}\u{1161}\u{11A8}", 2),
      ("👍", 2),
      ("👍🏽", 2), ("👨‍👩‍👧‍👦", 2), ("🇩🇪", 2), ("❤\u{FE0F}", 2), ("❤", 1), ("1\u{FE0F}\u{20E3}", 2), ("☺", 1), ("\u{301}", 0),
      ("\u{200B}", 0), ("•", 1), ("─", 1), ("⠋", 1), ("é你👍", 5), ("क", 1), ("์", 0), ("한국어", 6), ("", 0),
    ])
  func widths(text: String, cells: Int) {
    #expect(CellWidth.of(text) == cells)
  }

  #if canImport(Glibc)
    /// The C library's table is of a version of Unicode of its own, so a few hundred scalars may differ; a wrong range would be thousands.
    @Test("wherever the C library has an opinion, it is the same one but for a few scalars")
    func againstTheLibrary() throws {
      // The module leaves `wcwidth` out; the library has it.
      let symbol = try #require(dlsym(nil, "wcwidth"))
      let wcwidth = unsafeBitCast(symbol, to: (@convention(c) (wchar_t) -> Int32).self)
      let locale = try #require(newlocale(1 << LC_CTYPE, "C.UTF-8", nil))
      defer { freelocale(locale) }
      let before = uselocale(locale)
      defer { uselocale(before) }
      var compared = 0
      var different: [UInt32] = []
      for value in UInt32(0x20)...0x2FFFF {
        guard let scalar = Unicode.Scalar(value) else { continue }
        switch scalar.properties.generalCategory {
        case .unassigned, .privateUse, .control: continue
        default: break
        }
        let theirs = wcwidth(wchar_t(value))
        guard theirs >= 0 else { continue }
        compared += 1
        if CellWidth.of(scalar) != Int(theirs) { different.append(value) }
      }
      #expect(compared > 100_000)
      #expect(different.count < 300, "\(different.prefix(100).map { String($0, radix: 16) })")
    }
  #endif
}

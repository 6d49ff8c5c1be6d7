/// Turns frames into bytes for a terminal, each as the difference from the one before.
///
/// Pure: it only remembers what it has drawn. Text never reaches the terminal raw: a control character in it is left out, whatever put it there.
public struct FrameWriter: Sendable {
  /// Whether colors are written (`NO_COLOR`); bold, faint and reversed text are no colors.
  public var usesColor: Bool
  private var drawn: ScreenFrame?
  private var size = ScreenSize(columns: 0, rows: 0)

  /// A writer that has drawn nothing.
  public init(usesColor: Bool = true) {
    self.usesColor = usesColor
  }

  /// Takes the screen over: the alternate screen, pasted text bracketed, no wrapping at the right edge, wide characters as the
  /// newest terminals count them. Terminals ignore what they do not know.
  public static let enter = Array("\u{1B}[?1049h\u{1B}[?2004h\u{1B}[?7l\u{1B}[?2027h".utf8)

  /// Gives the screen back: the reverse of `enter`, plain text and a visible cursor.
  public static let leave = Array(
    "\u{1B}[?2026l\u{1B}[0m\u{1B}[?2027l\u{1B}[?7h\u{1B}[?2004l\u{1B}[?25h\u{1B}[?1049l".utf8)

  /// Forgets what was drawn: the next frame is drawn whole.
  public mutating func forget() {
    drawn = nil
  }

  /// The bytes that turn what is on the screen into a frame; none if nothing differs.
  public mutating func draw(_ frame: ScreenFrame, size: ScreenSize) -> [UInt8] {
    let isNew = drawn == nil || size != self.size
    guard isNew || frame != drawn else { return [] }
    // The terminal shows the whole change at once (mode 2026), and no cursor that runs about.
    var out = "\u{1B}[?2026h\u{1B}[?25l"
    if isNew { out += "\u{1B}[0m\u{1B}[2J" }
    let before = isNew ? [] : drawn?.lines ?? []
    // Erased first: behind a full line the cursor still stands on its last cell.
    for row in 0..<min(max(frame.lines.count, before.count), size.rows) {
      let line = row < frame.lines.count ? frame.lines[row] : ScreenLine()
      guard row >= before.count || before[row] != line else { continue }
      out += "\u{1B}[\(row + 1);1H\u{1B}[K"
      out += text(of: line, columns: size.columns)
    }
    if let cursor = frame.cursor, cursor.row < size.rows {
      out += "\u{1B}[\(cursor.row + 1);\(min(cursor.column, size.columns - 1) + 1)H\u{1B}[?25h"
    }
    out += "\u{1B}[?2026l"
    drawn = frame
    self.size = size
    return Array(out.utf8)
  }

  /// A line's text and styles, cut at the right edge.
  private func text(of line: ScreenLine, columns: Int) -> String {
    var out = ""
    var column = 0
    for span in line.spans {
      let codes = codes(of: span.style)
      if !codes.isEmpty { out += "\u{1B}[\(codes)m" }
      for character in span.text {
        let width = CellWidth.of(character)
        guard !character.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { continue }
        guard column + width <= columns else { break }
        out.append(character)
        column += width
        // Wherever this terminal thinks the cursor is now: this is where it belongs.
        if CellWidth.isContested(character) { out += "\u{1B}[\(column + 1)G" }
      }
      if !codes.isEmpty { out += "\u{1B}[0m" }
    }
    return out
  }

  private func codes(of style: TextStyle) -> String {
    var codes: [String] = []
    if style.isBold { codes.append("1") }
    if style.isDim { codes.append("2") }
    switch (style.isReversed, usesColor ? style.color : nil) {
    // White on a color is readable whatever the terminal's own colors are.
    case (true, let color?): codes += ["97", "\(40 + color.rawValue)"]
    case (true, nil): codes.append("7")
    case (false, let color?): codes.append("\(30 + color.rawValue)")
    case (false, nil): break
    }
    return codes.joined(separator: ";")
  }
}

import TerminalScreen

/// Lines from top to bottom, and which of them must be seen.
struct ScreenLayout {
  /// How wide the content is, and how far from the left edge.
  let width: Int
  let margin: Int
  private let look: ScreenLook
  private var lines: [ScreenLine] = []
  private var cursor: ScreenFrame.Place?
  private var needed = 0..<1

  init(size: ScreenSize, look: ScreenLook) {
    margin = size.columns >= 40 ? 2 : 0
    width = max(min(size.columns - 2 * margin, 56), 1)
    self.look = look
  }

  /// Adds a line of one style, its text wrapped to the width.
  mutating func text(_ text: String, _ style: TextStyle = .plain) {
    for line in Self.wrapped(Printable.line(text), width) { add([.init(line, style)]) }
  }

  /// Adds an error: red where there is color, and marked where there is none.
  mutating func error(_ text: String) {
    for (index, line) in Self.wrapped(Printable.line(text), width - 2).enumerated() {
      add([.init(index == 0 ? "! " : "  ", .init(isBold: true, color: .red)), .init(line, .init(color: .red))])
    }
  }

  mutating func blank() { add([]) }

  /// Adds pieces of a line, behind the margin.
  mutating func add(_ spans: [ScreenLine.Span]) {
    guard !spans.isEmpty else { return lines.append(ScreenLine()) }
    lines.append(ScreenLine([.init(String(repeating: " ", count: margin))] + spans))
  }

  /// A place to type in.
  mutating func field(_ input: TextInput, isSecret: Bool, isCurrent: Bool, isLocked: Bool, isBoxed: Bool) {
    let signs = look.signs
    let inside = max(width - 4, 1)
    let seen = input.window(width: inside, mask: isSecret ? signs.mask : nil)
    let border = TextStyle(isBold: isCurrent, isDim: !isCurrent)
    let rule = String(repeating: signs.horizontal, count: inside + 2)
    if isBoxed { add([.init(signs.corners[0] + rule + signs.corners[1], border)]) }
    if isCurrent { cursor = .init(row: lines.count, column: margin + 2 + seen.caret) }
    let rest = String(repeating: " ", count: max(inside - CellWidth.of(seen.text), 0))
    add([
      .init(signs.vertical + " ", border), .init(seen.text, .init(isDim: isLocked)), .init(rest + " "),
      .init(signs.vertical, border),
    ])
    if isBoxed { add([.init(signs.corners[2] + rule + signs.corners[3], border)]) }
  }

  /// A button over the whole width (D2.5).
  mutating func button(_ title: String, color: TextStyle.Color, isEnabled: Bool, isCurrent: Bool, spinner: Int?) {
    let signs = look.signs
    var caption = Printable.line(title)
    if let spinner { caption = signs.spinner[spinner % signs.spinner.count] + " " + caption }
    if isCurrent { caption = "\(signs.pointers.left) \(caption) \(signs.pointers.right)" }
    let room = max(width - 2 - CellWidth.of(caption), 0)
    let left = String(repeating: " ", count: room / 2)
    let right = String(repeating: " ", count: room - room / 2)
    let style =
      isEnabled
      ? TextStyle(isBold: true, isReversed: true, color: color) : TextStyle(isBold: isCurrent, isDim: !isCurrent)
    // Brackets tell a button also where no style can be seen.
    add([.init("[" + left + caption + right + "]", style)])
  }

  /// The lines that are added next must be seen, whatever is cut off for want of room.
  mutating func mustBeSeen(_ body: (inout ScreenLayout) -> Void) {
    let start = lines.count
    body(&self)
    needed = start..<max(lines.count, start + 1)
  }

  /// How many lines there are.
  var height: Int { lines.count }

  /// The frame: everything where it fits, else the part around what must be seen, the caret's line before all.
  func frame(rows: Int) -> ScreenFrame {
    guard lines.count > rows else { return ScreenFrame(lines: lines, cursor: cursor) }
    var start = min(max(needed.upperBound - rows, 0), needed.lowerBound)
    if let row = cursor?.row { start = min(max(start, row - rows + 1), row) }
    start = min(start, lines.count - rows)
    var seen = cursor
    seen?.row -= start
    return ScreenFrame(lines: Array(lines[start..<(start + rows)]), cursor: seen)
  }

  /// Breaks a text at spaces, and within a word that is longer than a line.
  static func wrapped(_ text: String, _ width: Int) -> [String] {
    let width = max(width, 1)
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, CellWidth.of(line) + 1 + CellWidth.of(word) <= width {
        line += " " + word
        continue
      }
      if !line.isEmpty { lines.append(line) }
      line = ""
      for character in word {
        if CellWidth.of(line) + CellWidth.of(character) > width, !line.isEmpty {
          lines.append(line)
          line = ""
        }
        line.append(character)
      }
    }
    if !line.isEmpty || lines.isEmpty { lines.append(line) }
    return lines
  }
}

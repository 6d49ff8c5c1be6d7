public import TerminalScreen

/// A small terminal in memory: takes what a program writes, and knows what a person would see.
///
/// It knows the sequences that `FrameWriter` and a shell's prompt use, and lists every other one in `unknown`: a test that finds the list
/// empty has proven that nothing of a screen rests on luck. Its cells hold grapheme clusters, as terminals with mode 2027 do.
public struct EmulatedTerminal: Sendable {
  /// One cell.
  public struct Cell: Sendable, Hashable {
    /// What stands in it; nil in the right half of a wide character.
    public var character: Character?
    /// How it is drawn.
    public var style: TextStyle

    static let empty = Cell(character: " ", style: .plain)
  }

  /// Its size.
  public private(set) var size: ScreenSize
  /// The cells, line by line.
  public private(set) var cells: [[Cell]]
  /// Where the cursor stands.
  public private(set) var cursor = ScreenFrame.Place(row: 0, column: 0)
  /// Whether the cursor is seen.
  public private(set) var showsCursor = true
  /// Whether the alternate screen is shown.
  public private(set) var isAlternate = false
  /// Whether pasted text is bracketed (mode 2004).
  public private(set) var bracketsPaste = false
  /// Whether text goes on in the next line at the right edge (mode 7).
  public private(set) var wraps = true
  /// Whether a change is being drawn that is to be shown as one (mode 2026): what stands there now is half of it.
  public private(set) var isDrawing = false
  /// What came that this terminal does not know.
  public private(set) var unknown: [String] = []
  /// How often the bell rang.
  public private(set) var bells = 0

  private var style = TextStyle.plain
  private var main: (cells: [[Cell]], cursor: ScreenFrame.Place)?
  private var pending: [UInt8] = []
  private var wrapsNext = false

  /// An empty terminal.
  public init(size: ScreenSize = ScreenSize(columns: 80, rows: 24)) {
    self.size = size
    cells = Self.emptyCells(size)
  }

  /// The lines as text, without the blanks at their ends.
  public var lines: [String] {
    cells.map { row in
      let text = String(row.compactMap(\.character))
      return String(text.reversed().drop { $0 == " " }.reversed())
    }
  }

  /// Everything that is seen, the lines joined by line ends, empty lines at the end left out.
  public var text: String {
    var lines = lines
    while lines.last == "" { lines.removeLast() }
    return lines.joined(separator: "\n")
  }

  /// Whether it stands as a program must leave it: main screen, cursor seen, pastes plain, lines wrapping, plain text.
  public var isSane: Bool { !isAlternate && showsCursor && !bracketsPaste && wraps && !isDrawing && style == .plain }

  /// Gives it another size; what does not fit is cut off.
  public mutating func resize(_ size: ScreenSize) {
    func fitted(_ cells: [[Cell]]) -> [[Cell]] {
      var rows = cells.prefix(size.rows).map { row in
        Array(row.prefix(size.columns)) + Array(repeating: .empty, count: max(size.columns - row.count, 0))
      }
      while rows.count < size.rows { rows.append(Array(repeating: .empty, count: size.columns)) }
      return rows
    }
    self.size = size
    cells = fitted(cells)
    cursor = inside(cursor)
    if let saved = main { main = (fitted(saved.cells), inside(saved.cursor)) }
    wrapsNext = false
  }

  /// Takes what a program writes; bytes may be cut anywhere.
  public mutating func feed(_ bytes: some Sequence<UInt8>) {
    pending += bytes
    var position = 0
    while position < pending.count, let next = step(at: position) { position = next }
    pending.removeFirst(position)
  }

  private mutating func step(at start: Int) -> Int? {
    let byte = pending[start]
    switch byte {
    case 0x1B: return sequence(at: start)
    case 0x0D:
      cursor.column = 0
      wrapsNext = false
    case 0x0A, 0x0B, 0x0C: newLine()
    case 0x08:
      cursor.column = max(cursor.column - 1, 0)
      wrapsNext = false
    case 0x09: cursor.column = min((cursor.column / 8 + 1) * 8, size.columns - 1)
    case 0x07: bells += 1
    case 0x00..<0x20, 0x7F: unknown.append("control \(byte)")
    default:
      let length = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
      guard start + length <= pending.count else { return nil }
      for scalar in String(decoding: pending[start..<(start + length)], as: UTF8.self).unicodeScalars { put(scalar) }
      return start + length
    }
    return start + 1
  }

  // MARK: Text

  private mutating func put(_ scalar: Unicode.Scalar) {
    if joins(scalar) { return }
    let width = CellWidth.of(scalar)
    guard width > 0 else { return }
    if wrapsNext, wraps {
      cursor.column = 0
      newLine()
    }
    if cursor.column + width > size.columns {
      guard wraps else { return }
      cursor.column = 0
      newLine()
    }
    write(Character(scalar), width: width, at: cursor)
    advance(by: width)
  }

  /// Whether the scalar belongs to the character before the cursor; then it has been added to it.
  private mutating func joins(_ scalar: Unicode.Scalar) -> Bool {
    var place = cursor
    if !wrapsNext { place.column -= 1 }
    while place.column > 0, cells[place.row][place.column].character == nil { place.column -= 1 }
    guard place.column >= 0, place.row < size.rows, let before = cells[place.row][place.column].character else {
      return false
    }
    let both = String(before) + String(Character(scalar))
    guard both.count == 1, let joined = both.first else { return false }
    let style = cells[place.row][place.column].style
    let old = max(CellWidth.of(before), 1)
    let width = max(CellWidth.of(joined), 1)
    guard place.column + width <= size.columns else { return true }
    write(joined, width: width, at: place, style: style)
    if width < old { cells[place.row][place.column + 1] = .empty }
    cursor.column = place.column
    advance(by: width)
    return true
  }

  private mutating func write(_ character: Character, width: Int, at place: ScreenFrame.Place, style: TextStyle? = nil)
  {
    let style = style ?? self.style
    clearHalves(at: place)
    cells[place.row][place.column] = Cell(character: character, style: style)
    for offset in 1..<max(width, 1) where place.column + offset < size.columns {
      clearHalves(at: .init(row: place.row, column: place.column + offset))
      cells[place.row][place.column + offset] = Cell(character: nil, style: style)
    }
  }

  /// Whatever is overwritten in one half is gone in the other.
  private mutating func clearHalves(at place: ScreenFrame.Place) {
    var left = place.column
    if cells[place.row][left].character == nil {
      while left > 0, cells[place.row][left].character == nil {
        cells[place.row][left] = .empty
        left -= 1
      }
      cells[place.row][left] = .empty
    }
    var right = place.column + 1
    while right < size.columns, cells[place.row][right].character == nil {
      cells[place.row][right] = .empty
      right += 1
    }
  }

  private mutating func advance(by width: Int) {
    cursor.column += width
    wrapsNext = cursor.column >= size.columns
    if wrapsNext { cursor.column = size.columns - 1 }
  }

  private mutating func newLine() {
    wrapsNext = false
    guard cursor.row + 1 >= size.rows else {
      cursor.row += 1
      return
    }
    cells.removeFirst()
    cells.append(Array(repeating: .empty, count: size.columns))
  }

  private func inside(_ place: ScreenFrame.Place) -> ScreenFrame.Place {
    .init(row: min(max(place.row, 0), size.rows - 1), column: min(max(place.column, 0), size.columns - 1))
  }

  private static func emptyCells(_ size: ScreenSize) -> [[Cell]] {
    Array(repeating: Array(repeating: .empty, count: size.columns), count: size.rows)
  }

  // MARK: Sequences

  private mutating func sequence(at start: Int) -> Int? {
    guard start + 1 < pending.count else { return nil }
    guard pending[start + 1] == UInt8(ascii: "[") else {
      guard pending[start + 1] == UInt8(ascii: "]") else {
        unknown.append("ESC \(pending[start + 1])")
        return start + 2
      }
      // A window's title: up to BEL or ST.
      guard
        let end = pending[start...].indices.first(where: {
          pending[$0] == 0x07 || pending[$0] == UInt8(ascii: "\\") && pending[$0 - 1] == 0x1B
        })
      else { return nil }
      return end + 1
    }
    guard let end = pending[(start + 2)...].firstIndex(where: { (0x40..<0x7F).contains($0) }) else { return nil }
    let body = String(decoding: pending[(start + 2)..<end], as: UTF8.self)
    perform(pending[end], body)
    return end + 1
  }

  private mutating func perform(_ final: UInt8, _ body: String) {
    let numbers = body.drop { $0 == "?" }.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    let first = numbers.first ?? 0
    switch (final, body.hasPrefix("?")) {
    case (UInt8(ascii: "h"), true), (UInt8(ascii: "l"), true):
      for number in numbers { set(number, final == UInt8(ascii: "h"), body) }
    case (UInt8(ascii: "H"), false):
      cursor = inside(.init(row: max(first, 1) - 1, column: max(numbers.count > 1 ? numbers[1] : 1, 1) - 1))
      wrapsNext = false
    case (UInt8(ascii: "G"), false):
      cursor = inside(.init(row: cursor.row, column: max(first, 1) - 1))
      wrapsNext = false
    case (UInt8(ascii: "C"), false): cursor = inside(.init(row: cursor.row, column: cursor.column + max(first, 1)))
    case (UInt8(ascii: "D"), false): cursor = inside(.init(row: cursor.row, column: cursor.column - max(first, 1)))
    case (UInt8(ascii: "A"), false): cursor = inside(.init(row: cursor.row - max(first, 1), column: cursor.column))
    case (UInt8(ascii: "J"), false) where first == 2: cells = Self.emptyCells(size)
    case (UInt8(ascii: "J"), false) where first == 0:
      erase(from: cursor.column)
      for row in (cursor.row + 1)..<max(size.rows, cursor.row + 1) {
        cells[row] = Array(repeating: .empty, count: size.columns)
      }
    case (UInt8(ascii: "K"), false) where first == 0: erase(from: cursor.column)
    case (UInt8(ascii: "m"), false): for number in numbers { paint(number) }
    default: unknown.append("CSI \(body)\(Character(Unicode.Scalar(final)))")
    }
  }

  private mutating func erase(from column: Int) {
    clearHalves(at: .init(row: cursor.row, column: column))
    for place in column..<size.columns { cells[cursor.row][place] = .empty }
  }

  private mutating func set(_ mode: Int, _ isOn: Bool, _ body: String) {
    switch mode {
    case 7: wraps = isOn
    case 25: showsCursor = isOn
    case 1049:
      guard isOn != isAlternate else { return }
      isAlternate = isOn
      if isOn {
        main = (cells, cursor)
        cells = Self.emptyCells(size)
      } else if let saved = main {
        (cells, cursor) = saved
        main = nil
      }
      wrapsNext = false
    case 2004: bracketsPaste = isOn
    case 2026: isDrawing = isOn
    // Grapheme clusters are all that this terminal knows; keypad modes change no picture.
    case 2027, 1: break
    default: unknown.append("CSI \(body) mode \(mode)")
    }
  }

  private mutating func paint(_ code: Int) {
    switch code {
    case 0: style = .plain
    case 1: style.isBold = true
    case 2: style.isDim = true
    case 7: style.isReversed = true
    case 31, 32, 34: style.color = TextStyle.Color(rawValue: UInt8(truncatingIfNeeded: code - 30))
    case 39: style.color = nil
    // White, on a ground of its own.
    case 97: style.isReversed = true
    case 41, 42, 44: style.color = TextStyle.Color(rawValue: UInt8(truncatingIfNeeded: code - 40))
    default: unknown.append("SGR \(code)")
    }
  }
}

import TerminalScreen

extension EmulatedTerminal {
  /// What is seen as an SVG picture: text as text, boxes as lines, light or dark as the reader's system is.
  ///
  /// - Parameter title: what a screen reader says in place of the picture.
  /// - Parameter rows: how many lines are shown; nil for all.
  public func picture(title: String, rows: Int? = nil) -> String {
    let rows = min(rows ?? size.rows, size.rows)
    let width = Double(size.columns) * Picture.cell.width + 2 * Picture.padding
    let height = Double(rows) * Picture.cell.height + 2 * Picture.padding
    var parts: [String] = []
    for row in 0..<rows {
      parts += Picture.grounds(cells[row], row)
      parts += Picture.texts(cells[row], row)
    }
    let lines = Picture.boxes(cells.prefix(rows))
    if !lines.isEmpty { parts.append("<path class=\"line\" d=\"\(lines)\"/>") }
    if showsCursor, cursor.row < rows { parts.append(Picture.cursor(at: cursor)) }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="\(Picture.escaped(title))" \
      viewBox="0 0 \(Picture.number(width)) \(Picture.number(height))" \
      width="\(Picture.number(width))" height="\(Picture.number(height))">
      <title>\(Picture.escaped(title))</title>
      <style>\(Picture.styles)</style>
      <rect class="ground" width="100%" height="100%" rx="8"/>
      \(parts.joined(separator: "\n"))
      </svg>

      """
  }
}

/// How a terminal is drawn.
private enum Picture {
  static let cell = (width: 8.4, height: 18.0)
  static let padding = 12.0
  static let styles = """
    .ground{fill:#fbfbf8;stroke:#c8c8c0}text{font:14px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1f2328;white-space:pre}\
    .line{stroke:#8c8f94;fill:none}.bold{font-weight:700}.dim{fill:#6a7078}.red{fill:#b42318}.green{fill:#1a7f37}.blue{fill:#0b57d0}\
    .on-red{fill:#b42318}.on-blue{fill:#0b57d0}.on-green{fill:#1a7f37}.on-none{fill:#1f2328}text.reversed{fill:#fff}\
    .cursor{fill:#1f2328;opacity:.55}\
    @media(prefers-color-scheme:dark){.ground{fill:#161b22;stroke:#3d444d}text{fill:#e6edf3}.dim{fill:#9198a1}\
    .red{fill:#ff7b72}.on-none{fill:#e6edf3}text.reversed{fill:#fff}.cursor{fill:#e6edf3}}
    """

  /// The grounds of reversed cells, a rectangle for each run of one color.
  static func grounds(_ cells: [EmulatedTerminal.Cell], _ row: Int) -> [String] {
    runs(cells).compactMap { run in
      guard run.style.isReversed else { return nil }
      let color = run.style.color.map { "\($0)" } ?? "none"
      return "<rect class=\"on-\(color)\" x=\"\(x(run.start))\" y=\"\(number(padding + Double(row) * cell.height))\" "
        + "width=\"\(number(Double(run.width) * cell.width))\" height=\"\(number(cell.height))\"/>"
    }
  }

  static func texts(_ cells: [EmulatedTerminal.Cell], _ row: Int) -> [String] {
    runs(cells).flatMap { run -> [String] in
      var classes: [String] = []
      if run.style.isBold { classes.append("bold") }
      if run.style.isDim { classes.append("dim") }
      if run.style.isReversed {
        classes.append("reversed")
      } else if let color = run.style.color {
        classes.append("\(color)")
      }
      let name = classes.isEmpty ? "" : " class=\"\(classes.joined(separator: " "))\""
      let y = number(padding + Double(row) * cell.height + 13)
      return run.words.map { word in
        "<text\(name) x=\"\(x(word.start))\" y=\"\(y)\" textLength=\"\(number(Double(word.width) * cell.width))\" "
          + "lengthAdjust=\"spacingAndGlyphs\">\(escaped(word.text))</text>"
      }
    }
  }

  /// The lines of boxes, from the middle of each cell to its edges.
  static func boxes(_ rows: ArraySlice<[EmulatedTerminal.Cell]>) -> String {
    var path = ""
    for (row, cells) in rows.enumerated() {
      for (column, one) in cells.enumerated() {
        guard let sides = one.character.flatMap({ sides[$0] }) else { continue }
        let left = padding + Double(column) * cell.width
        let top = padding + Double(row) * cell.height
        let middle = (left + cell.width / 2, top + cell.height / 2)
        for side in sides {
          let end =
            switch side {
            case .left: (left, middle.1)
            case .right: (left + cell.width, middle.1)
            case .up: (middle.0, top)
            case .down: (middle.0, top + cell.height)
            }
          path += "M\(number(middle.0)) \(number(middle.1))L\(number(end.0)) \(number(end.1))"
        }
      }
    }
    return path
  }

  static func cursor(at place: ScreenFrame.Place) -> String {
    "<rect class=\"cursor\" x=\"\(x(place.column))\" y=\"\(number(padding + Double(place.row) * cell.height + 1))\" "
      + "width=\"\(number(cell.width))\" height=\"\(number(cell.height - 2))\"/>"
  }

  private enum Side {
    case left, right, up, down
  }

  private static let sides: [Character: [Side]] = [
    "─": [.left, .right], "│": [.up, .down], "┌": [.right, .down], "┐": [.left, .down], "└": [.right, .up],
    "┘": [.left, .up],
  ]

  private struct Word {
    var start: Int
    var width: Int
    var text: String
  }

  private struct Run {
    var start: Int
    var width: Int
    var style: TextStyle
    var words: [Word]
  }

  /// Neighbouring cells of one style, and in them the words with the cells that they take.
  private static func runs(_ cells: [EmulatedTerminal.Cell]) -> [Run] {
    var runs: [Run] = []
    var isInWord = false
    for (column, one) in cells.enumerated() {
      if runs.last?.style != one.style {
        runs.append(Run(start: column, width: 0, style: one.style, words: []))
        isInWord = false
      }
      var run = runs.removeLast()
      run.width += 1
      if let character = one.character {
        if character == " " || sides[character] != nil {
          isInWord = false
        } else if isInWord, var word = run.words.popLast() {
          word.text.append(character)
          word.width += 1
          run.words.append(word)
        } else {
          run.words.append(Word(start: column, width: 1, text: String(character)))
          isInWord = true
        }
      } else if var word = run.words.popLast() {
        word.width += 1
        run.words.append(word)
      }
      runs.append(run)
    }
    return runs
  }

  static func escaped(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.append(character)
      }
    }
  }

  /// A number with a digit behind the point at most.
  static func number(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
  }

  private static func x(_ column: Int) -> String { number(padding + Double(column) * cell.width) }
}

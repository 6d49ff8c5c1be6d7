/// Lays out plain text for a terminal of 80 columns.
enum TextColumns {
  /// Breaks a text at spaces into lines of at most `width` characters; a longer word gets a line of its own.
  ///
  /// - Parameter indent: how far all lines but the first are moved to the right, within the width.
  static func wrap(_ text: some StringProtocol, width: Int, indent: Int = 0) -> [String] {
    var lines: [String] = []
    var line = ""
    let margin = String(repeating: " ", count: indent)
    for word in text.split(separator: " ") {
      if line.isEmpty || line == margin {
        line += word
      } else if line.count + 1 + word.count <= width {
        line += " \(word)"
      } else {
        lines.append(line)
        line = margin + word
      }
    }
    return lines + [line]
  }

  /// Lays out two columns; a label that is too wide for the first gets a line of its own.
  static func rows(_ entries: [(label: String, text: String)]) -> [String] {
    let widest = entries.map(\.label.count).filter { $0 <= 26 }.max() ?? 0
    let column = 2 + widest + 2
    let margin = String(repeating: " ", count: column)
    return entries.flatMap { label, text -> [String] in
      let lines = wrap(text, width: 80 - column)
      guard label.count <= widest else { return ["  \(label)"] + lines.map { margin + $0 } }
      let first = "  \(label)" + String(repeating: " ", count: column - 2 - label.count) + (lines.first ?? "")
      return [first] + lines.dropFirst().map { margin + $0 }
    }
  }
}

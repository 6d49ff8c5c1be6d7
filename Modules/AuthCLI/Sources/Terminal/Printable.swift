/// Text from elsewhere, made safe for a terminal: nothing in it moves the cursor, changes colors or hides itself.
enum Printable {
  /// The text on one line, with every control and invisible character written as an escape.
  static func line(_ text: some StringProtocol) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse:
        result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// The text on its lines; tabs stay, too.
  static func lines(_ text: String) -> String {
    text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { text in
      text.split(separator: "\t", omittingEmptySubsequences: false).map { line(String($0)) }.joined(separator: "\t")
    }.joined(separator: "\n")
  }

  /// What was typed, without the markers that a terminal puts around pasted text.
  static func withoutPasteMarkers(_ text: String) -> String {
    guard text.unicodeScalars.contains("\u{1B}") else { return text }
    return ["\u{1B}[200~", "\u{1B}[201~"].reduce(text) {
      $0.split(separator: $1, omittingEmptySubsequences: false).joined()
    }
  }
}

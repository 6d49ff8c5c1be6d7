/// A place in a file: line and column count from 1, columns in Unicode scalars.
package struct Mark: Sendable, Hashable {
  /// The line, from 1.
  package var line: Int
  /// The column, from 1.
  package var column: Int

  /// Makes a place.
  package init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }
}

/// What is wrong with a scenario file, and where.
package struct Diagnostic: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file's path as it was given.
  package var file: String
  /// The place in it.
  package var mark: Mark
  /// One sentence: what is wrong, and what would be right.
  package var message: String

  /// Makes a diagnostic; what it repeats of the file stays on one line and moves no cursor.
  package init(file: String, mark: Mark, message: String) {
    self.file = file
    self.mark = mark
    self.message = Self.printable(message)
  }

  private static func printable(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars.prefix(1000) {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
        result += scalar == "\n" ? "\\n" : "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// `file:line:column: message`, as compilers write it and editors understand it.
  package var description: String { "\(file):\(mark.line):\(mark.column): \(message)" }
}

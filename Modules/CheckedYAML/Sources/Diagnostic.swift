/// A place in a file: line and column count from 1, columns in Unicode scalars.
public struct Mark: Sendable, Hashable {
  /// The line, from 1.
  public var line: Int
  /// The column, from 1.
  public var column: Int

  /// Makes a place.
  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }
}

/// What is wrong with a file, and where.
public struct Diagnostic: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file's path as it was given.
  public var file: String
  /// The place in it.
  public var mark: Mark
  /// One sentence: what is wrong, and what would be right.
  public var message: String

  /// Makes a diagnostic; what it repeats of the file stays on one line and moves no cursor.
  public init(file: String, mark: Mark, message: String) {
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
  public var description: String { "\(file):\(mark.line):\(mark.column): \(message)" }
}

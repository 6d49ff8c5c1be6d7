/// A command line that cannot be understood: print `description` on standard error and end with `exitCode`.
public struct UsageError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of mistake it is.
  public enum Code: Sendable, Hashable {
    /// No such option.
    case unknownOption
    /// No such command.
    case unknownCommand
    /// A command with commands below it was named alone.
    case missingCommand
    /// An option stands without its value.
    case missingValue
    /// A flag has a value.
    case unexpectedValue
    /// A value is not what the option or argument takes.
    case badValue
    /// A required option is missing.
    case missingOption
    /// A required argument is missing.
    case missingArgument
    /// There are more arguments than the command takes.
    case unexpectedArgument
    /// A mistake that the program found itself: options that exclude each other, for example.
    case conflict
  }

  /// What kind of mistake it is.
  public let code: Code
  /// What is wrong, in one sentence without the program's name; no secret, no control characters.
  public let message: String
  /// What was most likely meant, if something was.
  public let suggestion: String?
  /// The command whose help tells more: `chirp login`.
  public let command: String

  /// The exit code of every usage error.
  public var exitCode: Int32 { 2 }

  /// What is wrong, what was meant, and where to read more: lines without a line break at the end.
  public var description: String {
    let program = command.prefix { $0 != " " }
    let hint = suggestion.map { " Did you mean \($0)?" } ?? ""
    return "\(program): \(message)\(hint)\nTry: \(command) --help"
  }

  /// Makes an error.
  public init(_ code: Code, _ message: String, suggestion: String? = nil, command: String) {
    self.code = code
    self.message = message
    self.suggestion = suggestion
    self.command = command
  }

  /// A word from the command line as an error may repeat it: short, and nothing in it moves the cursor.
  static func quoted(_ word: some StringProtocol) -> String {
    var text = ""
    for scalar in word.unicodeScalars.prefix(60) {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse:
        text += "\\u{\(String(scalar.value, radix: 16))}"
      default:
        text.unicodeScalars.append(scalar)
      }
    }
    return word.unicodeScalars.count > 60 ? "'\(text)…'" : "'\(text)'"
  }
}

import Groundwork

/// One option of a command: a flag, or a name with a value.
///
/// Options are written once in the table; parsing, help and completion read them there.
/// An option of a command also holds for every command below it, and may stand before or after their names.
public struct Option: Sendable {
  /// What the value must look like; it is checked while parsing, wherever the value comes from.
  public enum Kind: Sendable, Equatable {
    /// No value: the option is there or not.
    case flag
    /// Any text.
    case text
    /// The path of a file; like `text`, but completed by the shell.
    case file
    /// The path of a folder; like `text`, but completed by the shell.
    case folder
    /// A whole number in a range.
    case integer(ClosedRange<Int>)
    /// A duration as `Duration(text:)` reads it, at least this long.
    case duration(minimum: Duration)
    /// One of these words.
    case choice([String])
  }

  /// The long name, without the dashes.
  public var name: String
  /// The one-letter name, if it has one.
  public var short: Character?
  /// What the value must look like.
  public var kind: Kind
  /// What help calls the value, in capitals.
  public var valueName: String
  /// One sentence for help.
  public var help: String
  /// The environment variable that gives the value when the command line does not; an empty one counts as unset.
  public var environment: String?
  /// The value when neither command line nor environment gives one; help shows it.
  public var defaultValue: String?
  /// Whether every occurrence counts; otherwise a second value is refused.
  public var isRepeated: Bool
  /// Whether `--no-NAME` turns a flag off.
  public var isNegatable: Bool
  /// Whether the value is a secret: no error repeats it.
  public var isSecret: Bool
  /// Whether a command without it is refused.
  public var isRequired: Bool
  /// Whether help and completion leave it out.
  public var isHidden: Bool

  /// Makes a flag.
  public static func flag(
    _ name: String, short: Character? = nil, environment: String? = nil, negatable: Bool = false,
    hidden: Bool = false, _ help: String
  ) -> Option {
    Option(
      name: name, short: short, kind: .flag, valueName: "", help: help, environment: environment, defaultValue: nil,
      isRepeated: false, isNegatable: negatable, isSecret: false, isRequired: false, isHidden: hidden)
  }

  /// Makes an option with a value.
  public static func value(
    _ name: String, short: Character? = nil, _ valueName: String, kind: Kind = .text, environment: String? = nil,
    default defaultValue: String? = nil, repeated: Bool = false, secret: Bool = false, required: Bool = false,
    hidden: Bool = false, _ help: String
  ) -> Option {
    Option(
      name: name, short: short, kind: kind, valueName: valueName, help: help, environment: environment,
      defaultValue: defaultValue, isRepeated: repeated, isNegatable: false, isSecret: secret, isRequired: required,
      isHidden: hidden)
  }

  /// Makes an option that takes one of a few words; help shows them as its value.
  public static func choice(
    _ name: String, short: Character? = nil, _ choices: [String], environment: String? = nil,
    default defaultValue: String? = nil, repeated: Bool = false, hidden: Bool = false, _ help: String
  ) -> Option {
    Option(
      name: name, short: short, kind: .choice(choices), valueName: choices.joined(separator: "|"), help: help,
      environment: environment, defaultValue: defaultValue, isRepeated: repeated, isNegatable: false,
      isSecret: false, isRequired: false, isHidden: hidden)
  }

  /// Says what is wrong with a value, or nil if nothing is.
  func problem(with value: String) -> String? {
    switch kind {
    case .flag, .text, .file, .folder:
      return nil
    case .integer(let range):
      if let number = Int(value), range.contains(number) { return nil }
      switch (range.lowerBound, range.upperBound) {
      case (.min, .max): return "is not a whole number"
      case (let low, .max): return "is not a whole number of at least \(low)"
      case (let low, let high): return "is not a whole number from \(low) to \(high)"
      }
    case .duration(let minimum):
      guard let duration = Duration(text: value) else {
        return "is not a duration: write 250ms, 30s, 15m, 2h or 30d"
      }
      return duration < minimum ? "is too short: at least \(minimum.text)" : nil
    case .choice(let choices):
      guard !choices.contains(value) else { return nil }
      let hint = nearestName(to: value, among: choices).map { " (did you mean \($0)?)" } ?? ""
      return "is not one of \(choices.joined(separator: ", "))\(hint)"
    }
  }

  /// The option as help and errors write it: `--name`.
  var spelled: String { "--\(name)" }

  /// The option with its value, as help lists it: `-n, --limit N`.
  var label: String {
    let long = isNegatable ? "--[no-]\(name)" : "--\(name)"
    let withValue = kind == .flag ? long : "\(long) \(valueName)"
    return short.map { "-\($0), \(withValue)" } ?? "    \(withValue)"
  }

  /// What help says of the option.
  var notes: String {
    var notes = help
    if case .choice(let choices) = kind, valueName != choices.joined(separator: "|") {
      notes += " One of \(choices.joined(separator: ", "))."
    }
    if isRepeated { notes += " May be repeated." }
    if let defaultValue { notes += " [default: \(defaultValue)]" }
    if let environment { notes += " [env: \(environment)]" }
    return notes
  }
}

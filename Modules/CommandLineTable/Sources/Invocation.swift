import Groundwork

/// A command line as it was understood: which command, and with which values.
public struct Invocation: Sendable {
  /// Where a value comes from.
  public enum Source: Sendable, Hashable {
    /// Typed.
    case commandLine
    /// Read from the option's environment variable.
    case environment
    /// Standing in the table.
    case defaultValue
  }

  /// The words of the command, without the program's name: `["accounts", "switch"]`; empty where there are none.
  public let path: [String]
  /// The command with the program's name, for messages.
  public let commandName: String
  let options: [String: Option]
  let positionals: [String: Positional]
  var values: [String: (source: Source, texts: [String])] = [:]
  var flags: [String: (source: Source, isOn: Bool)] = [:]
  var arguments: [String: [String]] = [:]

  init(chain: [Command]) {
    path = chain.dropFirst().map(\.name)
    commandName = chain.map(\.name).joined(separator: " ")
    options = Dictionary(chain.flatMap(\.options).map { ($0.name, $0) }, uniquingKeysWith: { _, last in last })
    positionals = Dictionary(
      (chain.last?.positionals ?? []).map { ($0.name, $0) }, uniquingKeysWith: { _, last in last })
  }

  /// Whether a flag is on.
  public func flag(_ name: String) -> Bool {
    flags[name]?.isOn ?? false
  }

  /// Where the value of an option or flag comes from, or nil if it has none.
  public func source(of name: String) -> Source? {
    values[name]?.source ?? flags[name]?.source ?? (options[name]?.defaultValue == nil ? nil : .defaultValue)
  }

  /// The value of an option: the last one typed, else the environment's, else the default.
  public func text(_ name: String) -> String? {
    values[name]?.texts.last ?? options[name]?.defaultValue
  }

  /// All values of a repeated option in the order typed; else the environment's, else the default.
  public func texts(_ name: String) -> [String] {
    values[name]?.texts ?? options[name]?.defaultValue.map { [$0] } ?? []
  }

  /// The value of an option as a whole number, or nil if it has none.
  public func integer(_ name: String) throws(UsageError) -> Int? {
    guard let text = text(name) else { return nil }
    guard let number = Int(text) else { throw badValue(of: name, text, "is not a whole number") }
    return number
  }

  /// The value of an option as a duration, or nil if it has none.
  public func duration(_ name: String) throws(UsageError) -> Duration? {
    guard let text = text(name) else { return nil }
    guard let duration = Duration(text: text) else {
      throw badValue(of: name, text, "is not a duration: write 250ms, 30s, 15m, 2h or 30d")
    }
    return duration
  }

  /// The value of an option as a case of an enumeration, or nil if it has none.
  public func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, as type: Choice.Type = Choice.self
  ) throws(UsageError) -> Choice? where Choice.RawValue == String {
    guard let text = text(name) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      throw badValue(of: name, text, "is not one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return choice
  }

  /// The value of an argument, or nil if it was left out.
  public func argument(_ name: String) -> String? {
    arguments[name]?.first
  }

  /// All values of a repeated argument.
  public func arguments(_ name: String) -> [String] {
    arguments[name] ?? []
  }

  /// A usage error that the program found itself, about this command.
  public func usageError(_ message: String, code: UsageError.Code = .conflict) -> UsageError {
    UsageError(code, message, command: commandName)
  }

  /// The error about an option's value: it names what gave the value, and repeats the value only if it is no secret.
  func badValue(of name: String, _ value: String, _ problem: String) -> UsageError {
    let option = options[name]
    var origin = "--\(name)"
    if values[name]?.source == .environment, let variable = option?.environment {
      origin = "\(variable) (for --\(name))"
    }
    let shown = option?.isSecret == true ? "the value" : UsageError.quoted(value)
    return UsageError(.badValue, "\(origin): \(shown) \(problem).", command: commandName)
  }
}

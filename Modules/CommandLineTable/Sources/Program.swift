/// A whole program: the root of the table.
///
/// ```swift
/// let program = Program(
///   Command("greet", "Greets people.", options: [.flag("loud", short: "l", "Greet in capitals.")],
///     positionals: [Positional("NAME", "Who is greeted.")]),
///   version: "1.0")
/// switch try program.parse(Array(CommandLine.arguments.dropFirst()), environment: environment) {
/// case .run(let call): greet(call.argument("NAME"), loud: call.flag("loud"))
/// case .print(let text): print(text)
/// }
/// ```
public struct Program: Sendable {
  /// What a command line asks for.
  public enum Request: Sendable {
    /// A command is to run.
    case run(Invocation)
    /// A text goes to standard output, and the program ends with 0: help, or the version.
    case print(String)
  }

  /// An exit code, for help.
  public struct ExitCode: Sendable {
    /// The number.
    public var code: Int32
    /// What it says.
    public var meaning: String

    /// Makes an exit code.
    public init(_ code: Int32, _ meaning: String) {
      self.code = code
      self.meaning = meaning
    }
  }

  /// An environment variable that stands for no option, for help.
  public struct Variable: Sendable {
    /// Its name.
    public var name: String
    /// What it does.
    public var meaning: String

    /// Makes a variable.
    public init(_ name: String, _ meaning: String) {
      self.name = name
      self.meaning = meaning
    }
  }

  /// The version of this package's programs: what each prints for `--version`.
  package static let packageVersion = "0.1.0"

  /// The program itself; its options are the global ones.
  public var root: Command
  /// What `--version` prints after the name.
  public var version: String
  /// The exit codes, for help.
  public var exitCodes: [ExitCode]
  /// The environment variables that no option names, for help.
  public var variables: [Variable]

  /// Makes a program. `--help` (`-h`), `--version`, and `help COMMAND` need no entry in the table.
  public init(_ root: Command, version: String, exitCodes: [ExitCode] = [], variables: [Variable] = []) {
    self.root = root
    self.version = version
    self.exitCodes = exitCodes
    self.variables = variables
  }

  /// The commands from the root to the one that these words name, or nil if they name none.
  func chain(of path: some Sequence<String>) -> [Command]? {
    var chain = [root]
    for word in path {
      guard let next = chain[chain.count - 1].commands.first(where: { $0.name == word }) else { return nil }
      chain.append(next)
    }
    return chain
  }

  /// What is wrong with the table itself; a test of the program asks, and expects nothing.
  public func problems() -> [String] {
    problems(at: [root])
  }

  private func problems(at chain: [Command]) -> [String] {
    let command = chain[chain.count - 1]
    let name = chain.map(\.name).joined(separator: " ")
    var found: [String] = []
    let options = chain.flatMap(\.options)
    let longNames = options.flatMap { $0.isNegatable ? [$0.name, "no-\($0.name)"] : [$0.name] } + ["help", "version"]
    found += repeated(longNames).map { "\(name): two options are called --\($0)" }
    found += repeated(options.compactMap(\.short) + ["h"]).map { "\(name): two options are called -\($0)" }
    found += repeated(command.commands.map(\.name)).map { "\(name): two commands are called \($0)" }
    found += repeated(command.positionals.map(\.name)).map { "\(name): two arguments are called \($0)" }
    for option in command.options {
      if let value = option.defaultValue, let problem = option.problem(with: value) {
        found.append("\(name): the default of \(option.spelled) \(problem)")
      }
    }
    if !command.commands.isEmpty, !command.positionals.isEmpty {
      found.append("\(name): a command with commands below it takes no arguments")
    }
    if command.positionals.dropLast().contains(where: \.isRepeated) {
      found.append("\(name): only the last argument may be repeated")
    }
    if let first = command.positionals.firstIndex(where: { !$0.isRequired }),
      command.positionals[first...].contains(where: \.isRequired)
    {
      found.append("\(name): a required argument follows an optional one")
    }
    if let word = command.defaultCommand, !command.commands.contains(where: { $0.name == word }) {
      found.append("\(name): there is no command \(word), its default")
    }
    return found + command.commands.flatMap { problems(at: chain + [$0]) }
  }

  private func repeated<Element: Hashable>(_ elements: [Element]) -> [Element] {
    var seen: Set<Element> = []
    return elements.filter { !seen.insert($0).inserted }
  }
}

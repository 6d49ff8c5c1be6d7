import Groundwork

extension Program {
  /// Understands a command line, as getopt does.
  ///
  /// `--name value`, `--name=value`, `-n value`, `-nvalue`, bundled one-letter flags, `--` before arguments that begin
  /// with a dash; options and arguments in any order. Names are never abbreviated: a new option breaks no script.
  /// - Parameters:
  ///   - arguments: the command line without the program's own name.
  ///   - environment: the variables that options may name.
  /// - Throws: `UsageError`, exit code 2; what is misspelled comes with the nearest name.
  public func parse(_ arguments: [String], environment: [String: String] = [:]) throws(UsageError) -> Request {
    var parser = Parser(program: self, arguments: arguments, environment: environment)
    do throws(UsageError) {
      return try parser.run()
    } catch {
      // Who asks for help gets it, whatever else is wrong behind it.
      guard parser.helpIsWanted else { throw error }
      return .print(help(for: parser.chain))
    }
  }
}

/// One pass over a command line.
private struct Parser {
  let program: Program
  let environment: [String: String]
  var chain: [Command]
  var helpIsWanted = false
  private var rest: ArraySlice<String>
  private var values: [String: [String]] = [:]
  private var flags: [String: Bool] = [:]
  private var words: [String] = []
  private var optionsHaveEnded = false

  init(program: Program, arguments: [String], environment: [String: String]) {
    self.program = program
    self.environment = environment
    chain = [program.root]
    rest = arguments[...]
  }

  private var command: Command { chain[chain.count - 1] }
  private var commandName: String { chain.map(\.name).joined(separator: " ") }

  mutating func run() throws(UsageError) -> Program.Request {
    while let token = rest.popFirst() {
      if optionsHaveEnded || token == "-" || !token.hasPrefix("-") {
        if let answer = try takeWord(token) { return answer }
      } else if token == "--" {
        optionsHaveEnded = true
      } else if token == "--help" || token == "-h" {
        helpIsWanted = true
      } else if token == "--version" {
        return .print("\(program.root.name) \(program.version)")
      } else if token.hasPrefix("--") {
        try takeLong(token.dropFirst(2))
      } else {
        try takeBundle(token.dropFirst())
      }
    }
    if helpIsWanted { return .print(program.help(for: chain)) }
    while let word = command.defaultCommand, descend(to: word) {}
    guard command.commands.isEmpty else {
      throw error(
        .missingCommand,
        "Say which command: \(command.commands.filter { !$0.isHidden }.map(\.name).joined(separator: ", ")).")
    }
    let call = try finish()
    guard let builtIn = command.builtIn else { return .run(call) }
    return .print(try answer(builtIn, call))
  }

  /// The text of a command that the table answers by itself.
  private func answer(_ builtIn: BuiltIn, _ call: Invocation) throws(UsageError) -> String {
    switch builtIn {
    case .completion:
      guard let shell = call.argument("SHELL").flatMap(Shell.init(rawValue:)) else {
        throw error(.missingArgument, "SHELL is missing: \(Shell.allCases.map(\.rawValue).joined(separator: ", ")).")
      }
      return program.completion(for: shell)
    case .manual:
      let names = program.manualPages
      if call.flag("list") { return names.joined(separator: "\n") }
      let name = call.argument("PAGE") ?? program.root.name
      guard let page = program.manual(name) else {
        throw error(
          .badValue, "PAGE: there is no page \(UsageError.quoted(name)). All of them: \(program.root.name) man --list.",
          suggestion: nearestName(to: name, among: names))
      }
      return page
    }
  }

  /// Takes a word that is no option; gives an answer if the word is `help`.
  private mutating func takeWord(_ word: String) throws(UsageError) -> Program.Request? {
    guard !command.commands.isEmpty else {
      words.append(word)
      return nil
    }
    if descend(to: word) { return nil }
    if word == "help", chain.count == 1 {
      return .print(try helpPage(for: rest.filter { !$0.hasPrefix("-") }))
    }
    throw unknownCommand(word, in: command)
  }

  private func helpPage(for words: [String]) throws(UsageError) -> String {
    var chain = [program.root]
    if words == ["options"], !program.root.commands.contains(where: { $0.name == "options" }) {
      return program.optionsPage()
    }
    for word in words {
      let command = chain[chain.count - 1]
      guard let next = command.commands.first(where: { $0.name == word }) else {
        throw unknownCommand(word, in: command)
      }
      chain.append(next)
    }
    return program.help(for: chain)
  }

  private func unknownCommand(_ word: String, in command: Command) -> UsageError {
    let known = command.commands.filter { !$0.isHidden }.map(\.name)
    let nearest = nearestName(to: word, among: chain.count == 1 ? known + ["help"] : known)
    let list = nearest == nil ? " There are: \(known.joined(separator: ", "))." : ""
    return error(.unknownCommand, "There is no command \(UsageError.quoted(word)).\(list)", suggestion: nearest)
  }

  private mutating func descend(to word: String) -> Bool {
    guard let next = command.commands.first(where: { $0.name == word }) else { return false }
    chain.append(next)
    return true
  }

  private mutating func takeLong(_ text: Substring) throws(UsageError) {
    let name = String(text.prefix { $0 != "=" })
    let value = text.firstIndex(of: "=").map { String(text[text.index(after: $0)...]) }
    if let option = find({ $0.name == name }) {
      guard option.kind == .flag else {
        if let value { return try record(option, value) }
        return try record(option, try nextValue(of: option))
      }
      guard value == nil else { throw error(.unexpectedValue, "\(option.spelled) takes no value.") }
      flags[option.name] = true
    } else if name.hasPrefix("no-"), let option = find({ $0.isNegatable && $0.name == name.dropFirst(3) }) {
      guard value == nil else { throw error(.unexpectedValue, "--\(name) takes no value.") }
      flags[option.name] = false
    } else {
      throw unknownOption(name)
    }
  }

  private mutating func takeBundle(_ letters: Substring) throws(UsageError) {
    var letters = letters
    while let letter = letters.popFirst() {
      if letter == "h" {
        helpIsWanted = true
        continue
      }
      guard let option = find({ $0.short == letter }) else {
        throw error(.unknownOption, "There is no option \(UsageError.quoted("-\(letter)")).")
      }
      if option.kind == .flag {
        flags[option.name] = true
      } else if letters.isEmpty {
        return try record(option, try nextValue(of: option))
      } else {
        return try record(option, String(letters.first == "=" ? letters.dropFirst() : letters))
      }
    }
  }

  /// Finds an option in force; goes into the default command if only that one has it.
  private mutating func find(_ matches: (Option) -> Bool) -> Option? {
    for command in chain.reversed() {
      if let option = command.options.first(where: matches) { return option }
    }
    guard let word = command.defaultCommand,
      let next = command.commands.first(where: { $0.name == word }),
      let option = next.options.first(where: matches)
    else { return nil }
    chain.append(next)
    return option
  }

  private mutating func nextValue(of option: Option) throws(UsageError) -> String {
    guard let next = rest.first, next != "--", !isOption(next) else {
      let hint = rest.isEmpty ? "" : " If the value begins with dashes, write \(option.spelled)=\(option.valueName)."
      throw error(.missingValue, "\(option.spelled) needs a value: \(option.valueName).\(hint)")
    }
    rest = rest.dropFirst()
    return next
  }

  /// Whether a word is a long option in force, so that `--email --json` is a missing value and no odd address.
  private func isOption(_ word: String) -> Bool {
    guard word.hasPrefix("--") else { return false }
    let name = word.dropFirst(2).prefix { $0 != "=" }
    if name == "help" || name == "version" { return true }
    return chain.contains { command in
      command.options.contains { $0.name == name || ($0.isNegatable && "no-\($0.name)" == name) }
    }
  }

  private mutating func record(_ option: Option, _ value: String) throws(UsageError) {
    guard option.isRepeated || values[option.name] == nil else {
      throw error(.conflict, "\(option.spelled) is given twice, and takes one value.")
    }
    values[option.name, default: []].append(value)
  }

  private func unknownOption(_ name: String) -> UsageError {
    let known = chain.flatMap(\.options).filter { !$0.isHidden }
    let names = known.map(\.name) + known.filter(\.isNegatable).map { "no-\($0.name)" } + ["help", "version"]
    if let owner = owner(of: name, below: chain) {
      return error(.unknownOption, "--\(name) belongs to \(owner): write it behind that command.")
    }
    // Half a name may stand for several: --password for --password-stdin and --password-file.
    let longer = name.isEmpty ? [] : names.filter { $0.hasPrefix("\(name)-") }
    let meant = longer.isEmpty ? nearestName(to: name, among: names).map { [$0] } ?? [] : longer
    return error(
      .unknownOption, "There is no option \(UsageError.quoted("--\(name)")).",
      suggestion: meant.isEmpty ? nil : meant.map { "--\($0)" }.joined(separator: " or "))
  }

  /// The first command below the chain that has an option of that name, as one types it.
  private func owner(of name: String, below chain: [Command]) -> String? {
    for next in chain.last?.commands ?? [] where !next.isHidden {
      let longer = chain + [next]
      if next.options.contains(where: { $0.name == name }) {
        return longer.map(\.name).joined(separator: " ")
      }
      if let found = owner(of: name, below: longer) { return found }
    }
    return nil
  }

  private func error(_ code: UsageError.Code, _ message: String, suggestion: String? = nil) -> UsageError {
    UsageError(code, message, suggestion: suggestion, command: commandName)
  }

  /// Puts values, environment and arguments together and checks them against the table.
  private func finish() throws(UsageError) -> Invocation {
    var call = Invocation(chain: chain)
    for option in chain.flatMap(\.options) {
      if option.kind == .flag {
        try settle(flag: option, in: &call)
      } else {
        try settle(option, in: &call)
      }
    }
    try settleArguments(in: &call)
    return call
  }

  private func settle(flag option: Option, in call: inout Invocation) throws(UsageError) {
    if let isOn = flags[option.name] {
      call.flags[option.name] = (.commandLine, isOn)
    } else if let variable = option.environment, let text = environment[variable], !text.isEmpty {
      switch text.lowercased() {
      case "1", "true", "yes", "on": call.flags[option.name] = (.environment, true)
      case "0", "false", "no", "off": call.flags[option.name] = (.environment, false)
      default:
        throw error(.badValue, "\(variable) (for \(option.spelled)): \(UsageError.quoted(text)) is neither 1 nor 0.")
      }
    }
  }

  private func settle(_ option: Option, in call: inout Invocation) throws(UsageError) {
    if let given = values[option.name] {
      call.values[option.name] = (.commandLine, given)
    } else if let variable = option.environment, let text = environment[variable], !text.isEmpty {
      call.values[option.name] = (.environment, [text])
    } else if option.isRequired, option.defaultValue == nil {
      throw error(.missingOption, "\(option.spelled) \(option.valueName) is missing.")
    }
    for text in call.values[option.name]?.texts ?? [] {
      if let problem = option.problem(with: text) {
        throw call.badValue(of: option.name, text, problem)
      }
    }
  }

  private func settleArguments(in call: inout Invocation) throws(UsageError) {
    var words = words[...]
    for positional in command.positionals {
      let taken = positional.isRepeated ? words : words.prefix(1)
      words = words.dropFirst(taken.count)
      guard !taken.isEmpty || !positional.isRequired else {
        throw error(.missingArgument, "\(positional.name) is missing. Usage: \(program.usage(of: chain))")
      }
      let rule = Option.value(positional.name, positional.name, kind: positional.kind, "")
      for text in taken {
        if let problem = rule.problem(with: text) {
          throw error(.badValue, "\(positional.name): \(UsageError.quoted(text)) \(problem).")
        }
      }
      call.arguments[positional.name] = Array(taken)
    }
    guard let extra = words.first else { return }
    // A stray word may be a password typed behind the name: where secrets are at home, it is not repeated.
    let isDelicate = command.options.contains(where: \.isSecret) || command.hidesArguments
    let what = isDelicate ? "an argument too many" : "an argument too many: \(UsageError.quoted(extra))"
    throw error(.unexpectedArgument, "There is \(what). Usage: \(program.usage(of: chain))")
  }
}

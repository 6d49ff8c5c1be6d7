extension Program {
  /// The help page of a command: 80 columns at most. The page of a program with commands leaves out what stands elsewhere, so that a
  /// terminal of 24 rows shows it whole, with the next prompt under it, if its commands alone leave room for that.
  ///
  /// - Parameter path: the words of the command; none for the program itself. Words that name no command give the
  ///   program's page.
  public func help(for path: [String] = []) -> String {
    help(for: chain(of: path) ?? [root])
  }

  func help(for chain: [Command]) -> String {
    let full = page(for: chain, .full)
    guard chain.count == 1, !root.commands.isEmpty, !fitsScreen(full) else { return full }
    let compact = page(for: chain, .compact)
    return fitsScreen(compact) ? compact : page(for: chain, .terse)
  }

  /// How much of a page is shown.
  private enum Detail: Comparable {
    /// The commands and the examples; where the rest is told.
    case terse
    /// The options' names, too.
    case compact
    /// Everything.
    case full
  }

  /// Whether 23 rows hold a page: the last of 24 is the prompt's.
  private func fitsScreen(_ page: String) -> Bool {
    page.utf8.count { $0 == UInt8(ascii: "\n") } + 1 <= 23
  }

  /// All global options in full, the environment, and the exit codes: `PROGRAM help options`.
  func optionsPage() -> String {
    (["Options of every \(root.name) command:"] + rows(of: root.options + ownOptions) + variableRows + exitCodeRows)
      .joined(separator: "\n")
  }

  private var exitCodeRows: [String] {
    exitCodes.isEmpty ? [] : ["", "Exit codes:"] + TextColumns.rows(exitCodes.map { ("\($0.code)", $0.meaning) })
  }

  private var variableRows: [String] {
    variables.isEmpty ? [] : ["", "Environment:"] + TextColumns.rows(variables.map { ($0.name, $0.meaning) })
  }

  /// How a command is written, in one line: `chirp api [OPTIONS] METHOD PATH`.
  func usage(of chain: [Command]) -> String {
    var parts = chain.map(\.name)
    guard let command = chain.last else { return "" }
    parts += command.options.filter { $0.isRequired && !$0.isHidden }.map { "\($0.spelled) \($0.valueName)" }
    if chain.contains(where: { $0.options.contains { !$0.isRequired && !$0.isHidden } }) { parts.append("[OPTIONS]") }
    if !command.commands.isEmpty { parts.append(command.defaultCommand == nil ? "COMMAND" : "[COMMAND]") }
    return (parts + command.positionals.map(\.usage)).joined(separator: " ")
  }

  var ownOptions: [Option] {
    [.flag("help", short: "h", "Show help, also of a command."), .flag("version", "Show the version.")]
  }

  private func page(for chain: [Command], _ detail: Detail) -> String {
    guard let command = chain.last else { return "" }
    var lines = TextColumns.wrap(command.summary, width: 80)
    lines += TextColumns.wrap("Usage: \(usage(of: chain))", width: 80, indent: 7)
    if !command.discussion.isEmpty, detail == .full {
      lines +=
        [""]
        + command.discussion.split(separator: "\n", omittingEmptySubsequences: false)
        .flatMap { TextColumns.wrap($0, width: 80) }
    }
    let below = command.commands.filter { !$0.isHidden }
    if !below.isEmpty {
      lines += ["", "Commands:"]
      lines += TextColumns.rows(
        below.map { entry in
          (entry.name, entry.name == command.defaultCommand ? "\(entry.summary) (default)" : entry.summary)
        })
    }
    if !command.positionals.isEmpty {
      lines += ["", "Arguments:"] + TextColumns.rows(command.positionals.map { ($0.usage, $0.help) })
    }
    switch detail {
    case .terse: lines += ["", "Options: \(root.name) help options. More about a command: \(root.name) help COMMAND."]
    case .compact:
      let names = (root.options + ownOptions).filter { !$0.isHidden }.map(\.spelled).joined(separator: " ")
      lines += ["", "Options\(more):"]
      lines += TextColumns.wrap(names, width: 78).map { "  \($0)" }
    case .full: lines += optionRows(of: chain)
    }
    lines += exampleRows(of: command)
    if chain.count == 1, detail == .full { lines += variableRows + exitCodeRows }
    return lines.joined(separator: "\n")
  }

  private func optionRows(of chain: [Command]) -> [String] {
    guard let command = chain.last else { return [] }
    var lines: [String] = []
    if chain.count == 1 {
      lines += ["", "Options:"] + rows(of: command.options + ownOptions)
    } else {
      let own = chain.dropFirst().flatMap(\.options).filter { !$0.isHidden }
      if !own.isEmpty { lines += ["", "Options:"] + rows(of: own) }
      let global = (root.options + ownOptions).filter { !$0.isHidden }.map(\.spelled).joined(separator: " ")
      lines += ["", "Options of every command\(more):"]
      lines += TextColumns.wrap(global, width: 78).map { "  \($0)" }
    }
    return lines
  }

  /// Where the global options are told in full, if the program has any of its own.
  private var more: String {
    root.options.contains { !$0.isHidden } ? " (more: \(root.name) help options)" : ""
  }

  private func exampleRows(of command: Command) -> [String] {
    guard !command.examples.isEmpty else { return [] }
    var lines = ["", "Examples:"]
    for example in command.examples {
      let line = "  \(example.line)"
      let whole = "\(line)  # \(example.meaning)"
      if whole.count <= 80 {
        lines.append(whole)
      } else {
        lines += TextColumns.wrap(example.meaning, width: 76).map { "  # \($0)" } + [line]
      }
    }
    return lines
  }

  private func rows(of options: [Option]) -> [String] {
    TextColumns.rows(options.filter { !$0.isHidden }.map { ($0.label, $0.notes) })
  }
}

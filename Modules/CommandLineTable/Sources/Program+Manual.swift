extension Program {
  /// The names of all manual pages: the program's, and one for each command, as `PROGRAM-COMMAND`.
  public var manualPages: [String] { shownChains(below: [root]).map(Self.pageName) }

  /// A manual page in the man macros, section 1: what `man` shows, and groff and mandoc read.
  ///
  /// - Parameter page: one of `manualPages`; any other gives nil.
  public func manual(_ page: String) -> String? {
    shownChains(below: [root]).first { Self.pageName($0) == page }.map(manual)
  }

  private static func pageName(_ chain: [Command]) -> String { chain.map(\.name).joined(separator: "-") }

  /// The chain itself, and those of all commands below it that are not hidden.
  private func shownChains(below chain: [Command]) -> [[Command]] {
    let below = chain.last?.commands.filter { !$0.isHidden } ?? []
    return [chain] + below.flatMap { shownChains(below: chain + [$0]) }
  }

  private func manual(of chain: [Command]) -> String {
    guard let command = chain.last else { return "" }
    let name = Self.pageName(chain)
    let words = chain.map(\.name).joined(separator: " ")
    var page = ManualPage(name: name, source: "\(root.name) \(version)")
    page.section("NAME")
    page.text(
      "\(name) \u{2212} \(command.summary.hasSuffix(".") ? String(command.summary.dropLast()) : command.summary)")
    page.section("SYNOPSIS")
    page.synopsis(words, rest: String(usage(of: chain).dropFirst(words.count)))
    page.section("DESCRIPTION")
    page.text(command.summary)
    for paragraph in command.discussion.split(separator: "\n") { page.paragraph(String(paragraph)) }
    let below = command.commands.filter { !$0.isHidden }
    if !below.isEmpty {
      page.section("COMMANDS")
      for next in below {
        let isDefault = next.name == command.defaultCommand
        page.entry(next.name, "\(next.summary)\(isDefault ? " (default)" : "") See \(name)-\(next.name)(1).")
      }
    }
    if !command.positionals.isEmpty {
      page.section("ARGUMENTS")
      for positional in command.positionals { page.entry(positional.usage, positional.help) }
    }
    options(of: chain, on: &page)
    if chain.count == 1 { environmentAndExit(on: &page) }
    if !command.examples.isEmpty {
      page.section("EXAMPLES")
      for example in command.examples { page.example(example.line, example.meaning) }
    }
    let others = chain.count == 1 ? below.map { "\(name)-\($0.name)" } : related(to: chain)
    if !others.isEmpty {
      page.section("SEE ALSO")
      page.text(others.map { "\($0)(1)" }.joined(separator: ", "))
    }
    return page.roff
  }

  private func options(of chain: [Command], on page: inout ManualPage) {
    let own = (chain.count == 1 ? root.options + ownOptions : chain.dropFirst().flatMap(\.options))
      .filter { !$0.isHidden }
    if !own.isEmpty {
      page.section("OPTIONS")
      for option in own { page.entry(option.label.drop { $0 == " " }, option.notes) }
    }
    guard chain.count > 1 else { return }
    let shared = (root.options + ownOptions).filter { !$0.isHidden }.map(\.spelled)
    page.section("OPTIONS OF EVERY COMMAND")
    page.text("\(shared.joined(separator: ", ")): see \(root.name)(1), as for the environment and the exit status.")
  }

  private func environmentAndExit(on page: inout ManualPage) {
    let named = root.options.filter { !$0.isHidden }.compactMap { option in
      option.environment.map { ($0, "Stands for \(option.spelled).") }
    }
    let rows = named + variables.map { ($0.name, $0.meaning) }
    if !rows.isEmpty {
      page.section("ENVIRONMENT")
      for (name, meaning) in rows { page.entry(name, meaning) }
    }
    if !exitCodes.isEmpty {
      page.section("EXIT STATUS")
      for exit in exitCodes { page.entry("\(exit.code)", exit.meaning) }
    }
  }

  /// The pages of the commands above, and of those right below.
  private func related(to chain: [Command]) -> [String] {
    let above = (1..<chain.count).map { Self.pageName(Array(chain.prefix($0))) }
    return above + (chain.last?.commands.filter { !$0.isHidden }.map { Self.pageName(chain + [$0]) } ?? [])
  }
}

/// A manual page while it is written: nothing that a table says is taken for a request or an escape.
private struct ManualPage {
  private(set) var roff = ""

  init(name: String, source: String) {
    roff = ".TH \"\(Self.literal(name.uppercased()))\" \"1\" \"\" \"\(Self.literal(source))\" \"User Commands\"\n"
  }

  mutating func section(_ title: String) { roff += ".SH \(title)\n" }

  mutating func text(_ words: String) { roff += Self.line(Self.prose(words)) }

  mutating func paragraph(_ words: String) {
    roff += ".PP\n"
    text(words)
  }

  mutating func synopsis(_ command: String, rest: String) {
    roff += Self.line("\\fB\(Self.literal(command))\\fR\(Self.literal(rest))")
  }

  mutating func entry(_ label: some StringProtocol, _ words: String) {
    roff += ".TP\n" + Self.line("\\fB\(Self.literal(String(label)))\\fR")
    text(words)
  }

  mutating func example(_ line: String, _ meaning: String) {
    roff += ".TP\n" + Self.line("\(Self.prose(meaning)):")
    roff += ".nf\n" + Self.line("\\fB\(Self.literal(line))\\fR") + ".fi\n"
  }

  /// A line that cannot be taken for a request.
  private static func line(_ text: String) -> String {
    (text.hasPrefix(".") ? "\\&" : "") + text + "\n"
  }

  /// What one types: each character stands for itself, and may be copied.
  private static func literal(_ words: String) -> String {
    words.unicodeScalars.map { $0 == "-" ? "\\-" : escaped($0) }.joined()
  }

  /// A sentence: a dash within a word is a hyphen, at its beginning it is an option's.
  private static func prose(_ words: String) -> String {
    var result = ""
    var former: Unicode.Scalar = " "
    for scalar in words.unicodeScalars {
      let joins = scalar == "-" && former.properties.isAlphabetic
      result += scalar == "-" && !joins ? "\\-" : escaped(scalar)
      former = scalar
    }
    return result
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\\": "\\(rs"
    case "'": "\\(aq"
    case "\"": "\\(dq"
    case "`": "\\(ga"
    case "^": "\\(ha"
    case "~": "\\(ti"
    case "\u{2212}": "\\-"
    case "\n": " "
    default:
      if scalar.isASCII {
        String(Character(scalar))
      } else {
        "\\[u\(String(repeating: "0", count: max(0, 4 - hex(scalar).count)))\(hex(scalar))]"
      }
    }
  }

  private static func hex(_ scalar: Unicode.Scalar) -> String { String(scalar.value, radix: 16, uppercase: true) }
}

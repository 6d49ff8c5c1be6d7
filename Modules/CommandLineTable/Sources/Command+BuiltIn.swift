/// A command that needs nothing but the table: parsing answers it with a text.
enum BuiltIn: Sendable, Hashable {
  case completion
  case manual
}

extension Command {
  /// `PROGRAM completion SHELL`, for a program's table; parsing answers it.
  ///
  /// - Parameter program: the program's name.
  public static func completion(for program: String) -> Command {
    var command = Command(
      "completion", "Print a completion script for your shell.",
      discussion: """
        The script knows every command, option and fixed value; it never runs \(program). It holds for one version: \
        print it again after an update, or let your shell read it at each start.
        """,
      positionals: [Positional("SHELL", kind: .choice(Shell.allCases.map(\.rawValue)), "bash, zsh or fish.")],
      examples: [
        .init("source <(\(program) completion bash)", "for this shell; ~/.bashrc makes it stay"),
        .init("\(program) completion zsh > _\(program)", "in a folder of fpath, before compinit"),
        .init("\(program) completion fish > \(program).fish", "in ~/.config/fish/completions"),
      ])
    command.builtIn = .completion
    return command
  }

  /// `PROGRAM man [PAGE]`, for a program's table; parsing answers it. Hidden, since it is for whoever packages the program.
  ///
  /// - Parameter program: the program's name.
  public static func manual(for program: String) -> Command {
    var command = Command(
      "man", "Print a manual page, as man reads it.",
      discussion: "Made from the table that --help is made from. make install puts all pages where man finds them.",
      options: [.flag("list", "Print the names of all pages, a line each.")],
      positionals: [Positional("PAGE", required: false, "The page's name, such as \(program).")],
      examples: [.init("\(program) man > \(program).1", "then: man ./\(program).1")], hidden: true)
    command.builtIn = .manual
    return command
  }
}

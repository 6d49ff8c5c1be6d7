/// One command of the table: its options, its arguments, and the commands below it.
public struct Command: Sendable {
  /// A command line that help shows, with what it does.
  public struct Example: Sendable {
    /// What one types.
    public var line: String
    /// What it does, in a few words.
    public var meaning: String

    /// Makes an example.
    public init(_ line: String, _ meaning: String) {
      self.line = line
      self.meaning = meaning
    }
  }

  /// The word on the command line.
  public var name: String
  /// What it does, in one line.
  public var summary: String
  /// More about it, for its own help page.
  public var discussion: String
  /// Its options; they hold for the commands below it too.
  public var options: [Option]
  /// Its arguments in order. A command with commands below it has none.
  public var positionals: [Positional]
  /// The commands below it.
  public var commands: [Command]
  /// The command below it that runs when none is named.
  public var defaultCommand: String?
  /// Command lines that help shows.
  public var examples: [Example]
  /// Whether help and completion leave it out.
  public var isHidden: Bool
  /// Whether an argument too many may be a secret (`login NAME PASSWORD`), so that the error does not repeat it.
  public var hidesArguments: Bool
  /// What the table answers by itself, before the program is asked.
  var builtIn: BuiltIn?

  /// Makes a command.
  public init(
    _ name: String, _ summary: String, discussion: String = "", options: [Option] = [],
    positionals: [Positional] = [], commands: [Command] = [], defaultCommand: String? = nil,
    examples: [Example] = [], hidden: Bool = false, hidesArguments: Bool = false
  ) {
    self.name = name
    self.summary = summary
    self.discussion = discussion
    self.options = options
    self.positionals = positionals
    self.commands = commands
    self.defaultCommand = defaultCommand
    self.examples = examples
    isHidden = hidden
    self.hidesArguments = hidesArguments
  }
}

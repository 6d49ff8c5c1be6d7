@testable import CommandLineTable

/// A program with everything a table can say.
let sample = Program(
  Command(
    "tool", "Keeps things.",
    options: [
      .value("server", "URL", environment: "TOOL_SERVER", "Where the server is."),
      .flag("json", "Answer in JSON."),
      .flag("color", environment: "TOOL_COLOR", negatable: true, "Use colour."),
      .flag("verbose", short: "v", "Say more."),
      .value("api-key", "KEY", kind: .integer(1...9), environment: "TOOL_KEY", secret: true, "A secret number."),
    ],
    commands: [
      Command(
        "login", "Signs in.", options: [.value("email", short: "e", "EMAIL", "The address.")], hidesArguments: true,
      ),
      Command(
        "api", "Calls the server.",
        options: [
          .value("header", short: "H", "K:V", repeated: true, "A header field."),
          .value("limit", short: "n", "N", kind: .integer(0...100), default: "20", "How many."),
          .value("wait", "DURATION", kind: .duration(minimum: .milliseconds(1)), default: "5s", "How long."),
          .choice("order", ["newest", "oldest"], "Which comes first."),
        ],
        positionals: [
          Positional("METHOD", kind: .choice(["GET", "POST"]), "The method."), Positional("PATH", "The path."),
        ],
        examples: [.init("tool api GET /me", "who am I?")]),
      Command(
        "accounts", "Lists or switches accounts.",
        commands: [
          Command("list", "Lists them.", options: [.flag("long", short: "l", "With details.")]),
          Command("switch", "Switches.", positionals: [Positional("NAME", "The account.")]),
        ], defaultCommand: "list"),
      Command("store", "Looks after the store.", commands: [Command("info", "Shows it.")]),
      Command(
        "run", "Runs files.",
        options: [.value("seed", "N", kind: .integer(.min ... .max), required: true, "The seed.")],
        positionals: [Positional("FILE", required: false, repeated: true, "The files.")]),
      Command("secret-door", "Opens.", hidden: true),
    ]),
  version: "1.2.3", exitCodes: [.init(0, "all is well"), .init(2, "the command line is wrong")])

enum Order: String, CaseIterable {
  case newest
  case oldest
}

/// Parses a line that must be a call.
func call(_ line: String..., environment: [String: String] = [:]) throws -> Invocation {
  guard case .run(let call) = try sample.parse(line, environment: environment) else { throw NotACall() }
  return call
}

struct NotACall: Error {}

/// Parses a line that must ask for a text.
func printed(_ line: String...) throws -> String {
  guard case .print(let text) = try sample.parse(line) else { throw NotAText() }
  return text
}

struct NotAText: Error {}

/// Parses a line that must be refused.
func refusal(_ line: String..., environment: [String: String] = [:]) throws -> UsageError {
  try refusal(line, environment: environment)
}

func refusal(_ line: [String], environment: [String: String] = [:]) throws -> UsageError {
  do throws(UsageError) {
    _ = try sample.parse(line, environment: environment)
  } catch {
    return error
  }
  throw NotRefused()
}

struct NotRefused: Error {}

import Testing

@testable import CommandLineTable

@Suite("Help")
struct HelpTests {
  @Test("--help, -h and help show the same page, also when something else is wrong on the line")
  func waysToHelp() throws {
    let page = sample.help(for: ["api"])
    #expect(page.contains("Usage: tool api [OPTIONS] METHOD PATH"))
    #expect(try printed("api", "--help") == page)
    #expect(try printed("-h", "api") == page)
    #expect(try printed("api", "GET", "-vh") == page)
    #expect(try printed("help", "api") == page)
    #expect(try printed("api", "--help", "--nonsense") == page)
    #expect(try printed("help") == sample.help())
    #expect(try printed("help", "accounts", "switch") == sample.help(for: ["accounts", "switch"]))
    #expect(try printed("accounts", "--help") == sample.help(for: ["accounts"]))
  }

  @Test("--version names program and version")
  func version() throws {
    #expect(try printed("--version") == "tool 1.2.3")
    #expect(try printed("login", "--version") == "tool 1.2.3")
  }

  @Test("a page tells defaults, environment, repetition and choices")
  func notes() {
    let page = sample.help(for: ["api"])
    #expect(page.contains("[default: 20]"))
    #expect(page.contains("May be repeated."))
    #expect(page.contains("--order newest|oldest"))
    #expect(page.contains("tool api GET /me  # who am I?"))
    #expect(page.contains("--server"))
    #expect(sample.help().contains("[env: TOOL_SERVER]"))
    #expect(sample.help().contains("--[no-]color"))
    #expect(sample.help().contains("2  the command line is wrong"))
    #expect(sample.help(for: ["accounts"]).contains("Lists them. (default)"))
    #expect(!sample.help().contains("secret-door"))
  }

  @Test("every page fits 80 columns")
  func width() {
    var pages = [sample.help(), sample.optionsPage()]
    pages += ["login", "api", "accounts", "store", "run"].map { sample.help(for: [$0]) }
    pages.append(crowded.help())
    pages.append(crowded.optionsPage())
    for line in pages.joined(separator: "\n").split(separator: "\n") {
      #expect(line.count <= 80, "\(line)")
    }
  }

  @Test(
    "a program with many commands and options shows them on 24 rows with the prompt, and the options in full on a page of their own"
  )
  func height() throws {
    let rows = crowded.help().split(separator: "\n", omittingEmptySubsequences: false).count
    #expect(rows <= 23, "the last row is the prompt's")
    for number in 1...12 {
      #expect(crowded.help().contains("command\(number)"))
      #expect(crowded.help().contains("--option-\(number)"))
    }
    #expect(!crowded.help().contains("What option 3 does"))
    guard case .print(let page) = try crowded.parse(["help", "options"]) else { throw NotAText() }
    #expect(page.contains("What option 3 does"))
    #expect(page.contains("CROWDED_MOOD  How it feels."))
  }

  @Test("a program with even more commands shows those, and names the page where its options stand")
  func terse() {
    var full = crowded
    full.root.commands.append(Command("command13", "Does thing number 13."))
    full.root.discussion = "It has been so for long.\nAnd will be."
    full.root.examples = [.init("crowded command1", "the first"), .init("crowded command2", "the second")]
    let page = full.help()
    #expect(page.split(separator: "\n", omittingEmptySubsequences: false).count <= 23)
    for number in 1...13 { #expect(page.contains("command\(number) ")) }
    #expect(page.contains("Options: crowded help options."))
    #expect(page.contains("  crowded command2  # the second"))
    #expect(!page.contains("--option-1") && !page.contains("so for long"))
  }

  @Test("a program without options of its own sends nobody to a page that has none")
  func noGlobalOptions() {
    let plain = Program(Command("plain", "", commands: [Command("go", "Goes.")]), version: "1")
    #expect(!plain.help(for: ["go"]).contains("help options"))
    #expect(crowded.help(for: ["command1"]).contains("help options"))
  }

  @Test("a sound table has no problems")
  func soundTable() {
    #expect(sample.problems() == [])
    #expect(crowded.problems() == [])
  }

  @Test("a faulty table says what is wrong")
  func faultyTable() {
    let program = Program(
      Command(
        "bad", "Bad.", options: [.flag("x", negatable: true, ""), .flag("no-x", ""), .flag("help", "")],
        positionals: [Positional("A", required: false, repeated: true, ""), Positional("A", "")],
        commands: [
          Command("c", "", options: [.flag("x", short: "h", ""), .choice("d", ["a"], default: "b", "")]),
          Command("c", ""),
        ], defaultCommand: "e"), version: "1")
    let problems = program.problems().joined(separator: "\n")
    for part in [
      "two options are called --no-x", "two options are called --help", "bad c: two options are called --x",
      "bad c: two options are called -h", "two commands are called c", "two arguments are called A",
      "the default of --d is not one of a", "takes no arguments", "only the last", "follows an optional one",
      "there is no command e",
    ] {
      #expect(problems.contains(part), "\(part)")
    }
  }

  private let crowded = Program(
    Command(
      "crowded", "Has much to offer.",
      options: (1...12).map {
        .value("option-\($0)", "VALUE", "What option \($0) does, at some length, for all to see.")
      },
      commands: (1...12).map { Command("command\($0)", "Does thing number \($0).") }),
    version: "1", exitCodes: [.init(0, "fine")], variables: [.init("CROWDED_MOOD", "How it feels.")])
}

import CommandLineTable
import Testing

@Suite("Manual pages")
struct ManualTests {
  /// A table that tries to be taken for requests and escapes.
  private let hostile = Program(
    Command(
      "tool", ".SH It's a \"tool\": \\fBnot bold\\fR, `so` ^ ~ …",
      discussion: ".so /etc/passwd\n'ds x y\nThe well-known -x is --long; a \\ stays.",
      options: [.flag("long", short: "x", ".br of it")],
      commands: [
        Command(
          "go", "Goes.", positionals: [Positional("NAME", "'Tis a name.")],
          examples: [.init("tool go 'a\\nb' -x --long \"~/it's\" # `x`", "as it is")]),
        Command("secret-door", "Opens.", hidden: true),
      ]),
    version: "1.0-β", exitCodes: [.init(0, "fine")], variables: [.init("TOOL_MOOD", "How it feels.")])

  @Test("there is a page for the program, and for each command that is shown")
  func pages() {
    #expect(hostile.manualPages == ["tool", "tool-go"])
    #expect(sample.manualPages.contains("tool-accounts-switch"))
    #expect(hostile.manual("tool-secret-door") == nil)
    #expect(hostile.manual("nothing") == nil)
  }

  @Test("a page has the sections that man pages have, and all that help tells")
  func sections() throws {
    let page = try #require(sample.manual("tool-api"))
    for part in [
      ".SH NAME\ntool-api \\- Calls the server\n", ".SH SYNOPSIS", ".SH OPTIONS", ".SH ARGUMENTS", ".SH EXAMPLES",
      "[default: 20]", "May be repeated.", "\\-H, \\-\\-header K:V", "tool api GET /me", "tool(1)",
    ] {
      #expect(page.contains(part), "\(part)")
    }
    let root = try #require(sample.manual("tool"))
    for part in [".SH COMMANDS", "See tool-login(1).", ".SH ENVIRONMENT", "TOOL_SERVER", ".SH EXIT STATUS"] {
      #expect(root.contains(part), "\(part)")
    }
    #expect(!root.contains("secret-door"))
  }

  @Test(
    "nothing in a table is taken for a request or an escape: groff shows what was written, and warns of nothing",
    .enabled(if: ShellProbe.has("groff")))
  func escapes() throws {
    for page in hostile.manualPages {
      let source = try #require(hostile.manual(page))
      let (text, status) = try #require(
        try ShellProbe.output(of: "env GROFF_NO_SGR=1 groff -man -ww -Tutf8 -P-c -P-b -P-u", source))
      #expect(status == 0)
      let words = text.split { " \n".contains($0) }.joined(separator: " ")
      let expected =
        page == "tool"
        ? [
          "tool - .SH It's a \"tool\": \\fBnot bold\\fR, `so` ^ ~ …", ".so /etc/passwd", "'ds x y",
          "The well-known -x is --long; a \\ stays.", "-x, --long", ".br of it", "1.0-β",
        ] : ["tool go 'a\\nb' -x --long \"~/it's\" # `x`", "'Tis a name."]
      for part in expected { #expect(words.contains(part), "\(part) in \(text)") }
      #expect(!text.contains("warning") && !text.contains("error"))
    }
  }

  @Test("a command of the table prints the pages; a page that is not there is refused with the nearest name")
  func command() throws {
    var program = sample
    program.root.commands.append(.manual(for: "tool"))
    func text(_ words: String...) throws -> String {
      guard case .print(let text) = try program.parse(words) else { throw NotAText() }
      return text
    }
    #expect(try text("man") == program.manual("tool"))
    #expect(try text("man", "tool-login") == program.manual("tool-login"))
    #expect(try text("man", "--list").split(separator: "\n").map(String.init) == program.manualPages)
    #expect(!program.help().contains("man "), "it is hidden")
    do throws(UsageError) {
      _ = try program.parse(["man", "tool-logni"])
      Issue.record("an unknown page was printed")
    } catch {
      #expect(error.suggestion == "tool-login")
    }
  }
}

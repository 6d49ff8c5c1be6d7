import CommandLineTable
import Testing

@Suite("Understanding a command line")
struct ParsingTests {
  @Test("a value stands behind a space, behind =, or behind its letter")
  func values() throws {
    #expect(try call("api", "GET", "/", "--limit", "5").integer("limit") == 5)
    #expect(try call("api", "GET", "/", "--limit=5").integer("limit") == 5)
    #expect(try call("api", "GET", "/", "-n", "5").integer("limit") == 5)
    #expect(try call("api", "GET", "/", "-n5").integer("limit") == 5)
    #expect(try call("api", "GET", "/", "-n=5").integer("limit") == 5)
    #expect(try call("login", "--email=").text("email") == "")
    #expect(try call("login", "--email=a=b").text("email") == "a=b")
  }

  @Test("one-letter flags may be bundled, also with a value at their end")
  func bundles() throws {
    let line = try call("api", "-vn7", "GET", "/")
    #expect(line.flag("verbose"))
    #expect(try line.integer("limit") == 7)
    let two = try call("accounts", "list", "-lv")
    #expect(two.flag("long") && two.flag("verbose"))
  }

  @Test("global options stand before or behind the command, and arguments between options")
  func placesOfOptions() throws {
    for line in [
      ["--json", "api", "GET", "/me"], ["api", "--json", "GET", "/me"], ["api", "GET", "/me", "--json"],
      ["api", "GET", "--json", "/me"],
    ] {
      guard case .run(let call) = try sample.parse(line) else { throw NotACall() }
      #expect(call.flag("json"))
      #expect(call.path == ["api"])
      #expect(call.argument("METHOD") == "GET" && call.argument("PATH") == "/me")
    }
  }

  @Test("behind -- nothing is an option; a lone - is an argument")
  func endOfOptions() throws {
    let line = try call("run", "--seed", "1", "-", "--", "--json", "-v", "--")
    #expect(line.arguments("FILE") == ["-", "--json", "-v", "--"])
    #expect(!line.flag("json") && !line.flag("verbose"))
  }

  @Test("a value may begin with one dash, but a known option is no value")
  func valuesWithDashes() throws {
    #expect(try call("run", "--seed", "-5").integer("seed") == -5)
    #expect(try call("login", "--email", "--odd").text("email") == "--odd")
    #expect(try call("login", "--email=--json").text("email") == "--json")
    #expect(try refusal("login", "--email", "--json").code == .missingValue)
    #expect(try refusal("login", "--email", "--no-color").code == .missingValue)
    #expect(try refusal("login", "--email", "--server=x").code == .missingValue)
    #expect(try refusal("login", "--email", "--").code == .missingValue)
    #expect(try refusal("login", "-e").code == .missingValue)
    #expect(try refusal("login", "--email").code == .missingValue)
  }

  @Test("a repeated option keeps every value in order")
  func repetition() throws {
    let line = try call("api", "-Ha:1", "--header", "b:2", "GET", "/", "-n1")
    #expect(line.texts("header") == ["a:1", "b:2"])
    #expect(line.texts("limit") == ["1"])
    #expect(try call("api", "GET", "/").texts("header") == [])
  }

  @Test("--no-NAME turns a negatable flag off, and the last word counts")
  func negation() throws {
    #expect(try call("login", "--color").flag("color"))
    #expect(try !call("login", "--color", "--no-color").flag("color"))
    #expect(try call("login", "--no-color", "--color").flag("color"))
    #expect(try refusal("login", "--no-json").code == .unknownOption)
    #expect(try refusal("login", "--no-color=1").code == .unexpectedValue)
    #expect(try refusal("login", "--json=1").code == .unexpectedValue)
  }

  @Test("the command line beats the environment, which beats the default; empty is unset")
  func sources() throws {
    let environment = ["TOOL_SERVER": "http://e", "TOOL_COLOR": "0"]
    let typed = try call("--server", "http://c", "login", "--color", environment: environment)
    #expect(typed.text("server") == "http://c" && typed.source(of: "server") == .commandLine)
    #expect(typed.flag("color") && typed.source(of: "color") == .commandLine)
    let inherited = try call("login", environment: environment)
    #expect(inherited.text("server") == "http://e" && inherited.source(of: "server") == .environment)
    #expect(!inherited.flag("color") && inherited.source(of: "color") == .environment)
    let none = try call("login", environment: ["TOOL_SERVER": "", "TOOL_COLOR": ""])
    #expect(none.text("server") == nil && none.source(of: "server") == nil && none.source(of: "color") == nil)
    let limit = try call("api", "GET", "/")
    #expect(try limit.integer("limit") == 20)
    #expect(limit.source(of: "limit") == .defaultValue)
    #expect(try call("login", environment: ["TOOL_COLOR": "Yes"]).flag("color"))
    #expect(try refusal("login", environment: ["TOOL_COLOR": "maybe"]).message.contains("TOOL_COLOR"))
  }

  @Test("typed values come typed")
  func typedValues() throws {
    let line = try call("api", "GET", "/", "--wait", "250ms", "--order", "oldest")
    #expect(try line.duration("wait") == .milliseconds(250))
    #expect(try line.choice("order", as: Order.self) == .oldest)
    #expect(try call("api", "GET", "/").choice("order", as: Order.self) == nil)
    #expect(try call("api", "GET", "/").duration("wait") == .seconds(5))
  }

  @Test("asking for a value as what it is not is an error and no trap")
  func wronglyAsked() throws {
    let line = try call("login", "--email", "x", "--server", "y")
    #expect(throws: UsageError.self) { try line.integer("email") }
    #expect(throws: UsageError.self) { try line.duration("server") }
    #expect(throws: UsageError.self) { try line.choice("email", as: Order.self) }
    #expect(line.text("nothing of that name") == nil)
    #expect(line.argument("NOTHING") == nil)
  }

  @Test("a command without a word below it runs its default, whose options need no word either")
  func defaultCommands() throws {
    #expect(try call("accounts").path == ["accounts", "list"])
    #expect(try call("accounts", "-l").flag("long"))
    #expect(try call("accounts", "--long").path == ["accounts", "list"])
    #expect(try call("accounts", "switch", "anna").argument("NAME") == "anna")
    #expect(try refusal("store").code == .missingCommand)
    #expect(try refusal("store").message.contains("info"))
    #expect(try refusal().code == .missingCommand)
  }

  @Test("a repeated argument may be empty when it is optional")
  func repeatedArguments() throws {
    #expect(try call("run", "--seed=1").arguments("FILE") == [])
    #expect(try call("run", "a", "--seed=1", "b").arguments("FILE") == ["a", "b"])
  }

  @Test("hidden commands work")
  func hiddenCommands() throws {
    #expect(try call("secret-door").path == ["secret-door"])
  }
}

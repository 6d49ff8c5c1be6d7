import CommandLineTable
import Testing

@Suite("Refusing a command line")
struct RefusalTests {
  @Test("what is misspelled comes with the nearest name and exit code 2")
  func nearestNames() throws {
    let option = try refusal("login", "--josn")
    #expect(option.code == .unknownOption && option.suggestion == "--json" && option.exitCode == 2)
    #expect(option.description == "tool: There is no option '--josn'. Did you mean --json?\nTry: tool login --help")
    let command = try refusal("lgoin")
    #expect(command.code == .unknownCommand && command.suggestion == "login")
    #expect(try refusal("accounts", "swich", "x").suggestion == "switch")
    #expect(try refusal("help", "acounts").suggestion == "accounts")
    #expect(try refusal("login", "--no-colour").suggestion == "--no-color")
    let choice = try refusal("api", "GET", "/", "--order", "newset")
    #expect(choice.code == .badValue && choice.message.contains("did you mean newest?"))
  }

  @Test("what is like nothing gets the list instead")
  func nothingNear() throws {
    let error = try refusal("xyzzy-plugh")
    #expect(error.suggestion == nil)
    #expect(error.message.contains("There are: login, api, accounts, store, run."))
    #expect(!error.message.contains("secret-door"))
    #expect(try refusal("secret-dor").suggestion == nil)
  }

  @Test("a second value for an option that takes one is refused, whichever way it is written; a flag may stand twice")
  func twice() throws {
    for line in [["--limit", "1", "--limit", "1"], ["-n1", "-n2"], ["-n1", "--limit=2"]] {
      let error = try refusal(["api", "GET", "/"] + line)
      #expect(error.code == .conflict && error.message == "--limit is given twice, and takes one value.")
    }
    #expect(try call("api", "GET", "/", "-vv").flag("verbose"))
    #expect(try call("api", "GET", "/", "--server", "a", environment: ["TOOL_SERVER": "b"]).text("server") == "a")
  }

  @Test("half a name suggests every option that it begins")
  func halfNames() throws {
    let program = Program(
      Command(
        "tool", "", options: [.flag("password-stdin", ""), .value("password-file", "FILE", ""), .flag("pass", "")]),
      version: "1")
    #expect(throws: UsageError.self) { try program.parse(["--password", "hunter2"]) }
    do throws(UsageError) {
      _ = try program.parse(["--password", "hunter2"])
    } catch {
      #expect(error.suggestion == "--password-stdin or --password-file")
      #expect(!error.description.contains("hunter2"))
    }
  }

  @Test("an option of another command says whose it is")
  func foreignOptions() throws {
    #expect(try refusal("--limit", "5", "api", "GET", "/").message.contains("belongs to tool api"))
    #expect(try refusal("-n", "5").code == .unknownOption)
  }

  @Test("values out of range, of the wrong kind or not among the choices are refused wherever they come from")
  func badValues() throws {
    for limit in ["101", "-1", "x", "", "5.0", "99999999999999999999", "+", "0x10"] {
      #expect(try refusal("api", "GET", "/", "--limit=\(limit)").code == .badValue, "\(limit)")
    }
    for wait in ["0s", "5 s", "-1s", "forever", "1e9"] {
      #expect(try refusal("api", "GET", "/", "--wait=\(wait)").code == .badValue, "\(wait)")
    }
    #expect(try refusal("api", "PUT", "/").message.contains("METHOD: 'PUT' is not one of GET, POST"))
    let fromEnvironment = try refusal("login", environment: ["TOOL_KEY": "77"])
    #expect(fromEnvironment.message.contains("TOOL_KEY (for --api-key)"))
  }

  @Test("missing and surplus arguments and options show how the command is written")
  func arguments() throws {
    let missing = try refusal("api", "GET")
    #expect(missing.code == .missingArgument)
    #expect(missing.message == "PATH is missing. Usage: tool api [OPTIONS] METHOD PATH")
    let surplus = try refusal("accounts", "switch", "a", "b")
    #expect(surplus.code == .unexpectedArgument && surplus.message.contains("'b'"))
    let option = try refusal("run")
    #expect(option.code == .missingOption && option.message == "--seed N is missing.")
  }

  @Test(
    "no error repeats a secret",
    arguments: [
      ["login", "--api-key", "hunter2"], ["login", "--api-key=hunter2"], ["login", "--api-kye=hunter2"],
      ["login", "--password=hunter2"], ["login", "anna", "hunter2"], ["login", "hunter2"], ["login", "-phunter2"],
      ["login", "--json=hunter2"],
    ])
  func secrets(line: [String]) {
    #expect(throws: UsageError.self) { try sample.parse(line) }
    do throws(UsageError) {
      _ = try sample.parse(line)
    } catch {
      #expect(!error.description.contains("hunter2"))
      #expect(!error.description.contains("unter2"))
    }
  }

  @Test("a secret from the environment is not repeated either")
  func secretFromEnvironment() throws {
    #expect(try !refusal("login", environment: ["TOOL_KEY": "hunter2"]).description.contains("hunter2"))
  }

  @Test("an error moves no cursor and stays short")
  func hostileWords() throws {
    let escape = try refusal("\u{1B}[2Jx\u{202E}")
    #expect(!escape.description.contains("\u{1B}") && !escape.description.contains("\u{202E}"))
    #expect(escape.message.contains("\\u{1b}"))
    let long = try refusal(String(repeating: "a", count: 100_000))
    #expect(long.description.count < 300)
    #expect(try refusal("--\(String(repeating: "b", count: 100_000))").description.count < 300)
  }

  @Test(
    "odd lines are refused or taken, never a trap",
    arguments: [
      [""], ["--="], ["--=x"], ["-="], ["--no-"], ["---"], ["-é"], ["login", "-e", ""], ["help", "help"],
      ["--", "login"],
      ["--", "--"], ["login", "--", "--help"], ["-🙂"], ["--🙂=🙂"], ["help", "--json"], ["-vvvvv", "login"],
    ])
  func oddLines(line: [String]) {
    do throws(UsageError) {
      _ = try sample.parse(line)
    } catch {
      #expect(error.exitCode == 2)
      #expect(!error.message.isEmpty)
    }
  }
}

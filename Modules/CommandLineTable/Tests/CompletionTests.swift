import CommandLineTable
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite("Shell completion")
struct CompletionTests {
  /// What a shell prints for a script on its standard input, or nil where there is no such shell.
  private func output(of shell: String, _ script: String) throws -> (text: String, status: Int32)? {
    let program = shell.prefix { $0 != " " }
    guard ["/bin", "/usr/bin", "/usr/local/bin"].contains(where: { access("\($0)/\(program)", X_OK) == 0 }) else {
      return nil
    }
    var path = Array("/tmp/completion-XXXXXX".utf8CString)
    let descriptor = mkstemp(&path)
    let file = String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { unlink(file) }
    let bytes = Array(script.utf8)
    #expect(write(descriptor, bytes, bytes.count) == bytes.count)
    close(descriptor)
    let pipe = try #require(popen("\(shell) \(file) 2>&1", "r"))
    var text = ""
    var buffer = [CChar](repeating: 0, count: 4096)
    while fgets(&buffer, Int32(buffer.count), pipe) != nil {
      text += String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    return (text, pclose(pipe))
  }

  /// What bash offers behind a line; its last word is the one that is completed. Bash gives `=` a word of its own.
  private func offers(_ words: String...) throws -> Set<String> {
    let line = (["tool"] + words).map { "'\($0)'" }.joined(separator: " ")
    let script =
      sample.completion(for: .bash) + "\nCOMP_WORDS=(\(line)); COMP_CWORD=\(words.count); _tool\n"
      + "printf '%s\\n' \"${COMPREPLY[@]}\"\n"
    let (text, _) = try #require(try output(of: "bash", script))
    return Set(text.split(separator: "\n").map(String.init))
  }

  @Test("commands are offered where one may stand, and only there")
  func commands() throws {
    #expect(try offers("") == ["login", "api", "accounts", "store", "run", "help"])
    #expect(try offers("l") == ["login"])
    #expect(try offers("--json", "") == ["login", "api", "accounts", "store", "run", "help"])
    #expect(try offers("--server", "login", "a") == ["api", "accounts"])
    #expect(try offers("accounts", "") == ["list", "switch"])
    #expect(try offers("login", "") == [])
  }

  @Test("options of the command and of those above it are offered")
  func options() throws {
    #expect(try offers("api", "--li") == ["--limit"])
    #expect(try offers("api", "--js") == ["--json"])
    #expect(try offers("login", "--li") == [])
    #expect(try offers("--no") == ["--no-color"])
    #expect(try offers("accounts", "--lo") == ["--long"])
    #expect(try offers("--he") == ["--help"])
    #expect(try offers("accounts", "switch", "--", "--js") == [])
  }

  @Test("values are offered where there are a few, behind a space or =, and nothing else is")
  func values() throws {
    #expect(try offers("api", "--order", "") == ["newest", "oldest"])
    #expect(try offers("api", "--order", "n") == ["newest"])
    #expect(try offers("api", "--order", "=") == ["newest", "oldest"])
    #expect(try offers("api", "--order", "=", "o") == ["oldest"])
    #expect(try offers("api", "--order", "=", "oldest", "") == ["GET", "POST"])
    #expect(try offers("api", "--limit", "") == [])
    #expect(try offers("api", "-n", "") == [])
  }

  @Test("arguments are offered by their place")
  func arguments() throws {
    #expect(try offers("api", "") == ["GET", "POST"])
    #expect(try offers("api", "--json", "P") == ["POST"])
    #expect(try offers("api", "GET", "P") == [])
  }

  @Test("hidden commands are offered nowhere, and no script runs the program", arguments: Shell.allCases)
  func hidden(shell: Shell) {
    let script = sample.completion(for: shell)
    #expect(!script.contains("secret-door"))
    for command in ["login", "accounts", "switch"] { #expect(script.contains(command)) }
    #expect(!script.contains("$(tool") && !script.contains("(tool "))
  }

  @Test("a quote in a help text ends nothing")
  func quotes() throws {
    let program = Program(
      Command(
        "tool", "It's.", commands: [Command("it", "What's $HOME: `here`?", options: [.flag("x", "Don't \"do\".")])]),
      version: "1")
    for (shell, check) in [(Shell.bash, "bash -n"), (.zsh, "zsh -n"), (.fish, "fish -n")] {
      for script in [program.completion(for: shell), sample.completion(for: shell)] {
        // Where the shell is not installed, only the other tests speak for it.
        guard let (complaint, status) = try output(of: check, script) else { continue }
        #expect(complaint.isEmpty && status == 0)
      }
    }
  }
}

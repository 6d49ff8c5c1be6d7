import CommandLineTable
import Testing

@Suite("Shell completion")
struct CompletionTests {
  /// What bash offers behind a line; its last word is the one that is completed. Bash gives `=` a word of its own.
  private func offers(_ words: String...) throws -> Set<String> {
    let line = (["tool"] + words).map { "'\($0)'" }.joined(separator: " ")
    let script =
      sample.completion(for: .bash) + "\nCOMP_WORDS=(\(line)); COMP_CWORD=\(words.count); _tool\n"
      + "printf '%s\\n' \"${COMPREPLY[@]}\"\n"
    let (text, _) = try #require(try ShellProbe.output(of: "bash", script))
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
        guard let (complaint, status) = try ShellProbe.output(of: check, script) else { continue }
        #expect(complaint.isEmpty && status == 0)
      }
    }
  }

  // MARK: In the shells themselves

  @Test("fish completes as bash does", .enabled(if: ShellProbe.has("fish")))
  func fish() throws {
    func offers(_ line: String) throws -> Set<String> {
      let script = sample.completion(for: .fish) + "\ncomplete -C '\(line)'\n"
      let (text, status) = try #require(try ShellProbe.output(of: "fish --no-config", script))
      #expect(status == 0)
      return Set(text.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) })
    }
    #expect(try offers("tool ") == ["login", "api", "accounts", "store", "run", "help"])
    #expect(try offers("tool --server login a") == ["api", "accounts"])
    #expect(try offers("tool accounts ") == ["list", "switch"])
    #expect(try offers("tool api --order n") == ["newest"])
    #expect(try offers("tool api G") == ["GET"])
    #expect(try offers("tool api GET P") == [])
    #expect(try offers("tool accounts --lo") == ["--long"])
    #expect(try offers("tool login --li") == [])
  }

  @Test(
    "zsh, asked on a terminal of its own, completes as bash does", .enabled(if: ShellProbe.has("zsh")),
    arguments: [
      ("tool acc", "tool accounts "), ("tool accounts sw", "tool accounts switch "),
      ("tool --server login acc", "tool --server login accounts "), ("tool api --ord", "tool api --order "),
      ("tool api --order ne", "tool api --order newest "), ("tool api --order=ol", "tool api --order=oldest "),
      ("tool api PO", "tool api POST "), ("tool accounts --lo", "tool accounts --long "),
    ])
  func zsh(typed: String, completed: String) throws {
    // What is waited for is never in what is typed: the tab has to make it. The end of the wait is the test's own failure.
    let script = """
      zmodload zsh/zpty
      script=$(mktemp)
      cat >$script <<'END-OF-COMPLETION'
      \(sample.completion(for: .zsh))
      END-OF-COMPLETION
      zpty z 'TERM=dumb zsh -f -i'
      zpty -w z "unset zle_bracketed_paste; PS1='> '; autoload -Uz compinit; compinit -u -D; source $script; echo REA''DY"
      zpty -r -m z answer '*READY*' || exit 1
      zpty -w -n z $'\(typed)\\t'
      zpty -r -m z answer '*\(completed)*' && echo COMPLETED
      rm -f $script
      zpty -d z
      """
    let (text, _) = try #require(try ShellProbe.output(of: "timeout 60 zsh -f", script))
    #expect(text.contains("COMPLETED"), "\(text)")
  }

  @Test("a command of the table prints the script, and any other word is refused")
  func command() throws {
    var program = sample
    program.root.commands += [.completion(for: "tool"), .manual(for: "tool")]
    #expect(program.problems() == [])
    for shell in Shell.allCases {
      guard case .print(let script) = try program.parse(["completion", shell.rawValue]) else { throw NotAText() }
      #expect(script == program.completion(for: shell))
      #expect(script.contains("completion"))
    }
    #expect(throws: UsageError.self) { try program.parse(["completion", "tcsh"]) }
    #expect(throws: UsageError.self) { try program.parse(["completion"]) }
    #expect(throws: UsageError.self) { try program.parse(["completion", "bash", "zsh"]) }
  }
}

import AuthCLI
import CommandLineTable
import Groundwork
import MockServerCore
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  /// Every example of every command's help, as it stands there, typed into bash against a real server.
  @Suite(.timeLimit(.minutes(5)))
  struct ExampleTests {
    /// A command's words, and one of its examples.
    struct Entry: Sendable, CustomTestStringConvertible {
      var path: [String]
      var line: String

      var testDescription: String { line }
    }

    /// What a person answers to the examples that ask.
    private static let answers = [
      "chirp login --server http://127.0.0.1:8080 --email anna@example.com": ["assword": "password123"],
      "chirp login --email anna@example.com": ["assword": "password123"],
      "chirp store migrate --to passphrase": ["New passphrase": "correct horse", "again": "correct horse"],
    ]

    static let all = entries(of: ChirpProgram.table.root, path: [])

    private static func entries(of command: Command, path: [String]) -> [Entry] {
      command.examples.map { Entry(path: path, line: $0.line) }
        + command.commands.flatMap { entries(of: $0, path: path + [$0.name]) }
    }

    private static func leaves(of command: Command, path: [String]) -> [(path: [String], command: Command)] {
      guard !command.commands.isEmpty else { return [(path, command)] }
      return command.commands.flatMap { leaves(of: $0, path: path + [$0.name]) }
    }

    @Test("every command has an example, and shows it in its help")
    func complete() {
      for (path, command) in Self.leaves(of: ChirpProgram.table.root, path: []) {
        #expect(!command.examples.isEmpty, "\(path)")
        let page = ChirpProgram.table.help(for: path)
        for example in command.examples { #expect(page.contains(example.line), "\(path): \(example.line)") }
      }
    }

    @Test("an example does what it says, as it is printed", arguments: all)
    func example(entry: Entry) async throws {
      try await ProcessWorld.run { world in
        try await world.login()
        try prepare(in: world)
        if entry.path.first == "accounts" {
          let work = try await world.chirp(
            "login", "--email", "anna@example.com", "--account", "work", "--password-stdin", input: "password123\n")
          #expect(work.code == 0)
        }
        if entry.line.contains("--from ") {
          let old = try await world.chirp(
            "login", "--email", "anna@example.com", "--account", "old", "--password-stdin", "--state-dir",
            "\(world.home)/old-state", input: "password123\n")
          #expect(old.code == 0)
        }
        let line = entry.line.replacing("http://127.0.0.1:8080", with: world.url)
        let answers = Self.answers[entry.line] ?? [:]
        // The path of the built program is the shell's own name, and its folder is searched first.
        let process = try ChirpProcess(
          [], environment: world.environment.merging(["PATH": "/usr/local/bin:/usr/bin:/bin"]) { $1 },
          onTerminal: !answers.isEmpty,
          under: ["/bin/bash", "-c", "cd \"$HOME\" || exit 99; PATH=${0%/*}:$PATH; \(line)"])
        guard !answers.isEmpty else {
          let outcome = try await process.finish()
          #expect(outcome.code == 0, "\(line): \(outcome.error)")
          return
        }
        for prompt in answers.keys.sorted(by: { $0 < $1 }) {
          try await process.waitFor(prompt)
          await process.type("\(answers[prompt] ?? "")\n")
        }
        let outcome = await process.finishOnTerminal()
        #expect(outcome.code == 0, "\(line): \(outcome.output)")
      }
    }

    /// The files that examples name.
    private func prepare(in world: ProcessWorld) throws {
      for (name, text) in [
        ("password.txt", "password123\n"), ("pw.txt", "password456\n"), ("passphrase.txt", "correct horse\n"),
        ("post.json", #"{"text":"Hello"}"#),
      ] {
        let path = "\(world.home)/\(name)"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
      }
    }
  }
#endif

import Groundwork
import TerminalRecording
import TerminalScreen
import Testing

#if canImport(Glibc)
  import Glibc

  /// A real program on a real terminal.
  @Suite(.enabled(if: PseudoTerminal.obstacle == nil, "no terminal on this machine"), .timeLimit(.minutes(2)))
  struct PseudoTerminalTests {
    @Test("what is typed is read, what is drawn is seen, and the end is told")
    func roundTrip() async throws {
      let terminal = try PseudoTerminal(
        ["/bin/sh", "-c", "read line; echo \"<$line>\"; stty size; exit 7"], environment: ["PATH": "/usr/bin:/bin"],
        size: ScreenSize(columns: 50, rows: 9))
      await terminal.type("hello\n")
      try await terminal.wait(forText: "<hello>")
      try await terminal.wait(forText: "9 50")
      #expect(await terminal.exitCode() == 7)
    }

    @Test("a wait for what never comes ends when the program ends, and shows what is seen")
    func neverSeen() async throws {
      let terminal = try PseudoTerminal(["/bin/echo", "something"], environment: [:])
      await #expect(throws: PseudoTerminal.Failure.self) { try await terminal.wait(forText: "else") }
      #expect(await terminal.exitCode() == 0)
    }

    @Test("a program that is killed is told apart from one that exits")
    func killed() async throws {
      let terminal = try PseudoTerminal(["/bin/cat"], environment: [:])
      terminal.send(SIGKILL)
      #expect(await terminal.exitCode() == 1000 + SIGKILL)
    }
  }
#endif

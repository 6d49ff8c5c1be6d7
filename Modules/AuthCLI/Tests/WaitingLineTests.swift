import AuthCLI
import AuthTestSupport
import Groundwork
import MockServerCore
import Testing

/// The line that tells of a long wait.
@Suite struct WaitingLineTests {
  /// Something that takes as long as a test wants.
  private final class Work: Sendable {
    private let state = Guarded<(isDone: Bool, waiter: CheckedContinuation<Void, Never>?)>((false, nil))

    func run() async {
      await withCheckedContinuation { continuation in
        let isDone = state.withLock { state in
          state.waiter = continuation
          return state.isDone
        }
        if isDone { continuation.resume() }
      }
    }

    func finish() {
      let waiter = state.withLock { state in
        state.isDone = true
        return state.waiter
      }
      waiter?.resume()
    }
  }

  @Test("it comes after half a second, counts from the second on, and is gone with the answer")
  func life() async throws {
    let (clock, console, work) = (ManualClock(), ScriptedConsole(errorIsTerminal: true), Work())
    let line = WaitingLine("localhost", console: console, time: clock, tasks: TaskStarter())
    async let done: Void = line.during { await work.run() }
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .milliseconds(499))
    #expect(console.error == "")
    var expected = ""
    for (step, text) in [
      (Duration.milliseconds(1), "Waiting for localhost…"), (.milliseconds(500), "Waiting for localhost…"),
      (.seconds(1), "Waiting for localhost…, 2 s; Ctrl-C gives up"),
      (.seconds(1), "Waiting for localhost…, 3 s; Ctrl-C gives up"),
    ] {
      clock.advance(by: step)
      // It sleeps again once it has written.
      await clock.sleepers(atLeast: 1)
      expected += "\r\u{1B}[K\(text)"
      #expect(console.error == expected)
    }
    work.finish()
    try await done
    #expect(console.error == expected + "\r\u{1B}[K")
  }

  @Test("a quick answer shows nothing; several at once share one line")
  func quick() async throws {
    let (clock, console) = (ManualClock(), ScriptedConsole(errorIsTerminal: true))
    let line = WaitingLine("localhost", console: console, time: clock, tasks: TaskStarter())
    try await line.during {}
    #expect(console.error == "")
    let works = [Work(), Work()]
    async let first: Void = line.during { await works[0].run() }
    async let second: Void = line.during { await works[1].run() }
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .milliseconds(500))
    await clock.sleepers(atLeast: 1)
    let shown = console.error
    #expect(shown == "\r\u{1B}[KWaiting for localhost…")
    works[0].finish()
    works[1].finish()
    _ = try await (first, second)
    #expect(console.error == shown + "\r\u{1B}[K")
  }

  @Test("a host cannot move the cursor by its name")
  func hostile() async throws {
    let (clock, console, work) = (ManualClock(), ScriptedConsole(errorIsTerminal: true), Work())
    let line = WaitingLine(
      "a\u{1B}[2J" + String(repeating: "x", count: 500), console: console, time: clock, tasks: TaskStarter())
    async let done: Void = line.during { await work.run() }
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .milliseconds(500))
    await clock.sleepers(atLeast: 1)
    #expect(!console.error.contains("\u{1B}[2J") && console.error.count < 80)
    work.finish()
    try await done
  }

  @Test(
    "commands have one on a terminal, and none where nothing may move, something else is written, or nobody looks",
    arguments: [
      (true, [:], [], true), (false, [:], [], false), (true, ["TERM": "dumb"], [], false),
      (true, ["CHIRP_ACCESSIBLE": "1"], [], false), (true, [:], ["--json"], false),
      (true, [:], ["--accessible"], false),
      (true, [:], ["--verbose"], false),
    ] as [(Bool, [String: String], [String], Bool)])
  func commands(isTerminal: Bool, environment: [String: String], options: [String], isShown: Bool) async throws {
    let world = CommandLineWorld()
    await world.login()
    world.realm.script(.me, MockAction(hold: "answer"))
    let console = ScriptedConsole(errorIsTerminal: isTerminal)
    async let outcome = world.run(["whoami"] + options, console: console, environment: environment)
    // Whatever waits on this clock, the time-out of the request is far.
    for _ in 0..<5 {
      await world.clock.sleepers(atLeast: isShown ? 2 : 1)
      world.clock.advance(by: .milliseconds(500))
    }
    world.realm.release(hold: "answer")
    let done = await outcome
    #expect(done.code == 0)
    #expect(done.error.contains("Waiting for localhost…") == isShown)
    #expect(!isShown || done.error.hasSuffix("\r\u{1B}[K"))
  }
}

import AuthCLI
import Groundwork
import TerminalRecording
import TerminalScreen

/// A terminal in memory for the screens: a test types on it, and waits for what is seen.
final class ScriptedScreen: ScreenPort {
  private struct State: Sendable {
    var terminal: EmulatedTerminal
    var inbox: [ScreenInput] = []
    var reader: CheckedContinuation<ScreenInput, Never>?
    var waits: [Wait] = []
    var raised: [ScreenSignal] = []
    var opened = 0
    var closed = 0
    var drawings = 0
  }

  private struct Wait: Sendable {
    var condition: @Sendable (EmulatedTerminal) -> Bool
    var continuation: CheckedContinuation<EmulatedTerminal, Never>
  }

  private let state: Guarded<State>
  let isAvailable: Bool

  init(size: ScreenSize = ScreenSize(columns: 80, rows: 24), isAvailable: Bool = true) {
    state = Guarded(State(terminal: EmulatedTerminal(size: size)))
    self.isAvailable = isAvailable
  }

  /// Asked for once a drawing.
  var size: ScreenSize {
    state.withLock { state in
      state.drawings += 1
      return state.terminal.size
    }
  }
  var terminal: EmulatedTerminal { state.withLock { $0.terminal } }
  var raised: [ScreenSignal] { state.withLock { $0.raised } }
  var opened: Int { state.withLock { $0.opened } }
  var closed: Int { state.withLock { $0.closed } }
  var drawings: Int { state.withLock { $0.drawings } }

  func open() async throws(ConsoleError) {
    state.withLock { $0.opened += 1 }
    await write(FrameWriter.enter)
  }

  func read() async -> ScreenInput {
    await withCheckedContinuation { continuation in
      let next = state.withLock { state -> ScreenInput? in
        guard state.inbox.isEmpty else { return state.inbox.removeFirst() }
        state.reader = continuation
        return nil
      }
      if let next { continuation.resume(returning: next) }
    }
  }

  func write(_ bytes: [UInt8]) async {
    let ready = state.withLock { state in
      state.terminal.feed(bytes)
      let terminal = state.terminal
      let ready = state.waits.filter { !terminal.isDrawing && $0.condition(terminal) }
      state.waits.removeAll { !terminal.isDrawing && $0.condition(terminal) }
      return ready.map { ($0.continuation, terminal) }
    }
    for (continuation, terminal) in ready { continuation.resume(returning: terminal) }
  }

  func wake() { send(.woken) }

  func raise(_ signal: ScreenSignal) {
    state.withLock { $0.raised.append(signal) }
  }

  func close() {
    state.withLock { state in
      state.closed += 1
      state.terminal.feed(FrameWriter.leave)
    }
  }

  // MARK: The test's side

  func send(_ input: ScreenInput) {
    let reader = state.withLock { state in
      guard let reader = state.reader else {
        state.inbox.append(input)
        return nil as CheckedContinuation<ScreenInput, Never>?
      }
      state.reader = nil
      return reader
    }
    reader?.resume(returning: input)
  }

  func type(_ text: String) {
    send(.bytes(Array(text.utf8)))
    send(.pause)
  }

  @discardableResult
  func wait(_ condition: @escaping @Sendable (EmulatedTerminal) -> Bool) async -> EmulatedTerminal {
    await withCheckedContinuation { continuation in
      let terminal = state.withLock { state -> EmulatedTerminal? in
        if !state.terminal.isDrawing, condition(state.terminal) { return state.terminal }
        state.waits.append(Wait(condition: condition, continuation: continuation))
        return nil
      }
      if let terminal { continuation.resume(returning: terminal) }
    }
  }

  @discardableResult
  func wait(forText text: String) async -> EmulatedTerminal { await wait { $0.text.contains(text) } }
}

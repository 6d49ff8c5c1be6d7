import AuthCLI
import Groundwork

/// Streams that a test reads, and a terminal that a test types on.
final class ScriptedConsole: Console {
  struct Question: Sendable, Hashable {
    var prompt: String
    var isHidden: Bool
  }

  private struct State {
    var output: [UInt8] = []
    var error = ""
    var answers: [String]
    var questions: [Question] = []
  }

  private let state: Guarded<State>
  let inputIsTerminal: Bool
  let outputIsTerminal = false
  let errorIsTerminal: Bool
  private let input: String
  private let isClosed: Bool

  /// - Parameter typed: what a person types, a line each; after the last one, Ctrl-D. Nil for no terminal.
  init(typed: [String]? = nil, input: String = "", errorIsTerminal: Bool = false, isClosed: Bool = false) {
    state = Guarded(State(answers: typed ?? []))
    inputIsTerminal = typed != nil
    self.input = input
    self.errorIsTerminal = errorIsTerminal
    self.isClosed = isClosed
  }

  var output: String { state.withLock { String(decoding: $0.output, as: UTF8.self) } }
  var error: String { state.withLock { $0.error } }
  var questions: [Question] { state.withLock { $0.questions } }

  func write(_ bytes: [UInt8]) async throws(ConsoleError) {
    if isClosed { throw .brokenPipe }
    state.withLock { $0.output += bytes }
  }

  func writeError(_ text: String) {
    state.withLock { $0.error += text }
  }

  func ask(_ prompt: String, hidden: Bool) async throws(ConsoleError) -> String? {
    state.withLock { state in
      state.questions.append(Question(prompt: prompt, isHidden: hidden))
      return state.answers.isEmpty ? nil : state.answers.removeFirst()
    }
  }

  func readInput(limit: Int) async throws(ConsoleError) -> [UInt8] {
    guard input.utf8.count <= limit else { throw .tooLarge(limit) }
    return Array(input.utf8)
  }
}

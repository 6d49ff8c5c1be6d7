package import AuthModels
import AuthNetworking
package import Groundwork

/// One line on a terminal while an answer takes long: what is waited for, and since when.
///
/// It comes after half a second, and goes away without a trace. It never stands while something else is written: the commands that ask
/// questions, and those that trace, have none.
package final class WaitingLine: Sendable {
  private struct State {
    var waits = 0
    var isShown = false
    var ticker: Task<Void, Never>?
  }

  private static let patience = Duration.milliseconds(500)
  private let state = Guarded(State())
  private let console: any Console
  private let time: any TimeSource
  private let tasks: TaskStarter
  private let host: String

  /// Makes a line that is not shown yet.
  package init(_ host: String, console: any Console, time: any TimeSource, tasks: TaskStarter) {
    self.host = host
    self.console = console
    self.time = time
    self.tasks = tasks
  }

  /// Waits with the line for what `body` does.
  package func during<Success>(_ body: () async throws(TransportError) -> Success) async throws(TransportError)
    -> Success
  {
    begin()
    defer { end() }
    return try await body()
  }

  private func begin() {
    state.withLock { state in
      state.waits += 1
      guard state.waits == 1 else { return }
      state.ticker = tasks.start { [self] in await tick() }
    }
  }

  private func end() {
    state.withLock { state in
      state.waits -= 1
      guard state.waits == 0 else { return }
      state.ticker?.cancel()
      state.ticker = nil
      if state.isShown { console.writeError("\r\u{1B}[K") }
      state.isShown = false
    }
  }

  private func tick() async {
    var seconds = 0
    var pause = Self.patience
    while true {
      do {
        try await time.sleep(for: pause)
      } catch {
        return
      }
      let goesOn = state.withLock { state in
        // Under the lock: nothing is shown once the answer is there.
        guard state.waits > 0, !Task.isCancelled else { return false }
        state.isShown = true
        console.writeError("\r\u{1B}[K\(text(after: seconds))")
        return true
      }
      guard goesOn else { return }
      pause = seconds == 0 ? .seconds(1) - Self.patience : .seconds(1)
      seconds += 1
    }
  }

  private func text(after seconds: Int) -> String {
    let since = seconds < 2 ? "" : ", \(seconds) s; Ctrl-C gives up"
    return "Waiting for \(Printable.line(host.prefix(40)))…\(since)"
  }
}

/// A transport whose requests are waited for with a line.
struct WaitingTransport: HTTPTransport {
  let transport: any HTTPTransport
  let line: WaitingLine

  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    try await line.during { () async throws(TransportError) in try await transport.send(request) }
  }
}

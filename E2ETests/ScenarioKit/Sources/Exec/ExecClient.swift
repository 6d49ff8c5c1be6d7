internal import Groundwork

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A client in any language that speaks the driver protocol: one JSON object a line, answers in any order.
final class ExecClient: Sendable {
  /// What a client says of itself.
  struct Hello: Sendable {
    var name: String
    var version: String
    var verbs: Set<String>
    /// The dialects that it speaks, the one it likes best first.
    var dialects: [String]
    /// What its answers tell beyond success: `reason`, `errors`, `messages`, `events`, `user`.
    var tells: Set<String>
    /// How long before its expiry it renews a token by itself.
    var leeway: Duration

    init(_ value: JSONValue) throws(WorldError) {
      guard let name = value["name"]?.string, !name.isEmpty, let verbs = value["verbs"]?.array else {
        throw WorldError("the answer to hello needs a name and a list of verbs: {\"name\": …, \"verbs\": […]}")
      }
      self.name = name
      version = value["version"]?.string ?? ""
      self.verbs = Set(verbs.compactMap(\.string))
      dialects = (value["dialects"]?.array ?? ["chirp"]).compactMap(\.string)
      tells = Set((value["tells"]?.array ?? []).compactMap(\.string))
      leeway = .clamped(seconds: value["leeway"]?.number ?? 0)
    }

    /// Name and version, for reports.
    var title: String { version.isEmpty ? name : "\(name) \(version)" }
  }

  /// An answer: the value of a verb that went well, or the error of one that did not.
  enum Answer: Sendable {
    case value(JSONValue)
    case error(JSONValue)
  }

  private enum Life {
    case running
    case ended(String)
  }

  private struct State {
    var life = Life.running
    var lastID = 0
    var waiting: [Int: CheckedContinuation<Result<Answer, WorldError>, Never>] = [:]
    var said: [String] = []
  }

  private let state: Guarded<State>
  private let process: LineProcess
  private let errorFile: String

  /// Starts the client; nothing is sent to it yet.
  ///
  /// - Parameter errorFile: where its standard error goes.
  init(command: String, environment: [String: String], errorFile: String) throws(WorldError) {
    let state = Guarded(State())
    self.state = state
    self.errorFile = errorFile
    process = try LineProcess(
      command: command, environment: environment, errors: errorFile,
      onLine: { Self.take($0, state) },
      onEnd: { Self.finish(state, "the client has ended") })
  }

  /// What it wrote on its standard output, but for the answers that hold a token on purpose, and on standard error.
  var outputs: [Output] {
    let said = state.withLock { $0.said }
    let errors = FileManager.default.contents(atPath: errorFile) ?? Data()
    return [
      Output("what the client answered", said.joined(separator: "\n")),
      Output("the client's standard error", bytes: Array(errors)),
    ]
  }

  /// Asks and waits for the answer; whoever is cancelled meanwhile passes that on if the client takes `cancel`.
  func ask(
    _ verb: String, _ arguments: [String: JSONValue] = [:], takesCancel: Bool = false
  ) async throws(WorldError) -> Answer {
    var message = arguments
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    message["id"] = .number(Double(id))
    message["do"] = .string(verb)
    let line = try Self.line(message)
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let ended = state.withLock { state -> WorldError? in
          if case .ended(let why) = state.life { return WorldError(why) }
          state.waiting[id] = continuation
          return nil
        }
        if let ended { return continuation.resume(returning: .failure(ended)) }
        do throws(WorldError) {
          try process.send(line)
        } catch {
          // Whoever has ended tells why when the last of its output has been read; whoever only does not read tells nothing.
          let state = state
          TaskStarter().start {
            do { try await SystemClock().sleep(for: .seconds(1)) } catch { return }
            Self.resume(id, .failure(error), state)
          }
        }
      }
    } onCancel: {
      if takesCancel {
        do throws(WorldError) {
          try process.send(try Self.line(["id": 0, "do": "cancel", "cancels": .number(Double(id))]))
        } catch {
          Self.resume(id, .failure(error), state)
        }
      } else {
        Self.resume(id, .failure(WorldError("the client was not waited for any longer")), state)
      }
    }
    do {
      return try result.get()
    } catch {
      throw WorldError("\(error.message)\(trouble)")
    }
  }

  func kill() async {
    Self.finish(state, "the client was killed")
    await process.kill()
  }

  func end() async {
    Self.finish(state, "the client was told to end")
    await process.end()
  }

  /// The last that it wrote on standard error, for a message.
  private var trouble: String {
    let data = FileManager.default.contents(atPath: errorFile) ?? Data()
    let lines = String(decoding: data, as: UTF8.self).split(separator: "\n").suffix(3)
    return lines.isEmpty ? "" : "; it wrote: \(lines.joined(separator: " / ").suffix(400))"
  }

  private static func line(_ message: [String: JSONValue]) throws(WorldError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(JSONValue.object(message)), as: UTF8.self)
    } catch {
      throw WorldError("a line for the client cannot be written: \(error)")
    }
  }

  private static func take(_ line: String, _ state: Guarded<State>) {
    guard !line.allSatisfy(\.isWhitespace) else { return }
    let message: JSONValue
    do {
      message = try JSONDecoder().decode(JSONValue.self, from: Data(line.utf8))
    } catch {
      return finish(state, "the client wrote a line that is no JSON on standard output: \(line.prefix(200))")
    }
    guard let id = message["id"]?.integer, let isGood = message["ok"]?.bool else {
      return finish(state, "the client wrote a line without \"id\" and \"ok\": \(line.prefix(200))")
    }
    // What a token's own verb answers is a secret on purpose.
    let value = message["value"]
    if value?["accessToken"] == nil { state.withLock { $0.said.append(line) } }
    resume(id, .success(isGood ? .value(value ?? [:]) : .error(message["error"] ?? [:])), state)
  }

  private static func resume(_ id: Int, _ result: Result<Answer, WorldError>, _ state: Guarded<State>) {
    let waiting = state.withLock { $0.waiting.removeValue(forKey: id) }
    waiting?.resume(returning: result)
  }

  private static func finish(_ state: Guarded<State>, _ why: String) {
    let waiting = state.withLock { state in
      if case .running = state.life { state.life = .ended(why) }
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    for one in waiting { one.resume(returning: .failure(WorldError(why))) }
  }
}

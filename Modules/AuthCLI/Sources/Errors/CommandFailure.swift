import Groundwork

/// Why a command failed, as it is told: made from any error by the one table (`CommandFailure+Table.swift`).
package struct CommandFailure: Error, Sendable, Hashable {
  /// The kind for scripts, `part.code`: `session.notLoggedIn`, `transport.timedOut`, `store.corrupted`.
  package var kind: String
  /// What went wrong, in one sentence.
  package var message: String
  /// What to do about it, if there is something.
  package var hint: String?
  /// How the process ends.
  package var exitCode: ExitCode
  /// What a server says of single fields, in order.
  package var fields: [String] = []
  /// The request's id, for the server's logs.
  package var requestID: String?
  /// How long to wait before trying again.
  package var retryAfter: Duration?

  init(_ kind: String, _ message: String, hint: String? = nil, _ exitCode: ExitCode) {
    self.kind = kind
    self.message = message
    self.hint = hint
    self.exitCode = exitCode
  }

  /// The lines on standard error.
  package var text: String {
    var lines = ["chirp: \(message)"]
    lines += fields.map { "  \($0)" }
    if let hint { lines.append(hint) }
    if let retryAfter, retryAfter > .zero { lines.append("Try again in \(retryAfter.components.seconds + 1) s.") }
    if let requestID { lines.append("Request id: \(requestID)") }
    return lines.map { Printable.line($0) + "\n" }.joined()
  }

  /// The object on standard error under `--json`.
  var json: JSONValue {
    var error: [String: JSONValue] = [
      "kind": .string(kind), "message": .string(message), "exitCode": .number(Double(exitCode.rawValue)),
    ]
    if let hint { error["hint"] = .string(hint) }
    if let requestID { error["requestID"] = .string(requestID) }
    if let retryAfter { error["retryAfter"] = .number(retryAfter.inSeconds) }
    if !fields.isEmpty { error["fields"] = .array(fields.map { .string($0) }) }
    return .object(["error": .object(error)])
  }
}

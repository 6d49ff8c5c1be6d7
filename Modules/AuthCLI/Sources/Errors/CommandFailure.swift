package import Groundwork

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
  /// What a server says of single fields.
  package var fields: [String: String] = [:]
  /// The status of the server's answer, if that is the cause.
  package var status: Int?
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
    lines += fields.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value)" }
    if let hint { lines.append(hint) }
    if let retryAfter, retryAfter > .zero { lines.append("Try again in \(Self.wholeSeconds(retryAfter)) s.") }
    if let requestID { lines.append("Request id: \(requestID)") }
    return lines.map { Printable.line($0) + "\n" }.joined()
  }

  /// The object on standard error under `--json`.
  package var json: JSONValue {
    var error: [String: JSONValue] = [
      "kind": .string(kind), "message": .string(message), "exitCode": .number(Double(exitCode.rawValue)),
    ]
    if let hint { error["hint"] = .string(hint) }
    if let requestID { error["requestID"] = .string(requestID) }
    if let status { error["status"] = .number(Double(status)) }
    if let retryAfter { error["retryAfter"] = .number(Double(Self.wholeSeconds(retryAfter))) }
    if !fields.isEmpty { error["fields"] = .object(fields.mapValues { .string($0) }) }
    return .object(["error": .object(error)])
  }

  /// Rounded up: whoever waits so long has waited long enough.
  private static func wholeSeconds(_ wait: Duration) -> Int64 {
    let parts = wait.components
    return parts.attoseconds > 0 && parts.seconds < .max ? parts.seconds + 1 : parts.seconds
  }
}

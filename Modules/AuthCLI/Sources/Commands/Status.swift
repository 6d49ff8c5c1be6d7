import AuthModels
import AuthSession
import AuthStorage
import Groundwork

extension CommandContext {
  /// `chirp status`
  func status() async throws -> ExitCode {
    if tokenOverride != nil {
      output.say("chirp: CHIRP_TOKEN is set: requests use it, and not the stored session told of here.")
    }
    var opened = try await store()
    if let sealed = opened.store as? SQLiteSessionStore, let source = try await sealed.keySourceInUse() {
      opened.keySource = source
    }
    let keySource = opened.keySource
    let place: JSONValue = .object(["location": .string(opened.location), "keySource": .string(keySource)])
    guard try await slotIfKnown(.stored) != nil else {
      let reason = SignedOutReason.neverSignedIn
      try await output.data(
        .object(reason.members.merging(["state": "signedOut", "store": place], uniquingKeysWith: { _, new in new })),
        ["Signed out. \(reason.text)", "Store    \(opened.location) (key: \(keySource))"])
      return .signInNeeded
    }
    let session = try await session(.stored)
    var object: [String: JSONValue] = [
      "server": .string(session.server.text), "account": .string(session.slot.account), "store": place,
      "dialect": .string(session.dialect.rawValue),
    ]
    var lines = [
      "Server   \(session.server.text)", "Backend  \(session.connection.title)", "Account  \(session.slot.account)",
    ]
    let code: ExitCode
    switch await session.engine.restore() {
    case .unknown: throw CommandFailure("cancelled", "The store was not asked to the end.", .cancelled)
    case .unavailable(let error): throw error
    case .signedOut(let reason):
      object.merge(reason.members, uniquingKeysWith: { _, new in new })
      object["state"] = "signedOut"
      lines.insert("Signed out. \(reason.text)", at: 0)
      code = .signInNeeded
    case .signedIn(let summary):
      let now = parts.time.wallClock
      object.merge(summary.members(now: now), uniquingKeysWith: { _, new in new })
      lines.insert("Signed in\(summary.user.map { " as \($0.text)" } ?? "").", at: 0)
      if summary.user == nil { lines.append("User     not known here yet; to ask the server: chirp whoami") }
      lines.append("Expires  \(summary.expiry(now: now))")
      lines.append("Renews   \(summary.hasRefreshToken ? "by itself" : "no: there is no refresh token")")
      if summary.unclassifiedRefreshAnswers >= 5 {
        object["unclassifiedRefreshAnswers"] = .number(Double(summary.unclassifiedRefreshAnswers))
        lines.append(
          "Warning  The last \(summary.unclassifiedRefreshAnswers) answers to a refresh were of no kind that is known.")
      }
      code = .success
    }
    lines.append("Store    \(opened.location) (key: \(keySource))")
    try await output.data(.object(object), lines)
    return code
  }
}

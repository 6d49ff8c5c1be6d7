import AuthModels
import AuthSession
import AuthStorage
import CommandLineTable
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension CommandContext {
  /// `chirp` alone: where you stand, and what to do next. It asks no server, and for no passphrase.
  func overview() async throws {
    if tokenOverride != nil {
      output.say("chirp: CHIRP_TOKEN is set: requests use it, and not the stored session told of here.")
    }
    guard try await opensUnasked() else {
      return try await show(
        ["state": "unknown"], ["The session store is guarded by a passphrase."],
        next: [("chirp status", "asks for it, and tells who is signed in")])
    }
    guard let slot = try await slotIfKnown(.stored) else {
      return try await show(
        ["state": "signedOut"], ["Nobody is signed in here."],
        next: [("chirp login --server URL", "sign in"), ("chirp register --server URL", "make an account")])
    }
    let session = try await session(.stored)
    switch await session.engine.restore() {
    case .unknown: throw CommandFailure("cancelled", "The store was not asked to the end.", .cancelled)
    case .unavailable(let error): throw error
    case .signedOut(let reason):
      var object = slot.json.merging(reason.members) { _, new in new }
      object["state"] = "signedOut"
      try await show(
        object, ["Signed out of \(slot.server)\(account(slot)). \(reason.text)"],
        next: [("chirp login", "sign in"), ("chirp register", "make an account")])
    case .signedIn(let summary):
      let now = parts.time.wallClock
      let user = summary.user.map { " as \($0.text)" } ?? ""
      let object = slot.json.merging(summary.members(now: now)) { _, new in new }
      try await show(
        object, ["Signed in to \(slot.server)\(user)\(account(slot)).", Self.sentence(on: summary, now: now)],
        next: [
          ("chirp whoami", "ask the server who you are"), ("chirp api GET /me", "call the server with your session"),
          ("chirp logout", "sign out"),
        ])
    }
  }

  /// Until when the access token works, and what comes then.
  private static func sentence(on summary: SessionSummary, now: Date) -> String {
    let renewal = summary.hasRefreshToken
    guard let expiry = summary.accessTokenExpiry else {
      return "How long the access token works the server does not tell."
    }
    guard expiry <= now else {
      return
        "The access token expires \(summary.expiry(now: now)); \(renewal ? "it renews by itself" : "then sign in again")."
    }
    return "The access token expired \(SessionSummary.relative(expiry.timeIntervalSince(now))); "
      + (renewal ? "the next command renews it." : "there is no refresh token: sign in again.")
  }

  private func account(_ slot: SessionSlot) -> String {
    slot.account == SessionSlot(server: slot.server).account ? "" : ", account \(slot.account)"
  }

  /// Whether the store can be opened without asking anybody.
  private func opensUnasked() async throws -> Bool {
    guard call.text("store") != "memory" else { return true }
    let doctor = StoreDoctor(folder: try stateFolder(), time: parts.time, keySource: try keySource())
    return opensKey(of: await doctor.examine(opensKey: false), asksNobody: true)
  }

  private func show(
    _ object: [String: JSONValue], _ lines: [String], next: [(command: String, what: String)]
  ) async throws {
    var (object, lines) = (object, lines)
    if object["state"] != "unknown" {
      let store = try await store().store
      let others = try await store.slots().count { $0 != SessionSlot(object) }
      if others > 0, object["server"] != nil {
        object["otherAccounts"] = .number(Double(others))
        lines.append("\(others) more \(others == 1 ? "account is" : "accounts are") known: chirp accounts")
      }
      let untold = try await store.pendingRevocations().count
      if untold > 0 {
        object["pendingRevocations"] = .number(Double(untold))
        lines.append(
          "The server has not heard of \(untold) sign-out\(untold == 1 ? "" : "s") yet; the next request tells it.")
      }
    }
    let steps = next + [("chirp help", "all commands")]
    object["next"] = .array(steps.map { .string($0.command) })
    let width = steps.map(\.command.count).max() ?? 0
    lines.append("")
    lines += steps.map { "  \($0.command)\(String(repeating: " ", count: width - $0.command.count))  \($0.what)" }
    try await output.data(.object(object), lines)
  }
}

extension SessionSlot {
  /// The slot that an object tells of.
  fileprivate init?(_ object: [String: JSONValue]) {
    guard let server = object["server"]?.string, let account = object["account"]?.string else { return nil }
    self.init(server: server, account: account)
  }
}

import AuthModels
import AuthNetworking
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
  /// `chirp whoami`
  func whoami() async throws -> CommandSession {
    let session = try await session(.requests)
    let user =
      tokenOverride == nil
      ? try await session.engine.currentUser(fresh: true)
      : try await session.backend.user(authorizedBy: session.authorizer)
    var object = user.json.object ?? [:]
    object["server"] = .string(session.server.text)
    object["account"] = .string(session.slot.account)
    try await output.data(.object(object), [user.text])
    return session
  }

  /// `chirp token`
  func token() async throws {
    let minimum = try call.duration("min-ttl")
    let token: String
    if let override = tokenOverride {
      output.say("chirp: CHIRP_TOKEN is used in place of the stored session.")
      token = override
    } else {
      token = try await session(.stored).engine.validAccessToken(minimumLifetime: minimum)
    }
    guard output.isJSON else { return try await console.write(Array("\(token)\n".utf8)) }
    try await output.data(.object(["token": .string(token)]), [])
  }

  /// `chirp refresh`
  func refresh() async throws -> CommandSession {
    let session = try await session(.stored)
    sayOverrideStays()
    try await session.engine.refresh()
    guard case .signedIn(let summary) = session.engine.snapshot.state else { return session }
    try await output.done(
      .object(self.summary(of: session)),
      "Renewed. The access token expires \(summary.expiry(now: parts.time.wallClock)).")
    return session
  }

  /// `chirp feed`
  func feed() async throws -> CommandSession {
    let session = try await session(.requests)
    guard session.dialect == .chirp else {
      throw call.usageError("Dialect \(session.dialect.rawValue) has no feed.")
    }
    let page = try await session.client.send(API.feed(limit: try call.integer("limit")))
    var object: [String: JSONValue] = [
      "items": .array(
        page.items.map {
          .object([
            "id": .string($0.id), "author": .string($0.author), "text": .string($0.text),
            "createdAt": .string(SessionSummary.absolute($0.createdAt)),
          ])
        })
    ]
    if let cursor = page.nextCursor { object["nextCursor"] = .string(cursor) }
    if page.items.isEmpty, !output.isJSON { output.say("There are no posts.") }
    try await output.data(
      .object(object), page.items.map { "\(SessionSummary.absolute($0.createdAt))  \($0.author)  \($0.text)" })
    return session
  }

  /// `chirp logout`
  func logout() async throws {
    sayOverrideStays()
    let scope = SignOutScope(rawValue: call.text("scope") ?? "local") ?? .local
    guard call.flag("all-accounts") else {
      guard try await slotIfKnown(.stored) != nil else { return try await tell([], scope) }
      return try await tell([try await logout(from: try await session(.stored), scope)], scope)
    }
    let opened = try await store()
    var done: [SignedOut] = []
    for slot in try await opened.store.slots().sorted(by: { ($0.server, $0.account) < ($1.server, $1.account) }) {
      guard try await opened.store.read(slot).record != nil else { continue }
      let server = try ServerIdentity(slot.server)
      let session = try CommandSession(
        context: self, slot: slot, server: server,
        connection: try await connection(of: slot, server, in: opened.store, .stored), store: opened.store,
        accessToken: nil)
      done.append(try await logout(from: session, scope))
    }
    try await tell(done, scope)
  }

  /// What became of one slot.
  private struct SignedOut {
    var slot: SessionSlot
    var result: SignOutResult
    /// Why nobody was signed in there before, if nobody was.
    var earlier: SignedOutReason?
  }

  private func logout(from session: CommandSession, _ scope: SignOutScope) async throws -> SignedOut {
    guard session.backend.signOutScopes.contains(scope) else {
      throw call.usageError(
        "--scope \(scope.rawValue): dialect \(session.dialect.rawValue) ends one session at a time.")
    }
    var earlier: SignedOutReason?
    if case .signedOut(let reason) = await session.engine.restore() { earlier = reason }
    if scope == .others, earlier != nil {
      return SignedOut(slot: session.slot, result: SignOutResult(wasSignedIn: false, revoked: false), earlier: earlier)
    }
    let result = try await session.engine.signOutWhoever(scope: scope)
    return SignedOut(slot: session.slot, result: result, earlier: earlier)
  }

  private func tell(_ done: [SignedOut], _ scope: SignOutScope) async throws {
    let left = done.filter(\.result.wasSignedIn)
    let rows: [JSONValue] = left.map {
      .object([
        "server": .string($0.slot.server), "account": .string($0.slot.account), "revoked": .bool($0.result.revoked),
      ])
    }
    let sentence =
      if left.isEmpty {
        done.first?.earlier.map(\.sentenceAtSignOut) ?? "Nobody was signed in."
      } else if scope == .others {
        "Your other sessions are signed out; this one stays."
      } else if left.allSatisfy(\.result.revoked) {
        scope == .global ? "Signed out, here and everywhere else." : "Signed out."
      } else {
        "Signed out. The server could not be told; a later command tells it."
      }
    var object: [String: JSONValue] = ["signedOut": .array(rows)]
    // Why there was nothing to do, in the words of `status`.
    if left.isEmpty, let earlier = done.first?.earlier { object.merge(earlier.members) { _, new in new } }
    try await output.done(.object(object), sentence)
  }
}

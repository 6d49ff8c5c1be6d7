internal import AuthStorage
internal import Groundwork

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Every token that came to the clients: what must never be said, and what a step may revoke.
final class TokenLog: Sendable {
  private struct Pair {
    var access: String?
    var refresh: String?
  }

  private struct State {
    var all: Set<Secret> = []
    var newest: [String: Pair] = [:]
  }

  private let state = Guarded(State())

  /// Looks for tokens in an answer; answers that are no JSON hold none.
  func note(_ body: Data, process: String) {
    guard body.count < 1 << 20, body.first == UInt8(ascii: "{") else { return }
    let answer: JSONValue
    do { answer = try JSONDecoder().decode(JSONValue.self, from: body) } catch { return }
    var pair = Pair()
    Self.collect(answer, into: &pair)
    guard pair.access != nil || pair.refresh != nil else { return }
    let found = pair
    state.withLock { state in
      if let access = found.access {
        state.all.insert(Secret("an access token", access))
        state.newest[process, default: Pair()].access = access
      }
      if let refresh = found.refresh {
        state.all.insert(Secret("a refresh token", refresh))
        state.newest[process, default: Pair()].refresh = refresh
      }
    }
  }

  private static func collect(_ value: JSONValue, into pair: inout Pair) {
    for (name, member) in value.object ?? [:] {
      switch (name, member) {
      case ("accessToken", .string(let token)), ("access_token", .string(let token)):
        if !token.isEmpty { pair.access = token }
      case ("refreshToken", .string(let token)), ("refresh_token", .string(let token)):
        if !token.isEmpty { pair.refresh = token }
      default: collect(member, into: &pair)
      }
    }
  }

  var secrets: [Secret] { state.withLock { Array($0.all) } }

  func newest(_ kind: TokenKind, of process: String) -> String? {
    state.withLock { state in
      let pair = state.newest[process]
      return kind == .access ? pair?.access : pair?.refresh
    }
  }
}

/// Every version of a session's tokens that was committed to the store.
final class StoreLog: Sendable {
  private struct State {
    var first: SessionID?
    var stamps: [SessionID: Set<UInt64>] = [:]
  }

  private let state = Guarded(State())

  func note(_ slot: SlotState) {
    guard let record = slot.record else { return }
    state.withLock { state in
      if state.first == nil { state.first = record.sessionID }
      state.stamps[record.sessionID, default: []].insert(record.stamp)
    }
  }

  func isFirst(_ id: SessionID) -> Bool { state.withLock { $0.first == id } }

  /// How often the session's tokens were replaced after its sign-in.
  func rotations(of id: SessionID) -> Int { state.withLock { max(0, ($0.stamps[id]?.count ?? 1) - 1) } }
}

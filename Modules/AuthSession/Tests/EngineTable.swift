import AuthModels
import AuthNetworking
import AuthStorage
import Groundwork
import VirtualTime

@testable import AuthSession

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The engine's two pure machines as tables: every step they take, found by feeding them everything that can happen until nothing new
/// follows.
enum EngineTable {
  /// A step: in a state something happens, and this follows.
  struct Row: Hashable {
    var state: String
    var event: String
    var next: String
    /// What observers are told.
    var told: [String] = []
  }

  // MARK: One refresh

  static let refresh: [Row] = {
    var walk = Walk()
    let starts = [
      RefreshMachine(base: record, storedBase: nil), RefreshMachine(base: newer, storedBase: record),
      RefreshMachine(
        base: record, storedBase: nil, refusal: KnownRefusal(token: record.refreshToken, refusal: refusal)),
    ]
    for var machine in starts {
      let effect = machine.start()
      let condition = if case .saveEarlier = effect { "its tokens are in memory alone" } else { "" }
      walk.note(Row(state: "start", event: condition, next: name(effect, 1)))
      walk.go(on: machine, after: effect, tries: 1)
    }
    return walk.rows
  }()

  private struct Walk {
    var rows: [Row] = []

    mutating func note(_ row: Row) {
      if !rows.contains(row) { rows.append(row) }
    }

    mutating func go(on machine: RefreshMachine, after effect: RefreshMachine.Effect, tries: Int) {
      for event in events(after: effect) {
        var machine = machine
        let next = machine.handle(event)
        var happened = EngineStep(event, next).name.components(separatedBy: " → ")[0]
        var nextTries = tries
        if case .send = effect, case .send = next { nextTries = 2 }
        if case .begin = effect, case .end = next { happened += ", its token refused before" }
        note(
          Row(state: EngineTable.name(effect, tries), event: happened, next: EngineTable.name(next, nextTries)))
        if case .done = next { continue }
        go(on: machine, after: next, tries: nextTries)
      }
    }
  }

  private static func name(_ effect: RefreshMachine.Effect, _ tries: Int) -> String {
    switch effect {
    case .saveEarlier: "save earlier"
    case .acquireLock: "lock"
    case .begin: "look again"
    case .send: tries == 1 ? "send" : "send again"
    case .commit: "save"
    case .postpone: "save not-before"
    case .end: "end"
    case .done(let outcome): "done: \(name(outcome))"
    }
  }

  private static func name(_ outcome: RefreshOutcome) -> String {
    switch outcome {
    case .renewed(_, let unsaved, _): unsaved == nil ? "renewed" : "renewed, not saved"
    case .adopted: "adopted"
    case .replaced: "replaced"
    case .gone: "gone"
    case .refused(_, _, let error): error == nil ? "refused" : "refused, not written"
    case .unended: "refused, store unread"
    case .passing: "passing"
    case .coolingDown: "cooling down"
    case .noRefreshToken: "no refresh token"
    case .failed: "failed"
    }
  }

  /// Everything that can happen while an effect is performed.
  private static func events(after effect: RefreshMachine.Effect) -> [RefreshMachine.Event] {
    let commits: [Result<SlotTransactions.CommitOutcome, StoreError>] = [
      .success(.committed), .success(.superseded(newer)), .success(.replaced(other)), .success(.gone(nil)),
      .failure(storeError),
    ]
    return switch effect {
    case .saveEarlier: commits.map { .savedEarlier($0, record: newer) }
    case .acquireLock: [.lock(.success(())), .lock(.failure(storeError))]
    case .begin:
      [
        .began(.success(.begun(record))), .began(.success(.adopt(newer))), .began(.success(.replaced(other))),
        .began(.success(.gone(nil))), .began(.success(.coolingDown(cooldown, remaining: .seconds(1)))),
        .began(.success(.noRefreshToken(record))), .began(.failure(storeError)),
        .joined(.adopted(newer)), .joined(.passing(passing, nil)),
      ]
    case .send:
      [
        .answered(.granted(grant)), .answered(.passing(passing)), .answered(.passing(ambiguous)),
        .answered(.refused(refusal)), .sessionOver,
      ]
    case .commit: commits.map { .committed($0, new: newer) }
    case .postpone:
      [
        .postponed(.success(.postponed(cooldown))), .postponed(.success(.adopt(newer))),
        .postponed(.success(.replaced(other))), .postponed(.success(.gone(nil))), .postponed(.failure(storeError)),
      ]
    case .end:
      [
        .ended(.success(.ended(note))), .ended(.success(.unwritten(storeError))), .ended(.success(.adopt(newer))),
        .ended(.success(.replaced(other))), .ended(.success(.gone(nil))), .ended(.failure(storeError)),
      ]
    case .done: []
    }
  }

  // MARK: The session

  static let session: [Row] = {
    var walk = Walk()
    var known: Set<[String]> = []
    var waiting = [SessionMachine()]
    while let machine = waiting.popLast() {
      for event in sessionEvents {
        var next = machine
        let told = next.handle(event, at: now, options: SessionOptions())
        let step = EngineStep(event, from: machine.state, to: next.state).name
        let parts = step.components(separatedBy: " → ")
        let from = parts[0].components(separatedBy: " · ")
        walk.note(
          Row(
            state: from[0], event: from[1], next: parts[1],
            told: told.map { String("\($0)".prefix { $0 != "(" }) }))
        if known.insert(next.fingerprint).inserted { waiting.append(next) }
      }
    }
    return walk.rows
  }()

  private static var sessionEvents: [SessionMachine.Event] {
    let outcomes: [RefreshOutcome] = [
      .renewed(newer, unsavedOver: nil, nil), .renewed(newer, unsavedOver: record, storeError), .adopted(newer),
      .replaced(other), .gone(nil), .refused(refusal, record, nil),
      .unended(KnownRefusal(token: record.refreshToken, refusal: refusal), storeError), .passing(passing, nil),
      .coolingDown(cooldown, .seconds(1)), .noRefreshToken(withoutRefreshToken), .failed(.storage(storeError)),
    ]
    return [
      .read(SlotState()), .read(SlotState(lastSignOut: note)), .read(SlotState(record: record)),
      .read(SlotState(record: newer)), .read(SlotState(record: other)), .unreadable(storeError), .signedIn(record),
      .signedIn(other), .signedOut(record.sessionID, .byUser), .saved(newer),
      .learnedUser(SessionUser(id: "anna"), of: record.sessionID), .discarded(record.sessionID),
    ] + outcomes.map { .flightEnded($0, of: record.sessionID) }
  }

  // MARK: One of each

  private static let now = ClockReading(VirtualClock())
  private static let record = make("at-1", "rt-1", stamp: 1, lifetime: 900)
  private static let newer = make("at-2", "rt-2", stamp: 2, lifetime: 900)
  private static let other = make("at-9", "rt-9", stamp: 3, lifetime: 900, id: otherID)
  private static let withoutRefreshToken = make("at-1", nil, stamp: 1, lifetime: 1)
  private static let firstID = UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))
  private static let otherID = UUID(uuid: (2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2))
  private static let storeError = StoreError(.unavailable, "The store cannot be reached.")
  private static let refusal = RefreshRefusal(code: "invalid_grant")
  private static let note = SignOutNote(.byUser, at: now.wall)
  private static let cooldown = RefreshCooldown(
    failures: 1, unclassified: 0, since: now.wall, duration: 1)
  private static let passing = PassingFailure(error: APIError(.serverError, status: 503), isAmbiguous: false)
  private static let ambiguous = PassingFailure(error: APIError(.lostConnection), isAmbiguous: true)
  private static let grant = TokenGrant(
    response: TokenResponse(accessToken: "at-2", refreshToken: "rt-2", expiresIn: 900))

  private static func make(
    _ access: String, _ refresh: String?, stamp: UInt64, lifetime: Double, id: UUID? = nil
  ) -> SessionRecord {
    var record = SessionRecord(
      sessionID: id ?? firstID, slot: World.slot, profile: "scripted", accessToken: access, refreshToken: refresh,
      tokenType: "Bearer", scope: nil, issuedAt: now.wall.addingTimeInterval(-10),
      lifetime: lifetime, bootID: "another", sinceBootAtIssue: 0, serverSkew: nil, user: nil)
    record.stamp = stamp
    return record
  }
}

extension SessionMachine {
  /// What its next steps depend on.
  fileprivate var fingerprint: [String] {
    let kind = "\(state)".prefix { $0 != "(" }
    let has = [live?.storedBase != nil, live?.refusal != nil, live?.needsRecovery ?? false, cooldown != nil]
    return [String(kind), live?.record.accessToken ?? "", "\(has)"] + Set(endings.map(\.id.uuidString)).sorted()
  }
}

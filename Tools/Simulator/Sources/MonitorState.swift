import AuthStorage
import Groundwork
import MockServerCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Everything that the invariants are judged by: what passed the seams, and what the server would do.
struct MonitorState: Sendable {
  let realm: MockRealm
  /// Whether the subject has a lock over its refreshes; else a refresh is over with its answer.
  let usesLock: Bool
  let accessTTL: Duration
  /// Whether that lock keeps other processes out.
  let lockExcludes: Bool
  /// Whether the server just refuses a spent token.
  let refusesSpentOnly: Bool
  var now: Duration = .zero
  var boot = 1
  var violations: [Violation] = []
  var families: [Family] = []
  var familyOfServerSession: [String: Int] = [:]
  var familyOfSession: [UUID: Int] = [:]
  var tokens: [String: TokenFact] = [:]
  var spendings: [String: [Spending]] = [:]
  var lives: [LaneID: Life] = [:]
  var calls: [Int: PendingCall] = [:]
  var lastCall = 0
  /// Who is between sending a refresh and its end, by family.
  var refreshers: [Int: Set<LaneID>] = [:]
  var stored = SlotState()
  /// How many refreshes were begun with a refresh token, whether it was sent or not.
  var intents: [String: Int] = [:]
  /// Starts and deaths of processes so far.
  var lifeEvents = 0
  /// When, in that order, a process died that had sent a refresh token without hearing of it.
  var crashes: [String: Int] = [:]

  init(realm: MockRealm, usesLock: Bool, accessTTL: Duration, lockExcludes: Bool, refusesSpentOnly: Bool) {
    self.realm = realm
    self.usesLock = usesLock
    self.accessTTL = accessTTL
    self.lockExcludes = lockExcludes
    self.refusesSpentOnly = refusesSpentOnly
  }

  mutating func fail(_ invariant: Int, _ kind: String, _ text: String) {
    guard !violations.contains(where: { $0.invariant == invariant && $0.kind == kind }) else { return }
    violations.append(Violation(invariant: invariant, kind: kind, text: text))
  }

  // MARK: Facts

  mutating func issued(
    access: String, refresh: String, lifetime: Duration, askedAt: Duration, boot: Int, user: String?
  ) {
    guard let standing = realm.standing(of: access) else { return }
    let family = familyOfServerSession[standing.sessionID] ?? families.count
    if family == families.count {
      families.append(Family(user: user ?? ""))
      familyOfServerSession[standing.sessionID] = family
    }
    let refreshGeneration = realm.standing(of: refresh)?.generation ?? standing.generation
    if tokens[access] == nil {
      tokens[access] = TokenFact(family: family, generation: standing.generation, askedAt: askedAt, boot: boot)
    }
    var fact = tokens[refresh] ?? TokenFact(family: family, generation: refreshGeneration, askedAt: askedAt, boot: boot)
    if !fact.pairs.contains(access) {
      fact.pairs.append(access)
      // A further access token to the same refresh token (grace).
      if fact.pairs.count > 1 { fact.askedAt = askedAt }
    }
    fact.grants.append((askedAt, lifetime))
    tokens[refresh] = fact
  }

  func family(of sight: Sight) -> Int? {
    switch sight {
    case .session(let id): familyOfSession[id]
    case .holding(let token): tokens[token]?.family
    case .unknown, .unavailable, .signedOut: nil
    }
  }

  mutating func settle(_ token: String?, _ process: LaneID, _ outcome: Spending.Outcome) {
    guard let token, let index = spendings[token]?.lastIndex(where: { $0.process == process && $0.outcome == .pending })
    else { return }
    spendings[token]?[index].outcome = outcome
    if !usesLock, let family = tokens[token]?.family { refreshers[family]?.remove(process) }
  }

  /// The store has refused a write: what the process wanted to tell, no other process can know.
  mutating func writeRefused(_ process: LaneID) {
    guard let token = stored.record?.refreshToken else { return }
    if let family = tokens[token]?.family, let sight = lives[process]?.sight, self.family(of: sight) != family {
      lives[process]?.untoldFamilies.insert(family)
    }
    let isKnown = (spendings[token] ?? []).contains {
      $0.process == process && ($0.outcome == .refused || $0.outcome == .granted)
    }
    if isKnown { lives[process]?.untold.insert(token) }
  }

  /// A process has died: what it has not heard, nobody will hear, and what it could not use, nobody will use.
  mutating func settleForGood(_ token: String, _ process: LaneID) {
    for index in (spendings[token] ?? []).indices where spendings[token]?[index].process == process {
      switch spendings[token]?[index].outcome {
      case .pending?, .unknown?:
        spendings[token]?[index].outcome = .unknown
        crashes[token] = lifeEvents
      case .granted?, .refused?, .notSpent?, nil: break
      }
    }
  }

  /// Whether the server has given a newer refresh token for this one.
  func isSpent(_ token: String) -> Bool {
    guard let fact = tokens[token] else { return false }
    return tokens.values.contains {
      $0.family == fact.family && !$0.grants.isEmpty && $0.generation > fact.generation
    }
  }

  /// Whether the server would give new tokens for this one now.
  func serverAccepts(_ token: String) -> Bool {
    if refusesSpentOnly, isSpent(token) { return false }
    return realm.wouldAccept(refreshToken: token)
  }

  mutating func delivered(
    _ sending: Sending, to process: LaneID, status: Int, isServers: Bool, _ body: Data
  ) -> [Mark] {
    var marks: [Mark] = []
    if sending.operation == "refresh" || sending.operation == "login", (200...299).contains(status),
      let refresh = body.field("refreshToken"), body.field("accessToken") != nil, tokens[refresh] != nil,
      body.isWholeObject
    {
      lives[process]?.refreshTokens.append(refresh)
      if sending.operation == "refresh" {
        settle(sending.refreshToken, process, .granted)
        if calls.values.filter({ $0.process == process && $0.operation.mayRefresh }).count > 1 { marks.append(.joined) }
      }
    } else if sending.operation == "refresh" {
      let isRefusal = isServers && status == 401
      let outcome: Spending.Outcome = isRefusal ? .refused : (200...299).contains(status) ? .unknown : .notSpent
      settle(sending.refreshToken, process, outcome)
      if isRefusal, let family = sending.refreshToken.flatMap({ tokens[$0]?.family }) {
        families[family].wasRefused = true
      }
      marks.append(isRefusal ? .refused : .passing)
    } else if status == 401, let bearer = sending.bearer {
      if let newest = newestAccess(of: process), newest != bearer { marks.append(.late401) }
      lives[process]?.refusedAccess.insert(bearer)
      if let call = sending.call, calls[call]?.sends == 2 { marks.append(.second401) }
    }
    return marks
  }

  /// The newest access token of the session that a process believes in.
  private func newestAccess(of process: LaneID) -> String? {
    guard let life = lives[process], let family = family(of: life.sight), let refresh = life.refreshTokens.last,
      tokens[refresh]?.family == family
    else { return nil }
    return tokens[refresh]?.pairs.last
  }

  // MARK: Names

  func name(_ token: String?) -> String {
    guard let token else { return "nothing" }
    guard let fact = tokens[token] else { return "unknown token" }
    return "\(token.hasPrefix("at_") ? "a" : "r")\(fact.family + 1).\(fact.generation)"
  }

  func name(of sending: Sending) -> String {
    switch sending.operation {
    case "refresh", "logout": "\(sending.operation) \(name(sending.refreshToken))"
    case "login": sending.operation
    default:
      "\(sending.operation) \(name(sending.bearer))\(sending.call.map { " #\($0)" } ?? "")"
    }
  }

  func name(ofAnswer body: Data, to sending: Sending) -> String {
    if let access = body.field("accessToken"), let refresh = body.field("refreshToken") {
      return "\(name(access)), \(name(refresh))"
    }
    return "\(body.field("code") ?? "") to \(name(of: sending))"
  }

  func name(of sight: Sight) -> String {
    switch sight {
    case .unknown: "unknown"
    case .unavailable: "unavailable: the store does not answer"
    case .signedOut(let reason): "signed out (\(reason))"
    case .session, .holding: family(of: sight).map { "signed in, session \($0 + 1)" } ?? "signed in"
    }
  }

  func lifeName(_ process: LaneID) -> String { lives[process]?.name ?? "a dead process" }

  /// What a transaction did.
  func kind(from old: SlotState, to new: SlotState) -> (KillPoint, String) {
    switch (old.record, new.record) {
    case (_?, nil): return (.afterRemoval, "removes session \(sessionName(old))")
    case (nil, _?): return (.afterSignIn, "saves session \(sessionName(new))")
    case (let before?, let after?) where before.sessionID != after.sessionID:
      return (.afterSignIn, "saves session \(sessionName(new)) over \(sessionName(old))")
    case (let before?, let after?)
    where before.accessToken != after.accessToken || before.refreshToken != after.refreshToken:
      return (.afterCommit, "saves \(name(after.accessToken)), \(name(after.refreshToken))")
    default: break
    }
    if old.intent?.attempt != new.intent?.attempt, new.intent != nil {
      return (.afterIntent, "intent to spend \(name(new.record?.refreshToken))")
    }
    if old.cooldown != new.cooldown, new.cooldown != nil { return (.afterPostpone, "not before …") }
    return (.afterUpdate, old == new ? "changes nothing" : "changes the record")
  }

  private func sessionName(_ slot: SlotState) -> String {
    slot.record.flatMap { tokens[$0.accessToken]?.family }.map { "\($0 + 1)" } ?? "?"
  }
}

extension Operation {
  /// Whether it may refresh however good the token is.
  var forcesRefresh: Bool {
    switch self {
    case .refresh, .longToken: true
    case .me, .token, .user, .signIn, .signOut, .signOutWhoever, .restore, .flush, .watch: false
    }
  }

  /// Whether it may wait for a refresh.
  var mayRefresh: Bool {
    switch self {
    case .me, .token, .longToken, .refresh, .user: true
    case .signIn, .signOut, .signOutWhoever, .restore, .flush, .watch: false
    }
  }
}

extension Data {
  /// Whether a flat JSON object is there to its end.
  var isWholeObject: Bool { last == UInt8(ascii: "}") }
}

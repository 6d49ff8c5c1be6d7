import AuthSession
import Groundwork

/// Something that schedules are to reach often: a situation of a rule, or a kind of fault.
package enum Mark: String, CaseIterable, Sendable {
  // Situations, by rule.
  case memoryToken = "S1 a token straight from memory"
  case earlyRefresh = "S2 a refresh ahead of expiry"
  case shortLifetime = "S2 a lifetime of 60 s or less"
  case unknownLifetime = "S3 a lifetime that is missing, negative or absurd"
  case clockMoved = "S4 a token used after the clock was moved or the machine restarted"
  case servedOld = "S5 the old token served while refreshing fails"
  case joined = "S6 several callers on one refresh"
  case cancelledWaiter = "S7 a caller cancelled while a refresh is in the air"
  case late401 = "S8 a late 401"
  case resent = "S9 a request sent again"
  case second401 = "S9 a second 401"
  case refused = "S10 a refresh refused"
  case passing = "S10 a refresh failing for a passing reason"
  case plainRefresh = "S14 a refresh without a bearer token"
  case lockWaited = "S15 a wait for another process's refresh"
  case intentWritten = "S16 an intent written"
  case intentRecovered = "S16 an unfinished refresh tried again at the next start"
  case watched = "S17 a sign-out elsewhere noticed while a watch runs"
  case sessionOver = "S18 an answer withheld: the session had ended or been replaced"
  case signOut = "S20 a sign-out, revoked at once"
  case signOutOffline = "S20 a sign-out that the server has not heard of yet"
  case revokedLater = "S20 a revocation from the outbox, later"
  case storageError = "S21 a call that failed with a storage error"
  case observed = "S23 an observer told"
  case redirected = "S24 a redirect answered to a request with a credential"
  // Faults.
  case noConnection = "no connection"
  case requestLost = "request lost"
  case answerLost = "answer lost after the server's commit"
  case answerCut = "answer cut in half"
  case duplicated = "request arriving twice"
  case slow = "message slower than the refresh bound"
  case gateway503 = "503 before the server"
  case gateway429 = "429 with Retry-After"
  case gateway502 = "502 after the server's commit"
  case portal = "captive portal (200, HTML)"
  case redirect = "redirect to another host"
  case html403 = "403 in HTML"
  case invalidClient = "invalid_client"
  case endpoint401 = "an endpoint that refuses every token"
  case offline = "network down for a while"
  case storeRefusesWrites = "store full or read-only"
  case storeLocked = "store locked or unavailable"
  case storeLiesAfterCommit = "store error after its commit"
  case revokedSession = "session revoked at the server"
  case revokedAccess = "access tokens revoked at the server"
  case wallJump = "wall clock moved"
  case reboot = "machine restarted"
  case stopped = "process stopped and continued"
  case killed = "process killed"
  case cancelled = "caller cancelled"
  case userSwitch = "sign-in over another session"

  /// Whether it is a fault; else a situation of a rule.
  package var isFault: Bool {
    Mark.firstFault <= (Mark.allCases.firstIndex(of: self) ?? 0)
  }

  private static let firstFault = Mark.allCases.firstIndex(of: .noConnection) ?? 0
}

/// Where a process stands when it is killed.
package enum KillPoint: String, CaseIterable, Sendable {
  case beforeRead = "before reading the store"
  case afterRead = "after reading the store"
  case beforeUpdate = "before a store transaction"
  case afterIntent = "after the intent was written"
  case afterCommit = "after rotated tokens were saved"
  case afterPostpone = "after a cooldown was saved"
  case afterSignIn = "after a sign-in was saved"
  case afterRemoval = "after a session was removed"
  case afterUpdate = "after any other transaction"
  case lockWait = "waiting for the refresh lock"
  case afterLock = "holding the refresh lock"
  case outbox = "at the outbox"
  case refreshSent = "a refresh sent, not at the server yet"
  case refreshCommitted = "a refresh done at the server, its answer under way"
  case refreshAnswered = "a refresh answered, not saved"
  case requestSent = "another request under way"
  case idle = "anywhere else"
}

/// How often everything was reached.
package struct Coverage: Sendable {
  private var marks = [Int](repeating: 0, count: Mark.allCases.count)
  private var kills = [Int](repeating: 0, count: KillPoint.allCases.count)
  private var steps = [Int](repeating: 0, count: EngineStep.count)

  /// Nothing reached yet.
  package init() {}

  mutating func note(_ mark: Mark) { marks[Self.place[mark] ?? 0] += 1 }
  mutating func note(_ point: KillPoint) { kills[KillPoint.allCases.firstIndex(of: point) ?? 0] += 1 }
  mutating func note(_ step: EngineStep) { steps[step.index] += 1 }

  private static let place = Dictionary(uniqueKeysWithValues: zip(Mark.allCases, Mark.allCases.indices))

  /// Adds what another schedule has reached.
  package mutating func add(_ other: Coverage) {
    for index in marks.indices { marks[index] += other.marks[index] }
    for index in kills.indices { kills[index] += other.kills[index] }
    for index in steps.indices { steps[index] += other.steps[index] }
  }

  /// How often a situation or fault was reached.
  package func count(_ mark: Mark) -> Int { marks[Self.place[mark] ?? 0] }
  /// How often a process was killed there.
  package func count(_ point: KillPoint) -> Int { kills[KillPoint.allCases.firstIndex(of: point) ?? 0] }

  /// Each step of the engine's machines that was taken, in the table's order.
  package var transitions: [Transition] {
    steps.indices.filter { steps[$0] > 0 }.map { index in
      let step = EngineStep(index: index)
      return Transition(name: step.name, isRefresh: step.isRefresh, count: steps[index])
    }
  }

  /// The names of all steps in the table, whether they can happen or not.
  package static let everyStep = (0..<EngineStep.count).map { EngineStep(index: $0).name }

  /// A step of one of the engine's machines.
  package struct Transition: Sendable {
    /// What happened, and what followed.
    package var name: String
    /// Whether it is a step of a refresh; else of the session.
    package var isRefresh: Bool
    /// How often it was taken.
    package var count: Int
  }

  /// How often steps were taken whose name has one of these parts.
  private func steps(_ parts: String...) -> Int {
    transitions.filter { entry in parts.contains { entry.name.contains($0) } }.reduce(0) { $0 + $1.count }
  }

  /// Each rule, what stands for it, and how often that was reached.
  package var rules: [(text: String, count: Int)] {
    let steps: [(String, Int)] = [
      ("S11 looked again: a peer's tokens or session found", steps("adopt", "replaced")),
      ("S11 looked again before ending", steps("ended →", "end: ")),
      ("S12 the same refresh once more, at once", steps("ambiguous → send")),
      ("S12 a cooldown saved", steps("postponed")),
      ("S12 a cooldown kept to", steps("cooling down")),
      ("S13 tokens that could not be saved", steps("commit: store error")),
      ("S13 saved later", steps("saved earlier →", "· saved")),
      ("S16 no intent, no refresh", steps("begin: store error")),
      ("S17 another process's change noticed", steps("signed in · read: ")),
      ("S19 a late refresh saved nowhere", steps("commit: gone", "commit: replaced", "commit: superseded")),
      ("S21 a store that could not be read", steps("unreadable")),
      ("S22 a change of state", steps("· read", "· signed", "· flight")),
    ]
    let marked = Mark.allCases.filter { !$0.isFault }.map { ($0.rawValue, count($0)) }
    return (marked + steps).map { (text: $0.0, count: $0.1) }.sorted {
      (Self.number($0.text), $0.text) < (Self.number($1.text), $1.text)
    }
  }

  private static func number(_ text: String) -> Int { Int(text.dropFirst().prefix { $0.isNumber }) ?? 0 }
}

/// Counts what one schedule reaches.
final class CoverageCounter: Sendable {
  private let coverage = Guarded(Coverage())

  var total: Coverage { coverage.withLock { $0 } }
  func note(_ mark: Mark) { coverage.withLock { $0.note(mark) } }
  func note(_ point: KillPoint) { coverage.withLock { $0.note(point) } }
  func note(_ step: EngineStep) { coverage.withLock { $0.note(step) } }
}

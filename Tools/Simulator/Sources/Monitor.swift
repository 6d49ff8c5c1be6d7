import AuthSession
import AuthStorage
import Groundwork
import MockServerCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Sees everything that passes a seam, and checks the invariants at every step.
final class Monitor: Sendable {
  let trace: Trace
  let coverage: CoverageCounter
  private let scheduler: Scheduler
  private let machine: Machine
  private let state: Guarded<MonitorState>

  init(
    realm: MockRealm, machine: Machine, trace: Trace, coverage: CoverageCounter, usesLock: Bool, accessTTL: Duration,
    lockExcludes: Bool, refusesSpentOnly: Bool
  ) {
    self.machine = machine
    scheduler = machine.scheduler
    self.trace = trace
    self.coverage = coverage
    state = Guarded(
      MonitorState(
        realm: realm, usesLock: usesLock, accessTTL: accessTTL, lockExcludes: lockExcludes,
        refusesSpentOnly: refusesSpentOnly))
  }

  /// What was violated, first things first; one of each kind.
  var violations: [Violation] { state.withLock { $0.violations } }
  var hasViolation: Bool { state.withLock { !$0.violations.isEmpty } }

  private func with<Success: Sendable>(_ body: (inout MonitorState) -> Success) -> Success {
    let (now, boots) = (scheduler.now, machine.boots)
    let (success, news) = state.withLock { state -> (Success, [Violation]) in
      state.now = now
      state.boot = boots
      let before = state.violations.count
      let success = body(&state)
      return (success, Array(state.violations[before...]))
    }
    for violation in news {
      trace.add(.banner, "VIOLATION of (\(violation.invariant)) \(violation.kind): \(violation.text)")
    }
    return success
  }

  func fail(_ invariant: Int, _ kind: String, _ text: String) {
    with { $0.fail(invariant, kind, text) }
  }

  // MARK: Processes

  func started(_ process: SimulatedProcess) {
    with { state in
      state.lifeEvents += 1
      state.lives[process.id] = Life(name: process.name, column: process.column, order: state.lifeEvents)
    }
    trace.add(.note(.process(process.column)), "\(process.name) starts")
  }

  func killed(_ process: SimulatedProcess) {
    with { state in
      state.lives[process.id] = nil
      state.lifeEvents += 1
      for token in state.spendings.keys { state.settleForGood(token, process.id) }
      for family in state.refreshers.keys { state.refreshers[family]?.remove(process.id) }
      state.calls = state.calls.filter { $0.value.process != process.id }
    }
  }

  /// The process was stopped for so long: none of its waits counts meanwhile.
  func continued(_ process: SimulatedProcess, after pause: Duration) {
    with { state in
      for id in state.calls.keys where state.calls[id]?.process == process.id {
        // A wait that was stopped beyond its end takes a second more, to see what has come meanwhile.
        state.calls[id]?.bound += pause + .seconds(2)
        if state.calls[id]?.cancelledAt != nil { state.calls[id]?.cancelledAt = state.now }
      }
      state.lives[process.id]?.usedAfterEnd = [:]
      state.lives[process.id]?.blindUntil = state.now
      if let forcedAt = state.lives[process.id]?.forcedAt, forcedAt >= state.now - pause {
        state.lives[process.id]?.forcedAt = state.now
      }
    }
  }

  /// Looks at what a process believes, after each step.
  func look(at process: SimulatedProcess, _ sight: Sight) {
    let changed = with { state -> (name: String, isWatching: Bool)? in
      guard let before = state.lives[process.id]?.sight, before != sight else { return nil }
      state.lives[process.id]?.sight = sight
      state.sightChanged(process.id, from: before, to: sight)
      let isElsewhere = sight == .signedOut(.elsewhere)
      return (
        state.name(of: sight),
        isElsewhere && state.calls.values.contains { $0.process == process.id && $0.operation.isWatch }
      )
    }
    guard let changed else { return }
    if changed.isWatching { coverage.note(.watched) }
    trace.add(.note(.process(process.column)), "is \(changed.name)")
  }

  // MARK: Calls

  func began(_ operation: Operation, by process: SimulatedProcess, bound: Duration) -> Int {
    let id = with { state -> Int in
      state.lastCall += 1
      state.calls[state.lastCall] = PendingCall(
        process: process.id, operation: operation, begunAt: state.now, bound: bound)
      if operation.forcesRefresh { state.lives[process.id]?.forcedAt = state.now }
      return state.lastCall
    }
    trace.add(.note(.process(process.column)), "#\(id) \(operation.name)")
    return id
  }

  func cancelled(_ call: Int, of process: SimulatedProcess) {
    let isInFlight = with { state -> Bool? in
      guard state.calls[call] != nil else { return nil }
      state.calls[call]?.isCancelled = true
      state.calls[call]?.cancelledAt = state.now
      return state.refreshers.values.contains { $0.contains(process.id) }
    }
    guard let isInFlight else { return }
    coverage.note(.cancelled)
    if isInFlight { coverage.note(.cancelledWaiter) }
    trace.add(.note(.process(process.column)), "#\(call) cancelled by its caller")
  }

  func ended(_ id: Int, _ outcome: CallOutcome, of process: SimulatedProcess) {
    let call = with { state -> PendingCall? in
      // A dead process's calls were struck off when it died.
      guard let call = state.calls.removeValue(forKey: id) else { return nil }
      state.callEnded(call, id, outcome)
      return call
    }
    guard let call else { return }
    note(call, outcome)
    trace.add(.note(.process(process.column)), "#\(id) \(outcome.name)")
  }

  private func note(_ call: PendingCall, _ outcome: CallOutcome) {
    switch outcome {
    case .token where call.begunAt == scheduler.now && !call.sentRefresh: coverage.note(.memoryToken)
    case .token(let token) where call.sentRefresh:
      if with({ state in (state.tokens[token]?.askedAt ?? call.begunAt) < call.begunAt }) { coverage.note(.servedOld) }
    case .sessionOver: coverage.note(.sessionOver)
    case .storage: coverage.note(.storageError)
    default: break
    }
  }

  // MARK: Messages

  /// A process is about to send; the invariants about what is sent are checked here.
  func sends(_ process: SimulatedProcess, _ sending: Sending) {
    let text = with { state -> String in
      state.willSend(process.id, sending)
      return state.name(of: sending)
    }
    if let call = sending.call {
      let isSecond = with { state -> Bool in
        state.calls[call]?.sends += 1
        return state.calls[call]?.sends == 2
      }
      if isSecond { coverage.note(.resent) }
    }
    if sending.operation == "logout" {
      let isLater = with { state in
        !state.calls.values.contains { $0.process == process.id && $0.operation.isSignOut }
      }
      if isLater { coverage.note(.revokedLater) }
    }
    if sending.operation == "refresh" {
      if sending.bearer == nil { coverage.note(.plainRefresh) } else { fail(3, "refresh with a bearer token", text) }
      noteRefresh(process, sending)
    }
    trace.add(.note(.process(process.column)), "sends \(text)")
  }

  private func noteRefresh(_ process: SimulatedProcess, _ sending: Sending) {
    let marks = with { state -> [Mark] in
      guard let token = sending.refreshToken, let fact = state.tokens[token] else { return [] }
      var marks: [Mark] = []
      if state.now < fact.askedAt + state.accessTTL { marks.append(.earlyRefresh) }
      if state.accessTTL <= .seconds(60) { marks.append(.shortLifetime) }
      let deadBefore = (state.spendings[token] ?? []).contains { state.lives[$0.process] == nil }
      if deadBefore { marks.append(.intentRecovered) }
      return marks
    }
    for mark in marks { coverage.note(mark) }
  }

  /// What the server did, whether its answer arrives or not.
  func served(_ sending: Sending, askedAt: Duration, boot: Int, user: String?, _ body: Data, status: Int) {
    with { state in
      guard (200...299).contains(status), sending.operation == "login" || sending.operation == "refresh",
        let access = body.field("accessToken"), let refresh = body.field("refreshToken")
      else { return }
      let lifetime = Duration.seconds(body.integer("expiresIn") ?? 0)
      state.issued(access: access, refresh: refresh, lifetime: lifetime, askedAt: askedAt, boot: boot, user: user)
    }
  }

  /// An answer reaches a living process.
  func delivered(_ sending: Sending, to process: SimulatedProcess, status: Int, isServers: Bool, _ body: Data) {
    let marks = with { $0.delivered(sending, to: process.id, status: status, isServers: isServers, body) }
    for mark in marks { coverage.note(mark) }
    trace.add(
      .message(.server, .process(process.column), arrives: true),
      with { state in "\(status) \(state.name(ofAnswer: body, to: sending))" })
  }

  /// A request ends without an answer.
  func failed(_ sending: Sending, of process: SimulatedProcess, mayHaveBeenSent: Bool) {
    with { state in
      state.settle(sending.refreshToken, process.id, mayHaveBeenSent ? .unknown : .notSpent)
    }
    if sending.operation == "refresh" { coverage.note(.passing) }
  }

  /// Whether the server has given a newer refresh token for this one.
  func isSpent(_ token: String?) -> Bool {
    with { state in token.map { state.isSpent($0) } ?? false }
  }

  func name(of sending: Sending) -> String { with { $0.name(of: sending) } }

  // MARK: The store

  func committed(_ process: SimulatedProcess, old: SlotState, new: SlotState) -> KillPoint {
    let (point, text) = with { state -> (KillPoint, String) in
      let kind = state.kind(from: old, to: new)
      state.committed(process.id, old: old, new: new)
      return kind
    }
    if point == .afterIntent { coverage.note(.intentWritten) }
    trace.add(.message(.process(process.column), .store, arrives: true), text)
    return point
  }

  func storeFailed(_ process: SimulatedProcess, _ error: StoreError, isWrite: Bool, isAfterCommit: Bool) {
    with { state in
      guard state.lives[process.id] != nil else { return }
      if isWrite { state.writeRefused(process.id) }
      state.lives[process.id]?.usedAfterEnd = [:]
      state.lives[process.id]?.blindUntil = state.now
    }
    trace.add(
      .message(.process(process.column), .store, arrives: isAfterCommit),
      "\(isWrite ? "writes" : "reads"): \(error.code.rawValue)\(isAfterCommit ? ", after the commit" : "")")
  }

  /// What the store showed a process.
  func saw(_ process: SimulatedProcess, _ slot: SlotState) {
    with { $0.lives[process.id]?.seen = slot.record?.refreshToken }
  }

  func triedLock(_ process: SimulatedProcess) {
    with { $0.lives[process.id]?.hasTriedLock = true }
  }

  func hasLock(_ process: SimulatedProcess, _ isHeld: Bool) {
    with { state in
      guard !isHeld else { return }
      for family in state.refreshers.keys { state.refreshers[family]?.remove(process.id) }
    }
    trace.add(.note(.process(process.column)), isHeld ? "has the refresh lock" : "gives the refresh lock back")
  }

  // MARK: Over time

  /// Invariant 8, for calls that have not ended yet.
  func checkWaits(paused: (LaneID) -> Bool) {
    let pausedLanes = Set(state.withLock { Array($0.lives.keys) }.filter(paused))
    with { $0.checkWaits(except: pausedLanes) }
  }

  /// Faults have stopped, and every back-off has run out (4).
  func atRest() {
    with { $0.checkNothingRevokedIsStored() }
  }

  /// Nothing is left to run: whoever still waits, waits for ever (7).
  func nothingLeft() {
    with { $0.checkNobodyWaits() }
  }

  /// Whether a call has to succeed now (10): the server would accept a refresh token that this process has, or the store.
  func mustSucceed(_ process: SimulatedProcess) -> Bool {
    with { $0.holdsAcceptedToken(process.id) }
  }
}

extension Data {
  /// A number of a flat JSON object.
  func integer(_ name: String) -> Int? {
    let text = String(decoding: self, as: UTF8.self)
    guard let key = text.firstRange(of: "\"\(name)\":") else { return nil }
    return Int(text[key.upperBound...].prefix { $0.isNumber })
  }

  /// A string member of a flat JSON object, as the mock server writes it: its tokens need no escapes.
  func field(_ name: String) -> String? {
    let key = Array("\"\(name)\":\"".utf8)
    let bytes = [UInt8](self)
    guard bytes.count > key.count else { return nil }
    for start in 0..<(bytes.count - key.count) where bytes[start] == key[0] && bytes[start + 1] == key[1] {
      guard bytes[start..<(start + key.count)].elementsEqual(key) else { continue }
      let value = bytes[(start + key.count)...].prefix { $0 != UInt8(ascii: "\"") }
      return String(decoding: value, as: UTF8.self)
    }
    return nil
  }
}

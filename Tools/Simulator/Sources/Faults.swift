import AuthStorage
import Groundwork

/// What goes wrong, as the schedule's choices say; nothing does once `stop` was called.
final class Faults: Sendable {
  /// What becomes of a request on its way.
  enum RequestFate: Sendable {
    case arrives, noConnection, lost, unavailable, tooMany, portal, redirect, forbidden, invalidClient, endpointRefuses
  }

  /// What becomes of an answer on its way.
  enum AnswerFate: Sendable {
    case arrives, lost, badGateway, cut
  }

  /// What is asked of the store.
  enum StoreAccess: Sendable {
    case read, write, lock, outbox
  }

  private struct State: Sendable {
    var isStopped = false
    var offlineUntil: Duration = .zero
    var storeError: StoreError?
    var storeErrorUntil: Duration = .zero
    /// The same for one process.
    var outages: [LaneID: (error: StoreError, until: Duration)] = [:]
    var late: [LaneID: StoreError] = [:]
  }

  /// 0: nothing goes wrong by itself; 1: seldom; 2: often.
  let intensity: Int
  private let choices: Choices
  private let scheduler: Scheduler
  private let coverage: CoverageCounter
  private let state = Guarded(State())

  init(intensity: Int, choices: Choices, scheduler: Scheduler, coverage: CoverageCounter) {
    self.intensity = intensity
    self.choices = choices
    self.scheduler = scheduler
    self.coverage = coverage
  }

  /// From now on everything works.
  func stop() {
    state.withLock { $0 = State(isStopped: true) }
  }

  var isStopped: Bool { state.withLock { $0.isStopped } }
  private var isActive: Bool { intensity > 0 && !isStopped }

  // MARK: For a while

  func goOffline(for duration: Duration) {
    let now = scheduler.now
    state.withLock { state in
      if !state.isStopped { state.offlineUntil = max(state.offlineUntil, now + duration) }
    }
    coverage.note(.offline)
  }

  func breakStore(_ error: StoreError, for duration: Duration) {
    let now = scheduler.now
    state.withLock { state in
      guard !state.isStopped else { return }
      state.storeError = error
      state.storeErrorUntil = now + duration
    }
  }

  /// The store fails one process.
  func begin(_ outage: World.Outage, of process: LaneID) {
    let now = scheduler.now
    state.withLock { state in
      guard !state.isStopped else { return }
      state.outages[process] = (outage.error, now + outage.duration)
      if outage.isAfterCommit { state.late[process] = outage.error }
    }
    coverage.note(outage.error.code == .full ? .storeRefusesWrites : .storeLocked)
  }

  /// The error of an access that had been committed when an outage began.
  func lateFault(by process: LaneID) -> StoreError? {
    let error = state.withLock { $0.late.removeValue(forKey: process) }
    if error != nil { coverage.note(.storeLiesAfterCommit) }
    return error
  }

  private var isOffline: Bool {
    let now = scheduler.now
    return state.withLock { now < $0.offlineUntil }
  }

  // MARK: One by one

  func requestFate() -> RequestFate {
    if isOffline { return .noConnection }
    guard isActive else { return .arrives }
    let fates: [(RequestFate, Mark?)] = [
      (.arrives, nil), (.noConnection, .noConnection), (.lost, .requestLost), (.unavailable, .gateway503),
      (.tooMany, .gateway429), (.portal, .portal), (.redirect, .redirect), (.forbidden, .html403),
      (.invalidClient, .invalidClient), (.endpointRefuses, .endpoint401),
    ]
    let weights = intensity == 1 ? [92, 1, 1, 1, 1, 1, 1, 1, 1, 1] : [55, 6, 7, 6, 4, 4, 4, 4, 4, 6]
    let (fate, mark) = fates[choices.pick(weights: weights)]
    if let mark { coverage.note(mark) }
    return fate
  }

  func answerFate() -> AnswerFate {
    if isOffline {
      coverage.note(.answerLost)
      return .lost
    }
    guard isActive else { return .arrives }
    let fates: [(AnswerFate, Mark?)] = [
      (.arrives, nil), (.lost, .answerLost), (.badGateway, .gateway502), (.cut, .answerCut),
    ]
    let (fate, mark) = fates[choices.pick(weights: intensity == 1 ? [96, 2, 1, 1] : [73, 17, 5, 5])]
    if let mark { coverage.note(mark) }
    return fate
  }

  func isDuplicated() -> Bool {
    guard isActive, choices.chance(intensity) else { return false }
    coverage.note(.duplicated)
    return true
  }

  /// How long a message takes.
  func delay() -> Duration {
    guard !isStopped else { return .milliseconds(1) }
    // No sum of them is a bound of the engine: which of two things comes first at one instant says nothing.
    let delays: [Duration] = [
      .zero, .milliseconds(2), .milliseconds(30), .milliseconds(400), .milliseconds(3001), .milliseconds(9003),
      .milliseconds(17_007),
    ]
    let weights = intensity == 0 ? [50, 20, 20, 10, 0, 0, 0] : [45, 15, 20, 10, 5, 3, 2]
    let delay = delays[choices.pick(weights: weights)]
    if delay > .seconds(15) { coverage.note(.slow) }
    return delay
  }

  /// The error that a store access meets, before anything is done or after all is done.
  func storeFault(_ access: StoreAccess, by process: LaneID) -> (error: StoreError, isAfterCommit: Bool)? {
    let now = scheduler.now
    let standing = state.withLock { state -> StoreError? in
      if now < state.storeErrorUntil, let error = state.storeError { return error }
      return state.outages[process].flatMap { now < $0.until ? $0.error : nil }
    }
    if let standing {
      let readsToo = standing.code == .locked || standing.code == .unavailable
      if access == .write || access == .outbox || readsToo { return (standing, false) }
    }
    guard isActive else { return nil }
    switch choices.pick(weights: intensity == 1 ? [197, 1, 1, 1] : [94, 2, 2, 2]) {
    case 1 where access == .write || access == .outbox:
      coverage.note(.storeRefusesWrites)
      return (Self.full, false)
    case 2:
      coverage.note(.storeLocked)
      return (Self.locked, false)
    case 3 where access == .write:
      coverage.note(.storeLiesAfterCommit)
      return (StoreError(.unavailable, "The store could not be reached after it had committed."), true)
    default: return nil
    }
  }

  static let full = StoreError(.full, "The disk is full.")
  static let readOnly = StoreError(.readOnly, "The place cannot be written.")
  static let locked = StoreError(.locked, "The store is locked.")
  static let unavailable = StoreError(.unavailable, "The store cannot be reached.")
  static let killed = StoreError(.cancelled, "The process was killed.")
}

import AuthModels
import AuthNetworking
public import AuthStorage
public import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The session of one slot: never lost, leaked, mixed up or revived (rules S1 to S24).
///
/// Make one engine a slot and process, share it freely: every call may come from any task, none needs the main actor, and each has a bound
/// (stated at the call). What a call does to the session is decided by pure machines (`SessionMachine`, `RefreshMachine`,
/// `SlotTransactions`); the engine keeps the one lock, runs their effects, and tells observers.
public final class SessionEngine: Sendable {
  /// Server and account.
  public let slot: SessionSlot
  let backend: any AuthBackend
  let store: any SessionStore
  let time: any TimeSource
  let tasks: TaskStarter
  let options: SessionOptions
  let observers = SessionObservers()
  let core = Guarded(Core())

  /// What stands behind the one lock.
  struct Core: Sendable {
    var machine = SessionMachine()
    var flights: [RefreshFlight] = []
    /// The reading of the store that is under way, at launch or on access.
    var restoring: SharedResult<Void>?
    /// The refresh lock, kept while rotated tokens are in memory alone (S13).
    var retainedLock: (any RefreshLock)?
    /// Grows with each retry of a save that is begun: an older one stops (S13).
    var saves: UInt64 = 0
    /// The session whose end is being retried (S10, S21).
    var ending: SessionID?
    /// Grows with each sign-out: a sign-in that began before one is not revived by its late answer.
    var signOuts: UInt64 = 0
    var nextChangeCheck: Duration = .zero
    var isCheckingForChanges = false
    var lastChangeCounter: UInt64?
    /// Grows with everything that the machine is told: what was read before something else happened is no news any more.
    var happenings: UInt64 = 0
  }

  /// Makes an engine; nothing is read or sent before the first call.
  ///
  /// - Parameters:
  ///   - slot: server and account; `ServerIdentity` makes the server's canonical name.
  ///   - backend: the server's dialect.
  ///   - store: where the session is kept, shared with other processes or not.
  ///   - time: the clocks.
  ///   - tasks: starts what outlives its caller: refreshes, retries of a save, revocations.
  ///   - options: bounds and chance.
  public init(
    slot: SessionSlot, backend: any AuthBackend, store: any SessionStore, time: any TimeSource = SystemClock(),
    tasks: TaskStarter = TaskStarter(), options: SessionOptions = SessionOptions()
  ) {
    self.slot = slot
    self.backend = backend
    self.store = store
    self.time = time
    self.tasks = tasks
    self.options = options
  }

  // MARK: What is known

  /// The state now, without waiting (S22).
  public var snapshot: SessionSnapshot {
    core.withLock { SessionSnapshot(sequence: $0.machine.sequence, state: $0.machine.state) }
  }

  /// Every state from now on, the current one first; a slow reader sees the latest, never an old one twice (S23).
  public func states() -> AsyncStream<SessionSnapshot> {
    core.withLock {
      observers.states(first: SessionSnapshot(sequence: $0.machine.sequence, state: $0.machine.state))
    }
  }

  /// Every event from now on; a reader that is more than `limit` behind gets `missed(n)` for the oldest (S23).
  public func events(limit: Int = 64) -> AsyncStream<SessionEvent> {
    observers.events(limit: limit)
  }

  /// Feeds the machine, and tells observers in the order of what happened.
  @discardableResult
  func handle(_ event: SessionMachine.Event, also change: (inout Core) -> Void = { _ in }) -> [SessionEvent] {
    let now = ClockReading(time)
    return core.withLock { core in
      change(&core)
      return feed(event, to: &core, at: now)
    }
  }

  func feed(_ event: SessionMachine.Event, to core: inout Core, at now: ClockReading) -> [SessionEvent] {
    core.happenings &+= 1
    let before = (sequence: core.machine.sequence, state: options.probe == nil ? .unknown : core.machine.state)
    let events = core.machine.handle(event, at: now, options: options)
    let isNew = core.machine.sequence != before.sequence
    options.probe?(EngineStep(event, from: before.state, to: core.machine.state))
    observers.post(
      isNew ? SessionSnapshot(sequence: core.machine.sequence, state: core.machine.state) : nil, events)
    return events
  }

  /// Tells observers of something that changes no state.
  func tell(_ event: SessionEvent) {
    core.withLock { _ in observers.post(nil, [event]) }
  }

  // MARK: At launch

  /// Reads the store, once however many ask, and returns the state (S22, D4.3).
  ///
  /// A store that cannot be read gives `unavailable`, never signed out, and is read again on the next access (S21). A refresh that an
  /// earlier life of this program left unfinished is begun again at once, in the background (S16). Bound: the store's own.
  @discardableResult
  public func restore() async -> SessionState {
    let (shared, isFirst) = core.withLock { core -> (SharedResult<Void>?, Bool) in
      switch core.machine.state {
      case .signedIn, .signedOut: return (nil, false)
      case .unknown, .unavailable:
        if let shared = core.restoring { return (shared, false) }
        let shared = SharedResult<Void>()
        core.restoring = shared
        return (shared, true)
      }
    }
    if let shared, isFirst {
      tasks.start { await self.readStore(telling: shared) }
    }
    do {
      try await shared?.value()
    } catch {
      // Cancelled: the state as it is, and the reading goes on for the others.
      return snapshot.state
    }
    return snapshot.state
  }

  private func readStore(telling shared: SharedResult<Void>) async {
    let before = core.withLock { $0.happenings }
    let event: SessionMachine.Event
    do {
      event = .read(try await store.read(slot))
    } catch {
      event = .unreadable(error)
    }
    let needsRecovery = core.withLock { core -> Bool in
      core.restoring = nil
      feedReading(event, begunAt: before, to: &core)
      return core.machine.live?.needsRecovery ?? false
    }
    shared.resolve(())
    if needsRecovery, options.recoversAtRestore { startFlight() }
  }

  /// Feeds what was read, unless something has happened since the reading began: a sign-in that was saved meanwhile must not be
  /// ended by a reading that could not see it. Then the next reading tells.
  @discardableResult
  private func feedReading(_ event: SessionMachine.Event, begunAt before: UInt64, to core: inout Core) -> Bool {
    switch core.machine.state {
    case .signedIn, .signedOut:
      guard core.happenings == before else {
        core.lastChangeCounter = nil
        return false
      }
    // Nothing is known yet that an old reading could contradict.
    case .unknown, .unavailable: break
    }
    _ = feed(event, to: &core, at: ClockReading(time))
    return true
  }

  func ensureRestored() async throws {
    let isKnown = core.withLock { core -> Bool in
      switch core.machine.state {
      case .signedIn, .signedOut: true
      case .unknown, .unavailable: false
      }
    }
    guard !isKnown else { return }
    await restore()
    try Task.checkCancellation()
  }

  // MARK: Other processes

  /// S17: asks the store, beside the call and never on it, whether another process has changed it.
  func startChangeCheck() {
    tasks.start { await self.checkForChanges() }
  }

  /// Asks the store whether another process has changed it, and follows (S17).
  ///
  /// While tokens are being used the engine does this by itself; `ChangeWatch` does it also while they are not. A store that cannot be
  /// asked changes nothing, and is asked again the next time. Bound: the store's own.
  public func checkForChanges() async {
    do {
      // A reading that something has overtaken is no news, and is made again: no later check need come.
      for _ in 0..<4 {
        let counter = try await store.changeCounter()
        let (hasChanged, before) = core.withLock { core -> (Bool, UInt64) in
          defer { core.lastChangeCounter = counter }
          return (core.lastChangeCounter != counter, core.happenings)
        }
        guard hasChanged else { break }
        if follow(try await store.read(slot), begunAt: before) { break }
      }
    } catch {
      // The session in use goes on being used from memory (S21); the next refresh meets the same error and tells. What has changed
      // was not seen: the next check reads again, whatever the counter says.
      handle(.unreadable(error)) { $0.lastChangeCounter = nil }
    }
    core.withLock { $0.isCheckingForChanges = false }
  }

  /// False if the reading was overtaken.
  private func follow(_ slot: SlotState, begunAt before: UInt64) -> Bool {
    typealias Orphan = (new: SessionRecord, base: SessionRecord, lock: (any RefreshLock)?)
    let (isNews, orphan) = core.withLock { core -> (Bool, Orphan?) in
      let live = core.machine.live
      guard feedReading(.read(slot), begunAt: before, to: &core) else { return (false, nil) }
      guard let live, let base = live.storedBase, core.machine.live?.record.sessionID != live.record.sessionID else {
        return (true, nil)
      }
      defer { core.retainedLock = nil }
      return (true, (live.record, base, core.retainedLock))
    }
    guard let orphan else { return isNews }
    // Tokens that were in memory alone have lost their session: they are revoked, by the outbox if it can be written (S13, S19).
    tasks.start {
      await orphan.lock?.release()
      if case .failure = await self.save(orphan.new, over: orphan.base) {
        await self.revokeNow(PendingRevocation(orphan.new, id: self.options.makeID()))
      }
    }
    return true
  }
}

import Groundwork
import MockServerCore

/// What the users of the processes do: a schedule's own script, on a lane of its own.
final class Script: Sendable {
  private struct State: Sendable {
    var isDone = false
    var isCalm = false
    var pending: [Task<Void, Never>] = []
    var main: Task<Void, Never>?
  }

  private let world: World
  private let executor: LaneExecutor
  private let state = Guarded(State())

  init(world: World) {
    self.world = world
    executor = LaneExecutor(lane: Scheduler.world, scheduler: world.scheduler)
  }

  /// Whether all has been done and checked.
  var isDone: Bool { state.withLock { $0.isDone } }

  func begin() {
    let main = executor.tasks.start { [self] in
      let first = world.start(column: 0)
      if !world.choices.chance(12) { await signInFirst(first) }
      for column in 1..<max(world.processCount, 1) { drive(world.start(column: column)) }
      drive(first)
      await finishPending()
      await settle()
      state.withLock { $0.isDone = true }
    }
    state.withLock { $0.main = main }
  }

  func cancel() {
    let (main, pending) = state.withLock { ($0.main, $0.pending) }
    main?.cancel()
    for task in pending { task.cancel() }
  }

  /// Starts the next life of a process that was killed, after a while.
  func restart(_ process: SimulatedProcess) {
    let delays: [Duration] = [.zero, .milliseconds(20), .seconds(2), .seconds(60)]
    let delay = delays[world.choices.pick(delays.count)]
    let column = process.column
    add(
      executor.tasks.start { [self] in
        do { try await world.scheduler.sleep(for: delay, lane: Scheduler.world) } catch { return }
        drive(world.start(column: column))
      })
  }

  /// Stops a process for a while, as SIGSTOP would.
  func stop(_ process: SimulatedProcess, for duration: Duration) {
    guard process.isAlive, !world.scheduler.isPaused(process.id) else { return }
    world.scheduler.setPaused(true, process.id)
    world.coverage.note(.stopped)
    world.trace.add(.note(.process(process.column)), "\(process.name) is stopped for \(duration.text)")
    world.scheduler.after(duration) { [world] in
      guard process.isAlive else { return }
      world.monitor.continued(process, after: duration)
      world.scheduler.setPaused(false, process.id)
      world.trace.add(.note(.process(process.column)), "\(process.name) goes on")
    }
  }

  private func add(_ task: Task<Void, Never>) { state.withLock { $0.pending.append(task) } }

  private func finishPending() async {
    while let task = state.withLock({ $0.pending.popLast() }) { await task.value }
  }

  /// Several callers meet where by chance they seldom would: refreshes, sign-ins and sign-outs in the middle of each other.
  func scene() {
    let living = world.living
    guard !living.isEmpty else { return }
    let choices = world.choices
    let first = living[choices.pick(living.count)]
    let others = living.filter { $0.id != first.id }
    let second = others.isEmpty || choices.chance(25) ? first : others[choices.pick(others.count)]
    let signIn = Operation.signIn(email: World.users[choices.pick(2)])
    let ending: Operation = [.signOut, .signIn(email: World.users[1]), .signOutWhoever][choices.pick(3)]
    switch choices.pick(weights: world.lockExcludes ? [1, 2, 2, 2, 1, 1, 0] : [1, 1, 1, 1, 4, 1, 3]) {
    case 0:
      for process in living { enter(.refresh, process) }
    case 1:
      enter(.refresh, first)
      enter(ending, choices.chance(50) ? second : first)
    case 2:
      enter(signIn, first)
      enter(ending, second)
      enter(.signOutWhoever, first)
    case 3:
      // Rotated tokens that cannot be saved, whose session another process ends meanwhile.
      world.arm(World.Outage(point: .afterIntent, error: Faults.full, duration: .seconds(40)))
      enter(.refresh, first)
      enter(ending, second, after: .seconds(5))
      enter(.refresh, first, after: .seconds(40))
    case 4:
      // A refresh that comes back after others have refreshed twice.
      enter(.refresh, second)
      world.scheduler.after(.milliseconds(2)) { [self] in stop(second, for: .seconds(4)) }
      enter(.refresh, first, after: .milliseconds(100))
      enter(.refresh, first, after: .seconds(1))
    case 6:
      // Rotated tokens that cannot be saved, whose session another process refreshes meanwhile.
      world.arm(World.Outage(point: .afterIntent, error: Faults.full, duration: .seconds(40)))
      enter(.refresh, first)
      enter(.refresh, second, after: .seconds(5))
      enter(.refresh, second, after: .seconds(7))
      enter(.refresh, first, after: .seconds(40))
    default:
      // A refusal, or a sign-in, that meets a store that has just gone away.
      let point = [KillPoint.afterIntent, .afterSignIn][choices.pick(2)]
      world.arm(
        World.Outage(
          point: point, error: Faults.locked, duration: .seconds(1), isAfterCommit: point == .afterSignIn))
      if point == .afterIntent { revokeLastSession() }
      enter(point == .afterIntent ? .refresh : signIn, first)
      enter(.refresh, first, after: .milliseconds(1500))
    }
  }

  private func revokeLastSession() {
    let realm = world.server.realm()
    guard let last = realm.snapshot.sessions.last(where: \.alive) else { return }
    realm.revoke(.session(last.id))
    world.coverage.note(.revokedSession)
    world.trace.add(.banner, "the server revokes the session")
  }

  private func enter(_ operation: Operation, _ process: SimulatedProcess, after start: Duration = .zero) {
    let delays: [Duration] = [.zero, .milliseconds(1), .milliseconds(3), .milliseconds(31), .milliseconds(450)]
    let delay = start + delays[world.choices.pick(weights: [50, 15, 15, 10, 10])]
    add(
      process.tasks.start { [self] in
        do { try await world.scheduler.sleep(for: delay, lane: process.id) } catch { return }
        await call(operation, process)
      })
  }

  // MARK: What users do

  /// Most schedules begin with a session that nothing has happened to yet.
  private func signInFirst(_ process: SimulatedProcess) async {
    if world.faults.intensity > 0, world.choices.chance(6) {
      world.arm(
        World.Outage(point: .afterSignIn, error: Faults.locked, duration: .milliseconds(1), isAfterCommit: true))
    }
    _ = await process.tasks.start { [self] in await call(.signIn(email: World.users[0]), process) }.value
  }

  /// Lets some callers loose on a process.
  private func drive(_ process: SimulatedProcess) {
    let callers = world.choices.pick(weights: [30, 50, 20]) + 1
    for _ in 0..<callers {
      let calls = world.choices.pick(7) + 1
      add(
        process.tasks.start { [self] in
          for _ in 0..<calls where process.isAlive && !world.faults.isStopped { await turn(process) }
        })
    }
  }

  private func turn(_ process: SimulatedProcess) async {
    let ttl = world.accessTTL
    // Everyone who waits for the next full lifetime comes at the same time, to a token that everyone finds old.
    let untilAll = ttl * (Int((world.scheduler.now / ttl).rounded(.down)) + 1) - world.scheduler.now
    let idles: [Duration] = [
      .zero, .milliseconds(7), .milliseconds(700), .seconds(5), ttl - ttl / 10, untilAll, .seconds(70), ttl * 2,
    ]
    let idle = idles[world.choices.pick(weights: [33, 14, 14, 9, 9, 13, 5, 3])]
    do { try await world.scheduler.sleep(for: idle, lane: process.id) } catch { return }
    guard process.isAlive else { return }
    let isOther = world.choices.pick(weights: [60, 40]) == 1
    let operations: [Operation] = [
      .me, .token, .refresh, .longToken(ttl * 3 / 4), .user, .signOut, .signIn(email: World.users[isOther ? 1 : 0]),
      .restore,
      .flush,
      .watch(.seconds(5)),
    ]
    let operation = operations[world.choices.pick(weights: [45, 16, 7, 3, 4, 9, 8, 3, 3, 3])]
    if case .signIn = operation { world.coverage.note(.userSwitch) }
    if world.choices.chance(12) {
      await cancelledCall(operation, process)
    } else {
      await call(operation, process)
    }
  }

  @discardableResult
  private func call(_ operation: Operation, _ process: SimulatedProcess) async -> CallOutcome? {
    guard process.isAlive, let subject = process.subject else { return nil }
    let id = world.monitor.began(operation, by: process, bound: subject.bound(operation))
    let outcome = await subject.perform(operation, call: id)
    guard process.isAlive else { return nil }
    // What the process believes may have changed in this very step.
    world.monitor.look(at: process, subject.sight)
    world.monitor.ended(id, outcome, of: process)
    return outcome
  }

  private func cancelledCall(_ operation: Operation, _ process: SimulatedProcess) async {
    guard process.isAlive, let subject = process.subject else { return }
    let id = world.monitor.began(operation, by: process, bound: subject.bound(operation))
    let task = process.tasks.start { [self] in
      let outcome = await subject.perform(operation, call: id)
      guard process.isAlive else { return }
      world.monitor.look(at: process, subject.sight)
      world.monitor.ended(id, outcome, of: process)
    }
    let delays: [Duration] = [.milliseconds(1), .zero, .milliseconds(100), .seconds(2), .seconds(10)]
    let delay = delays[world.choices.pick(delays.count)]
    do { try await world.scheduler.sleep(for: delay, lane: process.id) } catch { return await task.value }
    if process.isAlive { world.monitor.cancelled(id, of: process) }
    task.cancel()
    await task.value
  }

  // MARK: Quiescence

  /// Faults stop; back-offs and pauses run out; then a call has to succeed in each process (10), and observers have to know (9).
  private func settle() async {
    world.calm()
    world.trace.add(.banner, "faults stop")
    for column in 0..<world.processCount where !world.living.contains(where: { $0.column == column }) {
      _ = world.start(column: column)
    }
    do { try await world.scheduler.sleep(for: .seconds(150), lane: Scheduler.world) } catch { return }
    world.monitor.atRest()
    for process in world.living {
      await process.tasks.start { [self] in
        // The first call may be the one that finds out what other processes have done (S17, S18).
        await call(.me, process)
        do { try await world.scheduler.sleep(for: .milliseconds(1100), lane: process.id) } catch { return }
        let mustSucceed = world.monitor.mustSucceed(process)
        let outcome = await call(.me, process)
        guard mustSucceed, process.isAlive, case .done? = outcome else {
          if mustSucceed, process.isAlive {
            world.monitor.fail(
              10, "no recovery", "\(process.name) is calm, and GET /me ends: \(outcome?.name ?? "not at all")")
          }
          return
        }
      }.value
    }
    do { try await world.scheduler.sleep(for: .seconds(1), lane: Scheduler.world) } catch { return }
    for process in world.living {
      if let fault = process.subject?.observerFault() {
        world.monitor.fail(9, "observers misled", "\(process.name): \(fault)")
      }
    }
  }
}

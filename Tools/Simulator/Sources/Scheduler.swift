import Groundwork
import VirtualTime

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Who a job belongs to: a process, or the world around the processes.
typealias LaneID = Int

/// The process of a job is dead: its timers fire with this, its seams throw their own word for it.
struct Killed: Error {}

/// Owns every job, every timer and the clock of one schedule; single-threaded, and each step is a choice.
final class Scheduler: Sendable {
  /// The lane of what belongs to no process: messages on their way, disturbances, the schedule's own script.
  static let world: LaneID = -1

  fileprivate enum Work: Sendable {
    case job(UnownedJob, LaneExecutor)
    case resume(UnsafeContinuation<Void, Never>)
    case act(@Sendable () -> Void)
  }

  fileprivate struct Ready: Sendable {
    let lane: LaneID
    let work: Work
  }

  fileprivate enum Timer: Sendable {
    case sleeper(CheckedContinuation<Void, any Error>, LaneID, tag: Int)
    case act(@Sendable () -> Void)
  }

  fileprivate struct State: Sendable {
    var ready: [Ready] = []
    var now: Duration = .zero
    var lastID: UInt64 = 0
    var queue = SleeperQueue()
    var timers: [UInt64: Timer] = [:]
    var cancelledEarly: Set<UInt64> = []
    var dead: Set<LaneID> = []
    var paused: Set<LaneID> = []
    var escaped = 0
    var steps = 0
    var lastLane: LaneID?
  }

  private let state = Guarded(State())
  private let owner = currentThread()

  /// The instant it is; the schedule began at zero.
  var now: Duration { state.withLock { $0.now } }
  /// Jobs run, timers fired and jumps of the clock.
  var steps: Int { state.withLock { $0.steps } }
  /// Whose job or action the last step ran; nil if it let time pass.
  var lastLane: LaneID? { state.withLock { $0.lastLane } }
  /// Jobs that arrived from another thread: something has escaped.
  var escaped: Int { state.withLock { $0.escaped } }

  // MARK: What comes in

  fileprivate func enqueue(_ job: UnownedJob, on executor: LaneExecutor) {
    let isForeign = currentThread() != owner
    state.withLock { state in
      if isForeign { state.escaped += 1 }
      state.ready.append(Ready(lane: executor.lane, work: .job(job, executor)))
    }
  }

  /// Gives the turn away: where a process can be overtaken, or killed.
  func pause(_ lane: LaneID) async {
    await withUnsafeContinuation { continuation in
      state.withLock { $0.ready.append(Ready(lane: lane, work: .resume(continuation))) }
    }
  }

  /// Does something after so long, in an order with what else is due then that is chosen; returns the timer's name.
  @discardableResult
  func after(_ delay: Duration, _ action: @escaping @Sendable () -> Void) -> UInt64 {
    state.withLock { state in
      state.lastID += 1
      if delay > .zero {
        state.queue.insert(state.lastID, deadline: state.now + delay)
        state.timers[state.lastID] = .act(action)
      } else {
        state.ready.append(Ready(lane: Self.world, work: .act(action)))
      }
      return state.lastID
    }
  }

  /// Takes a timer of `after` back.
  func cancel(_ timer: UInt64) {
    state.withLock { _ = $0.timers.removeValue(forKey: timer) }
  }

  /// Sleeps; ends early if the task is cancelled, the lane is killed, or `wake` is called with its tag.
  func sleep(for duration: Duration, lane: LaneID, tag: Int = 0) async throws {
    try Task.checkCancellation()
    guard duration > .zero else { return }
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let refusal = state.withLock { state -> (any Error)? in
          if state.cancelledEarly.remove(id) != nil { return CancellationError() }
          if state.dead.contains(lane) { return Killed() }
          state.queue.insert(id, deadline: state.now + min(duration, .seconds(1_000_000_000)))
          state.timers[id] = .sleeper(continuation, lane, tag: tag)
          return nil
        }
        if let refusal { continuation.resume(throwing: refusal) }
      }
    } onCancel: {
      let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
        guard case .sleeper(let continuation, _, _)? = state.timers.removeValue(forKey: id) else {
          state.cancelledEarly.insert(id)
          return nil
        }
        return continuation
      }
      continuation?.resume(throwing: CancellationError())
    }
    state.withLock { _ = $0.cancelledEarly.remove(id) }
  }

  /// Wakes everyone who sleeps under this tag.
  func wake(tag: Int) {
    for continuation in takeSleepers({ $1 == tag }) { continuation.resume() }
  }

  /// Fires every timer of a lane, now and from now on.
  func kill(_ lane: LaneID) {
    state.withLock { state in
      state.dead.insert(lane)
      state.paused.remove(lane)
    }
    for continuation in takeSleepers({ sleeper, _ in sleeper == lane }) { continuation.resume(throwing: Killed()) }
  }

  private func takeSleepers(_ isMeant: (LaneID, Int) -> Bool) -> [CheckedContinuation<Void, any Error>] {
    state.withLock { state in
      var found: [(UInt64, CheckedContinuation<Void, any Error>)] = []
      for (id, timer) in state.timers {
        if case .sleeper(let continuation, let lane, let tag) = timer, isMeant(lane, tag) {
          found.append((id, continuation))
        }
      }
      for (id, _) in found { state.timers[id] = nil }
      return found.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }

  /// Stops a lane as SIGSTOP would: its jobs wait.
  func setPaused(_ isPaused: Bool, _ lane: LaneID) {
    state.withLock { state in
      if isPaused, !state.dead.contains(lane) { state.paused.insert(lane) } else { state.paused.remove(lane) }
    }
  }

  func isPaused(_ lane: LaneID) -> Bool { state.withLock { $0.paused.contains(lane) } }

  // MARK: What goes on

  /// Runs one job or action, or lets time pass until the next timer; false if there is nothing left.
  func step(_ choices: Choices) -> Bool {
    if let ready = takeReady(choices) {
      run(ready)
      return true
    }
    return jump()
  }

  private func takeReady(_ choices: Choices) -> Ready? {
    let candidates = state.withLock { state -> [Int]? in
      guard !state.ready.isEmpty else { return [] }
      guard !state.paused.isEmpty else { return nil }
      return state.ready.indices.filter { !state.paused.contains(state.ready[$0].lane) }
    }
    let index: Int
    if let candidates {
      guard !candidates.isEmpty else { return nil }
      index = candidates[choices.pick(candidates.count)]
    } else {
      index = choices.pick(state.withLock { $0.ready.count })
    }
    return state.withLock { state in
      state.steps += 1
      let ready = state.ready.remove(at: index)
      state.lastLane = ready.lane
      return ready
    }
  }

  private func run(_ ready: Ready) {
    switch ready.work {
    case .job(let job, let executor): job.runSynchronously(on: executor.asUnownedTaskExecutor())
    case .act(let action): action()
    case .resume(let continuation):
      // Resuming makes its job ready; that job is what was chosen.
      continuation.resume()
      let job = state.withLock { $0.ready.popLast() }
      if let job { run(job) }
    }
  }

  private func jump() -> Bool {
    let (sleepers, isDone) = state.withLock { state -> ([CheckedContinuation<Void, any Error>], Bool) in
      guard let deadline = state.nextDeadline() else { return ([], true) }
      state.steps += 1
      state.lastLane = nil
      state.now = max(state.now, deadline)
      var sleepers: [CheckedContinuation<Void, any Error>] = []
      while let next = state.nextDeadline(), next <= state.now, let first = state.queue.first {
        state.queue.removeFirst()
        switch state.timers.removeValue(forKey: first.id) {
        case .sleeper(let continuation, _, _)?: sleepers.append(continuation)
        case .act(let action)?: state.ready.append(Ready(lane: Self.world, work: .act(action)))
        case nil: break
        }
      }
      return (sleepers, false)
    }
    for sleeper in sleepers { sleeper.resume() }
    return !isDone
  }
}

extension Scheduler.State {
  fileprivate mutating func nextDeadline() -> Duration? {
    while let first = queue.first {
      if timers[first.id] != nil { return first.deadline }
      queue.removeFirst()
    }
    return nil
  }
}

/// Puts the jobs of one lane before the scheduler.
final class LaneExecutor: TaskExecutor {
  let lane: LaneID
  private let scheduler: Scheduler

  init(lane: LaneID, scheduler: Scheduler) {
    self.lane = lane
    self.scheduler = scheduler
  }

  func enqueue(_ job: consuming ExecutorJob) {
    scheduler.enqueue(UnownedJob(job), on: self)
  }

  /// Starts tasks of this lane.
  var tasks: TaskStarter { TaskStarter(executor: self) }
}

/// The thread that runs this, asked anew each time: an optimizer may move the question itself across a suspension.
@inline(never)
private func currentThread() -> UInt {
  #if canImport(Darwin)
    UInt(bitPattern: pthread_self())
  #else
    UInt(pthread_self())
  #endif
}

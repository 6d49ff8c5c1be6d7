// Task executors are newer than the oldest Apple systems that this package supports (macOS 14, iOS 17).
#if !canImport(Darwin)
  import Dispatch
  public import Groundwork

  /// Runs tasks one at a time, in the order in which they became ready, and lets virtual time pass when nothing is left to run.
  ///
  /// Hand it to `TaskStarter` and its clock to everything that asks for a `TimeSource`: a test that sleeps for hours ends in
  /// milliseconds, and runs the same way each time. While work that it cannot see is under way (a socket, a thread, a child
  /// process), the clock must be held: `hold` and `release`, or `withHold`.
  public final class VirtualTimeExecutor: TaskExecutor {
    fileprivate struct State {
      var ready: [UnownedJob] = []
      var head = 0
      var isDraining = false
      var holds = 0
      /// Grows with everything that could lead to more work: tells whether anything has happened since.
      var activity: UInt64 = 0
      /// The activity after which the main actor was seen to have nothing more to do.
      var fencedActivity: UInt64?
      var isFencing = false
    }

    /// The clock that this executor moves.
    public let clock: VirtualClock
    private let choose: (@Sendable (Int) -> Int)?
    private let waitsForMainActor: Bool
    private let state = Guarded(State())
    private let queue = DispatchQueue(label: "VirtualTimeExecutor")
    /// A task on the main actor may queue there anew at each call that it makes (it does, now and then, under a preferred executor):
    /// so many rounds behind whatever waits there see through a chain of that length.
    private static let mainActorRounds = 64

    /// Makes an executor that moves `clock`.
    ///
    /// - Parameters:
    ///   - waitsForMainActor: whether to let the main actor run what it has before each jump of the clock: for code with parts
    ///     on the main actor, which this executor cannot run itself. Costs a few thread switches a jump.
    ///   - choose: picks the next job by its index among so many ready ones; without it the one that waits longest. An index
    ///     out of range means the first.
    public init(
      clock: VirtualClock = VirtualClock(), waitsForMainActor: Bool = false, choose: (@Sendable (Int) -> Int)? = nil
    ) {
      self.clock = clock
      self.choose = choose
      self.waitsForMainActor = waitsForMainActor
      clock.timeline.onNewSleeper { [weak self] in self?.wake() }
    }

    public func enqueue(_ job: consuming ExecutorJob) {
      let unowned = UnownedJob(job)
      state.withLock { $0.ready.append(unowned) }
      wake()
    }

    /// A starter whose tasks run here.
    public var tasks: TaskStarter { TaskStarter(executor: self) }

    /// Keeps the clock from jumping until `release` is called as often as `hold`.
    public func hold() { state.withLock { $0.holds += 1 } }

    /// Ends one `hold`; a release too many does nothing.
    public func release() {
      state.withLock { $0.holds = max(0, $0.holds - 1) }
      wake()
    }

    /// Keeps the clock from jumping while `body` waits for something that this executor does not run.
    public func withHold<Success, Failure: Error>(
      _ body: () async throws(Failure) -> Success
    ) async throws(Failure) -> Success {
      hold()
      defer { release() }
      return try await body()
    }

    /// Lets time pass until `instant` of the clock's timeline, running everything that is due before.
    public func run(until instant: Duration) async {
      let left = instant - clock.elapsed
      guard left > .zero else { return }
      let clock = clock
      await tasks.start {
        do { try await clock.sleep(for: left) } catch { return }
      }.value
    }

    private func wake() {
      let mustStart = state.withLock { state in
        state.activity += 1
        if state.isDraining { return false }
        state.isDraining = true
        return true
      }
      if mustStart { queue.async { self.drain() } }
    }

    private enum Step {
      case run(UnownedJob)
      case jump(activity: UInt64)
      case fence(activity: UInt64)
      case stop
    }

    /// Runs jobs, then jumps, until neither is possible.
    private func drain() {
      while true {
        switch state.withLock({ nextStep(&$0) }) {
        case .run(let job): job.runSynchronously(on: asUnownedTaskExecutor())
        case .jump(let activity):
          if clock.timeline.jumpToNextSleeper() { continue }
          // Nobody sleeps. If somebody has come in between, there is a new activity, and the loop goes on.
          let isIdle = state.withLock { state in
            if state.activity == activity { state.isDraining = false }
            return !state.isDraining
          }
          if isIdle { return }
        case .fence(let activity):
          passFence(activity)
          return
        case .stop: return
        }
      }
    }

    private func nextStep(_ state: inout State) -> Step {
      if state.head < state.ready.count {
        let index = choose.map { $0(state.ready.count - state.head) } ?? 0
        let isInRange = (0..<(state.ready.count - state.head)).contains(index)
        return .run(state.take(isInRange ? index : 0))
      }
      guard state.holds == 0 else {
        state.isDraining = false
        return .stop
      }
      guard waitsForMainActor, state.fencedActivity != state.activity else { return .jump(activity: state.activity) }
      state.isDraining = false
      if state.isFencing { return .stop }
      state.isFencing = true
      return .fence(activity: state.activity)
    }

    /// Goes through the main actor's queue, behind all that waits there, again and again as long as nothing comes of it.
    private func passFence(_ activity: UInt64) {
      // lint: task-start because this is what lies beneath TaskStarter: the main actor's queue is the fence
      Task { @MainActor in
        for _ in 0..<Self.mainActorRounds {
          guard state.withLock({ $0.activity == activity }) else { break }
          await Task.yield()
        }
        let mustStart = state.withLock { state in
          state.isFencing = false
          if state.activity == activity { state.fencedActivity = activity }
          if state.isDraining { return false }
          state.isDraining = true
          return true
        }
        if mustStart { queue.async { self.drain() } }
      }
    }
  }

  extension VirtualTimeExecutor.State {
    /// Takes the job at `index` among those that wait, keeping the others' order.
    fileprivate mutating func take(_ index: Int) -> UnownedJob {
      let job = ready[head + index]
      if index > 0 {
        ready.remove(at: head + index)
      } else {
        head += 1
      }
      if head == ready.count {
        ready.removeAll(keepingCapacity: true)
        head = 0
      } else if head > 1024, head * 2 > ready.count {
        ready.removeFirst(head)
        head = 0
      }
      return job
    }
  }

  /// Runs `body` on an executor and a clock of its own, which jumps whenever everybody sleeps; afterwards nobody sleeps any more.
  ///
  /// - Parameters:
  ///   - waitsForMainActor: see `VirtualTimeExecutor.init`.
  ///   - choose: see there, too.
  /// - Throws: what `body` throws.
  public func withVirtualTime<Success: Sendable>(
    waitsForMainActor: Bool = false, choose: (@Sendable (Int) -> Int)? = nil,
    _ body: @escaping @Sendable (_ clock: VirtualClock, _ tasks: TaskStarter) async throws -> Success
  ) async throws -> Success {
    let executor = VirtualTimeExecutor(waitsForMainActor: waitsForMainActor, choose: choose)
    let clock = executor.clock
    // In the caller's own task, so that what belongs to it (the test that an issue is recorded for) is still known inside.
    return try await withTaskExecutorPreference(executor) {
      // At the end, and before the executor can jump on to somebody's next deadline.
      defer { clock.finish() }
      return try await body(clock, executor.tasks)
    }
  }
#endif

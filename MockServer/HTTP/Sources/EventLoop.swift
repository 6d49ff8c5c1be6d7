import CLibevent
import Groundwork
public import MockServerCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// One libevent loop on one thread of its own: the sockets of a front and the timers of its server run on it.
///
/// Make it first, hand it to the server as its `DeliveryScheduler`, then hand both to the `HTTPFront`, which starts and
/// stops it. What is scheduled before the start waits for it; what is still waiting at the stop never runs.
///
/// Safe to share because `base` and `wake` are libevent objects made with its locks on (`evthread_use_pthreads`), `state`
/// is behind a lock, and everything else is touched on the loop's thread alone.
public final class EventLoop: DeliveryScheduler, @unchecked Sendable {
  private struct State {
    var inbox: [@Sendable () -> Void] = []
    var hasStarted = false
    var hasEnded = false
  }

  /// The libevent loop; to be used on the loop's thread.
  let base: OpaquePointer
  private let wake: OpaquePointer
  private let state = Guarded(State())
  private var timers: [UInt64: LoopTimer] = [:]
  private var lastTimer: UInt64 = 0
  private var fileWatches: [FileWatch] = []

  /// Makes a loop that does not run yet.
  ///
  /// - Throws: `FrontError` (`exhausted`), if the system has no descriptor left for it.
  public init() throws(FrontError) {
    guard Self.locksAreOn, let base = event_base_new() else {
      throw FrontError(.exhausted, "No event loop can be made: too many open files, or no memory.")
    }
    let box = WakeBox()
    guard
      let wake = event_new(
        base, -1, Int16(EV_PERSIST), { _, _, context in WakeBox.fire(context) },
        Unmanaged.passUnretained(box).toOpaque())
    else {
      event_base_free(base)
      throw FrontError(.exhausted, "No event loop can be made: no memory.")
    }
    self.base = base
    self.wake = wake
    self.box = box
    box.loop = self
  }

  private let box: WakeBox

  deinit {
    // A loop that ran has freed its timers and its wake event at its end, on its own thread.
    if !state.withLock({ $0.hasStarted }) { event_free(wake) }
    event_base_free(base)
  }

  /// Whether the caller is on the loop's thread.
  var isCurrent: Bool {
    pthread_getspecific(Self.currentKey) == UnsafeMutableRawPointer(Unmanaged.passUnretained(self).toOpaque())
  }

  /// Runs `work` on the loop's thread, soon.
  ///
  /// - Returns: false if the loop has ended, so that the work will never run.
  @discardableResult
  func post(_ work: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      guard !state.hasEnded else { return false }
      state.inbox.append(work)
      // Waking belongs under the lock: after `hasEnded` the event is gone.
      if state.inbox.count == 1 { event_active(wake, Int32(EV_READ), 0) }
      return true
    }
  }

  /// Calls `work` on the loop's thread when `duration` has passed; zero or less means as soon as possible.
  public func schedule(after duration: Duration, _ work: @escaping @Sendable () -> Void) {
    guard isCurrent else {
      post { [self] in schedule(after: duration, work) }
      return
    }
    // Without memory for a timer, too early is better than never.
    if !scheduleOnLoop(after: duration, work) { post(work) }
  }

  /// The same for what never leaves the loop's thread; to be called on it.
  ///
  /// - Returns: false if there is no memory for a timer, so that the work will not run.
  @discardableResult
  func scheduleOnLoop(after duration: Duration, _ work: @escaping () -> Void) -> Bool {
    lastTimer += 1
    let timer = LoopTimer(id: lastTimer, loop: self, work: work)
    guard timer.start(after: duration) else { return false }
    timers[timer.id] = timer
    return true
  }

  /// Calls `onChange` on the loop's thread whenever one of the files is another than before: rewritten, replaced, or reached by another
  /// symlink. What an editor does in several steps is one change.
  ///
  /// The files are looked at before this returns: a later change is not missed, also before the loop is started.
  public func watch(files: [String], onChange: @escaping @Sendable () -> Void) {
    let known = files.map(FileIdentity.init)
    post { [self] in
      let watch = FileWatch(files, known: known, loop: self, onChange: onChange)
      fileWatches.append(watch)
      watch.start()
    }
  }

  /// Takes a timer that has fired off the list.
  func forget(_ timer: LoopTimer) {
    timers[timer.id] = nil
  }

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - freeing: runs on it when the loop has ended: gives back what was made with `base`.
  ///   - finally: runs on it last.
  func start(
    freeing: @escaping @Sendable () -> Void, finally: @escaping @Sendable () -> Void
  ) throws(FrontError) {
    let isFirst = state.withLock { state in
      defer { state.hasStarted = true }
      return !state.hasStarted
    }
    guard isFirst else { throw FrontError(.alreadyStarted, "This event loop has been started before: make a new one.") }
    let started = LoopThread.start { [self] in
      pthread_setspecific(Self.currentKey, Unmanaged.passUnretained(self).toOpaque())
      event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY)
      state.withLock { state in
        state.hasEnded = true
        state.inbox = []
      }
      for timer in timers.values { timer.free() }
      timers = [:]
      for watch in fileWatches { watch.free() }
      fileWatches = []
      freeing()
      event_free(wake)
      // Closed bufferevents are freed by the loop itself, in one more round.
      event_base_loop(base, EVLOOP_NONBLOCK)
      pthread_setspecific(Self.currentKey, nil)
      finally()
    }
    guard started else {
      state.withLock { $0.hasEnded = true }
      event_free(wake)
      throw FrontError(.exhausted, "No thread can be started for the event loop.")
    }
  }

  /// Ends the loop after the work that is running; to be called on its thread.
  func end() {
    event_base_loopbreak(base)
  }

  fileprivate func runInbox() {
    let works = state.withLock { state in
      defer { state.inbox = [] }
      return state.inbox
    }
    for work in works { work() }
  }

  private static let locksAreOn = evthread_use_pthreads() == 0

  private static let currentKey: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  /// What the wake event points to; the loop holds it as long as the event lives.
  private final class WakeBox {
    weak var loop: EventLoop?

    static func fire(_ context: UnsafeMutableRawPointer?) {
      guard let context else { return }
      Unmanaged<WakeBox>.fromOpaque(context).takeUnretainedValue().loop?.runInbox()
    }
  }
}

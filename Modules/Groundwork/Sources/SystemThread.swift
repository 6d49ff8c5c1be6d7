#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Threads of the operating system, for calls that block: on the cooperative pool, which has a thread a core, they would stop every
/// other task of the process.
package enum SystemThread {
  /// Starts a thread that runs `body` and ends with it, with all signals blocked: they are for the program's own threads.
  ///
  /// - Returns: false if the system gives no further thread; `body` does not run then.
  package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    let context = Unmanaged.passRetained(Work(body: body))
    #if canImport(Darwin)
      var thread: pthread_t?
      let failure = pthread_create(&thread, nil, { threadMain($0) }, context.toOpaque())
      if failure == 0, let thread { pthread_detach(thread) }
    #else
      var thread = pthread_t()
      let failure = pthread_create(&thread, nil, { threadMain($0) }, context.toOpaque())
      if failure == 0 { pthread_detach(thread) }
    #endif
    if failure != 0 { context.release() }
    return failure == 0
  }

  fileprivate final class Work: Sendable {
    let body: @Sendable () -> Void

    init(body: @escaping @Sendable () -> Void) {
      self.body = body
    }
  }

  /// Lets the other threads that are ready to run go first.
  package static func yield() {
    sched_yield()
  }
}

private func threadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  Unmanaged<SystemThread.Work>.fromOpaque(context).takeRetainedValue().body()
  return nil
}

/// A bell that one thread waits for, and any thread rings; one that was rung before is not missed.
// Safe because `isRung` is reached under `mutex` alone, and the two pthread objects are made for sharing.
package final class ThreadBell: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let ringing = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var isRung = false

  package init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(ringing, nil)
  }

  deinit {
    pthread_cond_destroy(ringing)
    pthread_mutex_destroy(mutex)
    ringing.deallocate()
    mutex.deallocate()
  }

  /// Blocks the thread until the bell is rung. Never on the cooperative pool.
  package func wait() {
    pthread_mutex_lock(mutex)
    while !isRung { pthread_cond_wait(ringing, mutex) }
    isRung = false
    pthread_mutex_unlock(mutex)
  }

  /// Wakes the thread that waits, or will.
  package func ring() {
    pthread_mutex_lock(mutex)
    isRung = true
    pthread_cond_signal(ringing)
    pthread_mutex_unlock(mutex)
  }
}

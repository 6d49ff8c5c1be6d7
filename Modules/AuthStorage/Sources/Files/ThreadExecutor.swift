internal import Groundwork

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Runs an actor on a thread of its own, so that its blocking calls hold up nobody else.
///
/// SQLite reads, syncs and waits in the calling thread; on the cooperative pool, which has a thread a core, that would
/// stop every other task of the process. The thread starts with the first job and ends when the executor is gone.
final class ThreadExecutor: SerialExecutor {
  private let queue = ThreadQueue()

  deinit { queue.stop() }

  func enqueue(_ job: consuming ExecutorJob) {
    queue.push(UnownedJob(job), for: asUnownedSerialExecutor())
  }
}

// Safe because everything but the two pthread objects, which are made for sharing, is reached under `mutex` alone.
private final class ThreadQueue: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let arrival = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var jobs: [(job: UnownedJob, executor: UnownedSerialExecutor)] = []
  private var isServed = false
  private var isStopped = false

  init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(arrival, nil)
  }

  deinit {
    pthread_cond_destroy(arrival)
    pthread_mutex_destroy(mutex)
    arrival.deallocate()
    mutex.deallocate()
  }

  func push(_ job: UnownedJob, for executor: UnownedSerialExecutor) {
    pthread_mutex_lock(mutex)
    jobs.append((job, executor))
    let isFirst = !isServed
    isServed = true
    if !isFirst { pthread_cond_signal(arrival) }
    pthread_mutex_unlock(mutex)
    guard isFirst else { return }
    if SystemThread.start({ self.serve(waits: true) }) { return }
    // No thread to be had: the caller's does the work, one job at a time as ever, rather than nobody.
    serve(waits: false)
  }

  func stop() {
    pthread_mutex_lock(mutex)
    isStopped = true
    pthread_cond_signal(arrival)
    pthread_mutex_unlock(mutex)
  }

  private func serve(waits: Bool) {
    pthread_mutex_lock(mutex)
    while true {
      if !jobs.isEmpty {
        let batch = jobs
        jobs.removeAll(keepingCapacity: true)
        pthread_mutex_unlock(mutex)
        for next in batch { next.job.runSynchronously(on: next.executor) }
        pthread_mutex_lock(mutex)
      } else if isStopped || !waits {
        break
      } else {
        pthread_cond_wait(arrival, mutex)
      }
    }
    isServed = false
    pthread_mutex_unlock(mutex)
  }
}

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// One answer, made by a task and waited for by a thread that may block: a store's own, never one of the pool's.
// Safe because `answer` is reached only between lock and unlock of `mutex`.
final class BlockingAnswer<Value: Sendable>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let arrival = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var answer: Value?

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

  /// Gives the answer; the first one counts.
  func give(_ value: Value) {
    pthread_mutex_lock(mutex)
    if answer == nil { answer = value }
    pthread_cond_signal(arrival)
    pthread_mutex_unlock(mutex)
  }

  /// Waits for the answer.
  func wait() -> Value {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let answer { return answer }
      pthread_cond_wait(arrival, mutex)
    }
  }
}

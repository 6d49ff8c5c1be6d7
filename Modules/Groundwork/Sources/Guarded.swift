#if canImport(os)
  import os
#elseif TSAN
  import Glibc
#else
  public import Synchronization
#endif

/// A value behind a lock: the one lock of this project.
///
/// Use it for state that is read and written in a few instructions and never across an `await`; use an actor for the rest.
/// It is `Mutex` on Linux, `OSAllocatedUnfairLock` on Apple systems (where `Mutex` is newer than the oldest system that is
/// supported), and a pthread mutex under `-DTSAN`, because the thread sanitizer takes `Mutex` for a race.
/// The lock is not recursive: `withLock` inside `withLock` of the same value never returns.
public final class Guarded<Value: Sendable>: Sendable {
  #if canImport(os)
    private let lock: OSAllocatedUnfairLock<Value>

    /// Makes the guard around its first value.
    public init(_ value: Value) {
      lock = OSAllocatedUnfairLock(initialState: value)
    }

    /// Runs `body` with exclusive access to the value and returns what it returns, or throws what it throws.
    public func withLock<Success: Sendable, Failure: Error>(
      _ body: (inout Value) throws(Failure) -> Success
    ) throws(Failure) -> Success {
      let outcome = lock.withLockUnchecked { value -> Result<Success, Failure> in
        do throws(Failure) {
          return .success(try body(&value))
        } catch {
          return .failure(error)
        }
      }
      return try outcome.get()
    }
  #elseif TSAN
    private let storage: Storage

    /// Makes the guard around its first value.
    public init(_ value: Value) {
      storage = Storage(value)
    }

    /// Runs `body` with exclusive access to the value and returns what it returns, or throws what it throws.
    public func withLock<Success: Sendable, Failure: Error>(
      _ body: (inout Value) throws(Failure) -> Success
    ) throws(Failure) -> Success {
      pthread_mutex_lock(storage.mutex)
      defer { pthread_mutex_unlock(storage.mutex) }
      return try body(&storage.value)
    }

    // Safe because `value` is reached only between lock and unlock of `mutex`.
    private final class Storage: @unchecked Sendable {
      let mutex: UnsafeMutablePointer<pthread_mutex_t>
      var value: Value

      init(_ value: Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
      }

      deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
      }
    }
  #else
    @usableFromInline
    let mutex: Mutex<Value>

    /// Makes the guard around its first value.
    @inlinable
    public init(_ value: Value) {
      mutex = Mutex(value)
    }

    /// Runs `body` with exclusive access to the value and returns what it returns, or throws what it throws.
    @inlinable
    public func withLock<Success: Sendable, Failure: Error>(
      _ body: (inout Value) throws(Failure) -> Success
    ) throws(Failure) -> Success {
      try mutex.withLock { value throws(Failure) in try body(&value) }
    }
  #endif
}

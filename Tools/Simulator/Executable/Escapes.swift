import Groundwork

#if os(Linux)
  @_spi(ExperimentalCustomExecutors) import _Concurrency

  /// Own executors in the place of the platform's: whatever arrives at them has escaped the simulator's scheduler.
  enum Escapes {
    /// Counts, and runs nothing: a job that got here belongs to nobody.
    final class Trap: TaskExecutor, MainExecutor {
      let count = Guarded(0)

      func enqueue(_ job: consuming ExecutorJob) {
        count.withLock { $0 += 1 }
      }

      func run() throws {}
      func stop() {}
    }

    enum Factory: ExecutorFactory {
      static let trap = Trap()
      static var mainExecutor: any MainExecutor { trap }
      static var defaultExecutor: any TaskExecutor { trap }
    }

    /// Must come before the first task.
    static func watch() { _createExecutors(factory: Factory.self) }

    /// Jobs that have escaped.
    static var count: Int { Factory.trap.count.withLock { $0 } }
  }
#else
  /// Other platforms have no way to replace their executors; the scheduler still asserts its thread.
  enum Escapes {
    static func watch() {}
    static var count: Int { 0 }
  }
#endif

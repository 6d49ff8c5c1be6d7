/// The one seam through which unstructured tasks are started.
///
/// Everything that outlives its caller goes through `start`, so that tests and the simulator can put each task on an executor of
/// their own and own every step. With no executor the task runs on the normal pool.
/// A started task inherits neither the caller's actor nor its task-locals.
public struct TaskStarter: Sendable {
  #if canImport(Darwin)
    // Task executors are newer than iOS 17 and macOS 14: there, tasks run on the normal pool.
    /// Makes a starter for the normal pool.
    public init() {}

    /// Starts a task that nobody has to wait for.
    @discardableResult
    public func start<Success: Sendable>(
      priority: TaskPriority? = nil, _ operation: @escaping @Sendable () async -> Success
    ) -> Task<Success, Never> {
      Task.detached(priority: priority, operation: operation)
    }
  #else
    private let executor: (any TaskExecutor)?

    /// Makes a starter for the given executor, or for the normal pool.
    public init(executor: (any TaskExecutor)? = nil) {
      self.executor = executor
    }

    /// Starts a task that nobody has to wait for.
    @discardableResult
    public func start<Success: Sendable>(
      priority: TaskPriority? = nil, _ operation: @escaping @Sendable () async -> Success
    ) -> Task<Success, Never> {
      Task.detached(executorPreference: executor, priority: priority, operation: operation)
    }
  #endif
}

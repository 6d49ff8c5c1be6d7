#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A thread of its own for calls that block: terminals, pipes and signals must not hold a thread of the cooperative pool.
package enum DetachedThread {
  /// Runs `body` on a new thread; on the caller's if the system gives no more threads.
  package static func start(_ body: @escaping @Sendable () -> Void) {
    let box = Unmanaged.passRetained(Body(run: body))
    #if canImport(Darwin)
      var thread: pthread_t?
      let code = pthread_create(&thread, nil, { Body.run($0) }, box.toOpaque())
      if code == 0, let thread { pthread_detach(thread) }
    #else
      var thread = pthread_t()
      let code = pthread_create(&thread, nil, { $0.flatMap { Body.run($0) } }, box.toOpaque())
      if code == 0 { pthread_detach(thread) }
    #endif
    if code != 0 { box.takeRetainedValue().run() }
  }

  /// Runs `body` on a new thread and waits for its result without blocking.
  package static func run<Success: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () -> Result<Success, Failure>
  ) async throws(Failure) -> Success {
    let result = await withCheckedContinuation { continuation in
      start { continuation.resume(returning: body()) }
    }
    return try result.get()
  }

  private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(run: @escaping @Sendable () -> Void) {
      self.run = run
    }

    static func run(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
      Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
      return nil
    }
  }
}

import Groundwork

/// Runs a closure after a real duration: the HTTP front implements it with the timers of its event loop.
///
/// The core asks it to wake a realm when a delayed answer is due, and to end `wait=` calls of the admin API.
public protocol DeliveryScheduler: Sendable {
  /// Calls `work` once, on any thread, when `duration` has passed; zero or less means as soon as possible.
  func schedule(after duration: Duration, _ work: @escaping @Sendable () -> Void)
}

/// A connection that goes wrong before any request: the front asks for it with `MockAuthServer.takeConnectionFault()`.
public enum ConnectionFault: String, Sendable, Hashable, CaseIterable {
  /// The TLS handshake fails; without TLS the connection is closed at once.
  case failHandshake
  /// The connection is reset as soon as it is accepted.
  case refuse
}

/// The scheduler of a server without a front: a task that sleeps on the server's time source.
struct TaskScheduler: DeliveryScheduler {
  let time: any TimeSource
  let tasks: TaskStarter

  func schedule(after duration: Duration, _ work: @escaping @Sendable () -> Void) {
    tasks.start { [time] in
      do {
        try await time.sleep(for: duration)
      } catch {
        // Only cancellation ends a sleep early, and nobody holds this task: the work is due all the same.
      }
      work()
    }
  }
}

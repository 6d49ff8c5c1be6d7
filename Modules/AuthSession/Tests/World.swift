import AuthModels
import AuthNetworking
import AuthStorage
import AuthTestSupport
import Groundwork
import VirtualTime

@testable import AuthSession

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A machine with one store, one server and any number of processes, in virtual time.
struct World: Sendable {
  static let slot = SessionSlot(server: "http://localhost:8080")
  let clock: VirtualClock
  let tasks: TaskStarter
  let memory: InMemorySessionStore
  let backend: ScriptedBackend

  init(_ clock: VirtualClock, _ tasks: TaskStarter, lifetime: Double? = 900) {
    self.clock = clock
    self.tasks = tasks
    memory = InMemorySessionStore(time: clock)
    backend = ScriptedBackend(lifetime: lifetime)
  }

  /// Runs a test in virtual time; after an hour of it without an end, waits for ever are cut.
  static func run(
    lifetime: Double? = 900, waitsForMainActor: Bool = false,
    _ body: @escaping @Sendable (World) async throws -> Void
  ) async throws {
    try await withVirtualTime(waitsForMainActor: waitsForMainActor) { clock, tasks in
      try await body(World(clock, tasks, lifetime: lifetime))
    }
  }

  /// A process: an engine over the shared store.
  func process(
    _ name: String = "A", store: (any SessionStore)? = nil, clock: VirtualClock? = nil,
    _ configure: (inout SessionOptions) -> Void = { _ in }
  ) -> SessionEngine {
    var options = SessionOptions()
    // The longest jitter: back-off is then exact.
    options.random = { 1 }
    configure(&options)
    return SessionEngine(
      slot: Self.slot, backend: backend, store: store ?? memory.connection(as: name), time: clock ?? self.clock,
      tasks: tasks, options: options)
  }

  func signedIn(
    _ name: String = "A", store: (any SessionStore)? = nil, _ configure: (inout SessionOptions) -> Void = { _ in }
  ) async throws -> SessionEngine {
    let engine = process(name, store: store, configure)
    try await engine.signIn(Credentials(identifier: "anna@example.com", password: "password123"))
    return engine
  }

  /// What the store holds.
  var stored: SlotState {
    get async { await memory.read(Self.slot) }
  }

  /// Lets time pass, and everything run that is due.
  func pass(_ duration: Duration) async throws {
    try await clock.sleep(for: duration)
  }

  /// Lets everything run that can, without time passing to speak of.
  func settle() async throws {
    try await clock.sleep(for: .microseconds(1))
  }

  /// What a call ends with: "at-2", or the code of its error.
  static func outcome(_ call: () async throws -> String) async -> String {
    do {
      return try await call()
    } catch let error as SessionError {
      return error.code.rawValue
    } catch let error as APIError {
      return error.kind.rawValue
    } catch is CancellationError {
      return "cancelled"
    } catch {
      return "\(error)"
    }
  }
}

extension SessionEngine {
  /// The outcome of `validAccessToken`, as text.
  func token(minimum: Duration? = nil) async -> String {
    await World.outcome { try await self.validAccessToken(minimumLifetime: minimum) }
  }

  /// The reason of the signed-out state, if that is the state.
  var signedOutReason: SignedOutReason? {
    guard case .signedOut(let reason) = snapshot.state else { return nil }
    return reason
  }

  var isSignedIn: Bool {
    guard case .signedIn = snapshot.state else { return false }
    return true
  }
}

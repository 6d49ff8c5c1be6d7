public import AuthModels
public import AuthStorage
public import Groundwork
public import Observation

/// The one owner of "signed in?" for an app's screens (D1.3): main-actor and observable, a façade over the engine.
///
/// `state` is readable by all and written by the manager alone. The engine does the work and needs no main actor, so anything else of
/// the program may use it directly; what happens there shows here.
@MainActor
@Observable
public final class SessionManager {
  /// Whether a session is there (S22); `unknown` until the store has answered.
  public private(set) var state: SessionState
  /// Whether a sign-in, sign-up or sign-out is under way.
  public private(set) var isWorking = false
  /// The engine behind it.
  @ObservationIgnored public let engine: SessionEngine
  @ObservationIgnored private var sequence: UInt64
  @ObservationIgnored private var observation: CancelledWhenGone?

  /// Makes the manager over an engine and follows its state.
  public init(engine: SessionEngine) {
    self.engine = engine
    let snapshot = engine.snapshot
    state = snapshot.state
    sequence = snapshot.sequence
    let states = engine.states()
    observation = CancelledWhenGone(
      engine.tasks.start { [weak self] in
        for await snapshot in states {
          guard let self else { return }
          await self.show(snapshot)
        }
      })
  }

  /// Makes the manager over a plain token store (D1.2, D1.3): for one account in one process.
  ///
  /// What such a store cannot promise is listed at `TokenStoreSessionAdapter`.
  public convenience init(
    store: any TokenStore, backend: any AuthBackend, server: ServerIdentity, time: any TimeSource = SystemClock()
  ) {
    let slot = SessionSlot(server: server.text)
    self.init(
      engine: SessionEngine(
        slot: slot, backend: backend,
        store: TokenStoreSessionAdapter(store: store, slot: slot, profile: backend.dialect.rawValue, time: time),
        time: time))
  }

  /// Reads the store; call it once at launch (D4.3).
  ///
  /// Bound: the store's own.
  public func restore() async {
    await engine.restore()
    show(engine.snapshot)
  }

  /// Signs in and shows the session.
  ///
  /// Bound: as `SessionEngine.signIn`.
  ///
  /// - Throws: `APIError`, `SessionError`, `CancellationError`.
  public func login(email: String, password: String) async throws {
    try await work { try await self.engine.signIn(Credentials(identifier: email, password: password)) }
  }

  /// Makes an account; where the server gives a session along, shows it.
  ///
  /// Bound: as `SessionEngine.signUp`.
  ///
  /// - Throws: `APIError`, `SessionError`, `CancellationError`.
  @discardableResult
  public func register(_ registration: Registration) async throws -> SignUpOutcome {
    try await work { try await self.engine.signUp(registration) }
  }

  /// Takes tokens that were bought elsewhere: computes the expiry, saves them, and flips the state (D1.3).
  ///
  /// Bound: the store's own + `revocationBound`.
  ///
  /// - Throws: `SessionError` if they cannot be saved; the state stays as it was.
  public func didLogin(_ tokens: TokenResponse) async throws {
    try await work { try await self.engine.signIn(with: TokenGrant(response: tokens)) }
  }

  /// Signs out (D1.3, D4.7): the state has flipped when it returns or throws.
  ///
  /// Whoever has signed in meanwhile, in another process, is signed out too: what is asked for is that nobody is signed in here.
  /// Bound: as `SessionEngine.signOutWhoever`.
  ///
  /// - Throws: `SessionError` if the session could not be removed from the store.
  public func logout() async throws {
    try await work { try await self.engine.signOutWhoever() }
  }

  @discardableResult
  private func work<Success: Sendable>(_ operation: () async throws -> Success) async throws -> Success {
    isWorking = true
    defer {
      isWorking = false
      show(engine.snapshot)
    }
    return try await operation()
  }

  private func show(_ snapshot: SessionSnapshot) {
    // States come by two ways, and the later one may arrive first.
    guard snapshot.sequence > sequence else { return }
    sequence = snapshot.sequence
    state = snapshot.state
  }
}

/// Cancels a task with its owner: a main-actor class cannot do so in its own `deinit` on the oldest systems supported.
private final class CancelledWhenGone: Sendable {
  private let task: Task<Void, Never>

  init(_ task: Task<Void, Never>) {
    self.task = task
  }

  deinit {
    task.cancel()
  }
}

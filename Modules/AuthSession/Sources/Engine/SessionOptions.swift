#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The engine's bounds and its sources of chance. The defaults are the rules' own figures.
public struct SessionOptions: Sendable {
  /// Around the moments in which a kill would cost a spent token: from before a refresh is sent until its result is saved (S16).
  ///
  /// A command line defers INT, TERM and HUP between the two calls. Both are called from any thread and must return at once.
  public struct RefreshShield: Sendable {
    /// Called before the refresh is sent.
    public var raise: @Sendable () -> Void
    /// Called when its result is saved, or the refresh has failed.
    public var lower: @Sendable () -> Void

    /// Makes a shield.
    public init(raise: @escaping @Sendable () -> Void, lower: @escaping @Sendable () -> Void) {
      self.raise = raise
      self.lower = lower
    }
  }

  /// A token with no more life than this is refreshed before use (D3.3, S2).
  public var leeway: Duration = .seconds(30)
  /// Up to this lifetime, a fifth of the lifetime is the leeway (S2).
  public var shortLifetime: Duration = .seconds(60)
  /// How long a refresh may take, both tries together (S15): less than `lockWait`.
  public var refreshBound: Duration = .seconds(15)
  /// How long to wait for another process's refresh (S15).
  public var lockWait: Duration = .seconds(20)
  /// How long a sign-out waits for the server (S20).
  public var revocationBound: Duration = .seconds(2)
  /// How long `flushRevocations` takes at most (S20).
  public var flushBound: Duration = .seconds(1)
  /// How long a revocation is worth trying (S20).
  public var revocationLifetime: Duration = .seconds(24 * 3600)
  /// The first back-off after a passing failure; it doubles with each further one (S12).
  public var backOffBase: Duration = .seconds(1)
  /// The longest back-off (S12).
  public var backOffLimit: Duration = .seconds(120)
  /// The longest `Retry-After` that is believed (S12).
  public var retryAfterLimit: Duration = .seconds(3600)
  /// How long an endpoint that refused a fresh token causes no further refresh (S9).
  public var endpointPause: Duration = .seconds(60)
  /// So many fresh tokens refused within `breakerWindow` trip the breaker (S12).
  public var breakerLimit = 5
  /// The breaker's window (S12).
  public var breakerWindow: Duration = .seconds(30)
  /// How often, while tokens are being used, the store is asked beside the call whether another process changed it (S17).
  public var changeCheckInterval: Duration = .milliseconds(500)
  /// Whether `restore` starts the retry of an unfinished refresh by itself (S16); off for commands that stay off the network.
  public var recoversAtRestore = true
  /// A number in 0..<1, for jitter.
  public var random: @Sendable () -> Double = { Double.random(in: 0..<1) }
  /// Mints session ids and flight names.
  public var makeID: @Sendable () -> UUID = { UUID() }
  /// Around the moments in which a kill would cost a spent token (S16).
  public var refreshShield = RefreshShield(raise: {}, lower: {})
  /// Told of each step of the engine's machines, while its lock may be held: for the simulator's table of what was reached.
  package var probe: (@Sendable (EngineStep) -> Void)?

  /// The rules' own figures.
  public init() {}
}

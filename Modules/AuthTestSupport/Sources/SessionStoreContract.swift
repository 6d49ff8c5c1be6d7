import AuthModels
public import AuthStorage
public import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What every ``SessionStore`` promises, as checks that any test library can run.
///
/// Give each check a ``Subject`` of its own with an empty store.
public enum SessionStoreContract: Sendable {
  /// A store under test: two ways into the same storage, and the clock that both measure with.
  public struct Subject: Sendable {
    /// The store.
    public var store: any SessionStore
    /// The same storage, as another process would open it; the same store if there is no second way in.
    public var peer: any SessionStore
    /// The clock given to both: one that moves by itself, such as ``LeapingClock``.
    public var time: any TimeSource
    /// The slot that the checks use first.
    public var slot: SessionSlot
    /// Whether the store holds more than one slot.
    public var holdsManySlots: Bool

    /// Makes a subject from its parts.
    public init(
      store: any SessionStore, peer: any SessionStore, time: any TimeSource,
      slot: SessionSlot = SessionSlot(server: "https://api.example.com:443", account: "default"),
      holdsManySlots: Bool = true
    ) {
      self.store = store
      self.peer = peer
      self.time = time
      self.slot = slot
      self.holdsManySlots = holdsManySlots
    }
  }

  /// All checks; give each a fresh subject.
  public static var checks: [ContractCheck<Subject>] {
    stateChecks + outboxChecks + lockChecks
  }

  static func record(
    _ slot: SessionSlot, _ name: String, session: SessionID = UUID(), stamp: UInt64 = 0
  ) -> SessionRecord {
    SessionRecord(
      sessionID: session, slot: slot, profile: "chirp", accessToken: "access-\(name)", refreshToken: "refresh-\(name)",
      tokenType: "Bearer", scope: "read write", issuedAt: Date(timeIntervalSince1970: 1_799_999_000.25),
      lifetime: 3600, bootID: "test-boot", sinceBootAtIssue: 12.5, serverSkew: -1.5,
      user: SessionUser(id: "u-\(name)", email: "\(name)@example.com", username: name), stamp: stamp)
  }

  static func requireSame(_ found: SlotState, _ expected: SlotState, _ place: String) throws {
    try require(found == expected, "\(place): the state that was read is not the one that was committed")
  }
}

public import AuthModels
public import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One slot of a session store, seen as a plain token store (D1.2): the encrypted store for those who want `save`,
/// `load`, `clear`.
///
/// A `save` over a session keeps its session id, as a rotation does; a `save` after `clear` begins a new session.
/// `clear` leaves a note that the user signed out and adds nothing to the outbox, since a token store promises no
/// revocation. All three throw `StoreError`.
public struct SessionTokenStore: TokenStore {
  private let store: any SessionStore
  private let slot: SessionSlot
  private let profile: String
  private let time: any TimeSource

  /// Makes the view of `slot`; `profile` names the dialect that new records say they came from.
  public init(store: any SessionStore, slot: SessionSlot, profile: String = "chirp", time: any TimeSource) {
    self.store = store
    self.slot = slot
    self.profile = profile
    self.time = time
  }

  public func save(_ bundle: TokenBundle) async throws(StoreError) {
    let record = SessionRecord(
      bundle: bundle, sessionID: UUID(), slot: slot, profile: profile, at: TimeReading(time))
    _ = try await store.update(slot) { change in
      var record = record
      if let former = change.state.record {
        record.sessionID = former.sessionID
        record.profile = former.profile
        record.tokenType = former.tokenType
        record.scope = former.scope
        record.serverSkew = former.serverSkew
        record.user = former.user
        if former.bundle == bundle { return }
      }
      change.state = SlotState(record: record, connection: change.state.connection)
    }
  }

  public func load() async throws(StoreError) -> TokenBundle? {
    try await store.read(slot).record?.bundle
  }

  public func clear() async throws(StoreError) {
    let now = time.wallClock
    _ = try await store.update(slot) { change in
      guard change.state.record != nil else { return }
      change.state = SlotState(lastSignOut: SignOutNote(.byUser, at: now), connection: change.state.connection)
    }
  }
}

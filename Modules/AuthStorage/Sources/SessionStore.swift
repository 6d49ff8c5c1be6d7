/// All that a store knows of one slot, read and written as one.
public struct SlotState: Sendable, Hashable, Codable {
  /// The session, if there is one.
  public var record: SessionRecord?
  /// A refresh that was begun and not finished (S16).
  public var intent: RefreshIntent?
  /// "Not before", after passing failures (S12).
  public var cooldown: RefreshCooldown?
  /// Why the last session ended (S22); nil after a sign-in.
  public var lastSignOut: SignOutNote?
  /// How the server was last signed in to, as the backend wrote it: dialect, public key, client id. Holds no secret, and stays when the
  /// session ends, so that the next sign-in need not be told again.
  public var connection: String?

  /// Makes a state; empty unless told otherwise.
  public init(
    record: SessionRecord? = nil, intent: RefreshIntent? = nil, cooldown: RefreshCooldown? = nil,
    lastSignOut: SignOutNote? = nil, connection: String? = nil
  ) {
    self.record = record
    self.intent = intent
    self.cooldown = cooldown
    self.lastSignOut = lastSignOut
    self.connection = connection
  }
}

/// The change that one transaction makes: to the slot, and to the outbox of revocations (S20).
public struct SlotChange: Sendable {
  /// The slot as it is; set what is to change.
  public var state: SlotState
  /// Rows to add to the outbox in the same transaction.
  public var revocations: [PendingRevocation] = []
  /// Whether the slot becomes the one that `lastSignedIn` gives, without a sign-in: what switching accounts means.
  public var becomesCurrent = false
}

/// A refresh lock that is held (S15): across processes, and gone with its holder.
public protocol RefreshLock: Sendable {
  /// Gives the lock back. Releasing twice is no error.
  func release() async
}

/// Where the engine keeps sessions: many slots, one transaction at a time, one refresh lock a slot.
///
/// Everything that S11, S13, S15, S16 and S20 ask of a store is built from `update`, which reads, decides and writes in
/// one transaction that excludes every other process. Each method throws `StoreError` alone, and none blocks the
/// cooperative pool.
public protocol SessionStore: Sendable {
  /// The slot as it stands; an unknown slot is an empty state.
  func read(_ slot: SessionSlot) async throws(StoreError) -> SlotState

  /// Reads the slot, lets `body` change it, and commits; if `body` leaves it as it was, adds no revocation and
  /// makes no other slot the current one, nothing is written.
  ///
  /// A record whose session id or tokens differ from what stood there gets the store's next stamp, whatever stamp
  /// `body` set; otherwise its stamp stays. Once it returns, a kill loses nothing. A stored `intent` is padded to a
  /// record's size (S16).
  ///
  /// - Returns: the slot as committed, and what `body` returned.
  func update<Outcome: Sendable>(
    _ slot: SessionSlot, _ body: @escaping @Sendable (inout SlotChange) -> Outcome
  ) async throws(StoreError) -> (state: SlotState, outcome: Outcome)

  /// Takes the slot's refresh lock, waiting for at most `bound` on the injected clock; after that: `busy`.
  ///
  /// Cancellation gives `cancelled`. A holder that was stopped is never robbed (S15).
  func acquireRefreshLock(_ slot: SessionSlot, bound: Duration) async throws(StoreError) -> any RefreshLock

  /// A number that differs from an earlier answer if anything may have changed since; cheap enough to ask often (S17).
  func changeCounter() async throws(StoreError) -> UInt64

  /// The rows of the outbox, oldest first.
  func pendingRevocations() async throws(StoreError) -> [PendingRevocation]

  /// Removes rows of the outbox; removing one that is gone is no error.
  func removePendingRevocations(_ ids: [PendingRevocation.ID]) async throws(StoreError)

  /// The slots that hold a session or a note, in no promised order.
  func slots() async throws(StoreError) -> [SessionSlot]

  /// The slot that was signed in to last, over all servers, or switched to since (`SlotChange.becomesCurrent`): what a
  /// command line without `--server` means.
  func lastSignedIn() async throws(StoreError) -> SessionSlot?
}

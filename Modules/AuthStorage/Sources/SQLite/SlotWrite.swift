#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One update of a slot: read, decide, write, in a transaction under the store's lock.
struct SlotWrite<Outcome: Sendable> {
  let slot: SessionSlot
  let now: Date
  /// Where the disk reserve stands.
  var reserve: String
  let body: @Sendable (inout SlotChange) -> Outcome

  /// Decided once for one state: a second try on a full disk, under the same lock, finds the same slot.
  private var decision: (base: SlotState, change: SlotChange, outcome: Outcome)?

  init(slot: SessionSlot, now: Date, reserve: String, body: @escaping @Sendable (inout SlotChange) -> Outcome) {
    self.slot = slot
    self.now = now
    self.reserve = reserve
    self.body = body
  }

  /// Whether the change that was decided leaves an intent; false before that.
  var makesIntent: Bool { decision?.change.state.intent != nil }

  /// Commits the change, or nothing.
  mutating func commit(
    to store: StoreConnection
  ) throws(StoreError) -> (state: SlotState, outcome: Outcome, wrote: Bool) {
    try store.database.begin()
    do throws(StoreError) {
      let result = try run(in: store)
      try store.database.commit()
      return result
    } catch {
      store.database.rollBack()
      throw error
    }
  }

  private mutating func run(
    in store: StoreConnection
  ) throws(StoreError) -> (state: SlotState, outcome: Outcome, wrote: Bool) {
    let old = try store.snapshot(slot)
    let (change, outcome) = decide(on: old.state)
    var header = old.header
    let new = change.state.committed(over: old.state, in: slot, counter: &header.stampCounter)
    let switches = change.becomesCurrent && header.lastSignedIn != slot
    guard new != old.state || switches || !change.revocations.isEmpty else { return (new, outcome, false) }
    if new.intent != nil { try DiskReserve.fill(reserve, count: Self.reserveCount(old.size)) }
    if new != old.state { try store.write(new, in: slot, over: old, header: &header) }
    if switches || new.record != nil && new.record?.sessionID != old.state.record?.sessionID {
      header.lastSignedIn = slot
    }
    if !header.outbox.isEmpty {
      for row in try store.outbox(header) where row.isOverdue(at: now) { try store.remove(row.id, header: &header) }
    }
    for revocation in change.revocations { try store.add(revocation, header: &header) }
    try store.write(header)
    return (new, outcome, true)
  }

  /// What `body` returns if it leaves an empty slot as it is; nil if it wants to write.
  mutating func outcomeOfNoChange() -> Outcome? {
    let (change, outcome) = decide(on: SlotState())
    return change.state == SlotState() && change.revocations.isEmpty && !change.becomesCurrent ? outcome : nil
  }

  private mutating func decide(on state: SlotState) -> (change: SlotChange, outcome: Outcome) {
    if let decision, decision.base == state { return (decision.change, decision.outcome) }
    var change = SlotChange(state: state)
    let outcome = body(&change)
    decision = (state, change, outcome)
    return (change, outcome)
  }

  /// A journal of every page that the save of such a row can touch, generously.
  private static func reserveCount(_ size: Int) -> Int {
    64 * 1024 + 2 * (size + SlotState.roomForNextPair(size))
  }
}

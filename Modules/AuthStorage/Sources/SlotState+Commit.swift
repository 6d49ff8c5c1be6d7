extension SlotState {
  /// What a transaction leaves behind: the one place where the rule of stamps stands, for every store.
  ///
  /// A record whose session id or tokens differ from the old one's takes the next value of `counter`; any other record
  /// keeps the old stamp, whatever the caller set. A record always names the slot that it stands in.
  package func committed(over old: SlotState, in slot: SessionSlot, counter: inout UInt64) -> SlotState {
    var new = self
    guard var record = new.record else { return new }
    record.slot = slot
    if let former = old.record, former.holdsSameTokens(as: record) {
      record.stamp = former.stamp
    } else {
      counter &+= 1
      record.stamp = counter
    }
    new.record = record
    return new
  }

  /// Whether a store has a reason to list the slot.
  package var holdsSessionOrNote: Bool { record != nil || lastSignOut != nil }

  /// Whether there is anything to keep.
  package var isEmpty: Bool { self == SlotState() }
}

extension SessionRecord {
  /// Whether both are the same session with the same pair: then they share a stamp.
  package func holdsSameTokens(as other: SessionRecord) -> Bool {
    sessionID == other.sessionID && accessToken == other.accessToken && refreshToken == other.refreshToken
  }
}

extension SessionSlot {
  /// By server, then account: lists come in one order, whatever hash seeds a process has.
  package func isOrdered(before other: SessionSlot) -> Bool {
    (server, account) < (other.server, other.account)
  }
}

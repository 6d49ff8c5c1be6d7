/// Moves sessions from one store to another: copy, read back, then delete.
///
/// Interrupted anywhere, one of the two stores is whole; run again, a move goes on from there. Nothing that the
/// destination holds is ever overwritten.
public enum SessionMigration: Sendable {
  /// How a move ended.
  public enum Outcome: String, Sendable, Hashable {
    /// The source holds nothing.
    case nothingToMove
    /// The destination holds it, and the source does not any more.
    case moved
    /// The destination holds another session: both are as they were, and somebody has to choose.
    case destinationInUse
  }

  /// Moves the bundle of a token store to another one. A ``SessionTokenStore`` makes the SQLite store either of them.
  ///
  /// - Throws: what the stores throw; `unavailable` if the destination does not give back what it was given.
  public static func move(from source: any TokenStore, to destination: any TokenStore) async throws -> Outcome {
    guard let bundle = try await source.load() else { return .nothingToMove }
    if let there = try await destination.load() {
      guard there.holdsSamePair(as: bundle) else { return .destinationInUse }
    } else {
      try await destination.save(bundle)
      guard let saved = try await destination.load(), saved.holdsSamePair(as: bundle) else { throw StoreError.lostCopy }
    }
    try await source.clear()
    return .moved
  }

  /// Moves one slot, session id, intent and notes included.
  ///
  /// Both refresh locks are held meanwhile, so that no process rotates the tokens that are being moved (S15). A session
  /// that began in the source while it was moved stays there, and the copy is taken back.
  ///
  /// - Parameter bound: how long each lock is waited for.
  public static func move(
    _ slot: SessionSlot, from source: any SessionStore, to destination: any SessionStore,
    bound: Duration = .seconds(20)
  ) async throws(StoreError) -> Outcome {
    let sourceLock = try await source.acquireRefreshLock(slot, bound: bound)
    let result = await locked { () throws(StoreError) -> Outcome in
      let destinationLock = try await destination.acquireRefreshLock(slot, bound: bound)
      let result = await locked { () throws(StoreError) in
        try await copyThenClear(slot, from: source, to: destination)
      }
      await destinationLock.release()
      return try result.get()
    }
    await sourceLock.release()
    return try result.get()
  }

  /// Moves every slot, the one signed in to last at the end, and the outbox of revocations.
  ///
  /// - Returns: what became of each slot, in the order of the moves.
  public static func moveAll(
    from source: any SessionStore, to destination: any SessionStore, bound: Duration = .seconds(20)
  ) async throws(StoreError) -> [(slot: SessionSlot, outcome: Outcome)] {
    let last = try await source.lastSignedIn()
    var slots = try await source.slots().filter { $0 != last }.sorted { $0.isOrdered(before: $1) }
    if let last { slots.append(last) }
    var outcomes: [(slot: SessionSlot, outcome: Outcome)] = []
    for slot in slots {
      outcomes.append((slot, try await move(slot, from: source, to: destination, bound: bound)))
    }
    let rows = try await source.pendingRevocations()
    for row in rows {
      // A row that is there already, from a move that was interrupted, is replaced by itself.
      _ = try await destination.update(row.slot) { $0.revocations = [row] }
    }
    let there = Set(try await destination.pendingRevocations().map(\.id))
    guard rows.allSatisfy({ there.contains($0.id) }) else { throw .lostCopy }
    try await source.removePendingRevocations(rows.map(\.id))
    return outcomes
  }

  private static func copyThenClear(
    _ slot: SessionSlot, from source: any SessionStore, to destination: any SessionStore
  ) async throws(StoreError) -> Outcome {
    let state = try await source.read(slot)
    guard state != SlotState() else { return .nothingToMove }
    let copied = try await destination.update(slot) { change -> Bool in
      if let record = state.record {
        if let there = change.state.record { return there.holdsSameTokens(as: record) }
        change.state = SlotState(record: record, cooldown: state.cooldown, connection: state.connection)
        return true
      }
      // A note is worth less than anything that stands there already.
      if change.state == SlotState() { change.state = state }
      return true
    }
    guard copied.outcome else { return .destinationInUse }
    if let intent = state.intent, let version = copied.state.record?.version {
      // The record has the destination's stamp now; the intent has to name it, or nobody would take it up (S16).
      _ = try await destination.update(slot) { change in
        guard change.state.record?.version == version else { return }
        change.state.intent = RefreshIntent(version: version, attempt: intent.attempt, startedAt: intent.startedAt)
      }
    }
    let back = try await destination.read(slot)
    if let record = state.record {
      guard let there = back.record, there.holdsSameTokens(as: record) else { throw .lostCopy }
    }
    let cleared = try await source.update(slot) { change -> Bool in
      guard change.state == state else { return false }
      change.state = SlotState()
      return true
    }
    guard cleared.outcome else {
      _ = try await destination.update(slot) { change in
        if let record = state.record, change.state.record?.holdsSameTokens(as: record) == true {
          change.state = SlotState()
        }
      }
      throw StoreError(
        .busy,
        "The session of \(slot.account) at \(slot.server) changed while it was being moved; it stays where it is.",
        hint: "Try again.")
    }
    return .moved
  }

  private static func locked(
    _ body: () async throws(StoreError) -> Outcome
  ) async -> Result<Outcome, StoreError> {
    do throws(StoreError) {
      return .success(try await body())
    } catch {
      return .failure(error)
    }
  }
}

extension StoreError {
  fileprivate static var lostCopy: StoreError {
    StoreError(.unavailable, "The destination does not give back what was copied to it; the source was left as it is.")
  }
}

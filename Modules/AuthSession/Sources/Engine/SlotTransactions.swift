import AuthModels
import AuthStorage
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What the refresh does to a slot, as pure functions for `SessionStore.update`: each compares before it swaps.
///
/// `base` is always the record that this process works with, as the store stamped it.
enum SlotTransactions {
  /// What the store holds, seen from `base`.
  enum Standing: Sendable, Hashable {
    /// The same tokens.
    case same
    /// The same session with newer tokens: somebody else has refreshed (S11).
    case newer(SessionRecord)
    /// Another session (S11).
    case replaced(SessionRecord)
    /// No session.
    case gone(SignOutNote?)
  }

  static func standing(_ state: SlotState, from base: SessionRecord) -> Standing {
    guard let record = state.record else { return .gone(state.lastSignOut) }
    guard record.sessionID == base.sessionID else { return .replaced(record) }
    guard record.stamp == base.stamp || record.accessToken == base.accessToken else { return .newer(record) }
    return .same
  }

  enum BeginOutcome: Sendable {
    /// The intent is written: send this record's refresh token (S16).
    case begun(SessionRecord)
    /// Somebody else has refreshed: use theirs (S11).
    case adopt(SessionRecord)
    case replaced(SessionRecord)
    case gone(SignOutNote?)
    /// Too early after a passing failure (S12).
    case coolingDown(RefreshCooldown, remaining: Duration)
    case noRefreshToken(SessionRecord)
  }

  /// S15, S16: looks again under the lock, adopts what is good, else writes the intent.
  static func begin(
    _ change: inout SlotChange, base: SessionRecord, attempt: UUID, now: ClockReading, options: SessionOptions
  ) -> BeginOutcome {
    var base = base
    switch standing(change.state, from: base) {
    case .gone(let note): return .gone(note)
    case .replaced(let record): return .replaced(record)
    case .newer(let record):
      let isUnfinished = change.state.intent?.version == record.version
      if !isUnfinished, TokenAge(record, at: now, options: options).isGood(at: now.sinceBoot) { return .adopt(record) }
      base = record
    case .same:
      base = change.state.record ?? base
    }
    if let cooldown = change.state.cooldown, let remaining = cooldown.remaining(at: now.wall) {
      return .coolingDown(cooldown, remaining: remaining)
    }
    guard base.refreshToken != nil else { return .noRefreshToken(base) }
    change.state.intent = RefreshIntent(version: base.version, attempt: attempt, startedAt: now.wall)
    return .begun(base)
  }

  enum CommitOutcome: Sendable {
    /// The new tokens stand in the store.
    case committed
    /// A peer has refreshed the same session meanwhile: ours are dropped (S19).
    case superseded(SessionRecord)
    case replaced(SessionRecord)
    case gone(SignOutNote?)
  }

  /// S13, S19: the new tokens replace `base`'s, and nothing else's.
  ///
  /// Where their session is gone or replaced they go to the outbox in the same transaction, to be revoked.
  static func commit(
    _ change: inout SlotChange, new: SessionRecord, base: SessionRecord, orphan: UUID
  ) -> CommitOutcome {
    if let record = change.state.record, record.sessionID == new.sessionID, record.accessToken == new.accessToken,
      record.refreshToken == new.refreshToken
    {
      return .committed
    }
    switch standing(change.state, from: base) {
    case .gone(let note):
      change.revocations.append(PendingRevocation(new, id: orphan))
      return .gone(note)
    case .replaced(let record):
      change.revocations.append(PendingRevocation(new, id: orphan))
      return .replaced(record)
    case .newer(let record): return .superseded(record)
    case .same:
      var record = new
      record.user = new.user ?? change.state.record?.user
      change.state.record = record
      change.state.intent = nil
      change.state.cooldown = nil
      return .committed
    }
  }

  enum PostponeOutcome: Sendable {
    case postponed(RefreshCooldown)
    case adopt(SessionRecord)
    case replaced(SessionRecord)
    case gone(SignOutNote?)
  }

  /// S12: "not before", saved; the intent stays only where the token may have been spent.
  static func postpone(
    _ change: inout SlotChange, base: SessionRecord, failure: PassingFailure, now: ClockReading, options: SessionOptions
  ) -> PostponeOutcome {
    switch standing(change.state, from: base) {
    case .gone(let note): return .gone(note)
    case .replaced(let record): return .replaced(record)
    case .newer(let record): return .adopt(record)
    case .same:
      let cooldown = RefreshCooldown.next(
        after: change.state.cooldown, failure: failure, wall: now.wall, options: options)
      change.state.cooldown = cooldown
      if !failure.isAmbiguous { change.state.intent = nil }
      return .postponed(cooldown)
    }
  }

  enum EndOutcome: Sendable {
    case ended(SignOutNote)
    /// The same tokens still stand there, and what stands there cannot be changed.
    case unwritten(StoreError)
    case adopt(SessionRecord)
    case replaced(SessionRecord)
    case gone(SignOutNote?)
  }

  /// S11: what can be read, if nothing can be written.
  static func end(_ state: SlotState, base: SessionRecord, unwritten error: StoreError) -> EndOutcome {
    switch standing(state, from: base) {
    case .gone(let note): .gone(note)
    case .replaced(let record): .replaced(record)
    case .newer(let record): .adopt(record)
    case .same: .unwritten(error)
    }
  }

  /// S10, S11: the refused session ends, unless somebody else has meanwhile refreshed or replaced it.
  static func end(_ change: inout SlotChange, base: SessionRecord, note: SignOutNote) -> EndOutcome {
    switch standing(change.state, from: base) {
    case .gone(let note): return .gone(note)
    case .replaced(let record): return .replaced(record)
    case .newer(let record): return .adopt(record)
    case .same:
      change.state = SlotState(lastSignOut: note, connection: change.state.connection)
      return .ended(note)
    }
  }
}

extension RefreshCooldown {
  /// What is left of it; nil once it is over, or if the wall clock was set back before its beginning.
  func remaining(at wall: Date) -> Duration? {
    let passed = wall.timeIntervalSince(since)
    guard passed >= 0, passed < duration else { return nil }
    return .clamped(seconds: duration - passed)
  }

  /// S12: exponential back-off with full jitter, never shorter than the server's `Retry-After`.
  static func next(
    after earlier: RefreshCooldown?, failure: PassingFailure, wall: Date, options: SessionOptions
  ) -> RefreshCooldown {
    let failures = min(earlier?.failures ?? 0, 1000) + 1
    let ceiling = min(
      options.backOffBase.inSeconds * Double(1 << min(failures - 1, 20)), options.backOffLimit.inSeconds)
    let asked = min(failure.error.retryAfter ?? .zero, options.retryAfterLimit)
    return RefreshCooldown(
      failures: failures,
      unclassified: failure.isUnclassified ? min(earlier?.unclassified ?? 0, 1000) + 1 : 0,
      since: wall,
      duration: max(ceiling * options.random(), asked.inSeconds))
  }
}

extension PendingRevocation {
  /// The tokens of a record, to be revoked (S19, S20).
  init(_ record: SessionRecord, id: UUID, since: Date? = nil, scope: SignOutScope = .local) {
    self.init(
      id: id, slot: record.slot, profile: record.profile, accessToken: record.accessToken,
      refreshToken: record.refreshToken, since: since ?? record.issuedAt, scope: scope.rawValue, stamp: record.stamp)
  }
}

extension SlotTransactions {
  enum RemoveOutcome: Sendable {
    case removed
    /// It was gone already.
    case absent
    /// Another session stands there, and stays.
    case replaced(SessionRecord)
  }

  /// S20: removes one session by its id, never another one's, and puts its newest tokens into the outbox.
  static func remove(
    _ change: inout SlotChange, sessionID: SessionID, note: SignOutNote?, revocation: PendingRevocation?
  ) -> RemoveOutcome {
    var revocation = revocation
    defer { if let revocation { change.revocations.append(revocation) } }
    guard let record = change.state.record else { return .absent }
    guard record.sessionID == sessionID else { return .replaced(record) }
    if revocation?.stamp ?? .max < record.stamp {
      // A peer has refreshed it meanwhile.
      revocation?.accessToken = record.accessToken
      revocation?.refreshToken = record.refreshToken
    }
    change.state = SlotState(lastSignOut: note, connection: change.state.connection)
    return .removed
  }
}

import AuthModels
import AuthStorage

/// One refresh from lock to unlock, as a pure state machine: what just happened → what to do next.
///
/// `RefreshFlight` runs it: it performs each effect as an await of its own and feeds the result back. The order of the effects is the
/// order that S13, S15 and S16 ask for: lock, look again and write the intent, send, save, unlock.
///
///     lock ─▶ begin ─▶ send ─▶ commit ─▶ done
///               │        ├─▶ send again (ambiguous, once) ─▶ …
///               │        ├─▶ postpone ─▶ done (passing)
///               │        ├─▶ end ─▶ done (refused)
///               │        └─▶ done (the session is over here)
///               ├─▶ end ─▶ done (refused before, which could not be written down)
///               └─▶ done (adopted, replaced, gone, cooling down)
struct RefreshMachine: Sendable {
  /// What to do next.
  enum Effect: Sendable {
    /// Save tokens that an earlier flight could not save (S13).
    case saveEarlier(new: SessionRecord, base: SessionRecord)
    /// Take the refresh lock, unless it is still held from the flight whose result was saved just now.
    case acquireLock
    case begin(base: SessionRecord)
    case send(SessionRecord)
    /// Save the new tokens over `base`.
    case commit(TokenGrant, base: SessionRecord)
    /// Save "not before".
    case postpone(PassingFailure, base: SessionRecord)
    /// End the session, unless it has changed meanwhile.
    case end(RefreshRefusal, base: SessionRecord)
    case done(RefreshOutcome)
  }

  /// What happened.
  enum Event: Sendable {
    case savedEarlier(Result<SlotTransactions.CommitOutcome, StoreError>, record: SessionRecord?)
    case lock(Result<Void, StoreError>)
    case began(Result<SlotTransactions.BeginOutcome, StoreError>)
    /// Another flight of this process spends the token that was found; this is how that one ended (S6).
    case joined(RefreshOutcome)
    case answered(RefreshAnswer)
    /// Nothing was sent: the session has ended here, or was replaced, since the intent was written (S18, S20).
    case sessionOver
    case committed(Result<SlotTransactions.CommitOutcome, StoreError>, new: SessionRecord)
    case postponed(Result<SlotTransactions.PostponeOutcome, StoreError>)
    case ended(Result<SlotTransactions.EndOutcome, StoreError>)
  }

  private enum State: Sendable {
    case idle
    case savingEarlier
    case locking
    case beginning
    case sending(base: SessionRecord, tries: Int)
    case committing(base: SessionRecord)
    case postponing(PassingFailure)
    case ending(RefreshRefusal, base: SessionRecord)
    case done
  }

  private var state = State.idle
  private var base: SessionRecord
  /// What the store still holds, if `base` could not be saved (S13).
  private let storedBase: SessionRecord?
  /// A refusal that could not be written down: its token is never sent again (S10).
  private let refusal: KnownRefusal?

  init(base: SessionRecord, storedBase: SessionRecord?, refusal: KnownRefusal? = nil) {
    self.base = base
    self.storedBase = storedBase
    self.refusal = refusal
  }

  mutating func start() -> Effect {
    if let storedBase {
      state = .savingEarlier
      return .saveEarlier(new: base, base: storedBase)
    }
    state = .locking
    return .acquireLock
  }

  mutating func handle(_ event: Event) -> Effect {
    switch (state, event) {
    case (.savingEarlier, .savedEarlier(let result, let record)):
      switch result {
      case .success(.committed):
        base = record ?? base
        state = .locking
        return .acquireLock
      case .success(.superseded(let record)): return finish(.adopted(record))
      case .success(.replaced(let record)): return finish(.replaced(record))
      case .success(.gone(let note)): return finish(.gone(note))
      case .failure(let error): return finish(.failed(.storage(error)))
      }

    case (.locking, .lock(.success)): return begin(base)
    case (.locking, .lock(.failure(let error))): return finish(.failed(.storage(error)))

    case (.beginning, .began(let result)):
      switch result {
      case .success(.begun(let record)):
        base = record
        if let refusal, refusal.token == record.refreshToken {
          state = .ending(refusal.refusal, base: record)
          return .end(refusal.refusal, base: record)
        }
        state = .sending(base: record, tries: 1)
        return .send(record)
      case .success(.adopt(let record)): return finish(.adopted(record))
      case .success(.replaced(let record)): return finish(.replaced(record))
      case .success(.gone(let note)): return finish(.gone(note))
      case .success(.coolingDown(let cooldown, let remaining)): return finish(.coolingDown(cooldown, remaining))
      case .success(.noRefreshToken(let record)): return finish(.noRefreshToken(record))
      case .failure(let error): return finish(.failed(.storage(error)))
      }

    case (.beginning, .joined(let outcome)): return finish(outcome)

    case (.sending(let base, let tries), .answered(let answer)):
      switch answer {
      case .granted(let grant):
        state = .committing(base: base)
        return .commit(grant, base: base)
      case .passing(let failure) where failure.isAmbiguous && tries == 1:
        // Grace windows are short: the second try comes at once (S12).
        state = .sending(base: base, tries: 2)
        return .send(base)
      case .passing(let failure):
        state = .postponing(failure)
        return .postpone(failure, base: base)
      case .refused(let refusal):
        state = .ending(refusal, base: base)
        return .end(refusal, base: base)
      }

    case (.sending, .sessionOver): return finish(.gone(nil))

    case (.committing(let base), .committed(let result, let new)):
      switch result {
      case .success(.committed): return finish(.renewed(new, unsavedOver: nil, nil))
      case .success(.superseded(let record)): return finish(.adopted(record))
      case .success(.replaced(let record)): return finish(.replaced(record))
      case .success(.gone(let note)): return finish(.gone(note))
      case .failure(let error): return finish(.renewed(new, unsavedOver: base, error))
      }

    case (.postponing(let failure), .postponed(let result)):
      switch result {
      case .success(.postponed(let cooldown)): return finish(.passing(failure, cooldown))
      case .success(.adopt(let record)): return finish(.adopted(record))
      case .success(.replaced(let record)): return finish(.replaced(record))
      case .success(.gone(let note)): return finish(.gone(note))
      // A cooldown that could not be saved still holds in this process.
      case .failure: return finish(.passing(failure, nil))
      }

    case (.ending(let refusal, let base), .ended(let result)):
      switch result {
      case .success(.ended): return finish(.refused(refusal, base, nil))
      case .success(.unwritten(let error)): return finish(.refused(refusal, base, error))
      case .success(.adopt(let record)): return finish(.adopted(record))
      case .success(.replaced(let record)): return finish(.replaced(record))
      case .success(.gone(let note)): return finish(.gone(note))
      case .failure(let error): return finish(.unended(KnownRefusal(token: base.refreshToken, refusal: refusal), error))
      }

    default:
      return finish(.failed(.refreshFailed(nil, message: "The refresh was interrupted.")))
    }
  }

  private mutating func begin(_ record: SessionRecord) -> Effect {
    base = record
    state = .beginning
    return .begin(base: record)
  }

  private mutating func finish(_ outcome: RefreshOutcome) -> Effect {
    state = .done
    return .done(outcome)
  }
}

/// The server's refusal of one refresh token.
struct KnownRefusal: Sendable, Hashable {
  let token: String?
  let refusal: RefreshRefusal
}

/// How a flight ended; `SessionMachine` turns it into a state.
enum RefreshOutcome: Sendable {
  /// New tokens, saved, or in memory alone over what the store holds (S13).
  case renewed(SessionRecord, unsavedOver: SessionRecord?, StoreError?)
  case adopted(SessionRecord)
  case replaced(SessionRecord)
  case gone(SignOutNote?)
  /// The session is over; the error says that the store shows it still and could not be told (S21).
  case refused(RefreshRefusal, SessionRecord, StoreError?)
  /// The server refused, and the store could not be asked whether that still concerns this session (S11, S21): it is asked again.
  case unended(KnownRefusal, StoreError)
  case passing(PassingFailure, RefreshCooldown?)
  case coolingDown(RefreshCooldown, Duration)
  case noRefreshToken(SessionRecord)
  case failed(SessionError)
}

import AuthStorage

/// A step that one of the engine's pure machines took, told to `SessionOptions.probe`: the simulator counts which were reached.
///
/// For the refresh: what happened, and what the machine does next; for the session: what happened, and from which state to which.
package struct EngineStep: Sendable, Hashable {
  /// Its place among all of its kind.
  package let index: Int

  /// How many there are in the table, whether they can happen or not.
  package static let count = refreshCount + sessionCount
  private static let effects = ["save earlier", "lock", "begin", "send", "commit", "postpone", "end", "done"]
  private static let refreshEvents = [
    "saved earlier", "saved earlier: superseded", "saved earlier: replaced", "saved earlier: gone",
    "saved earlier: store error",
    "locked", "lock: store error", "begun", "adopt", "replaced", "gone", "cooling down", "no refresh token",
    "begin: store error", "granted", "passing", "passing, ambiguous", "refused", "committed", "commit: superseded",
    "commit: replaced", "commit: gone", "commit: store error", "postponed", "postpone: adopt", "postpone: replaced",
    "postpone: gone", "postpone: store error", "ended", "end: adopt", "end: replaced", "end: gone", "end: store error",
    "session over before sending", "end: not written",
    "another flight's end",
  ]
  private static let states = ["unknown", "unavailable", "signed out", "signed in"]
  private static let sessionEvents = [
    "read: nothing", "read: a session", "unreadable", "signed in", "signed out", "saved", "user learned",
    "flight: renewed",
    "flight: renewed, unsaved", "flight: adopted", "flight: replaced", "flight: gone", "flight: refused",
    "flight: passing", "flight: cooling down", "flight: no refresh token", "flight: failed", "sign-in discarded",
    "flight: refused, not written down", "too late for its session",
  ]
  private static let refreshCount = refreshEvents.count * effects.count
  private static let sessionCount = sessionEvents.count * states.count * states.count

  /// The step in words.
  package var name: String {
    guard index >= Self.refreshCount else {
      return "\(Self.refreshEvents[index / Self.effects.count]) → \(Self.effects[index % Self.effects.count])"
    }
    let rest = index - Self.refreshCount
    let (from, to) = (rest / Self.states.count % Self.states.count, rest % Self.states.count)
    return
      "\(Self.states[from]) · \(Self.sessionEvents[rest / (Self.states.count * Self.states.count)]) → \(Self.states[to])"
  }

  /// Whether it is a step of the refresh; else it is one of the session.
  package var isRefresh: Bool { index < Self.refreshCount }

  /// The step at a place below `count`.
  package init(index: Int) { self.index = index }

  init(_ event: RefreshMachine.Event, _ next: RefreshMachine.Effect) {
    index = Self.place(of: event) * Self.effects.count + Self.place(of: next)
  }

  init(_ event: SessionMachine.Event, from before: SessionState, to after: SessionState) {
    let current: SessionID? = if case .signedIn(let summary) = before { summary.id } else { nil }
    let isTooLate =
      switch event {
      case .flightEnded(_, let id): current != id
      case .saved(let record): current != record.sessionID
      default: false
      }
    index =
      Self.refreshCount + ((isTooLate ? 19 : Self.place(of: event)) * Self.states.count + Self.place(of: before))
      * Self.states.count
      + Self.place(of: after)
  }

  private static func place(of effect: RefreshMachine.Effect) -> Int {
    switch effect {
    case .saveEarlier: 0
    case .acquireLock: 1
    case .begin: 2
    case .send: 3
    case .commit: 4
    case .postpone: 5
    case .end: 6
    case .done: 7
    }
  }

  private static func place(of event: RefreshMachine.Event) -> Int {
    switch event {
    case .savedEarlier(.success(let outcome), _): place(of: outcome)
    case .savedEarlier(.failure, _): 4
    case .lock(.success): 5
    case .lock(.failure): 6
    case .began(.success(let outcome)):
      switch outcome {
      case .begun: 7
      case .adopt: 8
      case .replaced: 9
      case .gone: 10
      case .coolingDown: 11
      case .noRefreshToken: 12
      }
    case .began(.failure): 13
    case .answered(.granted): 14
    case .answered(.passing(let failure)): failure.isAmbiguous ? 16 : 15
    case .answered(.refused): 17
    case .committed(.success(let outcome), _): 18 + place(of: outcome)
    case .committed(.failure, _): 22
    case .postponed(.success(let outcome)):
      switch outcome {
      case .postponed: 23
      case .adopt: 24
      case .replaced: 25
      case .gone: 26
      }
    case .postponed(.failure): 27
    case .ended(.success(let outcome)):
      switch outcome {
      case .ended: 28
      case .adopt: 29
      case .replaced: 30
      case .gone: 31
      case .unwritten: 34
      }
    case .ended(.failure): 32
    case .sessionOver: 33
    case .joined: 35
    }
  }

  private static func place(of outcome: SlotTransactions.CommitOutcome) -> Int {
    switch outcome {
    case .committed: 0
    case .superseded: 1
    case .replaced: 2
    case .gone: 3
    }
  }

  private static func place(of state: SessionState) -> Int {
    switch state {
    case .unknown: 0
    case .unavailable: 1
    case .signedOut: 2
    case .signedIn: 3
    }
  }

  private static func place(of event: SessionMachine.Event) -> Int {
    switch event {
    case .read(let slot): slot.record == nil ? 0 : 1
    case .unreadable: 2
    case .signedIn: 3
    case .signedOut: 4
    case .saved: 5
    case .learnedUser: 6
    case .flightEnded(let outcome, _):
      switch outcome {
      case .renewed(_, let unsaved, _): unsaved == nil ? 7 : 8
      case .adopted: 9
      case .replaced: 10
      case .gone: 11
      case .refused: 12
      case .passing: 13
      case .coolingDown: 14
      case .noRefreshToken: 15
      case .failed: 16
      case .unended: 18
      }
    case .discarded: 17
    }
  }
}

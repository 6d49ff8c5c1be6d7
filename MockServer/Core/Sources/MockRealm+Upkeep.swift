import Groundwork

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A realm in a line.
public struct MockRealmSummary: Sendable, Hashable {
  /// Its name.
  public var name: String
  /// How many users it has.
  public var users: Int
  /// How many sessions it remembers, ended ones too.
  public var sessions: Int
  /// How many requests it has had.
  public var requests: Int
  /// For how long no request has come, by the boot clock.
  public var idle: Duration
}

extension MockRealm {
  /// Whether a realm can have this name: 1 to 64 of letters, digits, `-`, `_` and `.`, neither `.` nor `..`.
  public static func isName(_ text: String) -> Bool { TargetPath.isRealmName(text) }

  /// The time that an ISO 8601 text names, from 1970 to 9999, as `POST /__mock/clock` takes it; nil if it names none.
  public static func date(from text: String) -> Date? { MockInstant(text: text)?.date }

  /// Whether no request has come since a reading of the boot clock, no answer is kept back, and nobody follows it or waits for it.
  func isAtRest(since reading: Duration) -> Bool {
    step { state, _, _ in
      state.lastUsed <= reading && state.waiting.isEmpty && state.events.isEmpty && !state.journal.isAwaited
    }
  }

  /// An admin call counts as a use too: a test that prepares its realm is not through with it.
  func noteUse() {
    step { state, _, _ in state.lastUsed = state.reading }
  }

  func summary(at reading: Duration) -> MockRealmSummary {
    step { state, _, _ in
      MockRealmSummary(
        name: state.name, users: state.users.count, sessions: state.sessions.count, requests: state.journal.lastSeq,
        idle: max(reading - state.lastUsed, .zero))
    }
  }

  /// Brings along what differs between two configurations of this realm, and leaves everything else as it is.
  func reconfigure(from old: MockServerConfiguration, to new: MockServerConfiguration) {
    step { state, now, effects in
      state.configuration = new
      if old.policy != new.policy {
        state.policy = new.policy
        state.events.publish(.changed(.policy), &effects)
      }
      if old.scripts != new.scripts {
        let kept = Set(new.scripts.map(\.target))
        for script in old.scripts where !kept.contains(script.target) {
          state.scripts.set(MockScript(script.target, []))
        }
        for script in new.scripts where !old.scripts.contains(script) { state.scripts.set(script) }
        state.events.publish(.changed(.scripts), &effects)
      }
      if old.clients != new.clients {
        state.oauth.clients = new.clients
        state.events.publish(.changed(.policy), &effects)
      }
      if old.users != new.users {
        for user in new.users where !old.users.contains(user) {
          // Whoever has taken the email or the name meanwhile keeps it.
          _ = state.insertUser(username: user.username, email: user.email, password: user.password, now: now)
        }
        state.events.publish(.changed(.users), &effects)
      }
    }
    if old.clock != new.clock, step({ state, _, _ in state.clock.mode != new.clock }) { setClockMode(new.clock) }
    if let startsAt = new.startsAt, startsAt != old.startsAt { setClock(to: startsAt) }
  }
}

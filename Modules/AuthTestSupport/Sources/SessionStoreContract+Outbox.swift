import AuthModels
import AuthStorage
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension SessionStoreContract {
  /// The checks of the outbox of revocations.
  public static let outboxChecks: [ContractCheck<Subject>] = [
    ContractCheck("a sign-out and its revocation are one transaction, and the row is in no slot (S20)") { subject in
      let made = record(subject.slot, "one")
      _ = try await subject.store.update(subject.slot) { $0.state.record = made }
      let row = revocation(subject, secondsAgo: 1)
      _ = try await subject.store.update(subject.slot) { change in
        change.state = SlotState()
        change.revocations = [row]
      }
      try require(try await subject.store.pendingRevocations() == [row], "the outbox does not hold the row")
      let state = try await subject.store.read(subject.slot)
      try require(state == SlotState(), "tokens that are to be revoked can still be read from the slot")
      try require(try await subject.store.slots().isEmpty, "an outbox row makes its slot look signed in")
    },
    ContractCheck("rows come oldest first and are removed by name; removing one that is gone is no error") { subject in
      let rows = [5.0, 50, 20].map { revocation(subject, secondsAgo: $0) }
      _ = try await subject.store.update(subject.slot) { $0.revocations = rows }
      let found = try await subject.store.pendingRevocations()
      try require(found.map(\.id) == [rows[1].id, rows[2].id, rows[0].id], "the rows do not come oldest first")
      try require(Set(found) == Set(rows), "a row came back changed")
      try await subject.store.removePendingRevocations([rows[1].id, UUID()])
      try await subject.store.removePendingRevocations([rows[1].id])
      try await subject.store.removePendingRevocations([])
      let left = try await subject.store.pendingRevocations()
      try require(left.map(\.id) == [rows[2].id, rows[0].id], "the wrong rows were removed")
    },
    ContractCheck("a row is gone after 24 hours, also if the clock was moved meanwhile (S20)") { subject in
      let day = 24.0 * 3600
      let rows = [day - 60, day + 60, -day - 60].map { revocation(subject, secondsAgo: $0) }
      _ = try await subject.store.update(subject.slot) { $0.revocations = rows }
      let found = try await subject.store.pendingRevocations()
      try require(found.map(\.id) == [rows[0].id], "rows older than a day are still given out, or a younger one is not")
    },
  ]

  private static func revocation(_ subject: Subject, secondsAgo: Double) -> PendingRevocation {
    PendingRevocation(
      id: UUID(), slot: subject.slot, profile: "chirp", accessToken: "access-out", refreshToken: "refresh-out",
      since: Date(
        timeIntervalSince1970: (subject.time.wallClock.timeIntervalSince1970 - secondsAgo).rounded()),
      scope: "global")
  }
}

import AuthModels
import AuthStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension SessionStoreContract {
  /// The checks of reading, updating, stamps and slots.
  public static let stateChecks: [ContractCheck<Subject>] = [
    ContractCheck("a slot that was never written is an empty state") { subject in
      try requireSame(try await subject.store.read(subject.slot), SlotState(), "a fresh store")
      try require(try await subject.store.slots().isEmpty, "a fresh store lists slots")
      try require(try await subject.store.lastSignedIn() == nil, "a fresh store knows who signed in last")
      try require(try await subject.store.pendingRevocations().isEmpty, "a fresh store has an outbox")
    },
    ContractCheck("what was committed is read again, here and by a peer") { subject in
      let made = record(subject.slot, "one")
      let full = SlotState(
        record: made,
        intent: RefreshIntent(
          version: made.version, attempt: UUID(), startedAt: Date(timeIntervalSince1970: 1_799_999_500)),
        cooldown: RefreshCooldown(
          failures: 3, unclassified: 2, since: Date(timeIntervalSince1970: 1_799_999_400), duration: 7.5),
        lastSignOut: SignOutNote(
          .refreshRefused, serverCode: "invalid_grant", requestID: "req-1", at: Date(timeIntervalSince1970: 1)),
        connection: #"{"dialect":"supabase"}"#)
      let committed = try await subject.store.update(subject.slot) { $0.state = full }.state
      var expected = full
      expected.record?.stamp = committed.record?.stamp ?? 0
      try requireSame(committed, expected, "the answer of update")
      try requireSame(try await subject.store.read(subject.slot), committed, "the same store")
      try requireSame(try await subject.peer.read(subject.slot), committed, "a peer")
      let bare = SlotState(
        record: SessionRecord(
          sessionID: UUID(), slot: subject.slot, profile: "", accessToken: "", refreshToken: nil, tokenType: "",
          scope: nil, issuedAt: Date(timeIntervalSince1970: 0), lifetime: nil, bootID: "", sinceBootAtIssue: 0,
          serverSkew: nil, user: nil))
      let second = try await subject.peer.update(subject.slot) { $0.state = bare }.state
      try require(second.record?.refreshToken == nil && second.intent == nil, "a part that was removed is still there")
      try requireSame(try await subject.store.read(subject.slot), second, "after a peer's write")
    },
    ContractCheck("the body sees the slot as it stands, and its outcome is returned") { subject in
      let made = record(subject.slot, "one")
      _ = try await subject.store.update(subject.slot) { $0.state.record = made }
      let seen = try await subject.peer.update(subject.slot) { change -> String? in
        change.state.record?.accessToken
      }.outcome
      try require(seen == made.accessToken, "the body was not given the committed state")
    },
    ContractCheck("a change of tokens or session takes a new, greater stamp; no other change does (S16)") { subject in
      let first = record(subject.slot, "one", stamp: 900)
      let one = try await stamp(subject, "a first record") { $0.record = first }
      try require(one > 0 && one != 900, "the first stamp is not the store's own")
      let user = try await stamp(subject, "a change of user") { $0.record?.user = SessionUser(id: "other") }
      try require(user == one, "a change of the user changed the stamp")
      let forced = try await stamp(subject, "a forced stamp") { state in
        state.record?.stamp = 77
        state.cooldown = RefreshCooldown(failures: 1, since: Date(timeIntervalSince1970: 0), duration: 1)
      }
      try require(forced == one, "a caller could set the stamp")
      let intent = try await stamp(subject, "an intent") { state in
        guard let version = state.record?.version else { return }
        state.intent = RefreshIntent(version: version, attempt: UUID(), startedAt: Date(timeIntervalSince1970: 0))
      }
      try require(intent == one, "an intent changed the stamp")
      let access = try await stamp(subject, "an access token") { $0.record?.accessToken = "access-new" }
      try require(access > one, "a new access token took no greater stamp")
      let refresh = try await stamp(subject, "a refresh token") { $0.record?.refreshToken = nil }
      try require(refresh > access, "the loss of the refresh token took no greater stamp")
      let session = try await stamp(subject, "a session id") { $0.record?.sessionID = UUID() }
      try require(session > refresh, "a new session id took no greater stamp")
      _ = try await subject.store.update(subject.slot) { $0.state = SlotState() }
      let again = try await stamp(subject, "a sign-in after a sign-out") { $0.record = first }
      try require(again > session, "a stamp was given twice")
    },
    ContractCheck("a record names the slot that it stands in") { subject in
      let elsewhere = record(SessionSlot(server: "https://other.example:443"), "one")
      let committed = try await subject.store.update(subject.slot) { $0.state.record = elsewhere }.state
      try require(committed.record?.slot == subject.slot, "a record stands in a slot that it does not name")
    },
    ContractCheck("the change counter moves with every write, also a peer's, and with nothing else (S17)") { subject in
      let made = record(subject.slot, "one")
      let start = try await subject.store.changeCounter()
      _ = try await subject.store.update(subject.slot) { $0.state.record = made }
      let own = try await subject.store.changeCounter()
      try require(own != start, "the store's own write was not noticed")
      _ = try await subject.store.read(subject.slot)
      _ = try await subject.store.update(subject.slot) { _ in }
      let idle = try await subject.store.changeCounter()
      try require(idle == own, "reading, or an update that changed nothing, moved the counter")
      _ = try await subject.peer.update(subject.slot) { $0.state.record?.accessToken = "access-new" }
      let peers = try await subject.store.changeCounter()
      try require(peers != own, "a peer's write was not noticed")
      _ = try await subject.peer.update(subject.slot) { $0.state.record?.accessToken = "access-newer" }
      try require(try await subject.store.changeCounter() != peers, "a peer's second write was not noticed")
    },
    ContractCheck("compare-and-swap under eight tasks and two handles loses no update") { subject in
      let rounds = 25
      _ = try await subject.store.update(subject.slot) { change in
        change.state.cooldown = RefreshCooldown(failures: 0, since: Date(timeIntervalSince1970: 0), duration: 0)
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<8 {
          let store = task.isMultiple(of: 2) ? subject.store : subject.peer
          group.addTask {
            for _ in 0..<rounds {
              _ = try await store.update(subject.slot) { $0.state.cooldown?.failures += 1 }
            }
          }
        }
        try await group.waitForAll()
      }
      let count = try await subject.peer.read(subject.slot).cooldown?.failures
      try require(count == 8 * rounds, "\(8 * rounds) updates were made, \(count ?? -1) are there")
    },
    ContractCheck("slots are kept apart, listed, and the last sign-in is known over all of them") { subject in
      guard subject.holdsManySlots else { return }
      let other = SessionSlot(server: subject.slot.server, account: "wörk\u{0}/.. 'x'; --")
      let third = SessionSlot(server: "http://127.0.0.1:8080/r/one", account: "")
      var stamps: [UInt64] = []
      for slot in [subject.slot, other, third] {
        let made = record(slot, "in-\(stamps.count)")
        stamps.append(try await subject.store.update(slot) { $0.state.record = made }.state.record?.stamp ?? 0)
      }
      try require(Set(stamps).count == 3 && stamps == stamps.sorted(), "two slots share a stamp")
      let listed = Set(try await subject.peer.slots())
      try require(listed == [subject.slot, other, third], "the list of slots is not what was written")
      try require(try await subject.peer.lastSignedIn() == third, "the last sign-in is not known")
      _ = try await subject.store.update(other) { $0.state.record?.accessToken = "rotated" }
      try require(try await subject.peer.lastSignedIn() == third, "a rotation was taken for a sign-in")
      _ = try await subject.store.update(third) { change in
        change.state = SlotState(lastSignOut: SignOutNote(.byUser, at: Date(timeIntervalSince1970: 5)))
      }
      try require(Set(try await subject.store.slots()).contains(third), "a slot with a note is not listed")
      try require(try await subject.store.lastSignedIn() == third, "a sign-out forgot the last server")
      _ = try await subject.store.update(third) { $0.state = SlotState() }
      try require(Set(try await subject.store.slots()) == [subject.slot, other], "an emptied slot is still listed")
      let counter = try await subject.peer.changeCounter()
      _ = try await subject.store.update(other) { $0.becomesCurrent = true }
      try require(try await subject.peer.lastSignedIn() == other, "a switch is not seen")
      try require(try await subject.peer.changeCounter() != counter, "a switch is no change")
      try require(try await subject.peer.read(other).record?.accessToken == "rotated", "a switch changed the session")
      let empty = SessionSlot(server: subject.slot.server, account: "nobody")
      _ = try await subject.store.update(empty) { $0.becomesCurrent = true }
      try require(try await subject.peer.lastSignedIn() == empty, "a switch to an empty slot is not seen")
      try require(Set(try await subject.store.slots()) == [subject.slot, other], "a switch lists an empty slot")
      try require(
        try await subject.store.read(other).record?.accessToken == "rotated", "one slot's change reached another")
    },
    ContractCheck("long and odd texts come back as they were") { subject in
      for text in ["", "\u{0}", "a\u{301}\u{FEFF}😀\"\\\r\n", String(repeating: "0123456789abcdef", count: 20_000)] {
        var made = record(subject.slot, "x")
        made.accessToken = text
        made.refreshToken = text
        made.user = SessionUser(id: text, email: text, username: nil)
        let before = made
        let committed = try await subject.store.update(subject.slot) { $0.state = SlotState(record: before) }.state
        try require(
          committed.record?.accessToken.utf8.elementsEqual(text.utf8) == true, "a text was changed in the answer")
        let found = try await subject.peer.read(subject.slot).record
        try require(
          found?.refreshToken?.utf8.elementsEqual(text.utf8) == true && found?.user?.id == text
            && found?.user?.username == nil, "a text of \(text.utf8.count) bytes was changed in the store")
      }
    },
  ]

  /// Changes the slot and gives the record's stamp, proved by a read through the peer.
  private static func stamp(
    _ subject: Subject, _ what: String, _ change: @escaping @Sendable (inout SlotState) -> Void
  ) async throws -> UInt64 {
    let committed = try await subject.store.update(subject.slot) { change(&$0.state) }.state
    let found = try await subject.peer.read(subject.slot)
    try requireSame(found, committed, what)
    guard let stamp = found.record?.stamp else { throw ContractFailure("\(what): the record is gone") }
    return stamp
  }
}

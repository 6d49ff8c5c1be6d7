import AuthStorage
import Groundwork

// One function an invariant, each with its sentence from the design; `sends`, `commits`, `changes of mind` and `calls` below say which
// are checked when.
extension MonitorState {
  // MARK: When a process sends

  mutating func willSend(_ process: LaneID, _ sending: Sending) {
    if sending.operation == "logout", let family = sending.refreshToken.flatMap({ tokens[$0]?.family }) {
      lives[process]?.revoked.insert(family)
    }
    if let token = sending.refreshToken, sending.operation == "refresh", let family = tokens[token]?.family {
      checkSpentOnce(token, by: process)
      checkOneRefresher(family, process)
      checkOwnSession(family, process, "refresh \(name(token))")
      checkSilentAfterSignOut(family, process, name(of: sending))
      checkRefreshHasReason(token, by: process)
      spendings[token, default: []].append(Spending(process: process))
      refreshers[family, default: []].insert(process)
      for id in calls.keys where calls[id]?.process == process { calls[id]?.sentRefresh = true }
    }
    if let bearer = sending.bearer, let family = tokens[bearer]?.family {
      checkOwnSession(family, process, name(of: sending))
      checkSameSession(family, sending)
      checkSilentAfterSignOut(family, process, name(of: sending))
      checkUnfinishedRefreshFirst(bearer, family, process)
    }
  }

  /// (1) A refresh token is not sent a second time unless the outcome of the first is unknown to every living process.
  private mutating func checkSpentOnce(_ token: String, by process: LaneID) {
    for earlier in spendings[token] ?? [] {
      // Without a lock that excludes nobody can be told in time.
      if earlier.process != process, !lockExcludes { continue }
      guard let knower = lives[earlier.process] else { continue }
      switch earlier.outcome {
      case .unknown, .notSpent: continue
      case .pending:
        // Another process's pending one is invariant 2.
        guard earlier.process == process else { continue }
        fail(
          1, "refresh token sent twice at once", "\(lifeName(process)) sends \(name(token)) while its answer is awaited"
        )
      case .granted, .refused:
        // Who knows may have been unable to write that down, and may have given up its lock with its session (S20, S21): then no other
        // process can know, nor when it has begun to send before that was made good.
        let isUntold =
          knower.untold.contains(token) || tokens[token].map { knower.untoldFamilies.contains($0.family) } ?? false
        let couldNotTell = earlier.process != process && isUntold
        guard !couldNotTell else { continue }
        let word = earlier.outcome == .granted ? "spent" : "refused"
        let isOther = earlier.process != process
        fail(
          1, isOther ? "refresh token spent twice by two processes" : "\(word) refresh token sent again",
          "\(lifeName(process)) sends \(name(token)), which \(knower.name) knows to be \(word)")
      }
    }
  }

  /// (2) At most one living process refreshes a session.
  private mutating func checkOneRefresher(_ family: Int, _ process: LaneID) {
    guard lockExcludes, let other = refreshers[family]?.sorted().first(where: { $0 != process && lives[$0] != nil })
    else { return }
    fail(
      2, "two processes refresh one session",
      "\(lifeName(process)) refreshes session \(family + 1) while \(lifeName(other)) does")
  }

  /// (3) No request carries a token of another session: not than the one that its process is in …
  private mutating func checkOwnSession(_ family: Int, _ process: LaneID, _ what: String) {
    guard let sight = lives[process]?.sight, let current = self.family(of: sight), current != family else { return }
    fail(
      3, "a token of another session sent",
      "\(lifeName(process)) is in session \(current + 1) and sends \(what)")
  }

  /// (3) … nor than the one that the caller's request began in, also when it is sent again.
  private mutating func checkSameSession(_ family: Int, _ sending: Sending) {
    guard let id = sending.call, let call = calls[id] else { return }
    guard let first = call.family else {
      calls[id]?.family = family
      return
    }
    guard first != family else { return }
    let isOtherUser = families[first].user != families[family].user
    fail(
      3, isOtherUser ? "resend under another user's token" : "resend under another session's token",
      "#\(id) began in session \(first + 1) and is sent again with \(name(sending.bearer))")
  }

  /// (4) After sign-out returned, this process sends nothing of that session but its revocation, others for 1 s at most.
  private mutating func checkSilentAfterSignOut(_ family: Int, _ process: LaneID, _ what: String) {
    guard let life = lives[process] else { return }
    if life.endedHere.contains(family) {
      fail(
        4, "sent after sign-out", "\(life.name) sends \(what) after its sign-out from session \(family + 1) returned")
    }
    guard families[family].signedOutAt != nil, self.family(of: life.sight) == family else { return }
    var uses = life.usedAfterEnd[family] ?? EndedUse(first: now, asked: nil)
    defer { lives[process]?.usedAfterEnd[family] = uses }
    // The store is asked beside a use, twice a second at most: the first use half a second on has asked, and may be the last.
    guard let asked = uses.asked else {
      if now >= uses.first + .milliseconds(500) { uses.asked = now }
      return
    }
    guard now > max(uses.first + .seconds(1), asked) else { return }
    fail(
      4, "sign-out elsewhere not noticed",
      "\(life.name) still sends \(what), \((now - asked).text) after it could have known")
  }

  /// (4) … others for 1 s at most: who watches the store notices by then, whether it uses the session or not (S17).
  private mutating func checkWatch(_ call: PendingCall, _ id: Int) {
    guard call.operation.isWatch, let life = lives[call.process], let family = family(of: life.sight),
      let endedAt = families[family].signedOutAt
    else { return }
    let since = max(endedAt, call.begunAt, life.blindUntil)
    guard now > since + .seconds(1) else { return }
    fail(
      4, "sign-out elsewhere not noticed by a watch",
      "\(life.name) is still in session \(family + 1), \((now - since).text) after its watch #\(id) could have known")
  }

  /// (4) At rest, nothing stands in the store that a living process has told the server to revoke: a sign-out or a sign-in that could not
  /// be written down (S20, S21) has been made good.
  mutating func checkNothingRevokedIsStored() {
    guard let record = stored.record, let family = tokens[record.accessToken]?.family else { return }
    for (_, life) in lives.sorted(by: { $0.key < $1.key }) where life.revoked.contains(family) {
      fail(
        4, "revoked session still stored",
        "\(life.name) has revoked session \(family + 1), and the store still holds it")
    }
  }

  /// (11) A refresh has a reason (S1, S8): the token is old, was refused here, a caller asked, or an earlier try was left unfinished.
  private mutating func checkRefreshHasReason(_ token: String, by process: LaneID) {
    guard let fact = tokens[token], let life = lives[process], spendings[token] == nil else { return }
    let isOld = fact.grants.contains { grant in
      let leeway = grant.lifetime <= .seconds(60) ? grant.lifetime / 5 : .seconds(30)
      return now - grant.askedAt >= grant.lifetime - leeway
    }
    let wasRefused = fact.pairs.contains { life.refusedAccess.contains($0) }
    let isAsked = calls.values.contains { $0.process == process && $0.operation.forcesRefresh }
    let wasAsked = isAsked || life.forcedAt.map { $0 >= fact.askedAt } ?? false
    let isUnfinished = intents[token, default: 0] > 1
    guard !isOld, !wasRefused, !wasAsked, !isUnfinished, fact.boot == boot else { return }
    let isLate401 = !life.refusedAccess.isEmpty
    fail(
      11, isLate401 ? "second refresh on a late 401" : "refresh without a reason",
      "\(life.name) spends \(name(token)), \((now - fact.askedAt).text) old and refused by nobody")
  }

  /// (12) A refresh that a crash cut short is tried again by the next process before it uses the session's token (S16).
  private mutating func checkUnfinishedRefreshFirst(_ bearer: String, _ family: Int, _ process: LaneID) {
    guard let life = lives[process], !life.hasTriedLock, stored.cooldown == nil, let record = stored.record,
      record.accessToken == bearer, let refresh = record.refreshToken, let tries = spendings[refresh], !tries.isEmpty
    else { return }
    let isUnfinished = tries.allSatisfy { $0.outcome == .unknown && lives[$0.process] == nil }
    guard isUnfinished, tries.allSatisfy({ $0.process < process }), life.order > crashes[refresh] ?? 0 else { return }
    fail(
      12, "spent token kept after a crash",
      "\(life.name) uses \(name(bearer)) though \(name(refresh)) was sent by a process that died before its answer was saved"
    )
  }

  // MARK: When a process commits to the store

  mutating func committed(_ process: LaneID, old: SlotState, new: SlotState) {
    stored = new
    let (before, after) = (
      old.record.flatMap { tokens[$0.accessToken]?.family }, new.record.flatMap { tokens[$0.accessToken]?.family }
    )
    if let after, let record = new.record {
      familyOfSession[record.sessionID] = after
      let isNews = before != after || old.record?.accessToken != record.accessToken
      if isNews { checkNoRevival(after, process) }
      if before != after { lives[process]?.savedHere.insert(after) }
      if before == after, isNews { checkNoStepBack(old, record, process) }
      families[after].wasStored = true
    }
    if let intent = new.intent, intent.attempt != old.intent?.attempt, let token = new.record?.refreshToken {
      intents[token, default: 0] += 1
    }
    guard let before, before != after else { return }
    checkRemovalHasReason(before, process, by: after == nil ? new.lastSignOut : nil, isReplaced: after != nil, old)
    families[before].wasRemoved = true
  }

  /// (6) A session is never ended …: nor are its newest tokens written over with older ones, which ends it later.
  private mutating func checkNoStepBack(_ old: SlotState, _ record: SessionRecord, _ process: LaneID) {
    guard let before = old.record?.refreshToken, let after = record.refreshToken, let from = tokens[before]?.generation,
      let to = tokens[after]?.generation, to < from
    else { return }
    fail(6, "newer tokens written over", "\(lifeName(process)) saves \(name(after)) over \(name(before))")
  }

  /// (4) After sign-out returned, this process stores nothing of that session; and nobody brings it back.
  private mutating func checkNoRevival(_ family: Int, _ process: LaneID) {
    if lives[process]?.endedHere.contains(family) ?? false {
      fail(
        4, "session revived after sign-out",
        "\(lifeName(process)) saves session \(family + 1) after its sign-out returned")
    } else if families[family].wasRemoved {
      fail(
        4, "session revived after sign-out", "\(lifeName(process)) saves session \(family + 1), which had been removed")
    }
  }

  /// (5) No passing failure by itself signs out: a session leaves the store by a sign-out, a sign-in or a refusal.
  private mutating func checkRemovalHasReason(
    _ family: Int, _ process: LaneID, by note: SignOutNote?, isReplaced: Bool, _ old: SlotState
  ) {
    let mine = calls.values.filter { $0.process == process }
    if isReplaced {
      let isSignIn = mine.contains { if case .signIn = $0.operation { true } else { false } }
      if !isSignIn {
        fail(5, "session replaced without a sign-in", "\(lifeName(process)) writes over session \(family + 1)")
      }
      return
    }
    let life = lives[process]
    let isSignOut =
      mine.contains { $0.operation.isSignOut } || (life?.endedHere.contains(family) ?? false)
      || (life?.endingHere.contains(family) ?? false)
    if note?.reason != .refreshRefused, isSignOut {
      families[family].signedOutAt = now
      return
    }
    // A sign-in that failed is taken back by who made it (S21): its session has never begun there, and is revoked.
    if let life, note == nil, life.savedHere.contains(family), !life.wasIn.contains(family) { return }
    checkEnding(family, process, alsoHeld: old.record?.refreshToken)
  }

  /// (5) No passing failure by itself signs out. (6) A session is never ended while the server would accept a refresh token that
  /// the client holds.
  private mutating func checkEnding(_ family: Int, _ process: LaneID, alsoHeld: String?) {
    guard families[family].wasRefused else {
      fail(
        5, "sign-out on a passing failure",
        "\(lifeName(process)) ends session \(family + 1), which the server never refused")
      return
    }
    // Where the lock excludes nobody, what another process has not saved yet cannot be known here; nor, if nothing can be written, what
    // it has saved since the store was read.
    let holders = lockExcludes ? Array(lives.values) : lives[process].map { [$0] } ?? []
    var held = holders.flatMap(\.refreshTokens).filter { tokens[$0]?.family == family }
    if let alsoHeld { held.append(alsoHeld) }
    if let record = stored.record, tokens[record.accessToken]?.family == family, let token = record.refreshToken,
      lockExcludes || lives[process]?.seen == token
    {
      held.append(token)
    }
    guard let accepted = Set(held).sorted().first(where: { serverAccepts($0) }) else { return }
    fail(
      6, "living session ended",
      "\(lifeName(process)) ends session \(family + 1) while the server would accept \(name(accepted))")
  }

  // MARK: When a process changes its mind

  mutating func sightChanged(_ process: LaneID, from before: Sight, to after: Sight) {
    if let family = family(of: after) { lives[process]?.wasIn.insert(family) }
    guard let family = family(of: before), self.family(of: after) != family else { return }
    guard case .signedOut(let reason) = after else { return }
    switch reason {
    case .byUser:
      if calls.values.contains(where: { $0.process == process && $0.operation.isSignOut }) {
        lives[process]?.endingHere.insert(family)
      } else {
        fail(5, "signed out by nobody", "\(lifeName(process)) says that its user signed out of session \(family + 1)")
      }
    case .refused, .failure:
      // What left the store was judged then; the note that stands there may be about a session that came after this one.
      if !families[family].wasRemoved { checkEnding(family, process, alsoHeld: nil) }
    case .elsewhere, .neverSignedIn:
      if !families[family].wasRemoved {
        fail(5, "signed out for no reason", "\(lifeName(process)) says that session \(family + 1) was ended elsewhere")
      }
    }
  }

  // MARK: When a call ends

  mutating func callEnded(_ call: PendingCall, _ id: Int, _ outcome: CallOutcome) {
    checkBound(call, id)
    checkOwnAnswer(call, id, outcome)
    checkAnswerBelongs(call, id, outcome)
    guard call.operation.isSignOut, let life = lives[call.process] else { return }
    lives[call.process]?.endedHere.formUnion(life.endingHere)
    lives[call.process]?.endingHere = []
  }

  /// (7) Every waiter gets exactly one answer, and its own: cancelled only if its caller cancelled it, then at once (S7).
  private mutating func checkOwnAnswer(_ call: PendingCall, _ id: Int, _ outcome: CallOutcome) {
    if outcome == .cancelled, !call.isCancelled {
      fail(
        7, "flight killed by its starter's cancellation",
        "#\(id) \(call.operation.name) of \(lifeName(call.process)) ends as cancelled, and nobody cancelled it")
    }
    if let at = call.cancelledAt, call.operation.endsAtOnceWhenCancelled, now > at {
      fail(
        7, "cancelled waiter kept waiting",
        "#\(id) \(call.operation.name) returns \((now - at).text) after it was cancelled")
    }
  }

  /// (3) No answer is delivered to a caller whose session has ended or been replaced (S18), and none of another user.
  private mutating func checkAnswerBelongs(_ call: PendingCall, _ id: Int, _ outcome: CallOutcome) {
    guard let life = lives[call.process] else { return }
    switch outcome {
    case .done(let text?):
      guard let family = call.family else { return }
      if text != families[family].user {
        fail(3, "another user's answer delivered", "#\(id) of \(families[family].user) is answered with \(text)")
      }
      if self.family(of: life.sight) != family {
        fail(
          3, "answer delivered after its session",
          "#\(id) of session \(family + 1) is answered though \(life.name) is not in it any more")
      }
    case .token(let token):
      guard let family = tokens[token]?.family else { return }
      if life.endedHere.contains(family) {
        fail(
          4, "token handed out after sign-out",
          "#\(id) gets \(name(token)) after the sign-out from session \(family + 1) returned")
      }
    default: return
    }
  }

  /// (8) No wait is unbounded.
  private mutating func checkBound(_ call: PendingCall, _ id: Int) {
    guard now - call.begunAt > call.bound else { return }
    fail(
      8, "bound exceeded: \(call.operation.name)",
      "#\(id) \(call.operation.name) of \(lifeName(call.process)) takes \((now - call.begunAt).text), more than \(call.bound.text)"
    )
  }

  /// (8) No wait is unbounded: the same for calls that have not ended.
  mutating func checkWaits(except paused: Set<LaneID>) {
    for (id, call) in calls.sorted(by: { $0.key < $1.key }) where !paused.contains(call.process) {
      checkBound(call, id)
      checkWatch(call, id)
    }
  }

  /// (7) Every waiter gets exactly one answer: nothing is left to run, so whoever waits now gets none.
  mutating func checkNobodyWaits() {
    for (id, call) in calls.sorted(by: { $0.key < $1.key }) {
      fail(7, "waiter without an answer", "#\(id) \(call.operation.name) of \(lifeName(call.process)) waits for ever")
    }
  }

  /// (10) Quiescence: when faults stop and (6) applies, a call succeeds. Whether (6) applies to the session that the process is in.
  mutating func holdsAcceptedToken(_ process: LaneID) -> Bool {
    guard let life = lives[process] else { return false }
    if case .signedOut = life.sight { return false }
    guard let record = stored.record, let family = tokens[record.accessToken]?.family, !life.endedHere.contains(family)
    else {
      return false
    }
    var held = life.refreshTokens.filter { tokens[$0]?.family == family }
    if let token = record.refreshToken { held.append(token) }
    return held.contains { serverAccepts($0) }
  }
}

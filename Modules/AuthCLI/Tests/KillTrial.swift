import AuthCLI
import Groundwork
import MockServerCore

#if canImport(Glibc)
  import Glibc

  /// In which moment of its refresh a process is killed.
  enum KillPoint: String, Sendable, CaseIterable, CustomStringConvertible {
    /// The intent is written, and the request never reaches the server.
    case intentRequestLost = "after the intent, request lost"
    /// The intent is written; the server does the refresh when the process is dead.
    case intentRequestArrives = "after the intent, request arrives later"
    /// The server has done the refresh, its answer is not out.
    case serverCommit = "after the server's commit"
    /// The server has done the refresh and closes the connection without an answer.
    case answerLost = "after the server's commit, answer lost"
    /// The answer is on its way: the process reads it, saves it, or has just saved it.
    case saving = "around the save"
    /// The new pair is saved: the request that it was needed for is under way again.
    case save = "after the save"
    /// Any moment from the start of the process to its end.
    case random = "at random"

    var description: String { rawValue }

    /// How a session may go on after it: what the server has not done, or the client has saved, costs nothing under any policy.
    func allows(_ end: KillTrial.End, under rotation: MockRotation) -> Bool {
      switch (self, end) {
      case (_, .lives) where rotation == .grace: true
      case (_, .signedOut) where rotation == .grace: false
      case (.intentRequestLost, .lives), (.save, .lives): true
      case (.intentRequestLost, .signedOut), (.save, .signedOut): false
      case (.intentRequestArrives, .signedOut), (.serverCommit, .signedOut), (.answerLost, .signedOut): true
      case (.intentRequestArrives, .lives), (.serverCommit, .lives), (.answerLost, .lives): false
      case (.saving, _), (.random, _): true
      }
    }

    /// How many refreshes the server may have seen when the next command has ended.
    var refreshes: ClosedRange<Int> {
      switch self {
      case .intentRequestLost, .intentRequestArrives, .serverCommit: 2...2
      // The client itself sends it once more, at once (S12).
      case .answerLost: 3...3
      case .saving: 1...2
      case .save: 1...1
      case .random: 0...2
      }
    }
  }

  /// A real process is killed in mid-refresh; then the next one has to find its way.
  struct KillTrial: Sendable {
    /// How it went on.
    enum End: String, Sendable {
      case lives, signedOut
    }

    struct Outcome: Sendable {
      var end: End
      /// How long the next command took: a lock that nobody gives back would show here.
      var recovery: Duration
    }

    /// What must not be.
    struct Violation: Error, CustomStringConvertible {
      var description: String
    }

    let world: ProcessWorld
    let point: KillPoint
    let rotation: MockRotation

    /// Longer than any command takes on a busy machine, shorter than the wait for a stuck lock (20 s).
    private static let promptly = Duration.seconds(15)

    /// One trial on the world's session, which is made if it has ended.
    func run() async throws -> Outcome {
      let realm = world.realm
      realm.removeScripts()
      let begun = ContinuousClock.now
      let isSignedIn = try await world.chirp("status").code == 0
      // A call with a refresh takes about three times as long as this, however busy the machine is.
      let span = min((ContinuousClock.now - begun) * 3, .milliseconds(900))
      if !isSignedIn { try await world.login() }
      realm.advance(by: realm.policy.accessTTL + .seconds(1))
      let (before, me) = (realm.count(.refresh), realm.count(.me))
      let seq = realm.snapshot.journalSeq
      try await killOne(refreshesBefore: before, callsBefore: me, within: span)
      realm.removeScripts()

      let start = ContinuousClock.now
      let next = try await world.chirp("api", "GET", "/me")
      let recovery = ContinuousClock.now - start
      let journal = realm.journal(since: seq).map { "\($0.operation) \($0.outcome)" }.joined(separator: ", ")
      func check(_ holds: Bool, _ what: String) throws {
        guard !holds else { return }
        throw Violation(
          description: "\(rotation), \(point): \(what); exit \(next.code) after \(recovery): \(next.error)[\(journal)]")
      }
      try check(recovery < Self.promptly, "the next command waited")
      try check(next.code == 0 || next.code == 4, "the next command neither works nor says that a sign-in is needed")
      let end: End = next.code == 0 ? .lives : .signedOut
      let refreshes = realm.count(.refresh) - before
      try check(point.refreshes.contains(refreshes), "\(refreshes) refreshes, not \(point.refreshes)")
      try check(point.allows(end, under: rotation), "the session \(end)")
      let session = realm.snapshot.sessions.last
      switch end {
      case .lives:
        try check(session?.alive == true, "the server has ended the session")
        // The stored refresh token is the one that the server accepts: spend it.
        let renewal = try await world.chirp("refresh")
        try check(renewal.code == 0, "the stored refresh token is refused: \(renewal.error)")
        try check(realm.count(.refresh) == before + refreshes + 1, "`chirp refresh` did not send one refresh")
      case .signedOut:
        try check(session?.endedBy == .reuse, "signed out, although the server's session has not ended by reuse")
        let status = try await world.chirp("status", "--json")
        try check(
          status.code == 4 && status.output.contains("refreshRefused"), "no reason is kept: \(status.output)")
        let again = try await world.chirp("api", "GET", "/me")
        try check(again.code == 4, "the second command after it exits with \(again.code)")
        try check(realm.count(.refresh) == before + refreshes, "a refused token was sent again")
      }
      return Outcome(end: end, recovery: recovery)
    }

    /// Starts the process that refreshes, and kills it at the point; at random: at any moment of its span.
    private func killOne(refreshesBefore: Int, callsBefore: Int, within span: Duration) async throws {
      let realm = world.realm
      switch point {
      case .intentRequestLost: realm.script(.refresh, MockAction(hold: "kill", breaks: .close, phase: .before))
      case .intentRequestArrives: realm.script(.refresh, MockAction(hold: "kill", phase: .before))
      case .serverCommit, .saving: realm.script(.refresh, .hold("kill"))
      case .answerLost: realm.script(.refresh, .loseAnswer, MockAction(hold: "kill", breaks: .close, phase: .before))
      case .save: realm.script(.me, .real, .hold("kill"))
      case .random: break
      }
      let process = try ChirpProcess(["api", "GET", "/me"], environment: world.environment, onTerminal: false)
      let reached: Int
      switch point {
      case .save: reached = await arrivals(of: .me, atLeast: callsBefore + 2) - callsBefore - 2
      case .answerLost: reached = await arrivals(of: .refresh, atLeast: refreshesBefore + 2) - refreshesBefore - 2
      case .random:
        await Self.pause(upTo: span)
        reached = 0
      case .intentRequestLost, .intentRequestArrives, .serverCommit, .saving:
        reached = await arrivals(of: .refresh, atLeast: refreshesBefore + 1) - refreshesBefore - 1
      }
      if point == .saving {
        realm.release(hold: "kill")
        await Self.pause(upTo: .milliseconds(8))
      }
      process.send(SIGKILL)
      let outcome = try await process.finish()
      realm.release(hold: "kill")
      let mayHaveEnded = point == .saving || point == .random
      guard reached >= 0, outcome.code == 1000 + SIGKILL || mayHaveEnded && outcome.code == 0 else {
        throw Violation(
          description: "\(rotation), \(point): not killed there, but exit \(outcome.code): \(outcome.error)")
      }
    }

    private func arrivals(of operation: MockOperation, atLeast count: Int) async -> Int {
      await world.realm.waitForCount(
        MockJournalFilter(operation: operation), atLeast: count, timeout: .seconds(30))
    }

    /// Lets a part of the real time pass in which a process does its work; which part is chance.
    private static func pause(upTo limit: Duration) async {
      let time = Int.random(in: 0...Int(limit / .microseconds(1)))
      await DetachedThread.run { () -> Result<Void, Never> in
        var moment = timespec(tv_sec: 0, tv_nsec: time * 1000)
        // lint: sleep because a kill at any moment of a real process is what is tried
        _ = nanosleep(&moment, nil)
        return .success(())
      }
    }
  }
#endif

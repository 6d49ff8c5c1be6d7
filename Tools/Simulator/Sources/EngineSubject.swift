import AuthModels
import AuthNetworking
import AuthSession
import AuthStorage
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The real session engine over the real chirp backend, in one process.
final class EngineSubject: Subject {
  private let engine: SessionEngine
  private let client: APIClient
  private let process: SimulatedProcess
  private let coverage: CoverageCounter
  private let watchers = Guarded<[Task<Void, Never>]>([])
  private let seen = Guarded(Seen())

  /// What its observers were told.
  private struct Seen: Sendable {
    var isWatched = false
    var snapshot: SessionSnapshot?
    var fault: String?
    /// The session as the events have it; outer nil: they have not said yet.
    var session: SessionID??
  }

  init(world: World, process: SimulatedProcess) {
    var options = SessionOptions()
    options.random = { world.roll() }
    options.makeID = { world.makeID() }
    options.probe = { world.coverage.note($0) }
    let plain = APIClient(
      baseURL: world.baseURL, transport: ProcessTransport(world: world, process: process), time: process.clock)
    engine = SessionEngine(
      slot: World.slot, backend: ChirpBackend(client: plain),
      store: ProcessStore(world: world, process: process, memory: world.memory.connection(as: process.name)),
      time: process.clock, tasks: process.tasks, options: options)
    client = plain.authorized(by: engine)
    self.process = process
    coverage = world.coverage
  }

  var sight: Sight {
    switch engine.snapshot.state {
    case .unknown: .unknown
    case .unavailable: .unavailable
    case .signedIn(let summary): .session(summary.id)
    case .signedOut(.neverSignedIn): .signedOut(.neverSignedIn)
    case .signedOut(.byUser): .signedOut(.byUser)
    case .signedOut(.refreshRefused): .signedOut(.refused)
    case .signedOut(.elsewhere): .signedOut(.elsewhere)
    }
  }

  /// The engine's documented bounds; its store takes no time here.
  func bound(_ operation: Operation) -> Duration {
    let refresh = Duration.seconds(20 + 15)
    let exchange = Duration.seconds(30)
    return switch operation {
    case .me, .user: refresh * 2 + exchange * 2
    case .token, .longToken, .refresh: refresh
    case .signIn: exchange + .seconds(2)
    case .signOut: .seconds(2)
    case .signOutWhoever: .seconds(2 * 9)
    case .restore: .zero
    case .flush: .seconds(1)
    case .watch(let duration): duration
    }
  }

  func perform(_ operation: Operation, call: Int) async -> CallOutcome {
    do {
      switch operation {
      case .me:
        let headers = HTTPFields([HTTPField(ProcessTransport.callField, String(call))])
        let answer = try await client.sendRaw(RawCall(.get, "/me", headers: headers))
        switch answer.status {
        case 200: return answer.body.field("email").map { .done($0) } ?? .passing("an answer that is not the server's")
        case 401: return .unauthorized
        default: return .passing("\(answer.status)")
        }
      case .token: return .token(try await engine.validAccessToken())
      case .longToken(let minimum): return .token(try await engine.validAccessToken(minimumLifetime: minimum))
      case .refresh: try await engine.refresh()
      case .user: _ = try await engine.currentUser(fresh: true)
      case .signIn(let email): try await engine.signIn(Credentials(identifier: email, password: World.password))
      case .signOut:
        let result = try await engine.signOut()
        if result.wasSignedIn { coverage.note(result.revoked ? .signOut : .signOutOffline) }
      case .signOutWhoever: try await engine.signOutWhoever()
      case .restore: await engine.restore()
      case .flush: await engine.flushRevocations()
      case .watch(let duration):
        let watch = ChangeWatch(engine: engine)
        watch.start()
        defer { watch.stop() }
        try await process.clock.sleep(for: duration)
      }
      return .done(nil)
    } catch {
      return outcome(of: error)
    }
  }

  private func outcome(of error: any Error) -> CallOutcome {
    if error is CancellationError { return .cancelled }
    if let error = error as? SessionError {
      switch error.code {
      case .notLoggedIn: return .notSignedIn
      case .sessionEnded, .sessionReplaced: return .sessionOver
      case .refreshFailed, .tooManyRefreshes, .busy:
        if error.code == .refreshFailed { coverage.note(.passing) }
        return .passing(error.code.rawValue)
      case .storage: return .storage(error.storeError?.code.rawValue ?? "")
      }
    }
    if let error = error as? APIError { return error.status == 401 ? .unauthorized : .passing(error.kind.rawValue) }
    return .other("\(error)")
  }

  // MARK: Observers (9)

  func observe() {
    seen.withLock { $0.isWatched = true }
    let (states, events) = (engine.states(), engine.events(limit: 1000))
    let tasks = [
      process.tasks.start { [weak self] in
        for await snapshot in states { self?.note(snapshot) }
      },
      process.tasks.start { [weak self] in
        for await event in events { self?.note(event) }
      },
    ]
    watchers.withLock { $0 = tasks }
  }

  func close() {
    for watcher in watchers.withLock({ $0 }) { watcher.cancel() }
    watchers.withLock { $0 = [] }
  }

  private func note(_ snapshot: SessionSnapshot) {
    coverage.note(.observed)
    seen.withLock { seen in
      if let last = seen.snapshot, snapshot.sequence <= last.sequence {
        seen.fault = "states came out of order: \(last.sequence), then \(snapshot.sequence)"
      }
      seen.snapshot = snapshot
    }
  }

  private func note(_ event: SessionEvent) {
    seen.withLock { seen in
      func expect(_ id: SessionID, _ what: String) {
        if let session = seen.session, session != id { seen.fault = "\(what) of a session that is not the current one" }
      }
      switch event {
      case .signedIn(let id): seen.session = .some(id)
      case .signedOut(let id, _):
        expect(id, "signed out")
        seen.session = .some(nil)
      case .replaced(let old, let new):
        expect(old, "replaced")
        seen.session = .some(new)
      case .refreshed(let id), .adopted(let id):
        expect(id, "new tokens")
        seen.session = .some(id)
      case .missed(let count): seen.fault = "\(count) events missed by a reader that reads"
      case .refreshFailing, .unclassifiedRefreshAnswers, .persistenceFailed, .persistenceRecovered,
        .lifetimeShorterThanAsked:
        break
      }
    }
  }

  func observerFault() -> String? {
    let (current, seen) = (engine.snapshot, seen.withLock { $0 })
    guard seen.isWatched else { return nil }
    if let fault = seen.fault { return fault }
    if seen.snapshot != current { return "the last state told is not the state" }
    guard let session = seen.session else { return nil }
    switch current.state {
    case .signedIn(let summary): return session == summary.id ? nil : "the events do not add up to the session"
    case .signedOut: return session == nil ? nil : "the events do not add up to signed out"
    case .unknown, .unavailable: return "the events tell of a session, the state does not"
    }
  }
}

public import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An auth server that does to a session whatever a server can do, on cue: without sockets, and without global state.
///
/// It answers the chirp and envelope dialects, in realms (`/r/NAME/…`; the root is the realm `default`), and the admin API
/// under `/__mock/`. Put it behind `HTTPFront` for sockets, or behind `InProcessTransport` for none.
public final class MockAuthServer: MockRequestHandler {
  /// What it was made with, or reconfigured to since.
  public var configuration: MockServerConfiguration { machinery.configuration }
  private let machinery: ServerMachinery
  private let realms: Guarded<[String: MockRealm]>
  private let connections = Guarded<[ConnectionFault]>([])

  /// Makes a server.
  ///
  /// - Parameters:
  ///   - configuration: taken as it is: `check()` it first if it comes from outside. A second seeded user with the same email or
  ///     username is left out.
  ///   - time: where realms with a real clock get their time from, and what delays wait on. Only its boot clock is followed.
  ///   - tasks: how waiting tasks are started, if there is no `scheduler`.
  ///   - scheduler: what delays wait on instead; a front may bring its own later, with `attach`.
  public init(
    configuration: MockServerConfiguration = MockServerConfiguration(), time: any TimeSource = SystemClock(),
    tasks: TaskStarter = TaskStarter(), scheduler: (any DeliveryScheduler)? = nil
  ) {
    machinery = ServerMachinery(
      configuration: configuration, time: time, scheduler: scheduler ?? TaskScheduler(time: time, tasks: tasks))
    realms = Guarded([:])
  }

  /// A realm by its name, made at first use; `default` is the root.
  public func realm(_ name: String = "default") -> MockRealm {
    realms.withLock { realms in
      if let realm = realms[name] { return realm }
      let realm = MockRealm(name: name, machinery: machinery)
      realms[name] = realm
      return realm
    }
  }

  /// The realms that there are, by name.
  public var realmNames: [String] { realms.withLock { $0.keys.sorted() } }

  /// Forgets a realm; the next request to it makes a new one.
  public func dropRealm(_ name: String) {
    let realm = realms.withLock { $0.removeValue(forKey: name) }
    realm?.close()
  }

  /// Changes what realms begin with, and brings those along that there are: a policy, scripts and a kind of clock that differ from
  /// the earlier configuration's take their places, and new users are added. Sessions, users and what was set by hand stay.
  ///
  /// - Parameter configuration: `check()` it first. Its `seed` holds for realms to come only through the server that has it from
  ///   the start: the seed of a running server stays.
  public func reconfigure(_ configuration: MockServerConfiguration) {
    let before = machinery.reconfigure(configuration)
    for realm in realms.withLock({ Array($0.values) }) {
      realm.reconfigure(from: before.forRealm(realm.name), to: configuration.forRealm(realm.name))
    }
  }

  /// Lets delays wait on a front's timers from now on.
  public func attach(_ scheduler: any DeliveryScheduler) { machinery.attach(scheduler) }

  /// Forgets the realms that no request has reached for so long, but for the root, and those that keep answers back or are followed.
  ///
  /// - Parameter idle: by the time source's boot clock, whatever the realms' own clocks say; zero means all that are at rest.
  /// - Returns: their names, in order.
  @discardableResult
  public func dropRealms(idleFor idle: Duration) -> [String] {
    let before = machinery.time.sinceBoot - idle
    // A realm's lock is taken inside this one, never the other way round: a realm does not know its server.
    let dropped = realms.withLock { realms in
      let idle = realms.values.filter { $0.name != "default" && $0.isAtRest(since: before) }
      for realm in idle { realms[realm.name] = nil }
      return idle
    }
    for realm in dropped { realm.close() }
    return dropped.map(\.name).sorted()
  }

  /// Every realm in a line, in the order of their names.
  public var realmSummaries: [MockRealmSummary] {
    let now = machinery.time.sinceBoot
    return realms.withLock { Array($0.values) }.map { $0.summary(at: now) }.sorted { $0.name < $1.name }
  }

  /// Lets the next connections go wrong.
  public func failConnections(_ fault: ConnectionFault, count: Int) {
    connections.withLock { $0 += Array(repeating: fault, count: min(max(count, 0), 100_000)) }
  }

  /// What the connection that was accepted just now is to suffer: a front asks once for each connection.
  public func takeConnectionFault() -> ConnectionFault? {
    connections.withLock { $0.isEmpty ? nil : $0.removeFirst() }
  }

  public func receive(_ request: MockRequest, deliver: @escaping @Sendable (MockDelivery) -> Void) {
    guard let target = TargetPath(request.target) else {
      if request.malformation != nil {
        realm().receive(request, path: "", query: "", deliver: deliver)
      } else {
        var malformed = request
        malformed.malformation = MockRequest.Malformation(
          status: 400, reason: "The target has no path, or its realm no proper name.")
        realm().receive(malformed, path: "", query: "", deliver: deliver)
      }
      return
    }
    guard let realm = existingOrNewRealm(target.realm) else {
      return deliver(MockDelivery(reply: Chirp.error(503, "too_many_realms", "There are too many realms already.")))
    }
    if request.malformation == nil, target.path == "/__mock" || target.path.hasPrefix("/__mock/") {
      AdminAPI(server: self, realm: realm).receive(request, path: target.path, query: target.query, deliver: deliver)
    } else {
      realm.receive(request, path: target.path, query: target.query, deliver: deliver)
    }
  }

  /// A realm for a request: nil if requests have made too many.
  private func existingOrNewRealm(_ name: String) -> MockRealm? {
    realms.withLock { realms in
      if let realm = realms[name] { return realm }
      guard name == "default" || realms.count < configuration.maximumRealms else { return nil }
      let realm = MockRealm(name: name, machinery: machinery)
      realms[name] = realm
      return realm
    }
  }
}

/// What the realms of one server share.
final class ServerMachinery: Sendable {
  var configuration: MockServerConfiguration { state.withLock { $0 } }
  private let state: Guarded<MockServerConfiguration>
  let time: any TimeSource
  /// The wall clock when the server was made; from then on only the boot clock counts.
  let started: MockInstant
  let startReading: Duration
  let keys = ServerKeys()
  private let seed: UInt64
  private let scheduler: Guarded<any DeliveryScheduler>

  init(configuration: MockServerConfiguration, time: any TimeSource, scheduler: any DeliveryScheduler) {
    state = Guarded(configuration)
    self.time = time
    started = MockInstant(time.wallClock)
    startReading = time.sinceBoot
    seed = configuration.seed ?? UInt64.random(in: .min ... .max)
    self.scheduler = Guarded(scheduler)
  }

  /// Takes a new configuration, and gives the earlier one.
  func reconfigure(_ configuration: MockServerConfiguration) -> MockServerConfiguration {
    state.withLock { state in
      defer { state = configuration }
      return state
    }
  }

  func attach(_ scheduler: any DeliveryScheduler) { self.scheduler.withLock { $0 = scheduler } }

  func schedule(after duration: Duration, _ work: @escaping @Sendable () -> Void) {
    scheduler.withLock { $0 }.schedule(after: duration, work)
  }

  /// The server's seed and the realm's name (FNV-1a), so that realms differ and the order of their making does not matter.
  func seed(for realm: String) -> UInt64 {
    realm.utf8.reduce(seed ^ 0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}

extension MockServerConfiguration {
  /// Refuses what no realm could begin with.
  ///
  /// - Throws: `MockServerError`: a seeded user that a registration would refuse or that comes twice, a negative lifetime, a realm's
  ///   name that no request could have.
  public func check() throws(MockServerError) {
    try Self.check(users)
    try Self.check(policy)
    for (name, realm) in realms.sorted(by: { $0.key < $1.key }) {
      guard TargetPath.isRealmName(name) else {
        throw MockServerError(
          .invalidRequest,
          "\"\(name.prefix(80))\" is no realm's name: 1 to 64 letters, digits, \"-\", \"_\" or \".\" make one")
      }
      if let users = realm.users { try Self.check(users) }
      if let policy = realm.policy { try Self.check(policy) }
    }
  }

  /// Refuses users that a registration would refuse, and those that come twice.
  public static func check(_ users: [MockSeedUser]) throws(MockServerError) {
    for user in users { try user.check() }
    for (name, values) in [("email", users.map(\.email)), ("username", users.map(\.username))] {
      var seen: Set<String> = []
      for value in values where !seen.insert(value.lowercased()).inserted {
        throw MockServerError(.taken, "two seeded users have the \(name) \"\(value.prefix(80))\"")
      }
    }
  }

  private static func check(_ policy: MockPolicy) throws(MockServerError) {
    if policy.accessTTL < .zero || policy.refreshTTL < .zero || policy.grace < .zero {
      throw MockServerError(.invalidRequest, "a lifetime or grace window is negative")
    }
  }
}

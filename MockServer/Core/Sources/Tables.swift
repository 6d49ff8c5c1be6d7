#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The scripts of a realm, and how far each has got.
struct ScriptTable: Sendable {
  struct Progress: Sendable {
    let script: MockScript
    /// The action that comes next, and how many requests it has had.
    var index = 0
    var usedOfAction = 0
    /// How many requests the script has answered.
    var used = 0
    /// The last request that was near it.
    var nearest: MockNearRequest?

    /// How many requests it will still answer before `then`; nil if it repeats.
    var remaining: Int? {
      guard script.then != .repeat else { return nil }
      return script.actions.dropFirst(index).reduce(0) { $0 + $1.times } - usedOfAction
    }
  }

  enum Next {
    case none
    case action(MockAction)
    case exhausted(String)
  }

  private(set) var scripts: [MockScript.Target: Progress] = [:]

  /// Sets a script in the place of the one for the same target; one without actions takes it away.
  mutating func set(_ script: MockScript) {
    scripts[script.target] = script.actions.isEmpty && script.then != .fail ? nil : Progress(script: script)
  }

  mutating func removeAll() { scripts.removeAll() }

  /// Notes the request that came near a script and was not taken by it.
  mutating func remember(_ request: MockNearRequest, for target: MockScript.Target) {
    scripts[target]?.nearest = request
  }

  /// Takes the next action for a request: the endpoint's script first, then the operation's.
  mutating func next(operation: MockOperation, method: String, path: String) -> Next {
    guard !scripts.isEmpty else { return .none }
    for target in [.endpoint(method: method, path: path), .operation(operation)] as [MockScript.Target] {
      switch take(target) {
      case .none: continue
      case let next: return next
      }
    }
    return .none
  }

  private mutating func take(_ target: MockScript.Target) -> Next {
    guard var progress = scripts[target] else { return .none }
    if progress.index == progress.script.actions.count, progress.script.then == .repeat { progress.index = 0 }
    guard progress.index < progress.script.actions.count else {
      return progress.script.then == .fail ? .exhausted(target.text) : .none
    }
    let action = progress.script.actions[progress.index]
    progress.used += 1
    progress.usedOfAction += 1
    if progress.usedOfAction >= action.times {
      progress.index += 1
      progress.usedOfAction = 0
    }
    scripts[target] = progress
    return .action(action)
  }
}

/// Answers, and operations, that are kept back.
struct WaitingRoom: Sendable {
  enum Work: Sendable {
    case delivery(MockDelivery)
    case operation(RealmState.Call, MockAction, MockJournalEntry)
  }

  struct Ticket: Sendable {
    let work: Work
    let delay: Duration
    let deliver: @Sendable (MockDelivery) -> Void
  }

  private var held: [String: [Ticket]] = [:]
  private var delayed: [(due: MockInstant, order: Int, ticket: Ticket)] = []
  private var lastOrder = 0

  /// Whether nothing is kept back.
  var isEmpty: Bool { held.isEmpty && delayed.isEmpty }
  /// How many wait under each name.
  var heldCounts: [String: Int] { held.mapValues(\.count) }
  /// How many wait for their time.
  var delayedCount: Int { delayed.count }

  mutating func hold(_ ticket: Ticket, under name: String) { held[name, default: []].append(ticket) }

  /// Takes out the first `count` of a name, or all.
  mutating func release(_ name: String, count: Int?) -> [Ticket] {
    guard var tickets = held.removeValue(forKey: name) else { return [] }
    let released = Array(tickets.prefix(max(count ?? tickets.count, 0)))
    tickets.removeFirst(released.count)
    if !tickets.isEmpty { held[name] = tickets }
    return released
  }

  mutating func delay(_ ticket: Ticket, until due: MockInstant) {
    lastOrder += 1
    let place = delayed.firstIndex { due < $0.due } ?? delayed.count
    delayed.insert((due, lastOrder, ticket), at: place)
  }

  /// Takes out those whose time has come, in their order.
  mutating func takeDue(now: MockInstant) -> [Ticket] {
    let due = delayed.prefix { $0.due <= now }.map(\.ticket)
    delayed.removeFirst(due.count)
    return due
  }

  var nextDue: MockInstant? { delayed.first?.due }

  mutating func takeAll() -> [Ticket] {
    let all = delayed.map(\.ticket) + held.sorted { $0.key < $1.key }.flatMap(\.value)
    self = WaitingRoom()
    return all
  }
}

/// The answers to requests that came with an `Idempotency-Key`.
struct IdempotencyTable: Sendable {
  private struct Key: Hashable {
    let userID: String
    let key: String
  }

  private var answers: [Key: (body: Data, reply: MockReply)] = [:]
  private var order: [Key] = []
  private static let maximum = 10_000

  /// The first answer under a key, and whether its request had the same body.
  func answer(userID: String, key: String, body: Data) -> (reply: MockReply, same: Bool)? {
    answers[Key(userID: userID, key: key)].map { ($0.reply, $0.body == body) }
  }

  mutating func keep(_ reply: MockReply, userID: String, key: String, body: Data) {
    let key = Key(userID: userID, key: key)
    answers[key] = (body, reply)
    order.append(key)
    guard order.count > Self.maximum else { return }
    for old in order.prefix(Self.maximum / 2) { answers[old] = nil }
    order.removeFirst(Self.maximum / 2)
  }
}

/// Those who follow a realm's events.
struct EventHub: Sendable {
  struct Follower: Sendable {
    /// Takes an event; false if the reader is too far behind, or gone.
    let take: @Sendable (MockEvent) -> Bool
    let finish: @Sendable () -> Void
  }

  private var followers: [Int: Follower] = [:]

  /// Whether nobody follows.
  var isEmpty: Bool { followers.isEmpty }
  private var last = 0

  mutating func add(_ follower: Follower) -> Int {
    last += 1
    followers[last] = follower
    return last
  }

  mutating func remove(_ id: Int) { followers[id] = nil }

  /// Takes everybody out; their streams are ended once the lock is open.
  mutating func removeAll(_ effects: inout RealmState.Effects) {
    effects.finished += followers.sorted { $0.key < $1.key }.map(\.value.finish)
    followers.removeAll()
  }

  /// Tells all; one that is too far behind is dropped, and its stream ended once the lock is open.
  mutating func publish(_ event: MockEvent, _ effects: inout RealmState.Effects) {
    guard !followers.isEmpty else { return }
    for (id, follower) in followers.sorted(by: { $0.key < $1.key }) where !follower.take(event) {
      followers[id] = nil
      effects.finished.append(follower.finish)
    }
  }
}

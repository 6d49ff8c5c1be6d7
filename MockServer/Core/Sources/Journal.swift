import Groundwork

/// The journal of a realm: a ring of entries, counts that stay exact when entries fall out, and those who wait for a count.
struct Journal: Sendable {
  /// Somebody who waits until a count is reached.
  struct Waiter: Sendable {
    let id: Int
    let filter: MockJournalFilter
    let target: Int
    let complete: @Sendable (Int) -> Void
  }

  private struct Key: Hashable {
    var operation: MockOperation
    var method: String
    var path: String
    var status: Int
    var outcome: MockOutcome
  }

  private let capacity: Int
  private var entries: [MockJournalEntry] = []
  /// Where the ring's oldest entry stands, once it is full.
  private var head = 0
  private var counts: [Key: Int] = [:]
  private var waiters: [Waiter] = []
  private var nextWaiter = 0
  private var attempts = AttemptTable()

  /// The number of the last entry.
  private(set) var lastSeq = 0
  /// Whether somebody waits for a count.
  var isAwaited: Bool { !waiters.isEmpty }
  /// How many entries fell out.
  var dropped: Int { lastSeq - entries.count }

  /// Beyond so many different keys, methods and paths that no endpoint has are counted under one name.
  private static let maximumKeys = 4096

  init(capacity: Int) { self.capacity = max(capacity, 1) }

  /// Counts the attempts of a request, before its outcome is known.
  mutating func attempt(of request: MockRequest, path: String) -> Int { attempts.begin(request, path: path) }

  /// Adds an entry, numbers it, and takes out the waiters whose count is reached.
  mutating func append(_ entry: MockJournalEntry) -> (entry: MockJournalEntry, done: [(Waiter, Int)]) {
    var entry = entry
    lastSeq += 1
    entry.seq = lastSeq
    if entries.count < capacity {
      entries.append(entry)
    } else {
      entries[head] = entry
      head = (head + 1) % capacity
    }
    count(entry, by: 1)
    return (entry, takeDone())
  }

  /// Replaces a pending entry, if it has not fallen out.
  mutating func settle(_ pending: MockJournalEntry, as settled: MockJournalEntry) -> [(Waiter, Int)] {
    count(pending, by: -1)
    count(settled, by: 1)
    if let index = index(of: settled.seq) { entries[index] = settled }
    return takeDone()
  }

  mutating func noteFailure(of request: MockRequest, path: String, attempt: Int, failed: Bool) {
    attempts.end(request, path: path, attempt: attempt, failed: failed)
  }

  /// The entries after a number, oldest first.
  func entries(since seq: Int) -> [MockJournalEntry] {
    let oldest = dropped
    let skipped = min(max(seq - oldest, 0), entries.count)
    return (skipped..<entries.count).map { entries[(head + $0) % entries.count] }
  }

  /// The entry of a number, if it has not fallen out.
  func entry(_ seq: Int) -> MockJournalEntry? { index(of: seq).map { entries[$0] } }

  func count(_ filter: MockJournalFilter) -> Int {
    counts.reduce(0) { sum, pair in Self.matches(filter, pair.key) ? sum + pair.value : sum }
  }

  /// Waits until a count is reached; nil if it is already, with the count.
  mutating func wait(
    for filter: MockJournalFilter, toReach target: Int, _ complete: @escaping @Sendable (Int) -> Void
  ) -> (id: Int?, count: Int) {
    let now = count(filter)
    guard now < target else { return (nil, now) }
    nextWaiter += 1
    waiters.append(Waiter(id: nextWaiter, filter: filter, target: target, complete: complete))
    return (nextWaiter, now)
  }

  /// Takes a waiter out, if it is still there, with the count as it is.
  mutating func giveUp(waiter id: Int) -> (Waiter, Int)? {
    guard let index = waiters.firstIndex(where: { $0.id == id }) else { return nil }
    let waiter = waiters.remove(at: index)
    return (waiter, count(waiter.filter))
  }

  /// Takes everything out but the waiters, who go on waiting.
  mutating func clear() {
    var fresh = Journal(capacity: capacity)
    fresh.waiters = waiters
    fresh.nextWaiter = nextWaiter
    self = fresh
  }

  private func index(of seq: Int) -> Int? {
    let place = seq - dropped - 1
    guard entries.indices.contains(place) else { return nil }
    return (head + place) % entries.count
  }

  private mutating func count(_ entry: MockJournalEntry, by step: Int) {
    var key = Key(
      operation: entry.operation, method: entry.method, path: entry.path, status: entry.status, outcome: entry.outcome)
    if counts.count >= Self.maximumKeys, entry.operation == .unknown, counts[key] == nil {
      key.method = "(other)"
      key.path = "(other)"
    }
    counts[key, default: 0] += step
  }

  private mutating func takeDone() -> [(Waiter, Int)] {
    guard !waiters.isEmpty else { return [] }
    var done: [(Waiter, Int)] = []
    var left: [Waiter] = []
    for waiter in waiters {
      let now = count(waiter.filter)
      if now >= waiter.target {
        done.append((waiter, now))
      } else {
        left.append(waiter)
      }
    }
    waiters = left
    return done
  }

  private static func matches(_ filter: MockJournalFilter, _ key: Key) -> Bool {
    (filter.operation == nil || filter.operation == key.operation)
      && (filter.status == nil || filter.status == key.status)
      && (filter.outcome == nil || filter.outcome == key.outcome)
      && (filter.method == nil || filter.method == key.method) && (filter.path == nil || filter.path == key.path)
  }
}

/// Tells a retry from a new request.
struct AttemptTable: Sendable {
  private var named: [String: Int] = [:]
  private var failed: [Int: Int] = [:]
  private static let maximum = 4096

  mutating func begin(_ request: MockRequest, path: String) -> Int {
    if let name = Self.name(of: request, path: path) {
      if named.count >= Self.maximum { named.removeAll() }
      named[name, default: 0] += 1
      // A client may give its retry an id of its own. The same body after a failure is a retry all the same.
      let tries = request.body.isEmpty || failed.isEmpty ? 0 : failed[Self.fingerprint(of: request, path: path)] ?? 0
      return max(named[name, default: 1], tries + 1)
    }
    guard !failed.isEmpty else { return 1 }
    return (failed[Self.fingerprint(of: request, path: path)] ?? 0) + 1
  }

  mutating func end(_ request: MockRequest, path: String, attempt: Int, failed hasFailed: Bool) {
    guard hasFailed || !failed.isEmpty else { return }
    guard !request.body.isEmpty || Self.name(of: request, path: path) == nil else { return }
    let print = Self.fingerprint(of: request, path: path)
    guard hasFailed else {
      failed[print] = nil
      return
    }
    if failed.count >= Self.maximum { failed.removeAll() }
    failed[print] = attempt
  }

  private static func name(of request: MockRequest, path: String) -> String? {
    guard let id = request.header("X-Request-ID") ?? request.header("Idempotency-Key") else { return nil }
    return "\(request.method.prefix(32)) \(path.prefix(256)) \(id.prefix(256))"
  }

  private static func fingerprint(of request: MockRequest, path: String) -> Int {
    var hasher = Hasher()
    hasher.combine(request.method)
    hasher.combine(path)
    hasher.combine(request.body)
    return hasher.finalize()
  }
}

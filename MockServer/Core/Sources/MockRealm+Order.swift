/// Whether requests came in the order in which they were to come.
public struct MockOrderCheck: Sendable, Hashable {
  /// The numbers of the entries that match, in order: as far as it holds.
  public var matched: [Int]
  /// What does not hold, in words; nil if everything does.
  public var failure: String?

  /// Whether the order holds.
  public var holds: Bool { failure == nil }
}

extension MockJournalFilter {
  /// Whether an entry counts.
  public func matches(_ entry: MockJournalEntry) -> Bool {
    (operation == nil || operation == entry.operation) && (method == nil || method == entry.method)
      && (path == nil || path == entry.path) && (status == nil || status == entry.status)
      && (outcome == nil || outcome == entry.outcome)
  }

  /// The filter in words, for a message.
  var text: String {
    let parts = [
      operation?.rawValue, method, path, status.map(String.init), outcome?.rawValue,
    ].compactMap(\.self)
    return parts.isEmpty ? "any request" : parts.joined(separator: " ")
  }
}

extension MockRealm {
  /// Checks the order of requests in the journal.
  ///
  /// - Parameters:
  ///   - order: what came, first to last.
  ///   - seq: only entries after this number count.
  ///   - only: whether nothing else may have come: between them, before them or after them.
  public func checkOrder(_ order: [MockJournalFilter], since seq: Int = 0, only: Bool = false) -> MockOrderCheck {
    let (entries, dropped) = journalPage(since: seq)
    let lost = max(min(dropped, dropped - seq), 0)
    let caveat = lost > 0 ? "; \(lost) older entries have fallen out of the journal" : ""
    var matched: [Int] = []
    for entry in entries {
      if matched.count < order.count, order[matched.count].matches(entry) {
        matched.append(entry.seq)
      } else if only {
        let expected = matched.count < order.count ? "\(order[matched.count].text) was to come" : "nothing was to come"
        return MockOrderCheck(
          matched: matched, failure: "entry \(entry.seq) is \(entry.text), where \(expected)\(caveat)")
      }
    }
    if only, lost > 0 {
      return MockOrderCheck(
        matched: matched, failure: "what else came cannot be told\(caveat)")
    }
    guard matched.count < order.count else { return MockOrderCheck(matched: matched) }
    let after = matched.last.map { "after entry \($0)" } ?? (seq > 0 ? "after entry \(seq)" : "at all")
    return MockOrderCheck(
      matched: matched,
      failure: "\(order[matched.count].text) (number \(matched.count + 1)) did not come \(after)\(caveat)")
  }
}

extension MockJournalEntry {
  /// The entry in words, for a message.
  fileprivate var text: String { "\(operation.rawValue) (\(method) \(path), \(status) \(outcome.rawValue))" }
}

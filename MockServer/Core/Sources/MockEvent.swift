#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What happens in a realm.
public enum MockEvent: Sendable, Hashable {
  /// A journal entry was written, or a pending one got its outcome.
  case request(MockJournalEntry)
  /// Something else changed; ask for the state.
  case changed(MockChange)
}

/// What was changed by the admin API or the Swift API.
public enum MockChange: String, Sendable, Hashable, CaseIterable {
  case clock, users, sessions, policy, scripts, holds, reset
}

extension MockEvent {
  /// The event as `GET /__mock/events` sends it.
  var serverSentEvent: Data {
    var json = JSONWriter()
    switch self {
    case .request(let entry):
      entry.write(to: &json)
      return Data("id: \(entry.seq)\nevent: request\ndata: \(json.text)\n\n".utf8)
    case .changed(let what):
      json.object { $0.member("kind", what.rawValue) }
      return Data("event: changed\ndata: \(json.text)\n\n".utf8)
    }
  }
}

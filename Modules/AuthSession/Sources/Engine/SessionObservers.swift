import Groundwork

/// Everyone who watches a session (S23). Posting costs nothing where nobody listens, and never waits for a listener.
final class SessionObservers: Sendable {
  // Weak: a subscriber that is gone takes its mailbox along.
  private struct Subscriber<Element: Sendable>: Sendable {
    weak let mailbox: Mailbox<Element>?
  }

  private struct Subscribers: Sendable {
    var states: [Subscriber<SessionSnapshot>] = []
    var events: [Subscriber<SessionEvent>] = []
  }

  private let subscribers = Guarded(Subscribers())

  deinit {
    for mailbox in subscribers.withLock({ $0.states.compactMap(\.mailbox) }) { mailbox.finish() }
    for mailbox in subscribers.withLock({ $0.events.compactMap(\.mailbox) }) { mailbox.finish() }
  }

  func states(first: SessionSnapshot) -> AsyncStream<SessionSnapshot> {
    let mailbox = Mailbox<SessionSnapshot>(limit: 1, missed: nil)
    mailbox.post(first)
    subscribers.withLock {
      $0.states.removeAll { $0.mailbox == nil }
      $0.states.append(Subscriber(mailbox: mailbox))
    }
    return AsyncStream { await mailbox.next() }
  }

  func events(limit: Int) -> AsyncStream<SessionEvent> {
    let mailbox = Mailbox<SessionEvent>(limit: limit) { .missed($0) }
    subscribers.withLock {
      $0.events.removeAll { $0.mailbox == nil }
      $0.events.append(Subscriber(mailbox: mailbox))
    }
    return AsyncStream { await mailbox.next() }
  }

  func post(_ snapshot: SessionSnapshot?, _ events: [SessionEvent]) {
    guard snapshot != nil || !events.isEmpty else { return }
    let (stateBoxes, eventBoxes) = subscribers.withLock { ($0.states.map(\.mailbox), $0.events.map(\.mailbox)) }
    if let snapshot { for mailbox in stateBoxes { mailbox?.post(snapshot) } }
    for event in events { for mailbox in eventBoxes { mailbox?.post(event) } }
  }
}

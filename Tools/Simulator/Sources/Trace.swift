import Groundwork

/// Who takes part in a diagram.
enum Participant: Sendable, Hashable {
  case process(Int)
  case store
  case server
}

/// One line of a diagram.
struct TraceEvent: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    /// Something that happens at one place.
    case note(Participant)
    /// Something that goes from one to another, and whether it gets there.
    case message(Participant, Participant, arrives: Bool)
    /// Something that concerns all: a disturbance, a violation.
    case banner
  }

  var time: Duration
  var kind: Kind
  var text: String
}

/// Keeps a schedule's trace, if anybody wants to see it.
final class Trace: Sendable {
  private let events: Guarded<[TraceEvent]>?
  private let scheduler: Scheduler

  init(isOn: Bool, scheduler: Scheduler) {
    events = isOn ? Guarded([]) : nil
    self.scheduler = scheduler
  }

  var all: [TraceEvent] { events?.withLock { $0 } ?? [] }

  func add(_ kind: TraceEvent.Kind, _ text: @autoclosure () -> String) {
    guard let events else { return }
    let event = TraceEvent(time: scheduler.now, kind: kind, text: text())
    events.withLock { $0.append(event) }
  }
}

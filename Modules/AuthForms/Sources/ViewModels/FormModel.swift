import Groundwork
public import Observation

/// Runs one form: feeds events to its state machine and carries out what that asks for.
///
/// The decisions are all `FormState`'s. This class keeps the state where screens observe it, and sends each submission exactly once.
@MainActor
@Observable
public final class FormModel {
  /// What became of a submission.
  public enum Outcome: Sendable, Hashable {
    /// Done.
    case accepted
    /// Refused or failed, and what is said of it.
    case refused(FormRefusal)
    /// Given up by the user: no message.
    case abandoned
  }

  /// The form as it stands.
  public private(set) var state: FormState
  /// What a screen reader is to say, the newest (D5.9).
  public private(set) var announcement: Announcement?

  @ObservationIgnored private let tasks: TaskStarter
  @ObservationIgnored private var send: @MainActor (FormSubmission) async -> Outcome = { _ in .abandoned }
  @ObservationIgnored private var running: Task<Void, Never>?

  init(_ specification: FormSpecification, tasks: TaskStarter) {
    state = FormState(specification)
    self.tasks = tasks
  }

  /// Sets what sends a submission; the view model that owns the form does it once, right after making both.
  func onSubmit(_ send: @escaping @MainActor (FormSubmission) async -> Outcome) {
    self.send = send
  }

  /// Takes an event; if it submits the form, the answer is waited for. Cancelling the caller's task gives the submission up.
  public func handle(_ event: FormEvent) async {
    if let submission = apply(event) { await run(submission) }
  }

  /// Takes an event and returns at once; if it submits the form, a task of its own waits for the answer.
  public func dispatch(_ event: FormEvent) {
    guard let submission = apply(event) else { return }
    running = tasks.start { [weak self] in await self?.run(submission) }
  }

  /// Forgets everything typed, and gives up a submission that `dispatch` has begun.
  public func reset() {
    running?.cancel()
    running = nil
    _ = apply(.reset)
  }

  private func run(_ submission: FormSubmission) async {
    switch await send(submission) {
    case .accepted: _ = apply(.accepted(submission: submission.number))
    case .refused(let refusal): _ = apply(.refused(submission: submission.number, refusal))
    case .abandoned: _ = apply(.abandoned(submission: submission.number))
    }
  }

  /// Focus and keyboard need nothing more than the state, which has the cursor; the submission is the caller's to send.
  private func apply(_ event: FormEvent) -> FormSubmission? {
    var submission: FormSubmission?
    for effect in state.handle(event) {
      switch effect {
      case .submit(let asked): submission = asked
      case .announce(let text): announcement = Announcement(number: (announcement?.number ?? 0) + 1, text: text)
      case .focus, .hideKeyboard: break
      }
    }
    return submission
  }
}

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

  /// Sets who is asked by a submission; the view model that owns the form does it once, right after making it.
  ///
  /// - Parameter accepted: takes the answer, unless the form has been reset meanwhile, or the submission given up (S19).
  func onSubmit<Answer: Sendable>(
    in profile: AuthProfile, _ ask: @escaping @Sendable (FormSubmission) async throws -> Answer,
    accepted: @escaping @MainActor (Answer) -> Void
  ) {
    send = { [weak self] submission in
      do {
        let answer = try await ask(submission)
        guard let self, state.runningSubmission == submission.number else { return .abandoned }
        accepted(answer)
        return .accepted
      } catch {
        guard let self else { return .abandoned }
        return Outcome(failure: error, in: profile, form: state.specification)
      }
    }
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
    cancel()
    _ = apply(.reset)
  }

  /// Gives up the submission that runs: the form takes input again at once, and an answer that comes after all is nobody's.
  ///
  /// What `dispatch` has begun is cancelled, too; a caller of `handle` cancels its own task.
  public func giveUp() {
    guard let number = state.runningSubmission else { return }
    cancel()
    _ = apply(.abandoned(submission: number))
  }

  private func cancel() {
    running?.cancel()
    running = nil
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

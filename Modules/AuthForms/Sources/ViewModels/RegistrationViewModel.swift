public import AuthSession
public import Groundwork
public import Observation

/// The sign-up screen of every profile (D1.6, D4.6), with the same states as the sign-in screen.
@MainActor
@Observable
public final class RegistrationViewModel {
  /// The form: its fields, errors and cursor.
  public let form: FormModel
  /// The profile whose texts and rules it follows.
  public let profile: AuthProfile
  /// What became of the sign-up, once it has succeeded.
  public private(set) var outcome: SignUpOutcome?

  @ObservationIgnored private let service: any RegistrationService
  @ObservationIgnored private let onSuccess: @MainActor (SignUpOutcome) -> Void

  /// Makes the screen's model.
  ///
  /// - Parameter service: who signs up.
  /// - Parameter tasks: starts what `submitTapped` leaves running.
  /// - Parameter onSuccess: called once a sign-up has succeeded, after `outcome` is set.
  public init(
    service: any RegistrationService, profile: AuthProfile = .loginForm, tasks: TaskStarter = TaskStarter(),
    onSuccess: @escaping @MainActor (SignUpOutcome) -> Void = { _ in }
  ) {
    self.service = service
    self.profile = profile
    self.onSuccess = onSuccess
    form = FormModel(profile.registration, tasks: tasks)
    form.onSubmit { [weak self] submission in await self?.signUp(submission) ?? .abandoned }
  }

  /// The username as typed; "" where the profile has none.
  public var username: String {
    get { form.state[.username] }
    set { form.dispatch(.edited(.username, newValue)) }
  }

  /// The email as typed.
  public var email: String {
    get { form.state[.email] }
    set { form.dispatch(.edited(.email, newValue)) }
  }

  /// The password as typed.
  public var password: String {
    get { form.state[.password] }
    set { form.dispatch(.edited(.password, newValue)) }
  }

  /// Whether a sign-up is running: spinner in the button, fields locked.
  public var isLoading: Bool { form.state.isSubmitting }

  /// What the server said of the last try, where that belongs to no field.
  public var errorMessage: String? { form.state.message }

  /// Whether the button is enabled.
  public var canSubmit: Bool { form.state.canSubmit }

  /// Signs up with what is typed, and returns when that has succeeded or failed. A second call while one runs does nothing.
  public func submit() async {
    await form.handle(.submitPressed)
  }

  /// The button was tapped: as `submit`, for callers that cannot wait.
  public func submitTapped() {
    form.dispatch(.submitPressed)
  }

  /// Back to an empty form.
  public func reset() {
    outcome = nil
    form.reset()
  }

  private func signUp(_ submission: FormSubmission) async -> FormModel.Outcome {
    do {
      let outcome = try await service.register(
        Registration(
          username: profile.registration[.username] == nil ? nil : submission[.username], email: submission[.email],
          password: submission[.password]))
      guard form.state.runningSubmission == submission.number else { return .abandoned }
      self.outcome = outcome
      onSuccess(outcome)
      return .accepted
    } catch {
      return FormModel.Outcome(failure: error, in: profile, form: profile.registration)
    }
  }
}

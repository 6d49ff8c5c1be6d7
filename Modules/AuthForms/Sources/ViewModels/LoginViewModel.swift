public import AuthModels
public import AuthSession
public import Groundwork
public import Observation

/// The sign-in screen of every profile: D1's, D2's, D4's and D5's, which is the default.
///
/// Screens bind to `identifier` and `password`, tell it where the cursor is, and show what it says. Its rules are `FormState`'s.
@MainActor
@Observable
public final class LoginViewModel {
  /// The form: its fields, errors and cursor.
  public let form: FormModel
  /// The profile whose texts and rules it follows.
  public let profile: AuthProfile
  /// The user, once signed in (D5.10).
  public private(set) var user: User?

  @ObservationIgnored private let service: any LoginService
  @ObservationIgnored private let onSuccess: @MainActor (User) -> Void

  /// Makes the screen's model.
  ///
  /// - Parameter service: who signs in (D5.10).
  /// - Parameter tasks: starts what `submitTapped` leaves running.
  /// - Parameter onSuccess: called once a sign-in has succeeded, after `user` is set.
  public init(
    service: any LoginService = FakeAuthService(), profile: AuthProfile = .loginForm,
    tasks: TaskStarter = TaskStarter(), onSuccess: @escaping @MainActor (User) -> Void = { _ in }
  ) {
    self.service = service
    self.profile = profile
    self.onSuccess = onSuccess
    form = FormModel(profile.login, tasks: tasks)
    form.onSubmit { [weak self] submission in await self?.logIn(submission) ?? .abandoned }
  }

  /// The email, or the username in D2, as typed.
  public var identifier: String {
    get { form.state[profile.identifierField] }
    set { form.dispatch(.edited(profile.identifierField, newValue)) }
  }

  /// The password as typed.
  public var password: String {
    get { form.state[.password] }
    set { form.dispatch(.edited(.password, newValue)) }
  }

  /// Whether a sign-in is running: spinner in the button, fields locked (D5.3).
  public var isLoading: Bool { form.state.isSubmitting }

  /// What a screen reader is to say, the newest (D5.9).
  public var announcement: Announcement? { form.announcement }

  /// What the server said of the last try (D5.4, D1.5); gone when either field is edited.
  public var errorMessage: String? { form.state.message }

  /// Whether the button is enabled (D1.5, D5.3).
  public var canSubmit: Bool { form.state.canSubmit }

  /// Signs in with what is typed, and returns when that has succeeded or failed. A second call while one runs does nothing (D5.8).
  public func submit() async {
    await form.handle(.submitPressed)
  }

  /// The button was tapped: as `submit`, for callers that cannot wait.
  public func submitTapped() {
    form.dispatch(.submitPressed)
  }

  /// Back to an empty form, after a sign-out.
  public func reset() {
    user = nil
    form.reset()
  }

  private func logIn(_ submission: FormSubmission) async -> FormModel.Outcome {
    do {
      let user = try await service.logIn(
        email: submission[profile.identifierField], password: submission[.password])
      guard form.state.runningSubmission == submission.number else { return .abandoned }
      self.user = user
      onSuccess(user)
      return .accepted
    } catch {
      return FormModel.Outcome(failure: error, in: profile, form: profile.login)
    }
  }
}

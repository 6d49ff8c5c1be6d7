public import AuthSession
public import Groundwork
public import Observation

/// The sign-up screen of every profile (D1.6, D4.6), with the same states as the sign-in screen.
@MainActor
@Observable
public final class RegistrationViewModel: FormViewModel {
  public let form: FormModel
  public let profile: AuthProfile
  /// What became of the sign-up, once it has succeeded.
  public private(set) var outcome: SignUpOutcome?

  /// Makes the screen's model.
  ///
  /// - Parameter service: who signs up.
  /// - Parameter tasks: starts what `submitTapped` leaves running.
  /// - Parameter onSuccess: called once a sign-up has succeeded, after `outcome` is set.
  public init(
    service: any RegistrationService, profile: AuthProfile = .loginForm, tasks: TaskStarter = TaskStarter(),
    onSuccess: @escaping @MainActor (SignUpOutcome) -> Void = { _ in }
  ) {
    self.profile = profile
    form = FormModel(profile.registration, tasks: tasks)
    form.onSubmit(in: profile) { submission in
      try await service.register(
        Registration(
          username: profile.registration[.username] == nil ? nil : submission[.username], email: submission[.email],
          password: submission[.password]))
    } accepted: { [weak self] outcome in
      self?.outcome = outcome
      onSuccess(outcome)
    }
  }

  /// The username as typed; "" where the profile has none.
  public var username: String {
    get { self[.username] }
    set { self[.username] = newValue }
  }

  /// The email as typed.
  public var email: String {
    get { self[.email] }
    set { self[.email] = newValue }
  }

  /// Back to an empty form.
  public func reset() {
    outcome = nil
    form.reset()
  }
}

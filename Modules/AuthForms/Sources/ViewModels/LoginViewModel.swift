public import AuthModels
public import AuthSession
public import Groundwork
public import Observation

/// The sign-in screen of every profile: D1's, D2's, D4's and D5's, which is the default.
///
/// Screens bind to `identifier` and `password`, tell it where the cursor is, and show what it says. Its rules are `FormState`'s.
@MainActor
@Observable
public final class LoginViewModel: FormViewModel {
  public let form: FormModel
  public let profile: AuthProfile
  /// The user, once signed in (D5.10).
  public private(set) var user: User?

  /// Makes the screen's model.
  ///
  /// - Parameter service: who signs in (D5.10).
  /// - Parameter tasks: starts what `submitTapped` leaves running.
  /// - Parameter onSuccess: called once a sign-in has succeeded, after `user` is set.
  public init(
    service: any LoginService = FakeAuthService(), profile: AuthProfile = .loginForm,
    tasks: TaskStarter = TaskStarter(), onSuccess: @escaping @MainActor (User) -> Void = { _ in }
  ) {
    self.profile = profile
    form = FormModel(profile.login, tasks: tasks)
    form.onSubmit(in: profile) { submission in
      try await service.logIn(email: submission[profile.identifierField], password: submission[.password])
    } accepted: { [weak self] user in
      self?.user = user
      onSuccess(user)
    }
  }

  /// The email, or the username in D2, as typed.
  public var identifier: String {
    get { self[profile.identifierField] }
    set { self[profile.identifierField] = newValue }
  }

  /// Back to an empty form, after a sign-out.
  public func reset() {
    user = nil
    form.reset()
  }
}

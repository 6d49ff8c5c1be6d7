import AuthModels
public import AuthSession
public import Groundwork
public import Observation

/// The signed-out half of an app (D1.4): the sign-in screen, and the sign-up screen before it.
///
/// It decides which of the two shows, and what the one says of the other. Leaving for the app itself is the root's: it follows the session.
@MainActor
@Observable
public final class SignInFlowViewModel {
  /// A screen on top of the sign-in screen.
  public enum Step: Sendable, Hashable {
    /// The sign-up screen.
    case registration
  }

  /// The screens on top of the sign-in screen; a screen's way back empties it.
  public var path: [Step] = []
  /// What is said above the sign-in form: after a sign-up what comes next, else why the last session ended (S22).
  public var notice: String? { afterSignUp ?? endedNotice() }
  /// The sign-in screen.
  public let login: LoginViewModel
  /// The sign-up screen.
  public let registration: RegistrationViewModel
  /// The caption of the way to the sign-up screen.
  public let registrationTitle: String

  private var afterSignUp: String?
  @ObservationIgnored private let profile: AuthProfile
  @ObservationIgnored private let endedNotice: @MainActor () -> String?

  /// Makes both screens.
  ///
  /// - Parameters:
  ///   - login: who signs in.
  ///   - registration: who signs up.
  ///   - profile: whose texts and rules the screens follow.
  ///   - tasks: starts what a tap leaves running.
  ///   - endedNotice: why the last session ended, if anybody wonders: `RootViewModel.notice`.
  public init(
    login: any LoginService, registration: any RegistrationService, profile: AuthProfile = .loginForm,
    tasks: TaskStarter = TaskStarter(), endedNotice: @escaping @MainActor () -> String? = { nil }
  ) {
    self.profile = profile
    self.endedNotice = endedNotice
    registrationTitle = profile.registration.title
    self.login = LoginViewModel(service: login, profile: profile, tasks: tasks)
    let signUps = SignUps()
    self.registration = RegistrationViewModel(service: registration, profile: profile, tasks: tasks) {
      signUps.take($0)
    }
    signUps.onSignUp = { [weak self] in self?.signedUp($0) }
  }

  /// The user wants to make an account.
  public func registrationTapped() {
    afterSignUp = nil
    path = [.registration]
  }

  private func signedUp(_ outcome: SignUpOutcome) {
    switch outcome {
    // The session is there: the root switches, and nothing is left to say.
    case .signedIn: afterSignUp = nil
    case .registered(let user): goBack(saying: profile.strings[.loginAccountReady], email: user.email)
    case .confirmationRequired(let email): goBack(saying: profile.strings[.registerConfirmEmail], email: email)
    }
  }

  private func goBack(saying text: String, email: String?) {
    login.reset()
    if profile.identifierField == .email { login.identifier = email ?? "" }
    registration.reset()
    afterSignUp = text
    path = []
  }
}

/// Hands a sign-up to the flow that is not made yet when its screen is.
@MainActor
private final class SignUps {
  var onSignUp: (SignUpOutcome) -> Void = { _ in }

  func take(_ outcome: SignUpOutcome) { onSignUp(outcome) }
}

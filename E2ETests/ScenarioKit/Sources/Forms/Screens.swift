internal import AuthForms
internal import AuthSession
internal import Groundwork

/// The app's screens over one client process: the same view models that an app binds to.
@MainActor
final class Screens {
  private let root: RootViewModel
  private let login: LoginViewModel
  private let registration: RegistrationViewModel
  private let home: HomeViewModel
  private var isRegistering = false

  init(_ process: ClientProcess) {
    let profile = AuthProfile.named(process.parts.profile.rawValue) ?? .loginForm
    let session = SessionManager(engine: process.engine)
    let tasks = process.parts.tasks
    root = RootViewModel(session: session, profile: profile)
    login = LoginViewModel(service: SessionAuthService(engine: process.engine), profile: profile, tasks: tasks)
    registration = RegistrationViewModel(service: process.engine, profile: profile, tasks: tasks)
    home = HomeViewModel(profile: profile) { try await session.logout() }
  }

  private var form: FormModel { isRegistering ? registration.form : login.form }

  /// Does what a person does; what comes of it shows on the screen.
  func perform(_ verb: Verb) async -> Outcome {
    switch verb {
    case .open(.app): await root.restore()
    case .open(let screen):
      isRegistering = screen == .register
    case .type(let fields):
      for (name, text) in fields {
        guard let field = field(name) else { return missing(name) }
        await form.handle(.entered(field))
        await form.handle(.edited(field, text))
      }
    case .leave(let name):
      guard let field = field(name) else { return missing(name) }
      await form.handle(.left(field))
    case .returnKey(let name):
      guard let field = field(name) else { return missing(name) }
      await form.handle(.returnPressed(field))
    case .tap(.submit):
      if isRegistering { await registration.submit() } else { await login.submit() }
      // Whoever has signed up sees the sign-in screen next (D1.4).
      if isRegistering, registration.outcome != nil {
        isRegistering = false
        registration.reset()
      }
    case .tap(.logout):
      await home.logout()
      login.reset()
    default: return Outcome(.other, message: "no person does this at a screen")
    }
    return Outcome(.ok)
  }

  private func field(_ name: String) -> FieldName? {
    FieldName(rawValue: name).flatMap { form.state.specification[$0] == nil ? nil : $0 }
  }

  private func missing(_ name: String) -> Outcome {
    Outcome(.other, message: "the screen in front has no field \(name)")
  }

  /// What the screen in front shows.
  func view() -> FormView {
    switch root.screen {
    case .splash: bare("splash", message: "")
    case .unavailable(let message): bare("unavailable", message: message)
    case .home:
      FormView(
        screen: "home", title: home.title, buttonTitle: home.logoutButtonTitle, isButtonEnabled: !home.isWorking,
        hasSpinner: home.isWorking, isLocked: home.isWorking, errors: [:], message: home.errorMessage ?? "",
        focus: "none", announced: "", captions: [])
    case .signIn: formView()
    }
  }

  private func bare(_ screen: String, message: String) -> FormView {
    FormView(
      screen: screen, title: "", buttonTitle: "", isButtonEnabled: false, hasSpinner: false, isLocked: true,
      errors: [:],
      message: message, focus: "none", announced: "", captions: [])
  }

  private func formView() -> FormView {
    let state = form.state
    let fields = state.specification.fields
    let errors = fields.compactMap { field in state.error(for: field.name).map { (field.name.rawValue, $0) } }
    return FormView(
      screen: isRegistering ? "register" : "login", title: state.specification.title,
      buttonTitle: state.specification.buttonTitle, isButtonEnabled: state.canSubmit, hasSpinner: state.isSubmitting,
      isLocked: state.isLocked, errors: Dictionary(errors, uniquingKeysWith: { first, _ in first }),
      message: state.message ?? root.notice ?? "", focus: state.focus?.rawValue ?? "none",
      announced: form.announcement?.text ?? "", captions: fields.map(\.title))
  }
}

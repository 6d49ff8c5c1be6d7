internal import AuthForms
internal import AuthModels
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
  private let process: ClientProcess
  private let faults: Set<ClientFault>
  private let profile: AuthProfile
  private let service: any LoginService
  /// What faulty screens remember.
  private var firstScreen: RootScreen?
  private var lastMessage = ""

  init(_ process: ClientProcess, usesFakeService: Bool) {
    self.process = process
    faults = process.parts.faults
    let own = AuthProfile.named(process.parts.profile.rawValue) ?? .loginForm
    let foreign: AuthProfile = own == .loginForm ? .chirp : .loginForm
    profile = faults.contains(.foreignTexts) ? foreign : own
    let session = SessionManager(engine: process.engine)
    let tasks = process.parts.tasks
    root = RootViewModel(session: session, profile: profile)
    let fake: any LoginService =
      faults.contains(.anyPasswordWorks)
      ? CarelessService(time: process.parts.time) : FakeAuthService(time: process.parts.time)
    service = usesFakeService ? fake : SessionAuthService(engine: process.engine)
    login = LoginViewModel(service: service, profile: profile, tasks: tasks)
    // D1's view models stand on a repository, which knows the API's client and no engine.
    let repository: any RegistrationService =
      process.parts.profile == .chirp && !faults.contains(.signUpNotSent)
      ? RepositoryRegistrationService(repository: APIAuthRepository(client: process.plain)) : process.engine
    registration = RegistrationViewModel(service: repository, profile: profile, tasks: tasks)
    let asksServer = faults.contains(.serverFirst)
    home = HomeViewModel(profile: profile) {
      if asksServer { try await process.tellServerFirst() }
      try await session.logout()
    }
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
        if faults.contains(.errorsTooEarly) {
          await form.handle(.left(field))
          await form.handle(.entered(field))
        }
      }
    case .leave(let name):
      guard let field = field(name) else { return missing(name) }
      await form.handle(.left(field))
    case .returnKey(let name):
      guard let field = field(name) else { return missing(name) }
      if !faults.contains(.returnKeyDead) { await form.handle(.returnPressed(field)) }
    case .tap(.submit) where faults.contains(.secondTapCounts) && login.isLoading:
      let second = LoginViewModel(service: service, profile: profile, tasks: process.parts.tasks)
      for field in login.form.state.specification.fields {
        await second.form.handle(.edited(field.name, login.form.state[field.name]))
      }
      await second.submit()
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
    if root.screen != .splash, firstScreen == nil { firstScreen = root.screen }
    var screen = faults.contains(.rootNeverSwitches) ? firstScreen ?? root.screen : root.screen
    if faults.contains(.unknownIsSignedOut), screen == .splash { screen = .signIn }
    // The stand-in service has no session: its welcome is the form's own.
    if login.user != nil, service is FakeAuthService || service is CarelessService { screen = .home }
    return spoiled(view(of: screen))
  }

  private func view(of screen: RootScreen) -> FormView {
    switch screen {
    case .splash: bare("splash", message: "")
    case .unavailable(let message): bare("unavailable", message: message)
    case .home:
      FormView(
        screen: "home", title: home.title, buttonTitle: home.logoutButtonTitle, isButtonEnabled: !home.isWorking,
        hasSpinner: home.isWorking, isLocked: home.isWorking, errors: [:], message: home.errorMessage ?? "",
        focus: "none", announced: "", captions: [], style: Self.style(home.logoutButtonStyle))
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
      announced: form.announcement?.text ?? "", captions: fields.map(\.title), hints: Self.hints(fields),
      style: Self.style(MainButtonStyle()))
  }

  private static func hints(_ fields: [FormField]) -> JSONValue {
    let pairs = fields.map { field -> (String, JSONValue) in
      let hints = field.hints
      return (
        field.name.rawValue,
        [
          "keyboard": .string(hints.keyboard.rawValue), "content": .string(hints.contentType.rawValue),
          "return": .string(hints.returnKey.rawValue), "secure": .bool(hints.isSecure),
          "capitalizes": .bool(hints.capitalizes), "autocorrects": .bool(hints.autocorrects),
        ]
      )
    }
    return .object(Dictionary(pairs, uniquingKeysWith: { first, _ in first }))
  }

  private static func style(_ style: MainButtonStyle) -> JSONValue {
    [
      "color": .string(style.color.rawValue), "size": .number(style.fontSize), "bold": .bool(style.isBold),
      "fills": .bool(style.fillsWidth), "height": .number(style.maximumHeight), "radius": .number(style.cornerRadius),
      "padding": .number(MainButtonStyle.screenPadding),
    ]
  }

  /// What faulty screens make of a view.
  private func spoiled(_ view: FormView) -> FormView {
    guard !faults.isEmpty else { return view }
    var view = view
    if faults.contains(.messageStays) {
      if view.message.isEmpty { view.message = lastMessage }
      lastMessage = view.message
    }
    if faults.contains(.buttonAlwaysEnabled) { view.isButtonEnabled = true }
    if faults.contains(.fieldErrorsLost) { view.errors = [:] }
    if faults.contains(.serverMessageLost) { view.message = "" }
    if faults.contains(.fieldsNeverLock) { view.isLocked = false }
    if faults.contains(.hintsLost) { view.hints = [:] }
    if faults.contains(.silentErrors) { view.announced = "" }
    if faults.contains(.oneButtonStyle) { view.style = Self.style(MainButtonStyle()) }
    return view
  }
}

/// A stand-in service that takes every password.
private struct CarelessService: LoginService {
  let time: any TimeSource

  func logIn(email: String, password: String) async throws -> AppUser {
    try await FakeAuthService(time: time).logIn(email: email, password: "password123")
  }
}

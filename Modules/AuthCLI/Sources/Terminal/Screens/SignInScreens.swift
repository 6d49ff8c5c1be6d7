import AuthForms
import AuthModels
import AuthSession
import AuthStorage
import CommandLineTable
import Groundwork
import Observation
import TerminalScreen

extension CommandContext {
  /// The terminal for a full-screen form; nil where plain prompts are wanted, or are all that the terminal can do.
  func screen() -> (any ScreenPort)? {
    guard let screen = parts.screen, console.inputIsTerminal, !call.flag("accessible"),
      Self.movesCursor(parts.environment["TERM"] ?? ""), screen.isAvailable
    else { return nil }
    return screen
  }

  /// Whether a terminal of that name can put its cursor anywhere.
  private static func movesCursor(_ terminal: String) -> Bool {
    !["", "dumb", "unknown", "network", "dialup", "emacs", "printer"].contains(terminal)
      && !terminal.hasPrefix("dumb-")
  }
}

/// The sign-in flow on a terminal (D1.4, D2.3): the form, then home; after a sign-out there, the form again.
///
/// Which of them is shown the root's model says, as in every app: who is signed in already sees home at once.
@MainActor
@Observable
final class SignInScreens {
  /// Where it begins.
  enum Start {
    case login
    case register
  }

  /// What it came to.
  struct Result {
    /// Who signed in, as it was sent; nil if the session was there before.
    var identifier: String?
    /// What became of a sign-up.
    var signUp: SignUpOutcome?
  }

  private enum Stage {
    /// The sign-up form, whoever is signed in.
    case register
    /// The sign-in form of a fresh account, whoever is signed in.
    case login
    /// What the session's state says.
    case root
  }

  private var stage = Stage.root
  private var isOver = false
  @ObservationIgnored private var isCancelled = false
  @ObservationIgnored private var signUp: SignUpOutcome?
  @ObservationIgnored private var notice: String?
  @ObservationIgnored private var signOut: Task<Void, Never>?
  @ObservationIgnored private var loginPage: FormPage?
  @ObservationIgnored private var registerPage: FormPage?
  @ObservationIgnored private var homePage: HomePage?
  @ObservationIgnored private let context: CommandContext
  @ObservationIgnored private let session: CommandSession
  @ObservationIgnored private let manager: SessionManager
  @ObservationIgnored private let root: RootViewModel
  @ObservationIgnored private let loginService: PromptedLoginService

  init(_ context: CommandContext, _ session: CommandSession) {
    self.context = context
    self.session = session
    manager = SessionManager(engine: session.engine)
    root = RootViewModel(session: manager, profile: session.profile)
    loginService = PromptedLoginService(engine: session.engine)
  }

  /// Shows the screens until the user leaves them.
  ///
  /// - Throws: `CommandFailure.cancelled` if nobody is signed in then; `StoreError` if the store cannot tell who is; `ConsoleError`.
  func run(_ start: Start, on port: any ScreenPort) async throws -> Result {
    await root.restore()
    if case .unavailable(let error) = manager.state { throw error }
    stage = start == .register ? .register : .root
    let look = ScreenLook(environment: context.parts.environment, noColor: context.call.flag("no-color"))
    let runner = ScreenRunner(port: port, look: look, time: context.parts.time, tasks: context.parts.tasks) {
      [self] in page
    }
    try await runner.run()
    // Signed out here at once; the server is told within the engine's bound (S20).
    await signOut?.value
    if case .unavailable(let error) = manager.state { throw error }
    // An account that was made stays made, whether or not its owner has signed in as well.
    if isCancelled, signUp == nil { throw CommandFailure.cancelled }
    if !isCancelled, case .registered = signUp { signUp = nil }
    return Result(identifier: loginService.identifier, signUp: signUp)
  }

  /// The page that is to be shown now.
  private var page: (any ScreenPage)? {
    guard !isOver else { return nil }
    switch (stage, root.screen) {
    case (.register, _): return registrationForm()
    case (.login, _), (.root, .signIn), (.root, .splash): return loginForm()
    case (.root, .home): return home()
    case (.root, .unavailable): return nil
    }
  }

  private func loginForm() -> FormPage {
    if let loginPage { return loginPage }
    let model = LoginViewModel(service: loginService, profile: session.profile, tasks: context.parts.tasks) {
      [weak self] _ in self?.stage = .root
    }
    if case .registered(let user) = signUp { model.identifier = user.email ?? "" }
    let page = FormPage(model, around: surroundings(notice: notice ?? root.notice)) { [weak self] in self?.cancel() }
    homePage = nil
    notice = nil
    loginPage = page
    return page
  }

  private func registrationForm() -> FormPage {
    if let registerPage { return registerPage }
    let service = PromptedRegistrationService(engine: session.engine)
    let model = RegistrationViewModel(service: service, profile: session.profile, tasks: context.parts.tasks) {
      [weak self] in self?.take($0)
    }
    let page = FormPage(model, around: surroundings(notice: nil)) { [weak self] in self?.cancel() }
    registerPage = page
    return page
  }

  private func home() -> HomePage {
    if let homePage { return homePage }
    let strings = session.profile.strings
    let model = HomeViewModel(profile: session.profile) { [manager] in try await manager.logout() }
    let page = HomePage(
      model, captions: (strings[.homeDoneButtonTitle], strings[.terminalHomeKeys]),
      details: { [weak self] in self?.details() ?? [] },
      onDone: { [weak self] in self?.isOver = true },
      onLogout: { [weak self, tasks = context.parts.tasks] in
        self?.signOut = tasks.start { [weak self] in await self?.logOut(model) }
      })
    loginPage = nil
    homePage = page
    return page
  }

  private func logOut(_ home: HomeViewModel) async {
    await home.logout()
    // The root has switched to the form by now, and the new page has taken its notice: this one comes after it.
    if let error = home.errorMessage { loginPage?.around.notice = error }
  }

  private func take(_ outcome: SignUpOutcome) {
    signUp = outcome
    switch outcome {
    case .signedIn: stage = .root
    case .confirmationRequired: isOver = true
    case .registered:
      notice = session.profile.strings[.loginAccountReady]
      stage = .login
    }
  }

  private func cancel() {
    isCancelled = true
    isOver = true
  }

  private func surroundings(notice: String?) -> FormScreen.Surroundings {
    let strings = session.profile.strings
    return .init(
      server: session.server.text, notice: notice,
      keys: (strings[.terminalFormKeys], strings[.terminalWorkingKeys]))
  }

  /// Who is signed in, where, and until when.
  private func details() -> [String] {
    guard case .signedIn(let summary) = manager.state else { return [] }
    return context.welcome(summary, identifier: loginService.identifier, session)
  }
}

extension CommandContext {
  /// Who is signed in, where, and until when, as the home screen tells it.
  func welcome(_ summary: SessionSummary, identifier: String?, _ session: CommandSession) -> [String] {
    let strings = session.profile.strings
    var lines: [String] = []
    if let who = summary.user?.text ?? identifier { lines.append(strings[.homeWho, filling: ["who": who]]) }
    lines.append(strings[.homeServer, filling: ["server": session.server.text]])
    if summary.accessTokenExpiry != nil {
      let key: StringKey = summary.hasRefreshToken ? .homeExpiryRenewed : .homeExpiry
      lines.append(strings[key, filling: ["when": summary.expiry(now: parts.time.wallClock)]])
    }
    return lines
  }
}

import AuthForms
import AuthModels
import AuthSession
import AuthTestSupport
import Groundwork
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The signed-out half of an app: which of its two screens shows, and what the one says of the other (D1.4).
@MainActor
struct SignInFlowTests {
  /// Answers every sign-up at once.
  private struct SignUps: RegistrationService {
    var outcome: SignUpOutcome

    func register(_ registration: Registration) async throws -> SignUpOutcome { outcome }
  }

  private func flow(_ outcome: SignUpOutcome, _ profile: AuthProfile = .loginForm) async -> SignInFlowViewModel {
    let flow = SignInFlowViewModel(
      login: ScriptedService(), registration: SignUps(outcome: outcome), profile: profile,
      endedNotice: { "Your session has ended." })
    #expect(flow.path.isEmpty && flow.notice == "Your session has ended.", "first the sign-in screen (S22)")
    flow.login.password = "half-typed"
    flow.registrationTapped()
    #expect(flow.path == [.registration])
    flow.registration.username = "anna"
    flow.registration.email = "anna@example.com"
    flow.registration.password = "password123"
    await flow.registration.submit()
    return flow
  }

  @Test("an account without a session leads back to the sign-in screen, which says so and knows the email")
  func registered() async {
    let flow = await flow(.registered(SessionUser(id: "1", email: "anna@example.com")))
    #expect(flow.path.isEmpty)
    #expect(flow.notice == AuthProfile.loginForm.strings[.loginAccountReady])
    #expect(flow.login.identifier == "anna@example.com" && flow.login.password == "")
    #expect(flow.registration.email == "" && flow.registration.outcome == nil, "the form is empty again")
    flow.registrationTapped()
    #expect(flow.path == [.registration])
    flow.path = []
    #expect(flow.notice == "Your session has ended.", "a new try forgets the last one's outcome")
  }

  @Test("a mail to confirm leads back, too, and says what to do")
  func confirmation() async {
    let flow = await flow(.confirmationRequired(email: "anna@example.com"))
    #expect(flow.path.isEmpty)
    #expect(flow.notice == AuthProfile.loginForm.strings[.registerConfirmEmail])
  }

  @Test("with a session along nothing is left to say: the root switches by itself")
  func signedIn() async {
    let flow = await flow(.signedIn(SessionUser(id: "1", email: "anna@example.com")))
    #expect(flow.path == [.registration])
    #expect(flow.notice == "Your session has ended.")
  }

  @Test("where one signs in by username, no email is put in its place (D2.2)")
  func byUsername() async {
    let flow = await flow(.registered(SessionUser(id: "1", email: "anna@example.com")), .envelope)
    #expect(flow.login.identifier == "")
  }
}

/// What screens read beside the form itself.
@MainActor
struct ScreenSupportTests {
  @Test("the message stands in one place: above the button in D1, below it in D5", arguments: AuthProfile.all)
  func messagePlacement(profile: AuthProfile) async {
    let service = ScriptedService()
    let model = LoginViewModel(service: service, profile: profile)
    model.identifier = "anna@example.com"
    model.password = "password123"
    #expect(model.form.state.messageAboveButton == nil && model.form.state.messageBelowButton == nil)
    async let done: Void = model.submit()
    await service.waitForCalls(1)
    service.answer(.failure(LoginError.invalidCredentials))
    await done
    let state = model.form.state
    #expect(state.message != nil)
    #expect(state.messageBelowButton == (profile == .loginForm ? state.message : nil))
    #expect(state.messageAboveButton == (profile == .loginForm ? nil : state.message))
  }

  @Test("a screen that reports its cursor leaves fields as D5.2 says; an echo of the form's own cursor changes nothing")
  func cursor() {
    let form = LoginViewModel(service: ScriptedService()).form
    form.cursorMoved(from: nil, to: .email)
    form.dispatch(.edited(.email, "anna@"))
    #expect(form.state.focus == .email && form.state.error(for: .email) == nil)
    form.cursorMoved(from: .email, to: .password)
    #expect(form.state.focus == .password && form.state.error(for: .email) != nil)
    let before = (form.state, form.announcement)
    form.cursorMoved(from: .email, to: .password)
    form.cursorMoved(from: nil, to: nil)
    #expect(form.state == before.0 && form.announcement == before.1)
    form.cursorMoved(from: .password, to: nil)
    #expect(form.state.focus == nil && form.state.error(for: .password) != nil)
  }

  @Test("a cursor that goes because the fields are locked shows no error afterwards (D5.3)")
  func cursorWhileLocked() async {
    let service = ScriptedService()
    let model = LoginViewModel(service: service)
    model.form.cursorMoved(from: nil, to: .password)
    model.identifier = "anna@example.com"
    model.password = "password123"
    async let done: Void = model.submit()
    await service.waitForCalls(1)
    model.form.cursorMoved(from: .password, to: nil)
    #expect(model.isLoading && model.form.state.focus == nil)
    service.answer(.failure(LoginError.invalidCredentials))
    await done
    #expect(model.errorMessage != nil && model.form.state.error(for: .password) == nil)
  }

  @Test("the main button's numbers are D2.5's, and a button that cannot be pressed looks so")
  func mainButton() {
    var style = MainButtonStyle()
    #expect(style.maximumWidth == .infinity && style.maximumHeight == 60 && style.fontSize == 24 && style.isBold)
    #expect(style.color == .blue && style.cornerRadius == 10 && MainButtonStyle.screenPadding == 30)
    style.fillsWidth = false
    #expect(style.maximumWidth == nil)
    let (plain, pressed) = (
      style.opacity(isPressed: false, isEnabled: true), style.opacity(isPressed: true, isEnabled: true)
    )
    let disabled = style.opacity(isPressed: false, isEnabled: false)
    #expect(plain == 1 && pressed < plain && disabled < pressed)
    #expect(style.opacity(isPressed: true, isEnabled: false) == disabled)
  }

  @Test("a tap signs out once, also when it comes twice")
  func logoutTapped() async {
    let gate = ScriptedService()
    let count = Guarded(0)
    let home = HomeViewModel {
      count.withLock { $0 += 1 }
      _ = try await gate.logIn(email: "", password: "")
    }
    home.logoutTapped()
    await gate.waitForCalls(1)
    #expect(home.isWorking)
    home.logoutTapped()
    await home.logout()
    #expect(count.withLock { $0 } == 1)
    gate.answer(.failure(CancellationError()))
  }

  @Test("the service of previews signs up as it signs in: after a second, and with a refusal to be had")
  func fake() async throws {
    let clock = LeapingClock()
    let service = FakeAuthService(time: clock)
    let start = clock.sinceBoot
    let outcome = try await service.register(Registration(username: "bob", email: "bob@example.com", password: "x"))
    #expect(clock.sinceBoot - start == .seconds(1))
    #expect(outcome == .registered(SessionUser(id: "bob@example.com", email: "bob@example.com", username: "bob")))
    let model = RegistrationViewModel(service: service)
    model.username = "bob"
    model.email = "taken@example.com"
    model.password = "password123"
    await model.submit()
    #expect(model.form.state.error(for: .email) == AuthProfile.loginForm.strings[.registerEmailTaken])
  }
}

import AuthForms
import AuthModels
import AuthStorage
import Groundwork
import Observation
import Testing
import VirtualTime

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The sign-in screen's model, over a service that answers when the test says so.
@MainActor
struct LoginViewModelTests {
  private let service = ScriptedService()
  private let anna = User(id: UUID(), email: "anna@example.com")

  private func model(_ profile: AuthProfile = .loginForm, identifier: String = "anna@example.com") -> LoginViewModel {
    let model = LoginViewModel(service: service, profile: profile)
    model.identifier = identifier
    model.password = "password123"
    return model
  }

  /// Submits, and answers once the service has been asked.
  private func submit(_ model: LoginViewModel, answer: Result<User, any Error>) async {
    let calls = service.calls.count
    async let done: Void = model.submit()
    await service.waitForCalls(calls + 1)
    service.answer(answer)
    await done
  }

  @Test("a success sets the user and forgets the password (D5.5, D5.10)")
  func success() async {
    let model = model(identifier: " anna@example.com ")
    await submit(model, answer: .success(anna))
    #expect(model.user == anna)
    #expect(model.password == "")
    #expect(!model.isLoading)
    #expect(service.calls == [.init(email: "anna@example.com", password: "password123")])
  }

  @Test("while it runs: loading, button off, fields locked (D5.3)")
  func loading() async {
    let model = model()
    async let done: Void = model.submit()
    await service.waitForCalls(1)
    #expect(model.isLoading)
    #expect(!model.canSubmit)
    model.password = "something else"
    #expect(model.password == "password123")
    service.answer(.failure(LoginError.invalidCredentials))
    await done
    #expect(!model.isLoading)
    #expect(model.canSubmit)
  }

  @Test("two quick taps send one request (D5.8)")
  func doubleTap() async {
    let model = model()
    model.submitTapped()
    model.submitTapped()
    await model.submit()
    await service.waitForCalls(1)
    #expect(service.calls.count == 1)
    let user = anna
    let changed = AsyncStream<Void>.makeStream()
    withObservationTracking {
      _ = model.user
    } onChange: {
      changed.continuation.yield()
    }
    service.answer(.success(user))
    for await _ in changed.stream { break }
    #expect(service.calls.count == 1)
  }

  @Test("an invalid form sends nothing")
  func invalid() async {
    let model = LoginViewModel(service: service)
    model.identifier = "anna@"
    await model.submit()
    #expect(service.calls.isEmpty)
    #expect(model.form.state.focus == .email)
  }

  @Test(
    "a refusal shows each profile's own text, and a screen reader hears it (D1.5, D5.4, D5.9)",
    arguments: [
      ("loginForm", "Wrong email or password."), ("chirp", "Invalid email or password."),
      ("envelope", "Wrong username or password."), ("supabase", "Wrong email or password."),
    ])
  func refusal(profile: String, text: String) async throws {
    let model = model(try #require(AuthProfile.named(profile)))
    await submit(model, answer: .failure(APIError(.invalidCredentials, status: 401)))
    #expect(model.errorMessage == text)
    #expect(model.announcement?.text == text)
    let first = try #require(model.announcement)
    await submit(model, answer: .failure(APIError(.invalidCredentials, status: 401)))
    #expect(model.announcement == Announcement(number: first.number + 1, text: text), "the same words are heard again")
    model.identifier += "x"
    #expect(model.errorMessage == nil)
  }

  @Test(
    "a failure that is nobody's refusal says what to do",
    arguments: [
      (
        APIError(TransportError(.cannotConnect, mayHaveBeenSent: false, message: "refused")),
        "No connection to the server. Check your network and try again."
      ),
      (
        APIError(TransportError(.timedOut, mayHaveBeenSent: true, message: "late")),
        "The server took too long to answer. Try again."
      ),
      (APIError(.rateLimited, status: 429, retryAfter: .milliseconds(1500)), "Too many tries. Try again in 2 s."),
      (APIError(.rateLimited, status: 429), "Too many tries. Wait a little and try again."),
      (APIError(.serverError, status: 503), "The server has a problem. Try again later."),
      (APIError(.undecodable, status: 200), "The server's answer could not be read."),
      (APIError(.forbidden, status: 403, serverMessage: "Banned."), "Banned."),
    ])
  func passingFailures(error: APIError, text: String) async {
    let model = model()
    await submit(model, answer: .failure(error))
    #expect(model.errorMessage == text)
    #expect(model.user == nil)
  }

  @Test("a sign-in that cannot be saved has failed, and says why (S21)")
  func storeError() async {
    let model = model()
    await submit(model, answer: .failure(StoreError(.full, "The disk is full.")))
    #expect(model.errorMessage == "You could not be signed in, since it cannot be saved here. The disk is full.")
  }

  @Test(
    "a cancelled sign-in leaves no message and can be tried again",
    arguments: [
      CancellationError() as any Error,
      APIError(TransportError(.cancelled, mayHaveBeenSent: true, message: "cancelled")),
      StoreError(.cancelled, "dismissed"),
    ])
  func cancelled(error: any Error) async {
    let model = model()
    await submit(model, answer: .failure(error))
    #expect(model.errorMessage == nil)
    #expect(model.canSubmit)
  }

  @Test("whoever gives up may go on at once; the answer that comes after all is nobody's (S19)")
  func giveUp() async {
    let model = model()
    model.submitTapped()
    await service.waitForCalls(1)
    model.giveUp()
    #expect(!model.isLoading)
    #expect(model.errorMessage == nil)
    #expect(model.password == "password123", "what was typed stays")
    model.giveUp()
    model.password = "password456"
    async let again: Void = model.submit()
    await service.waitForCalls(2)
    service.answer(.success(anna))
    let bob = User(id: UUID(), email: "bob@example.com")
    service.answer(.success(bob))
    await again
    #expect(model.user == bob)
    #expect(service.calls.map(\.password) == ["password123", "password456"])
  }

  @Test("without a service the form runs on the fake one, and only reads what it may not write (D5.10)")
  func standard() {
    let model = LoginViewModel()
    #expect(model.profile == .loginForm)
    #expect(!model.isLoading && model.errorMessage == nil && model.user == nil)
    model.identifier = "anna@example.com"
    model.password = "password123"
    #expect(model.canSubmit)
  }

  @Test("an answer that comes after a reset signs nobody in (S19)")
  func resetInBetween() async {
    let model = model()
    async let done: Void = model.submit()
    await service.waitForCalls(1)
    model.reset()
    service.answer(.success(anna))
    await done
    #expect(model.user == nil)
    #expect(model.identifier == "")
  }

  @Test("after a reset the answer to the first sign-in is not taken for the second one's (S19)")
  func resetAndAgain() async {
    let model = model()
    async let first: Void = model.submit()
    await service.waitForCalls(1)
    model.reset()
    model.identifier = "bob@example.com"
    model.password = "password456"
    async let second: Void = model.submit()
    await service.waitForCalls(2)
    service.answer(.success(anna))
    await first
    #expect(model.user == nil)
    #expect(model.isLoading)
    let bob = User(id: UUID(), email: "bob@example.com")
    service.answer(.success(bob))
    await second
    #expect(model.user == bob)
  }

  @Test("the fake service takes a second; password123 works and nothing else does (D5.10)")
  func fakeService() async throws {
    try await withVirtualTime(waitsForMainActor: true) { clock, _ in
      let service = FakeAuthService(time: clock)
      let start = clock.sinceBoot
      let user = try await service.logIn(email: "anna@example.com", password: "password123")
      #expect(clock.sinceBoot - start == .seconds(1))
      #expect(user.email == "anna@example.com")
      #expect(try await service.logIn(email: "anna@example.com", password: "password123") == user)
      #expect(try await service.logIn(email: "bob@example.com", password: "password123").id != user.id)
      await #expect(throws: LoginError.invalidCredentials) {
        try await service.logIn(email: "anna@example.com", password: "password124")
      }
      #expect(LoginError.invalidCredentials.localizedDescriptionText == "Wrong email or password.")
    }
  }
}

extension LoginError {
  fileprivate var localizedDescriptionText: String? { (self as any LocalizedError).errorDescription }
}

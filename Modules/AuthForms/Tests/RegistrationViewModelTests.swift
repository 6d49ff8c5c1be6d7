import AuthForms
import AuthModels
import AuthSession
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The sign-up screen's model.
@MainActor
struct RegistrationViewModelTests {
  private let service = ScriptedService()

  private func model(_ profile: AuthProfile) -> RegistrationViewModel {
    let model = RegistrationViewModel(service: service, profile: profile)
    model.username = "anna"
    model.email = "anna@example.com"
    model.password = "password123"
    return model
  }

  private func submit(_ model: RegistrationViewModel, answer: Result<User, any Error>) async {
    async let done: Void = model.submit()
    await service.waitForCalls(1)
    service.answer(answer)
    await done
  }

  @Test("a sign-up sends all three values and tells the outcome (D1.6)")
  func success() async {
    let model = model(.chirp)
    let user = User(id: UUID(), email: "anna@example.com")
    await submit(model, answer: .success(user))
    #expect(service.calls == [.init(username: "anna", email: "anna@example.com", password: "password123")])
    #expect(model.outcome == .signedIn(SessionUser(id: user.id.uuidString, email: user.email)))
    #expect(model.password == "")
  }

  @Test("a profile without usernames asks for none (D4.6)")
  func withoutUsername() async {
    let model = model(.supabase)
    #expect(model.username == "")
    await submit(model, answer: .failure(APIError(.conflict, status: 422, serverCode: "user_already_exists")))
    #expect(service.calls == [.init(username: nil, email: "anna@example.com", password: "password123")])
    #expect(model.form.state.error(for: .email) == "This email already has an account.")
    #expect(model.errorMessage == nil)
  }

  @Test("what the server says of a field reaches that field (D1.7)")
  func serverFields() async {
    let model = model(.chirp)
    let error = APIError(
      .validation, status: 422, serverCode: .validationFailed,
      fields: ["password": "Too common.", "username": "Reserved."])
    await submit(model, answer: .failure(error))
    #expect(model.form.state.error(for: .username) == "Reserved.")
    #expect(model.form.state.error(for: .password) == "Too common.")
    #expect(model.form.state.error(for: .email) == nil)
    #expect(model.form.state.focus == .username)
    #expect(model.errorMessage == nil)
    #expect(model.canSubmit)
  }

  @Test(
    "a taken name without fields reaches its field all the same (D4.6)",
    arguments: [
      (ServerErrorCode.emailTaken, FieldName.email, "This email already has an account."),
      (.usernameTaken, .username, "This username is taken."),
    ])
  func taken(code: ServerErrorCode, field: FieldName, text: String) async {
    let model = model(.chirp)
    await submit(model, answer: .failure(APIError(.conflict, status: 409, serverCode: code, serverMessage: "Taken.")))
    #expect(model.form.state.error(for: field) == text)
  }

  @Test("what the server says of a field that the form has not is still told")
  func unknownField() async {
    let model = model(.supabase)
    await submit(
      model, answer: .failure(APIError(.validation, status: 422, fields: ["username": "Missing.", "x": "Odd."])))
    #expect(model.errorMessage == "username: Missing. x: Odd.")
  }
}

import AuthForms
import AuthModels
import AuthSession
import CommandLineTable
import Groundwork

extension CommandContext {
  /// `chirp register`
  func register() async throws -> CommandSession {
    let session = try await session(.signIn)
    guard session.dialect != .envelope, session.dialect != .oauth2 else {
      throw call.usageError("Dialect \(session.dialect.rawValue) has no way to make an account.")
    }
    let password = try await givenPassword()
    let needed = session.profile.registration.fields.map(\.name).filter { $0 != .password }.map(\.rawValue)
    let outcome: SignUpOutcome
    let missing = needed.filter { call.text($0) == nil }.map { "--\($0)" }
    if missing.isEmpty, let email = call.text("email"), let password {
      outcome = try await session.engine.signUp(
        Registration(username: call.text("username"), email: email, password: password))
    } else if needed.allSatisfy({ call.text($0) == nil }), password == nil, let screen = screen() {
      outcome = try await SignInScreens(self, session).run(.register, on: screen).signUp ?? .signedIn(nil)
    } else {
      try checkPrompts(missing: missing.first ?? "--password-stdin or --password-file")
      outcome = try await promptedRegistration(session, password: password)
    }
    try await report(outcome, session)
    return session
  }

  @MainActor
  private func promptedRegistration(_ session: CommandSession, password: String?) async throws -> SignUpOutcome {
    let service = PromptedRegistrationService(engine: session.engine)
    let model = RegistrationViewModel(service: service, profile: session.profile, tasks: parts.tasks)
    let prompts = PromptedForm(form: model.form, console: console, repeatsSecrets: true)
    output.say("\(session.profile.registration.title): \(session.server.text)")
    var given: Set<FieldName> = []
    for (name, value) in [(.username, call.text("username")), (.email, call.text("email")), (.password, password)]
      as [(FieldName, String?)]
    {
      guard let value else { continue }
      given.insert(name)
      await model.form.handle(.edited(name, value))
    }
    for attempt in 1... {
      try await prompts.fill(keeping: given)
      await model.submit()
      if let outcome = model.outcome { return outcome }
      let error = service.failure ?? CancellationError()
      guard error.isForTheUserToMend, attempt < Self.attempts else { throw error }
      prompts.sayMessage()
      // Only what the server refused is asked again; if it names nothing, everything is.
      let refused = model.form.state.specification.fields.map(\.name).filter { model.form.state.error(for: $0) != nil }
      given = refused.isEmpty ? [] : Set(FieldName.allCases).subtracting(refused)
    }
    throw CommandFailure.cancelled
  }

  private func report(_ outcome: SignUpOutcome, _ session: CommandSession) async throws {
    var object: [String: JSONValue] = ["server": .string(session.server.text)]
    switch outcome {
    case .registered(let user):
      object["outcome"] = "registered"
      object["user"] = user.json
      try await output.done(.object(object), "The account is there. Sign in: chirp login --email \(user.email ?? "…")")
    case .signedIn(let user):
      object["outcome"] = "signedIn"
      if let user { object["user"] = user.json }
      try await output.done(.object(object), "The account is there, and you are signed in to \(session.server.text).")
    case .confirmationRequired(let email):
      object["outcome"] = "confirmationRequired"
      object["email"] = .string(email)
      try await output.done(.object(object), "Follow the link in the mail to \(email), then sign in.")
    }
  }
}

/// Signs up through the engine for the sign-up form, and remembers the error behind its words.
final class PromptedRegistrationService: RegistrationService {
  private let engine: SessionEngine
  private let last = Guarded<(any Error)?>(nil)

  init(engine: SessionEngine) {
    self.engine = engine
  }

  var failure: (any Error)? { last.withLock { $0 } }

  func register(_ registration: Registration) async throws -> SignUpOutcome {
    do {
      return try await engine.signUp(registration)
    } catch {
      last.withLock { $0 = error }
      throw error
    }
  }
}

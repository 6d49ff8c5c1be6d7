import AuthForms
import AuthModels
import AuthSession
import AuthStorage
import CommandLineTable
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension CommandContext {
  /// `chirp login`
  func login() async throws -> CommandSession {
    let session = try await session(.signIn)
    if let connection = session.connection.oauth, session.dialect == .oauth2 {
      try await loginByOAuth(session, connection)
      sayOverrideStays()
      return session
    }
    let profile = session.profile
    let wantsUsername = profile.identifierField == .username
    guard call.text("email") == nil || !wantsUsername else {
      throw call.usageError("Dialect \(session.dialect.rawValue) signs in by username: give --username.")
    }
    guard call.text("username") == nil || wantsUsername else {
      throw call.usageError("Dialect \(session.dialect.rawValue) signs in by email: give --email.")
    }
    var identifier = call.text("email") ?? call.text("username")
    let password = try await givenPassword()
    if let identifier, let password {
      try await session.engine.signIn(Credentials(identifier: identifier, password: password))
    } else if identifier == nil, password == nil, let screen = screen() {
      identifier = try await SignInScreens(self, session).run(.login, on: screen).identifier
    } else {
      try checkPrompts(
        missing: identifier == nil ? (wantsUsername ? "--username" : "--email") : "--password-stdin or --password-file")
      identifier = try await promptedLogin(session, identifier: identifier, password: password)
    }
    sayOverrideStays()
    var object = summary(of: session)
    if let identifier { object["identifier"] = .string(identifier) }
    try await output.done(
      .object(object), "Signed in to \(session.server.text)\(identifier.map { " as \($0)" } ?? "").")
    return session
  }

  /// Asserts that a person is there to answer.
  func checkPrompts(missing: String) throws {
    guard console.inputIsTerminal else {
      throw call.usageError("\(missing) is missing, and standard input is no terminal to ask on.", code: .missingOption)
    }
  }

  /// Signs in with what a person types.
  ///
  /// - Returns: what they signed in with, as it was sent.
  @MainActor
  private func promptedLogin(
    _ session: CommandSession, identifier: String?, password: String?
  ) async throws -> String? {
    let service = PromptedLoginService(engine: session.engine)
    let model = LoginViewModel(service: service, profile: session.profile, tasks: parts.tasks)
    let prompts = PromptedForm(form: model.form, console: console, repeatsSecrets: false)
    output.say("\(session.profile.login.title): \(session.server.text)")
    if let identifier { model.identifier = identifier }
    if let password { model.password = password }
    var given: Set<FieldName> = Set(
      [identifier.map { _ in session.profile.identifierField }, password.map { _ in .password }].compactMap(\.self))
    for attempt in 1... {
      try await prompts.fill(keeping: given)
      await model.submit()
      guard model.user == nil else {
        welcome(session, identifier: service.identifier)
        return service.identifier
      }
      let error = service.failure ?? CancellationError()
      guard error.isForTheUserToMend, attempt < Self.attempts else { throw error }
      prompts.sayMessage()
      given = []
    }
    throw CommandFailure.cancelled
  }

  /// Says what the home screen shows, where there is no screen.
  private func welcome(_ session: CommandSession, identifier: String?) {
    guard case .signedIn(let summary) = session.engine.snapshot.state else { return }
    output.say(session.profile.strings[.homeTitle])
    for line in welcome(summary, identifier: identifier, session) { output.say("  \(line)") }
  }

  /// How often a person may try before the command gives up.
  static var attempts: Int { 3 }

  /// The session as data.
  func summary(of session: CommandSession) -> [String: JSONValue] {
    var object: [String: JSONValue] = [
      "server": .string(session.server.text), "account": .string(session.slot.account),
    ]
    guard case .signedIn(let summary) = session.engine.snapshot.state else {
      object["state"] = "signedOut"
      return object
    }
    object.merge(summary.members(now: parts.time.wallClock), uniquingKeysWith: { _, new in new })
    return object
  }
}

extension CommandSession {
  /// The texts and rules of the session's dialect; the login form's own for chirp.
  var profile: AuthProfile {
    switch dialect {
    case .envelope: .envelope
    case .supabase: .supabase
    case .rest: connection.signsInByUsername ? .envelope : .loginForm
    default: .loginForm
    }
  }
}

extension Error {
  /// Whether typing something else may help.
  var isForTheUserToMend: Bool {
    switch (self as? APIError)?.kind {
    case .invalidCredentials, .validation, .conflict: true
    default: false
    }
  }
}

/// Signs in through the engine for the login form, and remembers the error behind its words.
final class PromptedLoginService: LoginService {
  private let engine: SessionEngine
  private let last = Guarded<(any Error)?>(nil)
  private let sent = Guarded<String?>(nil)

  init(engine: SessionEngine) {
    self.engine = engine
  }

  var failure: (any Error)? { last.withLock { $0 } }

  /// Who asked to sign in last.
  var identifier: String? { sent.withLock { $0 } }

  func logIn(email: String, password: String) async throws -> User {
    sent.withLock { $0 = email }
    do {
      let user = try await engine.signIn(Credentials(identifier: email, password: password))
      // Who that is the server tells when it is asked; here it is enough to be signed in.
      return AppUser(user ?? SessionUser(id: email, email: email))
    } catch {
      last.withLock { $0 = error }
      throw error
    }
  }
}

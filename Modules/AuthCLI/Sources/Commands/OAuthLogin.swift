import AuthModels
import AuthOAuth
import AuthSession
import CommandLineTable
import Groundwork

extension CommandContext {
  /// The ways to sign in to an authorization server.
  enum Grant: String, CaseIterable, Sendable {
    case code
    case device
    case password
    case clientCredentials = "client-credentials"
  }

  /// `chirp login --dialect oauth2`
  func loginByOAuth(_ session: CommandSession, _ connection: OAuth2Connection) async throws {
    let signIn = OAuth2SignIn(
      client: try client(for: session.server, timeout: try call.duration("timeout") ?? .seconds(30)),
      connection: connection, secret: session.connection.clientSecret)
    let outcome: OAuth2SignIn.Outcome
    switch try grant() {
    case .code: outcome = try await signInByBrowser(signIn)
    case .device: outcome = try await signInByDeviceCode(signIn)
    case .password: outcome = try await signIn.password(try await credentials(session))
    case .clientCredentials: outcome = try await signIn.clientCredentials()
    }
    var kept = session.connection
    kept.oauth = outcome.connection
    var grant = outcome.grant
    grant.connection = try kept.kept
    try await session.engine.signIn(with: grant)
    let who = grant.user.map { " as \($0.text)" } ?? ""
    try await output.done(.object(summary(of: session)), "Signed in to \(session.server.text)\(who).")
  }

  private func grant() throws -> Grant {
    let given: Grant? = try call.choice("grant")
    guard call.flag("device") else { return given ?? .code }
    guard given == nil || given == .device else {
      throw call.usageError("--device and --grant \(given?.rawValue ?? "") exclude each other.")
    }
    return .device
  }

  /// By a browser on this machine, which comes back to a port here (RFC 8252).
  private func signInByBrowser(_ signIn: OAuth2SignIn) async throws -> OAuth2SignIn.Outcome {
    let port = try call.integer("redirect-port") ?? 0
    let receiver = try LoopbackReceiver(port: UInt16(clamping: port))
    let request = try signIn.authorizationRequest(redirectURI: receiver.redirectURI)
    if call.flag("no-browser") {
      output.say("To sign in, open this page in a browser on this machine:\n\(request.url)")
    } else {
      output.say("Your browser opens to sign in. If it does not, open this page on this machine:\n\(request.url)")
      parts.openBrowser(request.url)
    }
    let bound = try call.duration("wait") ?? .seconds(300)
    let callback = try await receiver.redirect(within: bound) { callback throws(OAuthError) in
      // Checked here already, so that the browser shows what is wrong.
      _ = try request.code(in: callback)
      return callback
    }
    return try await signIn.redeem(callback, of: request)
  }

  /// By a code that is typed on another machine (RFC 8628).
  private func signInByDeviceCode(_ signIn: OAuth2SignIn) async throws -> OAuth2SignIn.Outcome {
    try await signIn.device(time: parts.time) { device in
      let minutes = max(1, Int(min(device.lifetime.inSeconds / 60, 1440)))
      var words = "To sign in, open \(device.verificationURI) on any machine, and type the code: \(device.userCode)"
      if let complete = device.completeURI { words += "\nOr open this page, which has the code in it: \(complete)" }
      output.say("\(words)\nThe code is good for \(minutes) min. Waiting…")
    }
  }

  /// The name and the password for the password grant.
  private func credentials(_ session: CommandSession) async throws -> Credentials {
    guard let identifier = call.text("username") ?? call.text("email") else {
      throw call.usageError("--grant password needs --username or --email.", code: .missingOption)
    }
    if let password = try await givenPassword() { return Credentials(identifier: identifier, password: password) }
    try checkPrompts(missing: "--password-stdin or --password-file")
    guard let typed = try await console.ask("Password: ", hidden: true) else { throw CommandFailure.cancelled }
    return Credentials(identifier: identifier, password: typed)
  }
}

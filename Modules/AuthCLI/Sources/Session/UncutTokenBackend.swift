import AuthModels
import AuthNetworking
import AuthSession
import AuthStorage

/// A backend whose refreshes and revocations `--timeout` does not cut short.
///
/// A refresh that the client gives up may have spent its token at the server, and the one repetition that rule S11 allows would be given
/// up as well: the session would be lost. So they keep the engine's bounds (S15, S20), and all other exchanges the user's.
struct UncutTokenBackend: AuthBackend {
  /// Keeps the user's time-out.
  let calls: any AuthBackend
  /// Keeps the engine's.
  let tokens: any AuthBackend
  /// What is kept of the server beside each new session.
  let connection: String?

  var dialect: AuthDialect { calls.dialect }

  func signIn(_ credentials: Credentials) async throws -> TokenGrant { kept(try await calls.signIn(credentials)) }

  func signUp(_ registration: Registration) async throws -> SignUpGrant {
    let outcome = try await calls.signUp(registration)
    guard case .session(let grant) = outcome else { return outcome }
    return .session(kept(grant))
  }

  private func kept(_ grant: TokenGrant) -> TokenGrant {
    var grant = grant
    grant.connection = connection
    return grant
  }

  func refresh(refreshToken: String) async -> RefreshAnswer { await tokens.refresh(refreshToken: refreshToken) }

  func revoke(_ pending: PendingRevocation) async -> RevocationOutcome { await tokens.revoke(pending) }

  func user(authorizedBy authorizer: any RequestAuthorizer) async throws -> SessionUser {
    try await calls.user(authorizedBy: authorizer)
  }

  var signOutScopes: Set<SignOutScope> { calls.signOutScopes }

  func signOutOthers(authorizedBy authorizer: any RequestAuthorizer) async throws {
    try await calls.signOutOthers(authorizedBy: authorizer)
  }

  func authorized(_ client: APIClient, by authorizer: any RequestAuthorizer) -> APIClient {
    calls.authorized(client, by: authorizer)
  }
}

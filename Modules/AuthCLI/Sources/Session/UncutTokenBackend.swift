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

  var dialect: AuthDialect { calls.dialect }

  func signIn(_ credentials: Credentials) async throws -> TokenGrant { try await calls.signIn(credentials) }

  func signUp(_ registration: Registration) async throws -> SignUpGrant { try await calls.signUp(registration) }

  func refresh(refreshToken: String) async -> RefreshAnswer { await tokens.refresh(refreshToken: refreshToken) }

  func revoke(_ pending: PendingRevocation) async -> RevocationOutcome { await tokens.revoke(pending) }

  func user(authorizedBy authorizer: any RequestAuthorizer) async throws -> SessionUser {
    try await calls.user(authorizedBy: authorizer)
  }
}

public import AuthModels
import AuthNetworking
public import AuthStorage
public import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A valid access token from a plain store and a refresh closure (D3.3): the document's own interface, on the engine's rules.
///
/// One refresh at a time (D3.4), saved before anyone uses it (D3.7), ended by a refusal alone (D3.6). What a plain `TokenStore` cannot
/// promise (other processes, crashes) is listed at `TokenStoreSessionAdapter`.
public struct TokenProvider: Sendable {
  private let engine: SessionEngine

  /// Makes a provider.
  ///
  /// - Parameters:
  ///   - store: where the bundle is kept.
  ///   - time: the clocks.
  ///   - tasks: starts the refresh, which outlives a cancelled caller.
  ///   - refresh: buys the next pair for a refresh token. An `APIError` whose status is 400, 401 or 403 and whose code is
  ///     `invalid_grant`, or that has no code, ends the session; every other error passes.
  public init(
    store: any TokenStore, time: any TimeSource = SystemClock(), tasks: TaskStarter = TaskStarter(),
    refresh: @escaping @Sendable (_ refreshToken: String) async throws -> TokenResponse
  ) {
    let slot = SessionSlot(server: "token-provider")
    engine = SessionEngine(
      slot: slot, backend: ClosureBackend(refresh: refresh),
      store: TokenStoreSessionAdapter(store: store, slot: slot, profile: "closure", time: time), time: time,
      tasks: tasks)
  }

  /// A token that is good for more than 30 s more, refreshed first if need be (D3.3).
  ///
  /// Bound: 20 s for another task's refresh + 15 s for its own + the store's own.
  ///
  /// - Throws: `SessionError`, code `notLoggedIn` with nothing stored; `CancellationError`.
  public func validAccessToken() async throws -> String {
    try await engine.validAccessToken()
  }

  /// Refreshes now and gives the new pair (D3.3).
  ///
  /// Bound: as `validAccessToken`.
  ///
  /// - Throws: as `validAccessToken`.
  @discardableResult
  public func refreshBundle() async throws -> TokenBundle {
    try await engine.refresh()
    guard let record = engine.core.withLock({ $0.machine.live?.record }) else {
      throw SessionEngine.errorWithoutSession(engine.snapshot.state)
    }
    return TokenBundle(
      accessToken: record.accessToken, refreshToken: record.refreshToken,
      accessTokenExpiry: record.lifetime.map { record.issuedAt.addingTimeInterval($0) })
  }
}

/// A backend that can only refresh, by a closure.
private struct ClosureBackend: AuthBackend {
  let refresh: @Sendable (String) async throws -> TokenResponse

  var dialect: AuthDialect { "closure" }

  func signIn(_ credentials: Credentials) async throws -> TokenGrant { throw unsupported }
  func signUp(_ registration: Registration) async throws -> SignUpGrant { throw unsupported }
  func user(authorizedBy authorizer: any RequestAuthorizer) async throws -> SessionUser { throw unsupported }
  func revoke(_ tokens: PendingRevocation) async -> RevocationOutcome { .unsupported }

  func refresh(refreshToken: String) async -> RefreshAnswer {
    do {
      return .granted(TokenGrant(response: try await refresh(refreshToken)))
    } catch let error as APIError {
      let isRefusal = [400, 401, 403].contains(error.status ?? 0)
      if isRefusal, error.serverCode == nil || error.serverCode == .invalidGrant {
        return .refused(RefreshRefusal(code: error.serverCode?.rawValue, requestID: error.requestID))
      }
      return RefusalTable.chirp.judge(error)
    } catch {
      return RefusalTable.chirp.judge(thrown: error)
    }
  }

  private var unsupported: APIError {
    APIError(.clientError, detail: "A token provider only refreshes.")
  }
}

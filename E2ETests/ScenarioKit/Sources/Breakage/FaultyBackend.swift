internal import AuthModels
internal import AuthNetworking
internal import AuthSession
internal import AuthStorage
internal import Groundwork

/// What the faults of one client process remember of each other.
final class FaultMemory: Sendable {
  /// Whether the last refresh failed for a passing reason.
  let lastRefreshFailed = Guarded(false)
}

/// A dialect's backend with faults.
struct FaultyBackend: AuthBackend {
  let base: any AuthBackend
  let faults: Set<ClientFault>
  let memory: FaultMemory
  let store: any SessionStore
  let slot: SessionSlot

  var dialect: AuthDialect { base.dialect }

  func signIn(_ credentials: Credentials) async throws -> TokenGrant {
    spoil(try await base.signIn(credentials))
  }

  func signUp(_ registration: Registration) async throws -> SignUpGrant {
    guard !faults.contains(.signUpNotSent) else {
      return .registered(SessionUser(id: "none", email: registration.email, username: registration.username))
    }
    return try await base.signUp(registration)
  }

  func refresh(refreshToken: String) async -> RefreshAnswer {
    let before = faults.contains(.lateRefreshRevives) ? await record() : nil
    let answer = await base.refresh(refreshToken: refreshToken)
    switch answer {
    case .granted(let grant):
      memory.lastRefreshFailed.withLock { $0 = false }
      if let before { await revive(before, with: grant) }
      return .granted(spoil(grant))
    case .refused(let refusal):
      if faults.contains(.endsWithoutLooking) { await end() }
      guard faults.contains(.refusedTokenIsSentAgain) else { return .refused(refusal) }
      return .passing(
        PassingFailure(
          error: APIError(TransportError(.timedOut, mayHaveBeenSent: true, message: "taken for a passing failure")),
          isAmbiguous: false))
    case .passing(var failure):
      memory.lastRefreshFailed.withLock { $0 = true }
      if faults.contains(.passingFailureSignsOut) { return .refused(RefreshRefusal(code: "passing")) }
      if faults.contains(.lostAnswerNotRetried) { failure.isAmbiguous = false }
      if faults.contains(.noBackOff) { failure.error.retryAfter = nil }
      return .passing(failure)
    }
  }

  func revoke(_ tokens: PendingRevocation) async -> RevocationOutcome { await base.revoke(tokens) }

  func user(authorizedBy authorizer: any RequestAuthorizer) async throws -> SessionUser {
    let user = try await base.user(authorizedBy: authorizer)
    return faults.contains(.userForgotten) ? SessionUser(id: user.id, email: "", username: nil) : user
  }

  private func spoil(_ grant: TokenGrant) -> TokenGrant {
    var grant = grant
    if faults.contains(.unknownLifetimeIsNone), grant.response.expiresIn ?? 0 <= 0 { grant.response.expiresIn = 1 }
    if faults.contains(.lifetimeForgotten) { grant.response.expiresIn = nil }
    if faults.contains(.missingRefreshTokenLosesTheOld), grant.response.refreshToken == nil {
      grant.response.refreshToken = "lost"
    }
    return grant
  }

  private func record() async -> SessionRecord? {
    do throws(StoreError) { return try await store.read(slot).record } catch { return nil }
  }

  private func revive(_ record: SessionRecord, with grant: TokenGrant) async {
    do throws(StoreError) {
      _ = try await store.update(slot) { change in
        guard change.state.record?.sessionID != record.sessionID else { return }
        var revived = record
        revived.accessToken = grant.response.accessToken
        revived.refreshToken = grant.response.refreshToken
        change.state.record = revived
      }
    } catch {
      // A fault that cannot be made shows as one that nothing notices.
      return
    }
  }

  private func end() async {
    do throws(StoreError) { _ = try await store.update(slot) { $0.state.record = nil } } catch { return }
  }
}

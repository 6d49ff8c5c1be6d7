internal import AuthModels
internal import AuthNetworking
internal import AuthSession
internal import AuthStorage
internal import Groundwork

/// What authed calls ask for their tokens, with faults.
struct FaultyAuthorizer: RequestAuthorizer {
  let engine: SessionEngine
  let faults: Set<ClientFault>
  let memory: FaultMemory
  /// Another engine over the same store, for callers who share no flight.
  let another: @Sendable () -> SessionEngine

  func authorize() async throws -> RequestAuthorization {
    if faults.contains(.refreshesBeforeEveryCall) { try await engine.refresh() }
    memory.lastRefreshFailed.withLock { $0 = false }
    let authorization = try await (faults.contains(.noSingleFlight) ? another() : engine).authorize()
    if faults.contains(.passingFailureFailsTheCall), memory.lastRefreshFailed.withLock({ $0 }) {
      throw APIError(TransportError(.timedOut, mayHaveBeenSent: true, message: "the refresh failed"))
    }
    return authorization
  }

  func authorizeAfterUnauthorized(
    _ refused: RequestAuthorization, endpoint: String
  ) async throws -> RequestAuthorization? {
    if faults.contains(.neverResends) { return nil }
    if faults.contains(.noSingleFlight) {
      return try await another().authorizeAfterUnauthorized(refused, endpoint: endpoint)
    }
    if faults.contains(.late401Refreshes) {
      try await engine.refresh()
      return try await engine.authorize()
    }
    if faults.contains(.answersToAnybody) {
      var current = try await engine.authorize()
      if current.session != refused.session {
        current.session = refused.session
        return current
      }
    }
    return try await engine.authorizeAfterUnauthorized(refused, endpoint: endpoint)
  }

  func noteResend(_ authorization: RequestAuthorization, endpoint: String, accepted: Bool) async {
    await engine.noteResend(authorization, endpoint: endpoint, accepted: accepted)
    guard faults.contains(.resent401SignsOut), !accepted else { return }
    do { _ = try await engine.signOut() } catch { return }
  }

  func checkStillCurrent(_ authorization: RequestAuthorization) throws {
    if !faults.contains(.answersToAnybody) { try engine.checkStillCurrent(authorization) }
  }
}

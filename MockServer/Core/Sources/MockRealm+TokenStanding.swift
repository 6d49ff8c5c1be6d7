/// What a realm knows of a token; the simulator's invariants ask, requests cannot.
package struct MockTokenStanding: Sendable, Hashable {
  /// The family.
  package var sessionID: String
  /// Whose it is.
  package var userID: String
  /// 0 for what the login gave, one more with each rotation.
  package var generation: Int
}

extension MockRealm {
  /// The family that an access or a refresh token belongs to; nil for a token that the realm never issued, or has forgotten.
  package func standing(of token: String) -> MockTokenStanding? {
    step { state, _, _ in
      guard
        let (id, generation) = state.refresh[token].map({ ($0.sessionID, $0.generation) })
          ?? state.access[token].map({ ($0.sessionID, $0.generation) }),
        let session = state.sessions[id]
      else { return nil }
      return MockTokenStanding(sessionID: id, userID: session.userID, generation: generation)
    }
  }

  /// Whether a refresh with this token would succeed now: tried on a copy, so nothing changes.
  package func wouldAccept(refreshToken: String) -> Bool {
    step { state, now, _ in
      var copy = state
      guard case .success = copy.exchange(refreshToken, now: now) else { return false }
      return true
    }
  }

  /// Makes every access token of a session useless; it can still be refreshed.
  package func revokeAccessTokens(of sessionID: String) {
    step { state, _, _ in state.revokeAccess(of: sessionID) }
  }
}

import AuthModels
import AuthNetworking
import AuthStorage
import Groundwork

@testable import AuthSession

/// A token server in a few lines: strict rotation, unless a script says otherwise for the next refreshes.
final class ScriptedBackend: AuthBackend {
  /// What one refresh does.
  enum Step: Sendable {
    /// As the server would.
    case real
    /// Waits for the gate, then goes on as the next step says.
    case hold(SharedResult<Void>)
    /// Rotates, and the answer is lost.
    case lost
    case answer(RefreshAnswer)
    /// Never answers, and ignores its cancellation.
    case silence
  }

  struct State: Sendable {
    var steps: [Step] = []
    var issued = 0
    var live: Set<String> = []
    var lifetime: Double? = 900
    var rotates = true
    var omitsRefreshToken = false
    var sent: [String] = []
    var revoked: [String] = []
    var revocation: RevocationOutcome = .revoked
    var signInGate: SharedResult<Void>?
    var revokeGate: SharedResult<Void>?
    var userCalls = 0
  }

  let state = Guarded(State())
  var dialect: AuthDialect { "scripted" }

  init(lifetime: Double? = 900) {
    state.withLock { $0.lifetime = lifetime }
  }

  func script(_ steps: Step...) { state.withLock { $0.steps += steps } }

  /// The refresh tokens in the order in which they were sent.
  var sent: [String] { state.withLock { $0.sent } }
  var revoked: [String] { state.withLock { $0.revoked } }

  private func issue(_ state: inout State) -> TokenGrant {
    state.issued += 1
    let refreshToken = "rt-\(state.issued)"
    state.live.insert(refreshToken)
    return TokenGrant(
      response: TokenResponse(
        accessToken: "at-\(state.issued)", refreshToken: state.omitsRefreshToken ? nil : refreshToken,
        expiresIn: state.lifetime))
  }

  func signIn(_ credentials: Credentials) async throws -> TokenGrant {
    if let gate = state.withLock({ $0.signInGate }) { try await gate.value() }
    guard credentials.password == "password123" else { throw APIError(.invalidCredentials, status: 401) }
    var grant = state.withLock { issue(&$0) }
    grant.user = SessionUser(id: credentials.identifier, email: credentials.identifier)
    return grant
  }

  func signUp(_ registration: Registration) async throws -> SignUpGrant {
    .registered(SessionUser(id: registration.email, email: registration.email))
  }

  func refresh(refreshToken: String) async -> RefreshAnswer {
    state.withLock { $0.sent.append(refreshToken) }
    while true {
      let step = state.withLock { $0.steps.isEmpty ? Step.real : $0.steps.removeFirst() }
      switch step {
      case .real: return rotate(refreshToken)
      case .lost:
        _ = rotate(refreshToken)
        return .passing(.lostAnswer)
      case .answer(let answer): return answer
      case .hold(let gate): try? await gate.value()
      case .silence: await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in }
      }
    }
  }

  private func rotate(_ refreshToken: String) -> RefreshAnswer {
    state.withLock { state in
      guard state.live.contains(refreshToken) else {
        return .refused(RefreshRefusal(code: "invalid_grant", requestID: "r-1"))
      }
      if state.rotates { state.live.remove(refreshToken) }
      return .granted(issue(&state))
    }
  }

  func revoke(_ tokens: PendingRevocation) async -> RevocationOutcome {
    if let gate = state.withLock({ $0.revokeGate }) {
      do { try await gate.value() } catch { return .failed(APIError(.lostConnection)) }
    }
    return state.withLock { state in
      if state.revocation == .revoked {
        state.revoked.append(tokens.refreshToken ?? "")
        state.live.remove(tokens.refreshToken ?? "")
      }
      return state.revocation
    }
  }

  func user(authorizedBy authorizer: any RequestAuthorizer) async throws -> SessionUser {
    let authorization = try await authorizer.authorize()
    state.withLock { $0.userCalls += 1 }
    try authorizer.checkStillCurrent(authorization)
    return SessionUser(id: "anna", email: "anna@example.com")
  }
}

extension TransportError {
  static let lostConnection = TransportError(.connectionLost, mayHaveBeenSent: true, message: "The connection broke.")
  static let noNetwork = TransportError(.cannotConnect, mayHaveBeenSent: false, message: "No network.")
}

extension PassingFailure {
  static let lostAnswer = PassingFailure(error: APIError(.lostConnection), isAmbiguous: true)
  static let offline = PassingFailure(error: APIError(.noNetwork), isAmbiguous: false)
  static let unavailable = PassingFailure(error: APIError(.serverError, status: 503), isAmbiguous: false)
}

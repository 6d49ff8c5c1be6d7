import AuthForms
import AuthModels
import AuthSession
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A service whose every call waits until the test answers it.
final class ScriptedService: LoginService, RegistrationService {
  struct Call: Sendable, Hashable {
    var username: String?
    var email: String
    var password: String
  }

  private struct State {
    var calls: [Call] = []
    var open: [CheckedContinuation<Result<User, any Error>, Never>] = []
    var watchers: [(count: Int, CheckedContinuation<Void, Never>)] = []
  }

  private let state = Guarded(State())

  var calls: [Call] { state.withLock { $0.calls } }

  func logIn(email: String, password: String) async throws -> User {
    try await answer(to: Call(email: email, password: password))
  }

  func register(_ registration: Registration) async throws -> SignUpOutcome {
    let user = try await answer(
      to: Call(username: registration.username, email: registration.email, password: registration.password))
    return .signedIn(SessionUser(id: user.id.uuidString, email: user.email))
  }

  /// Waits until so many calls have been made, answered or not.
  func waitForCalls(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.calls.count >= count { return true }
        state.watchers.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  /// Answers the oldest call that waits.
  func answer(_ result: Result<User, any Error>) {
    let next = state.withLock { $0.open.isEmpty ? nil : $0.open.removeFirst() }
    next?.resume(returning: result)
  }

  private func answer(to call: Call) async throws -> User {
    let result = await withCheckedContinuation { continuation in
      let ready = state.withLock { state in
        state.calls.append(call)
        state.open.append(continuation)
        let ready = state.watchers.filter { $0.count <= state.calls.count }
        state.watchers.removeAll { $0.count <= state.calls.count }
        return ready.map(\.1)
      }
      for watcher in ready { watcher.resume() }
    }
    return try result.get()
  }
}

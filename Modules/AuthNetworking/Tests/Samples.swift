import AuthModels
import AuthNetworking
import AuthTestSupport
import Foundation
import Groundwork

func url(_ text: String) -> URL {
  guard let url = URL(string: text) else { preconditionFailure("a test's own URL: \(text)") }
  return url
}

func client(
  _ transport: any HTTPTransport, _ interceptors: [any HTTPInterceptor] = [], base: String = "https://api.example",
  allowInsecureHTTP: Bool = false, time: any TimeSource = ManualClock()
) -> APIClient {
  APIClient(
    baseURL: url(base), transport: transport, interceptors: interceptors, allowInsecureHTTP: allowInsecureHTTP,
    time: time)
}

/// Gives the bytes of the body, for calls whose answer does not matter.
func plain(
  _ method: HTTPMethod = .get, _ path: String = "/x", query: [(name: String, value: String)] = [],
  headers: HTTPFields = [:], body: Data? = nil, requiresAuth: Bool = false, hasCredentialBody: Bool = false
) -> Endpoint<Data> {
  Endpoint(
    method: method, path: path, query: query, headers: headers, body: body, requiresAuth: requiresAuth,
    hasCredentialBody: hasCredentialBody
  ) { $0.body }
}

/// An authorizer that a test scripts: which tokens it gives, and when its session ends.
final class StubAuthorizer: RequestAuthorizer {
  struct Ended: Error, Equatable {}
  struct NoToken: Error, Equatable {}

  enum Event: Equatable {
    case authorize
    case afterUnauthorized(token: String, endpoint: String)
    case noteResend(token: String, endpoint: String, accepted: Bool)
    case check(token: String)
  }

  struct State {
    var events: [Event] = []
    var tokens: [String?]
    var refreshed: RequestAuthorization?
    var refreshError: (any Error & Sendable)?
    var endsAfterChecks: Int?
    var checks = 0
  }

  let state: Guarded<State>

  init(tokens: [String?] = ["first"], refreshed: RequestAuthorization? = .init(accessToken: "second", session: "s1")) {
    state = Guarded(State(tokens: tokens, refreshed: refreshed))
  }

  var events: [Event] { state.withLock { $0.events } }

  func authorize() async throws -> RequestAuthorization {
    let token = state.withLock { state -> String? in
      state.events.append(.authorize)
      return state.tokens.count > 1 ? state.tokens.removeFirst() : state.tokens.first ?? nil
    }
    guard let token else { throw NoToken() }
    return RequestAuthorization(accessToken: token, session: "s1")
  }

  func authorizeAfterUnauthorized(
    _ refused: RequestAuthorization, endpoint: String
  ) async throws -> RequestAuthorization? {
    let (refreshed, error) = state.withLock { state in
      state.events.append(.afterUnauthorized(token: refused.accessToken, endpoint: endpoint))
      return (state.refreshed, state.refreshError)
    }
    if let error { throw error }
    return refreshed
  }

  func noteResend(_ authorization: RequestAuthorization, endpoint: String, accepted: Bool) async {
    state.withLock {
      $0.events.append(.noteResend(token: authorization.accessToken, endpoint: endpoint, accepted: accepted))
    }
  }

  func checkStillCurrent(_ authorization: RequestAuthorization) throws {
    let ended = state.withLock { state in
      state.events.append(.check(token: authorization.accessToken))
      state.checks += 1
      return state.endsAfterChecks.map { state.checks > $0 } ?? false
    }
    if ended { throw Ended() }
  }
}

import AuthModels
import AuthNetworking
import AuthSession
import AuthStorage
import CommandLineTable
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A session as a command uses it: the engine, and a client that sends with its token.
struct CommandSession: Sendable {
  let slot: SessionSlot
  let server: ServerIdentity
  let dialect: AuthDialect
  let engine: SessionEngine
  let backend: any AuthBackend
  /// Sends with the session's token, or with the environment's.
  let client: APIClient
  /// Whether the stored session is used, and not a token from the environment.
  let usesStore: Bool
  /// What authorizes the client's requests.
  let authorizer: any RequestAuthorizer

  init(
    context: CommandContext, slot: SessionSlot, server: ServerIdentity, dialect: AuthDialect,
    store: any SessionStore, accessToken: String?
  ) throws {
    self.slot = slot
    self.server = server
    self.dialect = dialect
    let call = context.call
    let timeout = try call.duration("timeout") ?? .seconds(30)
    let lazy = LazyTransport { [parts = context.parts] in
      try parts.makeTransport(.init(timeout: timeout, caFile: call.text("ca-file")))
    }
    let transport: any HTTPTransport =
      context.waitingLine(for: server).map { WaitingTransport(transport: lazy, line: $0) } ?? lazy
    var outer: [any HTTPInterceptor] = [
      UserAgentInterceptor(product: "chirp/\(ChirpProgram.version)"), RequestIDInterceptor(),
    ]
    let inner = call.flag("verbose") ? context.trace(beside: accessToken) : []
    func makeClient(_ interceptors: [any HTTPInterceptor], timeout: Duration) -> APIClient {
      APIClient(
        baseURL: server.baseURL, transport: transport, interceptors: interceptors, timeout: timeout,
        allowInsecureHTTP: call.flag("allow-insecure-http"), time: context.parts.time)
    }
    func makeBackend(timeout: Duration) -> any AuthBackend {
      let plain = makeClient(outer + inner, timeout: timeout)
      return dialect == .envelope ? EnvelopeBackend(client: plain) : ChirpBackend(client: plain)
    }
    var options = context.parts.session
    backend = UncutTokenBackend(
      calls: makeBackend(timeout: timeout), tokens: makeBackend(timeout: options.refreshBound))
    // An unfinished refresh is taken up by the first call that needs a token, not by commands that stay off the network.
    options.recoversAtRestore = false
    engine = SessionEngine(
      slot: slot, backend: backend, store: store, time: context.parts.time, tasks: context.parts.tasks,
      options: options)
    usesStore = accessToken == nil
    authorizer = accessToken.map { FixedTokenAuthorizer(accessToken: $0) } ?? engine
    outer.append(BearerInterceptor(authorizer: authorizer))
    client = makeClient(outer + inner, timeout: timeout)
  }
}

/// A token that somebody else takes care of: sent as it is, never refreshed.
struct FixedTokenAuthorizer: RequestAuthorizer {
  let accessToken: String

  func authorize() async throws -> RequestAuthorization {
    RequestAuthorization(accessToken: accessToken, session: "environment")
  }

  func authorizeAfterUnauthorized(
    _ refused: RequestAuthorization, endpoint: String
  ) async throws -> RequestAuthorization? { nil }

  func noteResend(_ authorization: RequestAuthorization, endpoint: String, accepted: Bool) async {}

  func checkStillCurrent(_ authorization: RequestAuthorization) throws {}
}

/// A transport that is made at the first request: a command that sends nothing does not pay for it.
final class LazyTransport: HTTPTransport {
  private let made = Guarded<(any HTTPTransport)?>(nil)
  private let make: @Sendable () throws -> any HTTPTransport

  init(_ make: @escaping @Sendable () throws -> any HTTPTransport) {
    self.make = make
  }

  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    let transport: any HTTPTransport
    do {
      transport = try made.withLock { made in
        if let made { return made }
        let fresh = try make()
        made = fresh
        return fresh
      }
    } catch {
      throw TransportError(.invalidRequest, mayHaveBeenSent: false, message: "The transport cannot be made: \(error)")
    }
    return try await transport.send(request)
  }
}

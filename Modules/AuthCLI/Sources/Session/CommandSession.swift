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
  /// How the server is talked to.
  let connection: ServerConnection
  let engine: SessionEngine
  let backend: any AuthBackend
  /// Sends with the session's token, or with the environment's.
  let client: APIClient
  /// Whether the stored session is used, and not a token from the environment.
  let usesStore: Bool
  /// What authorizes the client's requests.
  let authorizer: any RequestAuthorizer

  init(
    context: CommandContext, slot: SessionSlot, server: ServerIdentity, connection: ServerConnection,
    store: any SessionStore, accessToken: String?
  ) throws {
    self.slot = slot
    self.server = server
    self.connection = connection
    dialect = AuthDialect(rawValue: connection.dialect)
    let timeout = try context.call.duration("timeout") ?? .seconds(30)
    let calls = try context.client(for: server, timeout: timeout, beside: accessToken)
    var options = context.parts.session
    backend = UncutTokenBackend(
      calls: try connection.backend(calls),
      tokens: try connection.backend(
        try context.client(for: server, timeout: options.refreshBound, beside: accessToken)),
      connection: try connection.kept)
    // An unfinished refresh is taken up by the first call that needs a token, not by commands that stay off the network.
    options.recoversAtRestore = false
    engine = SessionEngine(
      slot: slot, backend: backend, store: store, time: context.parts.time, tasks: context.parts.tasks,
      options: options)
    usesStore = accessToken == nil
    authorizer = accessToken.map { FixedTokenAuthorizer(accessToken: $0) } ?? engine
    client = backend.authorized(calls, by: authorizer)
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

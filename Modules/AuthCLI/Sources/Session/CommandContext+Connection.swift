import AuthModels
import AuthNetworking
import AuthOAuth
import AuthSession
import AuthStorage
import CommandLineTable
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension CommandContext {
  /// How the server of a slot is talked to: as the command line says, else as the session was made, else as the last one was.
  func connection(
    of slot: SessionSlot, _ server: ServerIdentity, in store: any SessionStore, _ use: Use
  ) async throws -> ServerConnection {
    let state = try await store.read(slot)
    let saved = ServerConnection(state.connection)
    let given = call.text("dialect").map { AuthDialect(rawValue: $0) }
    let dialect: AuthDialect
    if use != .signIn, let profile = state.record?.profile {
      if let given, given.rawValue != profile {
        throw call.usageError("--dialect \(given.rawValue): this session was made with dialect \(profile).")
      }
      dialect = AuthDialect(rawValue: profile)
    } else {
      dialect = given ?? saved.map { AuthDialect(rawValue: $0.dialect) } ?? .chirp
    }
    return try await connection(
      dialect, saved: saved?.dialect == dialect.rawValue ? saved : nil, server, isSignIn: use == .signIn)
  }

  /// How a server is talked to that nothing is known of here.
  func givenConnection(_ server: ServerIdentity) async throws -> ServerConnection {
    let dialect = call.text("dialect").map { AuthDialect(rawValue: $0) } ?? .chirp
    return try await connection(dialect, saved: nil, server, isSignIn: false)
  }

  private func connection(
    _ dialect: AuthDialect, saved: ServerConnection?, _ server: ServerIdentity, isSignIn: Bool
  ) async throws -> ServerConnection {
    try checkBelonging("api-key", to: .supabase, dialect)
    try checkBelonging("client-id", to: .oauth2, dialect)
    try checkBelonging("client-secret-file", to: .oauth2, dialect)
    try checkBelonging("backend", to: .rest, dialect)
    var connection = saved ?? ServerConnection(dialect)
    switch dialect {
    case .supabase:
      connection.apiKey = call.text("api-key") ?? connection.apiKey
      guard let key = connection.apiKey else {
        throw call.usageError(
          "Dialect supabase needs the project's public key: --api-key KEY, or CHIRP_API_KEY.", code: .missingOption)
      }
      // Refused before anything is asked or sent, and never kept (D4.2).
      _ = try SupabaseKey(key)
    case .oauth2:
      try await complete(&connection, server, isSignIn: isSignIn)
    case .rest:
      if let file = call.text("backend") {
        let text = String(decoding: try await readFile(file, option: "backend", limit: 64 * 1024), as: UTF8.self)
        connection.rest = try RESTDescription.read(text)
      }
      guard connection.rest != nil else {
        throw call.usageError("Dialect rest needs the server's description: --backend FILE.", code: .missingOption)
      }
    default: break
    }
    return connection
  }

  private func checkBelonging(_ option: String, to owner: AuthDialect, _ dialect: AuthDialect) throws {
    guard dialect != owner, call.source(of: option) == .commandLine else { return }
    throw call.usageError(
      "--\(option) belongs to dialect \(owner.rawValue), and this is dialect \(dialect.rawValue).")
  }

  /// What OAuth 2 needs: at a sign-in the server is asked for its metadata; later the sign-in's stand.
  private func complete(_ connection: inout ServerConnection, _ server: ServerIdentity, isSignIn: Bool) async throws {
    if let file = call.text("client-secret-file") { connection.clientSecretFile = URL(filePath: file).path }
    if let file = connection.clientSecretFile {
      connection.clientSecret = ClientSecret(
        try line(in: try await readFile(file, option: "client-secret-file", limit: 4096), from: file))
    }
    guard isSignIn else {
      guard connection.oauth != nil else {
        throw CommandFailure(
          "usage", "How to talk to this authorization server is not known here.",
          hint: "Sign in: chirp login --dialect oauth2 --client-id ID", .usage)
      }
      return
    }
    guard let id = call.text("client-id") ?? connection.oauth?.clientID else {
      throw call.usageError(
        "Dialect oauth2 needs the client's id, as the server gave it out: --client-id ID.", code: .missingOption)
    }
    let metadata = try await metadata(of: connection, server)
    let authentication: ClientAuthentication? = try call.choice("client-auth")
    if let authentication, (authentication == .none) != (connection.clientSecret == nil) {
      throw call.usageError(
        authentication == .none
          ? "--client-auth none has no use for a secret."
          : "--client-auth \(authentication.rawValue) needs --client-secret-file.")
    }
    connection.oauth = OAuth2Connection(
      metadata: metadata, clientID: id,
      authentication: authentication ?? metadata.authentication(hasSecret: connection.clientSecret != nil),
      scope: call.text("scope") ?? connection.oauth?.scope ?? metadata.usualScope)
  }

  /// The server's metadata, as it tells them, and as the command line adds to them.
  private func metadata(of connection: ServerConnection, _ server: ServerIdentity) async throws -> ServerMetadata {
    let issuer = call.text("issuer") ?? connection.oauth?.metadata.issuer ?? server.text
    var named: [String: String] = [:]
    for text in call.texts("endpoint") {
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2, named.updateValue(parts[1], forKey: parts[0]) == nil else {
        throw call.usageError("--endpoint: write NAME=URL, and each name once.", code: .badValue)
      }
    }
    var metadata =
      if let token = named["token"] {
        ServerMetadata(issuer: issuer, tokenEndpoint: token)
      } else {
        try await ServerMetadata.discover(
          issuer: issuer, client: try client(for: server, timeout: try call.duration("timeout") ?? .seconds(30)))
      }
    for (name, url) in named.sorted(by: { $0.key < $1.key }) {
      do {
        _ = try ServerIdentity(url.split(separator: "?").first.map(String.init) ?? url)
      } catch {
        throw call.usageError("--endpoint \(name): \(error.message)", code: .badValue)
      }
      switch name {
      case "token": metadata.tokenEndpoint = url
      case "authorization": metadata.authorizationEndpoint = url
      case "device": metadata.deviceAuthorizationEndpoint = url
      case "revocation": metadata.revocationEndpoint = url
      case "userinfo": metadata.userInfoEndpoint = url
      case "jwks": metadata.keySet = url
      default:
        throw call.usageError(
          "--endpoint \(name): authorization, token, device, revocation, userinfo and jwks are known.", code: .badValue)
      }
    }
    return metadata
  }

  /// A client for a server, without anybody's token.
  func client(for server: ServerIdentity, timeout: Duration, beside accessToken: String? = nil) throws -> APIClient {
    APIClient(
      baseURL: server.baseURL,
      transport: traced(
        waitingLine(for: server).map { WaitingTransport(transport: transport, line: $0) } ?? transport,
        beside: accessToken),
      interceptors: [UserAgentInterceptor(product: "chirp/\(ChirpProgram.version)"), RequestIDInterceptor()],
      timeout: timeout, allowInsecureHTTP: call.flag("allow-insecure-http"), time: parts.time)
  }
}

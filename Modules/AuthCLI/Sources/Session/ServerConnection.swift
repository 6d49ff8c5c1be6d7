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

/// How a server is talked to, as a sign-in was told: kept beside the session, sealed as it is, so that later commands need no flags.
///
/// It holds no secret: a project's public key and a client's id are known to everyone who has the app.
struct ServerConnection: Codable, Sendable, Hashable {
  /// The dialect's name.
  var dialect: String
  /// The project's public key (dialect supabase).
  var apiKey: String?

  init(_ dialect: AuthDialect) {
    self.dialect = dialect.rawValue
  }

  /// Reads what a sign-in left; nil for what nobody here has written.
  init?(_ text: String?) {
    guard let text else { return nil }
    do {
      self = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
    } catch {
      return nil
    }
  }

  /// What is kept: nothing for the dialect that is taken without a word.
  var kept: String? {
    get throws {
      guard dialect != AuthDialect.chirp.rawValue else { return nil }
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }
}

extension ServerConnection {
  /// The backend over a client for the server.
  func backend(_ client: APIClient) throws -> any AuthBackend {
    switch AuthDialect(rawValue: dialect) {
    case .envelope: EnvelopeBackend(client: client)
    case .supabase: try SupabaseBackend(client: client, apiKey: apiKey ?? "")
    default: ChirpBackend(client: client)
    }
  }
}

extension CommandContext {
  /// How the server of a slot is talked to: as the command line says, else as the session was made, else as the last one was.
  func connection(of slot: SessionSlot, in store: any SessionStore, _ use: Use) async throws -> ServerConnection {
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
    return try connection(dialect, saved: saved?.dialect == dialect.rawValue ? saved : nil)
  }

  /// How a server is talked to that nothing is known of here.
  func givenConnection() throws -> ServerConnection {
    try connection(call.text("dialect").map { AuthDialect(rawValue: $0) } ?? .chirp, saved: nil)
  }

  private func connection(_ dialect: AuthDialect, saved: ServerConnection?) throws -> ServerConnection {
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
    case .chirp, .envelope: break
    default: throw call.usageError("--dialect \(dialect.rawValue) is not there yet.")
    }
    if dialect != .supabase, call.source(of: "api-key") == .commandLine {
      throw call.usageError("--api-key belongs to dialect supabase, and this is dialect \(dialect.rawValue).")
    }
    return connection
  }
}

extension AuthDialect {
  /// The backend's name, for people.
  var title: String {
    switch self {
    case .chirp: "chirp"
    case .envelope: "envelope"
    case .supabase: "Supabase"
    case .oauth2: "OAuth 2"
    default: rawValue
    }
  }
}

import AuthModels
import AuthNetworking
import AuthOAuth
import AuthSession
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How a server is talked to, as a sign-in was told: kept beside the session, sealed as it is, so that later commands need no flags.
///
/// It holds no secret: a project's public key and a client's id are known to everyone who has the app, and of a client's secret only the
/// name of its file is kept.
struct ServerConnection: Codable, Sendable, Hashable {
  /// The dialect's name.
  var dialect: String
  /// The project's public key (dialect supabase).
  var apiKey: String?
  /// The authorization server and the client there (dialect oauth2).
  var oauth: OAuth2Connection?
  /// The file that holds the client's secret (dialect oauth2).
  var clientSecretFile: String?
  /// The server's description as it was read (dialect rest).
  var rest: JSONValue?
  /// The client's secret, read anew by each command, and kept nowhere.
  var clientSecret: ClientSecret?

  private enum CodingKeys: String, CodingKey {
    case dialect, apiKey, oauth, clientSecretFile, rest
  }

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

  /// The backend over a client for the server.
  func backend(_ client: APIClient) throws -> any AuthBackend {
    switch AuthDialect(rawValue: dialect) {
    case .envelope: return EnvelopeBackend(client: client)
    case .supabase: return try SupabaseBackend(client: client, apiKey: apiKey ?? "")
    case .oauth2:
      guard let oauth else { break }
      return OAuth2Backend(client: client, connection: oauth, secret: clientSecret)
    case .rest:
      guard let rest else { break }
      return RESTBackend(client: client, description: try RESTDescription(rest))
    default: return ChirpBackend(client: client)
    }
    throw CommandFailure(
      "usage", "How to talk to this server is not known here any more.", hint: "Sign in again: chirp login", .usage)
  }

  /// The backend's name, for people.
  var title: String {
    switch AuthDialect(rawValue: dialect) {
    case .supabase: "Supabase"
    case .oauth2: "OAuth 2\(oauth.map { ": client \($0.clientID) at \($0.metadata.issuer)" } ?? "")"
    case .rest: rest?["name"]?.string ?? dialect
    default: dialect
    }
  }

  /// Whether a described server signs in by a username.
  var signsInByUsername: Bool { rest?["signIn"]?["identifier"]?.string == "username" }
}

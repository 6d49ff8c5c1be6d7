#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A user as everyone may see them: the answer to `POST /auth/register` and `GET /me` (D1.1).
public struct PublicUser: Sendable, Hashable, Codable, Identifiable {
  /// The server's name for the user, a UUID in the chirp dialect.
  public var id: String
  /// 3 to 32 of `[A-Za-z0-9_]`.
  public var username: String
  /// The address the user signs in with.
  public var email: String
  /// When the account was made.
  public var createdAt: Date

  /// Makes a user from its parts.
  public init(id: String, username: String, email: String, createdAt: Date) {
    self.id = id
    self.username = username
    self.email = email
    self.createdAt = createdAt
  }
}

/// The signed-in user behind any backend (D4.1).
public struct AppUser: Sendable, Hashable, Codable, Identifiable {
  /// The user's id.
  public var id: UUID
  /// The user's address, "" when the server has none.
  public var email: String

  /// Makes a user from its parts.
  public init(id: UUID, email: String) {
    self.id = id
    self.email = email
  }
}

/// What a session knows of its user, in any dialect: kept in the session's record, shown by `whoami` and `status`.
public struct SessionUser: Sendable, Hashable, Codable, Identifiable {
  /// The server's name for the user: a UUID, a number or any text (`sub` in OAuth 2).
  public var id: String
  /// The user's address, where the server tells.
  public var email: String?
  /// The user's name, where the server tells.
  public var username: String?

  /// Makes a user from its parts.
  public init(id: String, email: String? = nil, username: String? = nil) {
    self.id = id
    self.email = email
    self.username = username
  }
}

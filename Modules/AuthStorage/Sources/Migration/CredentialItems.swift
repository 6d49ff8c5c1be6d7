/// The two items of a store that keeps each token by itself (D2.1).
public enum CredentialItem: String, Sendable, Hashable, CaseIterable {
  /// What goes into the `Authorization` header; while it is there, somebody is signed in.
  case accessToken
  /// What buys the next pair.
  case refreshToken
}

/// A place that keeps the two tokens apart (D2.1): read once, by ``MigratingTokenStore``, and emptied.
///
/// Anyone can write one over what an earlier version of their app used.
public protocol CredentialItems: Sendable {
  /// The item's text, or nil if it is not there.
  func load(_ item: CredentialItem) async throws -> String?
  /// Removes the item; removing one that is gone is no error.
  func remove(_ item: CredentialItem) async throws
}

/// The two tokens as D2.1 hands them out; either may be absent.
public struct StoredCredentials: Sendable, Hashable {
  /// The access token.
  public var accessToken: String?
  /// The refresh token.
  public var refreshToken: String?

  /// Makes credentials.
  public init(accessToken: String? = nil, refreshToken: String? = nil) {
    self.accessToken = accessToken
    self.refreshToken = refreshToken
  }
}

extension StoredCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Tells what is there without a secret.
  public var description: String {
    "StoredCredentials(accessToken: \(accessToken == nil ? "none" : "●●●"), refreshToken: "
      + "\(refreshToken == nil ? "none" : "●●●"))"
  }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

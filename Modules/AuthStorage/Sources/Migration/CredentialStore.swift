import AuthModels

/// D2.1's calls over any token store: for code that was written against the two items.
///
/// The store keeps one bundle, so that the two tokens are never of two sessions. All calls may come from any task and
/// throw what the store throws.
public struct CredentialStore: Sendable {
  private let store: any TokenStore

  /// Makes the view of `store`; a ``MigratingTokenStore`` takes over what the two items held.
  public init(store: any TokenStore) {
    self.store = store
  }

  /// The two tokens; both absent when nobody is signed in.
  public func getCredentials() async throws -> StoredCredentials {
    let bundle = try await store.load()
    return StoredCredentials(accessToken: bundle?.accessToken, refreshToken: bundle?.refreshToken)
  }

  /// Replaces both tokens. Without an access token nobody is signed in (D2.1): then nothing is kept.
  public func setCredentials(_ credentials: StoredCredentials) async throws {
    guard let accessToken = credentials.accessToken else { return try await store.clear() }
    try await store.save(
      TokenBundle(accessToken: accessToken, refreshToken: credentials.refreshToken, accessTokenExpiry: nil))
  }

  /// Whether somebody is signed in.
  public func hasAccessToken() async throws -> Bool {
    try await store.load() != nil
  }

  /// The access token, if there is one.
  public func getAccessToken() async throws -> String? {
    try await store.load()?.accessToken
  }

  /// The refresh token, if there is one.
  public func getRefreshToken() async throws -> String? {
    try await store.load()?.refreshToken
  }

  /// Forgets both tokens.
  public func logout() async throws {
    try await store.clear()
  }
}

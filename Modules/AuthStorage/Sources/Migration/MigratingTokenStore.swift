public import AuthModels

/// A token store that takes over what D2's two items hold, at its first read (D2.1): no update signs anybody out.
///
/// The bundle is saved, read back, and only then are the items removed, the access token first. Interrupted anywhere,
/// one of the two is whole, and the next read goes on from there. Once a bundle is there it counts, and items that are
/// left over are removed. A refresh token without an access token is nobody's session: it is removed too.
///
/// Calls come one after the other, so that two first reads migrate once. What either store throws is thrown.
public final class MigratingTokenStore: TokenStore {
  private let bundles: any TokenStore
  private let items: any CredentialItems
  private let gate = SerialGate()

  /// Makes the store: bundles in `bundles`, once what `items` hold has been taken over.
  public init(_ bundles: any TokenStore, takingOver items: any CredentialItems) {
    self.bundles = bundles
    self.items = items
  }

  /// Replaces the bundle; items of before are removed, lest they come back one day.
  public func save(_ bundle: TokenBundle) async throws {
    try await serially {
      try await self.bundles.save(bundle)
      try await self.removeItems()
    }
  }

  /// The bundle, or what the items held, which is a bundle by then.
  public func load() async throws -> TokenBundle? {
    try await serially {
      if let bundle = try await self.bundles.load() {
        try await self.removeItems()
        return bundle
      }
      guard let accessToken = try await self.items.load(.accessToken) else {
        try await self.removeItems()
        return nil
      }
      let found = TokenBundle(
        accessToken: accessToken, refreshToken: try await self.items.load(.refreshToken), accessTokenExpiry: nil)
      try await self.bundles.save(found)
      guard let saved = try await self.bundles.load(), saved.holdsSamePair(as: found) else {
        throw StoreError(
          .unavailable, "The token store does not give back what was just saved; the two items were left as they are.")
      }
      try await self.removeItems()
      return saved
    }
  }

  /// Removes the items, then the bundle: the other way round, a kill in between would bring the items back to life.
  public func clear() async throws {
    try await serially {
      try await self.removeItems()
      try await self.bundles.clear()
    }
  }

  private func removeItems() async throws {
    for item in [CredentialItem.accessToken, .refreshToken] where try await items.load(item) != nil {
      try await items.remove(item)
    }
  }

  private func serially<Success: Sendable>(
    _ body: () async throws -> Success
  ) async throws -> Success {
    try await gate.pass { () throws(StoreError) -> Result<Success, any Error> in
      do {
        return .success(try await body())
      } catch {
        return .failure(error)
      }
    }.get()
  }
}

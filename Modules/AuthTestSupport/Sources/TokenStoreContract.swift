import AuthModels
public import AuthStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What every ``TokenStore`` promises, as checks that any test library can run, a third party's store included.
///
/// Each check wants a store of its own that is empty.
public enum TokenStoreContract: Sendable {
  /// All checks; give each a fresh, empty store.
  public static let checks: [ContractCheck<any TokenStore>] = [
    ContractCheck("an empty store loads nothing, and says so without an error") { store in
      let found = try await store.load()
      try require(found == nil, "an empty store loaded a bundle")
    },
    ContractCheck("what was saved is what is loaded") { store in
      for bundle in samples {
        try await store.save(bundle)
        try requireSame(try await store.load(), bundle)
      }
    },
    ContractCheck("a save replaces the whole bundle: no refresh token is left over") { store in
      try await store.save(TokenBundle(accessToken: "a1", refreshToken: "r1", accessTokenExpiry: expiry))
      let second = TokenBundle(accessToken: "a2", refreshToken: nil, accessTokenExpiry: nil)
      try await store.save(second)
      try requireSame(try await store.load(), second)
    },
    ContractCheck("clear removes the bundle, and clearing nothing is no error") { store in
      try await store.clear()
      try await store.save(samples[0])
      try await store.clear()
      let found = try await store.load()
      try require(found == nil, "a bundle was loaded after clear")
      try await store.clear()
    },
    ContractCheck("a save after clear is found") { store in
      try await store.save(samples[0])
      try await store.clear()
      try await store.save(samples[1])
      try requireSame(try await store.load(), samples[1])
    },
    ContractCheck("parallel saves and loads never tear a pair") { store in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<4 {
          group.addTask {
            for round in 0..<25 {
              let name = "\(writer)-\(round)"
              try await store.save(
                TokenBundle(accessToken: "a\(name)", refreshToken: "r\(name)", accessTokenExpiry: expiry))
              guard let found = try await store.load() else {
                throw ContractFailure("nothing was loaded although no one cleared")
              }
              try require(
                found.accessToken.dropFirst() == (found.refreshToken ?? "").dropFirst(),
                "an access token was loaded with the refresh token of another pair")
            }
          }
        }
        try await group.waitForAll()
      }
    },
  ]

  private static let expiry = Date(timeIntervalSince1970: 1_800_003_600)
  private static let samples = [
    TokenBundle(accessToken: "access", refreshToken: "refresh", accessTokenExpiry: expiry),
    TokenBundle(accessToken: "only", refreshToken: nil, accessTokenExpiry: nil),
    TokenBundle(
      accessToken: String(repeating: "é\u{0}\"\\\n", count: 3000), refreshToken: "", accessTokenExpiry: expiry),
  ]

  // A store may round the expiry to whole seconds, as ISO 8601 does.
  private static func requireSame(_ found: TokenBundle?, _ saved: TokenBundle) throws {
    guard let found else { throw ContractFailure("nothing was loaded after a save") }
    try require(
      found.accessToken == saved.accessToken && found.refreshToken == saved.refreshToken,
      "other tokens were loaded than had been saved")
    switch (found.accessTokenExpiry, saved.accessTokenExpiry) {
    case (nil, nil): break
    case (let found?, let saved?):
      try require(abs(found.timeIntervalSince(saved)) <= 1, "the expiry moved by more than a second")
    default: throw ContractFailure("the expiry was lost, or one was made up")
    }
  }
}

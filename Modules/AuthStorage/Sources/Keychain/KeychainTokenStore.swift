public import AuthModels

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The token store of Apple's systems (D3.1): one keychain item that holds the bundle as JSON.
///
/// Service `com.chirp.tokens`, account `tokenBundle`, readable after the first unlock, on this device only. An item
/// that is there is updated in place: it is never deleted first, so that no kill loses it. Failures are
/// ``KeychainError/unhandled(_:)`` with the status code; an item that is no bundle is `StoreError` `corrupted`, and stays.
///
/// Its logic is tested everywhere with a stand-in for the four calls. ``SecurityKeychainCalls``, the calls themselves,
/// exist on Apple's systems only, and have not been run: this project is built on Linux.
public struct KeychainTokenStore: TokenStore {
  private let worker: KeychainWorker

  /// Makes a store over the item.
  ///
  /// - Parameters:
  ///   - service: D3.1's unless told otherwise.
  ///   - account: D3.1's unless told otherwise.
  ///   - accessGroup: for apps of one team that share the session.
  ///   - calls: on Apple's systems `SecurityKeychainCalls()`.
  public init(
    service: String = "com.chirp.tokens", account: String = "tokenBundle", accessGroup: String? = nil,
    calls: any KeychainCalls
  ) {
    worker = KeychainWorker(
      query: KeychainQuery(service: service, account: account, accessGroup: accessGroup), calls: calls)
  }

  public func save(_ bundle: TokenBundle) async throws {
    try await worker.save(bundle)
  }

  public func load() async throws -> TokenBundle? {
    try await worker.load()
  }

  public func clear() async throws {
    try await worker.clear()
  }
}

/// Makes the calls on a thread of its own: the keychain is another process, and may take its time.
private actor KeychainWorker {
  private static let notFound: Int32 = -25300
  private static let duplicate: Int32 = -25299
  private let query: KeychainQuery
  private let calls: any KeychainCalls
  private let executor = ThreadExecutor()

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(query: KeychainQuery, calls: any KeychainCalls) {
    self.query = query
    self.calls = calls
  }

  func save(_ bundle: TokenBundle) throws {
    let data = try JSONEncoder().encode(bundle)
    var status = calls.update(query, data: data)
    if status == Self.notFound { status = calls.add(query, data: data) }
    // Somebody else added it between the two calls.
    if status == Self.duplicate { status = calls.update(query, data: data) }
    guard status == 0 else { throw KeychainError.unhandled(status) }
  }

  func load() throws -> TokenBundle? {
    let (status, data) = calls.copyMatching(query)
    if status == Self.notFound { return nil }
    guard status == 0 else { throw KeychainError.unhandled(status) }
    let damaged = StoreError(
      .corrupted, "The keychain item \(query.service), \(query.account) holds no token bundle; it was left as it is.",
      hint: "Sign in again: that replaces it.")
    guard let data else { throw damaged }
    do {
      return try JSONDecoder().decode(TokenBundle.self, from: data)
    } catch {
      // The decoder's own words may quote what it could not read.
      throw damaged
    }
  }

  func clear() throws {
    let status = calls.delete(query)
    guard status == 0 || status == Self.notFound else { throw KeychainError.unhandled(status) }
    // Deleted or not, the item has to be gone.
    let left = calls.copyMatching(query).status
    if left == 0 {
      throw StoreError(
        .unavailable, "The keychain deleted the item \(query.service), \(query.account), and still has it.",
        hint: "Another app of the access group may have signed in meanwhile; sign out again.")
    }
    guard left == Self.notFound else { throw KeychainError.unhandled(left) }
  }
}

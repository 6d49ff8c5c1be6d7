import AuthModels
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The token provider of D3 as its description has it: an actor that loads and decodes the bundle at each call, and lets callers wait
/// for one task while a refresh runs. The baseline of the token benchmarks, and nothing else.
actor DocumentDesign {
  private let store: any DocumentStore
  private let time: any TimeSource
  private let refresh: @Sendable (TokenBundle) async throws -> TokenBundle
  private var flight: Task<Result<TokenBundle, any Error>, Never>?

  init(
    store: sending any DocumentStore, time: any TimeSource,
    refresh: @escaping @Sendable (TokenBundle) async throws -> TokenBundle
  ) {
    self.store = store
    self.time = time
    self.refresh = refresh
  }

  func validAccessToken() async throws -> String {
    guard let bundle = try store.load() else { throw BenchError("Nobody is signed in.") }
    if let expiry = bundle.accessTokenExpiry, expiry > time.wallClock.addingTimeInterval(30) {
      return bundle.accessToken
    }
    return try await refreshBundle().accessToken
  }

  @discardableResult
  func refreshBundle() async throws -> TokenBundle {
    if let flight { return try await flight.value.get() }
    let task = TaskStarter().start { await self.fly() }
    flight = task
    return try await task.value.get()
  }

  private func fly() async -> Result<TokenBundle, any Error> {
    defer { flight = nil }
    do {
      guard let bundle = try store.load() else { throw BenchError("Nobody is signed in.") }
      let fresh = try await refresh(bundle)
      try store.save(fresh)
      return .success(fresh)
    } catch {
      return .failure(error)
    }
  }
}

/// Where that design keeps its bundle: JSON in one item, read and written synchronously.
protocol DocumentStore {
  func load() throws -> TokenBundle?
  func save(_ bundle: TokenBundle) throws
}

/// The item in memory: what the platform's secure store costs, less the platform.
final class MemoryItem: DocumentStore {
  private var item: Data

  init(_ bundle: TokenBundle) throws {
    item = try JSONEncoder().encode(bundle)
  }

  func load() throws -> TokenBundle? {
    try JSONDecoder().decode(TokenBundle.self, from: item)
  }

  func save(_ bundle: TokenBundle) throws {
    item = try JSONEncoder().encode(bundle)
  }
}

/// The item in a bare SQLite database.
final class SQLiteItem: DocumentStore {
  private let database: BareSQLite

  init(_ bundle: TokenBundle, path: String) throws {
    database = try BareSQLite(path)
    try save(bundle)
  }

  func load() throws -> TokenBundle? {
    try JSONDecoder().decode(TokenBundle.self, from: Data(database.load()))
  }

  func save(_ bundle: TokenBundle) throws {
    try database.save(Array(JSONEncoder().encode(bundle)))
  }
}

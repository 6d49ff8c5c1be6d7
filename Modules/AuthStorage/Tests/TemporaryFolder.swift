#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A folder of one test's own.
struct TemporaryFolder: Sendable {
  let path: String

  /// Lends a new folder to `body`, and removes it afterwards whatever happens.
  static func lend(_ body: (TemporaryFolder) async throws -> Void) async throws {
    let path = FileManager.default.temporaryDirectory.path + "/chirp-storage-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    do {
      try await body(TemporaryFolder(path: path))
    } catch {
      try FileManager.default.removeItem(atPath: path)
      throw error
    }
    try FileManager.default.removeItem(atPath: path)
  }

  /// Where the store under test goes: a folder that is not there yet.
  var store: String { path + "/state/chirp" }

  /// The names in the store's folder, sorted.
  func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: store).sorted()
  }

  /// A file of the store, whole.
  func bytes(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: store + "/" + name)))
  }

  /// Overwrites a file of the store in place, as damage would: mode and inode stay.
  func overwrite(_ name: String, _ bytes: [UInt8]) throws {
    let url = URL(fileURLWithPath: store + "/" + name)
    try Data(bytes).write(to: url, options: [])
  }
}

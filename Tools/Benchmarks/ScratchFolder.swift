#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A folder of this run's own, for stores and databases.
struct ScratchFolder: Sendable {
  let url: URL

  /// Makes the folder, mode 0700, where temporary files are kept.
  init() throws(BenchError) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("chirp-bench-\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw BenchError("\(folder.path) cannot be made: \(error).")
    }
    url = folder
  }

  /// A path inside.
  func path(_ name: String) -> String { url.appendingPathComponent(name).path }

  /// Removes the folder with all that is in it.
  func remove() {
    do {
      try FileManager.default.removeItem(at: url)
    } catch {
      print("bench: \(url.path) could not be removed: \(error)")
    }
  }
}

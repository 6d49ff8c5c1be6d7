#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A folder of one scenario's own, readable by nobody else.
struct TemporaryFolder: Sendable {
  let path: String

  init() throws(WorldError) {
    let url = FileManager.default.temporaryDirectory.appending(path: "e2e-\(UUID().uuidString)")
    path = url.path
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw WorldError("no temporary folder can be made: \(error)")
    }
  }

  /// Every file below it, as outputs that must not hold a secret.
  func files(below name: String) -> [Output] {
    let folder = "\(path)/\(name)"
    let names: [String]
    do {
      names = try FileManager.default.subpathsOfDirectory(atPath: folder)
    } catch {
      // A client that never wrote has no folder.
      return []
    }
    return names.sorted().compactMap { name in
      FileManager.default.contents(atPath: "\(folder)/\(name)").map {
        Output("the store's file \(name)", bytes: Array($0))
      }
    }
  }

  /// The files below it that others than their owner may read or write.
  func looseFiles(below name: String) -> [String] {
    let folder = "\(path)/\(name)"
    let names: [String]
    do {
      names = try FileManager.default.subpathsOfDirectory(atPath: folder)
    } catch {
      return []
    }
    return names.sorted().filter { name in
      var status = stat()
      // One that is gone meanwhile, as a journal is after its transaction, is nobody's.
      return lstat("\(folder)/\(name)", &status) == 0 && status.st_mode & 0o077 != 0
    }
  }

  func text(_ name: String) -> String {
    FileManager.default.contents(atPath: "\(path)/\(name)").map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  func remove() {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      // It lies in the system's temporary folder, which the system clears.
    }
  }
}

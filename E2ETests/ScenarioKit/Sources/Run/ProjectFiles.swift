#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Files of the project that a scenario belongs to: what some requirements are about.
enum ProjectFiles {
  /// Makes sure that a file says so much.
  ///
  /// - Parameter scenario: the scenario's file; the project is the nearest folder above it with a `Package.swift`.
  static func check(_ file: String, has texts: [String], near scenario: String, isEmpty: Bool) throws(WorldError) {
    var folder = URL(filePath: scenario).absoluteURL.deletingLastPathComponent()
    while !FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path), folder.path != "/" {
      folder.deleteLastPathComponent()
    }
    guard let data = FileManager.default.contents(atPath: folder.appending(path: file).path) else {
      throw WorldError("the project has no file \(file)")
    }
    let content = isEmpty ? "" : String(decoding: data, as: UTF8.self)
    for text in texts where !content.contains(text) { throw WorldError("\(file) does not say \"\(text)\"") }
  }
}

internal import CheckedYAML

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Finds and reads scenario files.
package enum ScenarioFiles {
  /// The files that paths mean: a file is itself, a folder is every `.yaml` below it, in alphabetical order.
  ///
  /// - Throws: a path that is not there.
  package static func find(_ paths: [String]) throws(WorldError) -> [String] {
    var files: [String] = []
    for path in paths {
      var isFolder = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
        throw WorldError("there is no file or folder \"\(path)\"")
      }
      if isFolder {
        files += try filesBelow(path)
      } else {
        files.append(path)
      }
    }
    return files
  }

  private static func filesBelow(_ folder: String) throws(WorldError) -> [String] {
    let names: [String]
    do {
      names = try FileManager.default.subpathsOfDirectory(atPath: folder)
    } catch {
      throw WorldError("the folder \"\(folder)\" cannot be read: \(error)")
    }
    let base = folder.hasSuffix("/") ? folder : folder + "/"
    // What others include is no scenario by itself.
    let scenarios = names.filter { $0.hasSuffix(".yaml") || $0.hasSuffix(".yml") }
    return scenarios.filter { !$0.hasSuffix(".include.yaml") }.sorted().map { base + $0 }
  }

  /// Reads a file into a scenario, the one of its first row if it has rows.
  package static func read(_ path: String) -> Result<Scenario, InvalidScenario> {
    readAll(path).flatMap { scenarios in
      guard let first = scenarios.first else { return .failure(InvalidScenario([])) }
      return .success(first)
    }
  }

  /// Reads a file into its scenarios: one, or one for each of its rows.
  package static func readAll(_ path: String) -> Result<[Scenario], InvalidScenario> {
    guard let data = FileManager.default.contents(atPath: path) else {
      return .failure(
        InvalidScenario([Diagnostic(file: path, mark: Mark(line: 1, column: 1), message: "the file cannot be read")]))
    }
    let folder = URL(filePath: path).deletingLastPathComponent()
    return ScenarioReader.readAll(String(decoding: data, as: UTF8.self), file: path) { name in
      FileManager.default.contents(atPath: folder.appending(path: name).path).map {
        String(decoding: $0, as: UTF8.self)
      }
    }
  }
}

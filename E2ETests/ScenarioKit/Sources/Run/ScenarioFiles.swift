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
    return names.filter { $0.hasSuffix(".yaml") || $0.hasSuffix(".yml") }.sorted().map { base + $0 }
  }

  /// Reads a file into a scenario.
  package static func read(_ path: String) -> Result<Scenario, InvalidScenario> {
    guard let data = FileManager.default.contents(atPath: path) else {
      return .failure(
        InvalidScenario([Diagnostic(file: path, mark: Mark(line: 1, column: 1), message: "the file cannot be read")]))
    }
    return ScenarioReader.read(String(decoding: data, as: UTF8.self), file: path)
  }
}

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The files of a report.
package enum ReportFolder {
  /// Reads the results of a folder that `write` has written.
  package static func read(_ folder: String) throws(WorldError) -> [ScenarioReport] {
    let path = URL(filePath: folder).appending(path: "results.json").path
    guard let data = FileManager.default.contents(atPath: path) else {
      throw WorldError("there is no report in \"\(folder)\": results.json cannot be read")
    }
    return try ResultsReport.read(Array(data), name: path)
  }

  /// Writes junit.xml, results.json and report.html.
  package static func write(_ reports: [ScenarioReport], to folder: String) throws(WorldError) {
    let files = [
      ("junit.xml", JUnitReport.text(reports)), ("results.json", try ResultsReport.text(reports)),
      ("report.html", HTMLReport.text(reports)),
    ]
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      for (name, text) in files {
        try Data(text.utf8).write(to: URL(filePath: folder).appending(path: name), options: .atomic)
      }
    } catch {
      throw WorldError("the report cannot be written to \"\(folder)\": \(error)")
    }
  }
}

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The files of a report.
package enum ReportFolder {
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

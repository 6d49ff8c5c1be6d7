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

/// The files of a report.
package enum ReportFolder {
  /// Makes the folder, if it is not there, and makes sure that files can be written into it.
  package static func check(_ folder: String) throws(WorldError) {
    guard !folder.isEmpty else { throw WorldError("--report needs the name of a folder") }
    var path = folder.hasPrefix("/") ? "/" : ""
    for part in folder.split(separator: "/") {
      path += path.isEmpty || path.hasSuffix("/") ? "\(part)" : "/\(part)"
      if mkdir(path, 0o777) != 0, ![EEXIST, EISDIR, EROFS].contains(errno) { throw unwritable(folder, errno) }
    }
    let probe = "\(folder)/.e2e-\(getpid())"
    let descriptor = open(probe, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw unwritable(folder, errno) }
    close(descriptor)
    unlink(probe)
  }

  private static func unwritable(_ folder: String, _ code: Int32) -> WorldError {
    WorldError("the report cannot be written to \"\(folder)\": \(String(cString: strerror(code)))")
  }

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
    var files = [
      ("junit.xml", JUnitReport.text(reports)), ("results.json", try ResultsReport.text(reports)),
      ("report.html", HTMLReport.text(reports)),
    ]
    for (index, conformance) in ConformanceReport.all(reports).enumerated() {
      let name = index == 0 ? "conformance" : "conformance-\(index + 1)"
      files.append(("\(name).html", conformance.html))
      files.append(("\(name).json", try ResultsReport.text(conformance.json)))
    }
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

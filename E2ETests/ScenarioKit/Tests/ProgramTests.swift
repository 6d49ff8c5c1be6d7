import Foundation
import Testing

/// The built `e2e` as a process of its own.
@Suite("e2e as a process")
struct ProgramTests {
  /// Runs a shell script with `e2e` as `$0`; gives the exit code and what was written on standard error.
  private func run(_ script: String, _ arguments: String...) throws -> (code: Int32, errors: String) {
    let own = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments.first ?? "")
    var folder = own.resolvingSymlinksInPath().deletingLastPathComponent()
    while !FileManager.default.isExecutableFile(atPath: folder.appending(path: "e2e").path), folder.path != "/" {
      folder.deleteLastPathComponent()
    }
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", script, folder.appending(path: "e2e").path] + arguments
    let errors = Pipe()
    process.standardError = errors
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    let data = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
  }

  @Test("output that is lost is a failure", arguments: ["schema >/dev/full", "schema >&-"])
  func lostOutput(redirection: String) throws {
    let lost = try run("\"$0\" \(redirection)")
    #expect(lost.code == 1)
    #expect(lost.errors.contains("standard output cannot be written"))
    #expect(try run("\"$0\" schema").code == 0)
  }

  @Test("a report that cannot be written is told of before anything runs, with 2")
  func unwritableReport() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "e2e-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let scenario = folder.appending(path: "f.yaml").path
    try Data("name: n\ncovers: [S8]\nusers: [anna]\nsteps:\n  - login: anna\nexpect:\n  requests: {login: 1}\n".utf8)
      .write(to: URL(filePath: scenario))
    let script = "\"$0\" run --driver inprocess --report \"$2\" \"$1\""
    for place in ["/dev/null/report", "\(scenario)/a/b", scenario, ""] {
      let outcome = try run(script, scenario, place)
      #expect(outcome.code == 2, "\(place)")
      #expect(outcome.errors.contains("report") && !outcome.errors.contains("Error Domain"), "\(outcome.errors)")
    }
    let good = folder.appending(path: "a/b").path
    #expect(try run(script, scenario, good).code == 0)
    #expect(FileManager.default.fileExists(atPath: "\(good)/report.html"))
  }
}

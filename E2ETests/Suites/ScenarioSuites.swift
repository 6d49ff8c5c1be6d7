import CheckedYAML
import ScenarioKit
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Every scenario file as a test case of its own, without sockets and under virtual time.
@Suite("Scenarios")
struct ScenarioSuites {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Scenarios").path

  static let files: [String] = {
    do {
      return try ScenarioFiles.find([folder]).map { String($0.dropFirst(folder.count + 1)) }
    } catch {
      // The test of the files' number tells.
      return []
    }
  }()

  @Test("there are scenario files, each with a name of its own")
  func names() throws {
    #expect(Self.files.count >= 24)
    let names = try Self.files.map { try ScenarioFiles.read("\(Self.folder)/\($0)").get().name }
    #expect(Set(names).count == names.count)
  }

  @Test("holds", arguments: files)
  func holds(file: String) async throws {
    let scenarios: [Scenario]
    switch ScenarioFiles.readAll("\(Self.folder)/\(file)") {
    case .success(let good): scenarios = good
    case .failure(let invalid):
      Issue.record("\(invalid.diagnostics.map(\.description).joined(separator: "\n"))")
      return
    }
    let runner = Runner(jobs: 1, limits: try DriverLimits.checkedIn())
    for scenario in scenarios {
      let report = await runner.run(scenario, driver: InProcessDriver(), realm: "suite")
      #expect(report.result != .failed, "\(TerminalReport.lines(report).joined(separator: "\n"))")
    }
  }
}

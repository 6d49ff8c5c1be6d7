import CheckedYAML
import ScenarioKit
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("The page on scenarios")
struct DocumentationTests {
  private static let page: String = {
    var folder = URL(filePath: #filePath)
    for _ in 0..<4 { folder.deleteLastPathComponent() }
    return FileManager.default.contents(atPath: folder.appending(path: "Documentation/scenarios.md").path)
      .map { String(decoding: $0, as: UTF8.self) } ?? ""
  }()

  private static var examples: [String] {
    page.split(separator: "```").enumerated().filter { $0.offset % 2 == 1 }
      .compactMap { $0.element.hasPrefix("yaml\n") ? String($0.element.dropFirst(5)) : nil }
  }

  @Test("every example is a scenario that holds")
  func examples() async throws {
    #expect(Self.examples.count == 10)
    let runner = Runner(jobs: 1, limits: try DriverLimits.checkedIn())
    for example in Self.examples {
      for scenario in try ScenarioReader.readAll(example, file: "scenarios.md").get() {
        let report = await runner.run(scenario, driver: InProcessDriver(), realm: "page")
        #expect(report.result == .passed, "\(TerminalReport.lines(report).joined(separator: "\n"))")
      }
    }
  }

  @Test("every key of the format is on the page")
  func keys() {
    // What a delay with a distribution is made of stands on the mock server's page.
    let elsewhere = ["min", "max", "median", "sigma", "distribution"]
    let page = Self.page
    let missing = ScenarioFormat.knownNames.filter { !page.contains($0) && !elsewhere.contains($0) }
    #expect(missing == [])
  }

  @Test("the table of reproduced reports is what the scenarios say")
  func reports() throws {
    var folder = URL(filePath: #filePath)
    for _ in 0..<4 { folder.deleteLastPathComponent() }
    let scenarios = try ScenarioFiles.find([folder.appending(path: "E2ETests/Scenarios").path]).map {
      try ScenarioFiles.read($0).get()
    }
    let page =
      FileManager.default.contents(atPath: folder.appending(path: "Documentation/field-reports.md").path)
      .map { String(decoding: $0, as: UTF8.self) } ?? ""
    #expect(
      page.hasSuffix(ReproducedReports.table(scenarios) + "\n"),
      "Remedy: put the output of e2e list --reports at the end of Documentation/field-reports.md")
  }

  @Test("every id is covered by a scenario that fails when it is broken")
  func coverage() async throws {
    var folder = URL(filePath: #filePath)
    for _ in 0..<4 { folder.deleteLastPathComponent() }
    let scenarios = try ScenarioFiles.find([folder.appending(path: "E2ETests/Scenarios").path]).flatMap {
      try ScenarioFiles.readAll($0).get()
    }
    let proof = await CoverageProof.run(
      scenarios, breakages: try Breakage.checkedIn(), jobs: 2, limits: try DriverLimits.checkedIn())
    // What needs the built programs is proven by make e2e-prove.
    #expect(proof.gaps.filter { !["D2.6", "D4.2"].contains($0) } == [], "\(proof.lines.joined(separator: "\n"))")
  }
}

/// Which scenarios do what public bug reports tell.
package enum ReproducedReports {
  /// A Markdown table as it stands in `Documentation/field-reports.md`: a row for each report, its scenarios as links.
  package static func table(_ scenarios: [Scenario]) -> String {
    let reports = Set(scenarios.compactMap(\.report)).sorted { $0.lowercased() < $1.lowercased() }
    let rows = reports.map { report in
      // A file of many rows is one scenario.
      let files = scenarios.filter { $0.report == report }.map(\.file).reduce(into: [String]()) { files, file in
        if !files.contains(file) { files.append(file) }
      }
      let links = files.map { file in
        let parts = file.split(separator: "/").suffix(2)
        let short = parts.joined(separator: "/")
        let name = short.hasSuffix(".yaml") ? String(short.dropLast(5)) : short
        return "[\(name)](../E2ETests/Scenarios/\(short))"
      }
      return "| \(report) | \(links.joined(separator: ", ")) |"
    }
    return (["| report | scenarios |", "| --- | --- |"] + rows).joined(separator: "\n")
  }
}

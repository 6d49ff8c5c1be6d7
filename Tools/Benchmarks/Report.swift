import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// All figures of a run, and how they are written.
struct Report {
  /// The figures in the order measured.
  var figures: [Figure] = []
  /// How things grow.
  var curves: [Curve] = []

  /// A table for the terminal.
  var table: String {
    let rows =
      [["figure", "chirp", "baseline", "", "compared", "target", ""]]
      + figures.map { figure in
        [
          figure.name, figure.medianText, figure.baselineText, figure.baselineName, figure.factorText,
          figure.targetText, figure.targets.isEmpty ? "" : figure.missed.isEmpty ? "met" : "MISSED",
        ]
      }
    guard rows.count > 1 else { return curves.map(\.text).joined(separator: "\n") }
    let rightAligned: Set<Int> = [1, 2, 4]
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        line += (column == 0 ? "" : "  ") + (rightAligned.contains(column) ? padding + cell : cell + padding)
      }
      while line.last == " " { line.removeLast() }
      return line
    }.joined(separator: "\n") + curves.map { "\n\($0.text)" }.joined()
  }

  /// The same for the README.
  var markdown: String {
    let rows = figures.map { figure in
      "| \(figure.name) | **\(figure.medianText)** | \(figure.baselineText) | \(figure.baselineName) | \(figure.factorText) |"
    }
    return "| figure | Chirp | baseline | which is | compared |\n| --- | ---: | ---: | --- | ---: |\n"
      + rows.joined(separator: "\n")
  }

  /// The figures with every sample, in seconds or as a count.
  func json() throws -> String {
    let list = figures.map { figure in
      JSONValue.object([
        "name": .string(figure.name), "unit": .string(figure.unit.rawValue), "median": .number(figure.median),
        "samples": .array(figure.samples.map { .number($0) }), "baseline": .string(figure.baselineName),
        "baselineMedian": figure.baselineMedian.map { .number($0) } ?? .null,
        "baselineSamples": .array(figure.baseline.map { .number($0) }),
        "factor": figure.factor.map { .number($0) } ?? .null,
        "missed": .array(figure.missed.map { .string($0) }),
      ])
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    let grown = curves.map { curve in
      JSONValue.object([
        "name": .string(curve.name), "by": .string(curve.sizeName), "unit": .string(curve.unit.rawValue),
        "points": .array(curve.points.map { .object(["size": .number($0.size), "value": .number($0.value)]) }),
      ])
    }
    let all = JSONValue.object(["figures": .array(list), "curves": .array(grown)])
    return String(decoding: try encoder.encode(all), as: UTF8.self)
  }

  /// Puts the table between the two marks of a Markdown file.
  func rewrite(readme path: String) throws {
    let (begin, end) = ("<!-- bench:begin -->", "<!-- bench:end -->")
    let url = URL(fileURLWithPath: path)
    let text = String(decoding: try Data(contentsOf: url), as: UTF8.self)
    guard let first = text.firstRange(of: begin), let last = text.firstRange(of: end),
      first.upperBound <= last.lowerBound
    else {
      throw BenchError("\(path) has no line \(begin) with \(end) after it: put both where the table is to stand.")
    }
    let rewritten = text[..<first.upperBound] + "\n" + markdown + "\n" + text[last.lowerBound...]
    try Data(rewritten.utf8).write(to: url)
  }
}

import Groundwork

/// One measured figure beside its baseline, both from the same run.
struct Figure: Sendable {
  /// What a figure is to beat.
  enum Target: Sendable {
    /// The figure itself, at most.
    case atMost(Double)
    /// So many times better than the baseline, at least.
    case factor(Double)
    /// The figure itself, exactly.
    case exactly(Double)
  }

  /// How a figure is written.
  enum Unit: String, Sendable {
    /// Seconds; shown as ns, µs, ms or s.
    case seconds
    /// A plain number.
    case count
    /// Bytes; shown as B, KiB or MiB.
    case bytes
  }

  /// What was measured.
  var name: String
  /// How it is written.
  var unit: Unit
  /// What was measured, one value a round.
  var samples: [Double]
  /// What it stands beside.
  var baselineName: String
  /// What that took, one value a round; empty where there is none.
  var baseline: [Double]
  /// What it is to beat.
  var targets: [Target] = []

  var median: Double { Self.median(samples) }
  var baselineMedian: Double? { baseline.isEmpty ? nil : Self.median(baseline) }
  /// How many times better than the baseline.
  var factor: Double? {
    guard let baselineMedian, median > 0 else { return nil }
    return baselineMedian / median
  }

  /// The targets that it misses, in words.
  var missed: [String] {
    targets.compactMap { target in
      switch target {
      case .atMost(let limit): median <= limit ? nil : "over \(Self.text(limit, unit))"
      case .factor(let least): (factor ?? 0) >= least ? nil : "less than \(Self.short(least)) ×"
      case .exactly(let value): median == value ? nil : "not \(Self.text(value, unit))"
      }
    }
  }

  /// The targets in words.
  var targetText: String {
    targets.map { target in
      switch target {
      case .atMost(let limit): "≤ \(Self.text(limit, unit))"
      case .factor(let least): "≥ \(Self.short(least)) ×"
      case .exactly(let value): "= \(Self.text(value, unit))"
      }
    }.joined(separator: ", ")
  }

  var medianText: String { Self.text(median, unit) }
  var baselineText: String { baselineMedian.map { Self.text($0, unit) } ?? "–" }
  var factorText: String {
    guard let factor, factor > 0 else { return "–" }
    return factor >= 1 ? "\(Self.short(factor)) × better" : "takes \(Self.short(1 / factor)) ×"
  }

  /// The middle nine tenths of the samples, which tell how noisy the machine was.
  var spreadText: String {
    guard unit == .seconds, samples.count > 1 else { return "–" }
    let sorted = samples.sorted()
    let low = sorted[sorted.count / 20]
    let high = sorted[sorted.count - 1 - sorted.count / 20]
    return "\(Self.text(low, unit)) … \(Self.text(high, unit))"
  }

  static func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return 0 }
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  static func text(_ value: Double, _ unit: Unit) -> String {
    switch unit {
    case .count: return grouped(value)
    case .bytes:
      switch abs(value) {
      case ..<1024: return "\(short(value)) B"
      case ..<1_048_576: return "\(short(value / 1024)) KiB"
      default: return "\(short(value / 1_048_576)) MiB"
      }
    case .seconds: break
    }
    switch abs(value) {
    case ..<1e-6: return "\(short(value * 1e9)) ns"
    case ..<1e-3: return "\(short(value * 1e6)) µs"
    case ..<1: return "\(short(value * 1e3)) ms"
    default: return "\(short(value)) s"
    }
  }

  /// Three significant figures, as many as the machine's noise leaves.
  static func short(_ value: Double) -> String {
    guard value.isFinite else { return "–" }
    let places = abs(value) >= 100 ? 1.0 : abs(value) >= 10 ? 10.0 : 100.0
    let rounded = (value * places).rounded() / places
    return rounded == rounded.rounded() ? grouped(rounded) : "\(rounded)"
  }

  /// A whole number with a comma a thousand.
  private static func grouped(_ value: Double) -> String {
    guard let whole = Int(exactly: value.rounded()) else { return "\(value)" }
    var digits = Array("\(abs(whole))")
    var place = digits.count - 3
    while place > 0 {
      digits.insert(",", at: place)
      place -= 3
    }
    return (whole < 0 ? "-" : "") + String(digits)
  }
}

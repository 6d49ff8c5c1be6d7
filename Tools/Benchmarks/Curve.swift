/// How something grows: one measured value for each size.
struct Curve: Sendable {
  /// One size, and what was measured there.
  struct Point: Sendable {
    var size: Double
    var value: Double
  }

  /// What was measured.
  var name: String
  /// What the size counts.
  var sizeName: String
  /// How a value is written.
  var unit: Figure.Unit
  /// In the order of sizes.
  var points: [Point]

  /// The growth in a line, for the terminal.
  var text: String {
    let values = points.map { "\(Figure.text($0.size, .count)): \(Figure.text($0.value, unit))" }
    return "\(name), by \(sizeName): \(values.joined(separator: ", "))"
  }
}

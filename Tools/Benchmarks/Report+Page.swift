#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension Report {
  /// The figures as bars and the growth as curves: one SVG that stands by itself, light and dark.
  ///
  /// Scales are logarithmic, since what is compared differs by powers of ten; each bar carries its value.
  var page: String {
    var drawing = Drawing()
    drawing.title("Chirp: every figure beside its baseline, from one run; shorter is better, scales are logarithmic")
    for figure in figures { drawing.bars(figure) }
    for curve in curves { drawing.plot(curve) }
    return drawing.text
  }

  private struct Drawing {
    private static let width = 960.0
    private static let left = 24.0
    private var y = 24.0
    private var elements: [String] = []

    var text: String {
      """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(y + 16))" role="img" \
      font-family="system-ui, sans-serif" font-size="13">
      <style>
        svg { background: #fff; color: #1c1e21 } text { fill: currentColor } .ours { fill: #2563eb } .theirs { fill: #94a3b8 }
        .curve { fill: none; stroke: #2563eb; stroke-width: 2 } .axis { stroke: #94a3b8; stroke-width: 1 } .dim { opacity: .72 }
        @media (prefers-color-scheme: dark) { svg { background: #111418; color: #e6e8eb } .ours { fill: #60a5fa } .theirs { fill: #64748b }
          .curve { stroke: #60a5fa } }
      </style>

      """ + elements.joined(separator: "\n") + "\n</svg>\n"
    }

    mutating func title(_ text: String) {
      elements.append("<title>\(Self.escaped(text))</title>")
      write(text, x: Self.left, bold: true)
      y += 28
    }

    mutating func bars(_ figure: Figure) {
      write(figure.name.replacing("`", with: ""), x: Self.left)
      y += 8
      let values = [figure.median, figure.baselineMedian ?? 0].filter { $0 > 0 }
      // The shortest bar is one decade long, so that none vanishes.
      let low = log10(values.min() ?? 1) - 1
      let span = max(log10(values.max() ?? 10) - low, 1)
      bar(figure.median, "ours", "\(figure.medianText)  Chirp", low, span)
      if let baseline = figure.baselineMedian {
        let against = "\(figure.baselineText)  \(figure.baselineName.replacing("`", with: ""))"
        bar(baseline, "theirs", "\(against) (Chirp \(figure.factorText))", low, span)
      }
      y += 22
    }

    private mutating func bar(_ value: Double, _ kind: String, _ label: String, _ low: Double, _ span: Double) {
      let length = value > 0 ? 480 * (log10(value) - low) / span : 1
      elements.append(
        "<rect class=\"\(kind)\" x=\"\(Int(Self.left))\" y=\"\(Int(y))\" width=\"\(Int(length))\" height=\"14\" rx=\"2\"/>"
      )
      y += 12
      write(label, x: Self.left + length + 8, dim: kind == "theirs")
      y += 6
    }

    mutating func plot(_ curve: Curve) {
      let points = curve.points.filter { $0.size > 0 && $0.value > 0 }
      guard points.count > 1, let first = points.first, let last = points.last else { return }
      write("\(curve.name.replacing("`", with: "")) (by \(curve.sizeName))", x: Self.left)
      y += 14
      let (x0, width, height) = (Self.left + 16, 760.0, 110.0)
      let logs = points.map { log10($0.value) }
      let low = (logs.min() ?? 0) - 0.15
      let span = max((logs.max() ?? 1) + 0.15 - low, 0.5)
      let sizes = max(log10(last.size) - log10(first.size), 0.1)
      let places = points.map { point in
        (
          x: x0 + width * (log10(point.size) - log10(first.size)) / sizes,
          y: y + height - height * (log10(point.value) - low) / span
        )
      }
      let bottom = Int(y + height)
      elements.append(
        "<path class=\"axis\" fill=\"none\" d=\"M\(Int(x0)) \(Int(y)) V\(bottom) H\(Int(x0 + width))\"/>")
      let path = places.map { "\(Int($0.x)) \(Int($0.y))" }.joined(separator: " L")
      elements.append("<path class=\"curve\" d=\"M\(path)\"/>")
      for (point, place) in zip(points, places) {
        elements.append("<circle class=\"ours\" cx=\"\(Int(place.x))\" cy=\"\(Int(place.y))\" r=\"4\"/>")
        label(Figure.text(point.value, curve.unit), x: place.x + 6, y: place.y - 8)
        label(Figure.text(point.size, .count), x: place.x, y: y + height + 16, dim: true)
      }
      y += height + 44
    }

    private mutating func write(_ text: String, x: Double, bold: Bool = false, dim: Bool = false) {
      label(text, x: x, y: y, bold: bold, dim: dim)
    }

    private mutating func label(_ text: String, x: Double, y: Double, bold: Bool = false, dim: Bool = false) {
      let style = (bold ? " font-weight=\"600\"" : "") + (dim ? " class=\"dim\"" : "")
      elements.append("<text x=\"\(Int(x))\" y=\"\(Int(y))\"\(style)>\(Self.escaped(text))</text>")
    }

    private static func escaped(_ text: String) -> String {
      text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
  }
}

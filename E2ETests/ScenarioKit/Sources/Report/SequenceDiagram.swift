/// One run as a sequence diagram: steps on the client's side, requests and answers between client and server.
struct SequenceDiagram {
  private enum Row {
    case step(String, passed: Bool)
    case request(JournalEntry, count: Int)
  }

  private let rows: [Row]
  private static let limit = 120

  init(_ report: ScenarioReport) {
    var rows: [Row] = []
    var left = report.journal[...]
    for step in report.steps {
      rows.append(.step(step.title, passed: step.passed))
      while let entry = left.first, entry.sequence <= step.journalCount {
        Self.append(entry, to: &rows)
        left.removeFirst()
      }
    }
    for entry in left { Self.append(entry, to: &rows) }
    self.rows = rows
  }

  /// Equal requests that follow each other are one arrow.
  private static func append(_ entry: JournalEntry, to rows: inout [Row]) {
    if case .request(let last, let count)? = rows.last, last.request == entry.request, last.status == entry.status,
      last.outcome == entry.outcome, last.fault == entry.fault
    {
      rows[rows.count - 1] = .request(last, count: count + 1)
    } else {
      rows.append(.request(entry, count: 1))
    }
  }

  /// The diagram as SVG.
  var svg: String {
    let shown = rows.prefix(Self.limit)
    var y = 44
    var parts: [String] = []
    for row in shown {
      switch row {
      case .step(let title, let passed):
        parts.append(
          "<text class=\"step\" x=\"10\" y=\"\(y)\"\(passed ? "" : " style=\"fill:var(--bad)\"")>\(escaped(title, 62))</text>"
        )
        y += 20
      case .request(let entry, let count):
        parts.append(arrow(entry, count: count, y: y))
        y += 36
      }
    }
    if rows.count > Self.limit {
      parts.append("<text class=\"step\" x=\"10\" y=\"\(y)\">and \(rows.count - Self.limit) more</text>")
      y += 20
    }
    return """
      <svg viewBox="0 0 520 \(y + 6)" role="img" aria-label="Sequence of requests">
      <defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0L8 4L0 8" fill="none" stroke="currentColor"/></marker></defs>
      <text x="70" y="16" text-anchor="middle">client</text><text x="450" y="16" text-anchor="middle">server</text>
      <line class="lane" x1="70" y1="24" x2="70" y2="\(y)"/><line class="lane" x1="450" y1="24" x2="450" y2="\(y)"/>
      \(parts.joined(separator: "\n"))
      </svg>
      """
  }

  private func arrow(_ entry: JournalEntry, count: Int, y: Int) -> String {
    let kind = entry.fault != nil ? "fault" : entry.operation == "refresh" ? "refresh" : ""
    let times = count > 1 ? " × \(count)" : ""
    let answer =
      entry.status == 0 ? "kept back" : "\(entry.status) \(entry.outcome)\(entry.fault.map { ", answer \($0)" } ?? "")"
    let answerEnd = entry.fault != nil ? 230 : 74
    return """
      <line class="arrow \(kind)" x1="74" y1="\(y)" x2="446" y2="\(y)" marker-end="url(#head)"/>
      <text x="260" y="\(y - 4)" text-anchor="middle">\(escaped(entry.request + times, 48))</text>
      <line class="arrow \(kind)" x1="446" y1="\(y + 18)" x2="\(answerEnd)" y2="\(y + 18)" stroke-dasharray="4 3" marker-end="url(#head)"/>
      <text x="260" y="\(y + 14)" text-anchor="middle">\(escaped(answer, 48))</text>
      """
  }

  private func escaped(_ text: String, _ limit: Int) -> String {
    HTMLReport.escaped(text.count > limit ? text.prefix(limit) + "…" : text)
  }
}

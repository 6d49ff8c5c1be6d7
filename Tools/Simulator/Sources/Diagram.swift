import Groundwork

/// A trace as a sequence diagram.
package struct Diagram: Sendable {
  let title: String
  let events: [TraceEvent]
  let processCount: Int

  private static let width = 34
  private static let timeWidth = 11

  /// From left to right.
  private var participants: [Participant] {
    (0..<processCount).map { Participant.process($0) } + [.store, .server]
  }

  private func place(of participant: Participant) -> Int {
    switch participant {
    case .process(let column): min(column, processCount - 1)
    case .store: processCount
    case .server: processCount + 1
    }
  }

  private static func name(of participant: Participant) -> String {
    switch participant {
    case .process(let column): SimulatedProcess.name(column)
    case .store: "store"
    case .server: "server"
    }
  }

  private static func time(_ time: Duration) -> String {
    let milliseconds = time.components.seconds * 1000 + time.components.attoseconds / 1_000_000_000_000_000
    let (seconds, rest) = (milliseconds / 1000, milliseconds % 1000)
    return "\(seconds).\(String(1000 + rest).dropFirst()) s"
  }

  // MARK: Text

  /// As text: a column for each process, the store and the server; times in virtual seconds.
  package var text: String {
    var lines = [title, ""]
    lines.append(Self.blank + participants.map { Self.padded(Self.name(of: $0), Self.width) }.joined())
    for event in events { lines.append(line(of: event)) }
    return lines.map { $0.trimmedAtEnd }.joined(separator: "\n")
  }

  private static let blank = String(repeating: " ", count: timeWidth + 2)

  private func line(of event: TraceEvent) -> String {
    let time =
      String(repeating: " ", count: max(0, Self.timeWidth - Self.time(event.time).count)) + Self.time(event.time) + "  "
    switch event.kind {
    case .banner: return "\(time)── \(event.text) ──"
    case .note(let participant):
      let place = place(of: participant)
      let left = (0..<place).map { _ in Self.padded("│", Self.width) }.joined()
      // A long note may reach over the lanes to its right.
      let rest = Self.padded("│", Self.width)
      let note = "● \(event.text)"
      let covered = note.count / Self.width
      let right = (place + 1 + covered..<max(participants.count, place + 1 + covered)).map { _ in rest }.joined()
      return time + left + Self.padded(note, Self.width * (covered + 1)) + right
    case .message(let from, let to, let arrives):
      let (start, end) = (place(of: from), place(of: to))
      let (low, high) = (min(start, end), max(start, end))
      let span = (high - low) * Self.width
      let room = max(span - 6, 0)
      let label = event.text.count > room ? event.text.prefix(max(room - 1, 0)) + "…" : Substring(event.text)
      let dashes = String(repeating: "─", count: max(room - label.count, 0))
      let arrow =
        end > start
        ? "├─ \(label) \(dashes)\(arrives ? "▶" : "✗")"
        : "\(arrives ? "◀" : "✗")─ \(label) \(dashes)┤"
      let left = (0..<low).map { _ in Self.padded("│", Self.width) }.joined()
      let right = (high..<participants.count).map { _ in Self.padded("│", Self.width) }.joined()
      return time + left + Self.padded(String(arrow), span) + right
    }
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text.count >= width ? text : text + String(repeating: " ", count: width - text.count)
  }

  // MARK: SVG

  /// As SVG, one line an event.
  package var svg: String {
    let (lane, row, left, top) = (300, 22, 90, 70)
    let width = left + lane * participants.count
    let height = top + row * (events.count + 2)
    var parts = [
      """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" font-family="sans-serif" font-size="12">
      <defs><marker id="arrow" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto"><path d="M0,0 L8,4 L0,8 z"/></marker></defs>
      <rect width="100%" height="100%" fill="white"/>
      <text x="10" y="20" font-weight="bold">\(Self.escaped(title))</text>
      """
    ]
    func x(_ participant: Participant) -> Int { left + lane * place(of: participant) + 20 }
    for participant in participants {
      parts.append(
        """
        <text x="\(x(participant))" y="50" font-weight="bold" text-anchor="middle">\(Self.name(of: participant))</text>
        <line x1="\(x(participant))" y1="56" x2="\(x(participant))" y2="\(height - 10)" stroke="#999"/>
        """)
    }
    for (index, event) in events.enumerated() {
      let y = top + row * (index + 1)
      parts.append("<text x=\"8\" y=\"\(y)\" fill=\"#666\">\(Self.time(event.time))</text>")
      switch event.kind {
      case .banner:
        let isViolation = event.text.hasPrefix("VIOLATION")
        parts.append(
          """
          <rect x="\(left)" y="\(y - 14)" width="\(width - left - 10)" height="18" fill="\(isViolation ? "#fdd" : "#eef")"/>
          <text x="\(left + 6)" y="\(y)"\(isViolation ? " font-weight=\"bold\"" : "")>\(Self.escaped(event.text))</text>
          """)
      case .note(let participant):
        parts.append(
          """
          <circle cx="\(x(participant))" cy="\(y - 4)" r="3"/>
          <text x="\(x(participant) + 8)" y="\(y)">\(Self.escaped(event.text))</text>
          """)
      case .message(let from, let to, let arrives):
        let (start, end) = (x(from), x(to))
        let stop = arrives ? end : (start + end) / 2
        parts.append(
          """
          <line x1="\(start)" y1="\(y + 3)" x2="\(stop)" y2="\(y + 3)" stroke="\(arrives ? "black" : "#c00")"\
          \(arrives ? "" : " stroke-dasharray=\"4\"") marker-end="url(#arrow)"/>
          <text x="\((start + end) / 2)" y="\(y)" text-anchor="middle"\(arrives ? "" : " fill=\"#c00\"")>\(Self.escaped(event.text))</text>
          """)
      }
    }
    return (parts + ["</svg>"]).joined(separator: "\n")
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "&": result += "&amp;"
      case "\"": result += "&quot;"
      default: result.append(character)
      }
    }
    return result
  }
}

extension String {
  fileprivate var trimmedAtEnd: Substring {
    var text = self[...]
    while text.last == " " { text.removeLast() }
    return text
  }
}

extension Schedule.Outcome {
  /// The schedule as a diagram; it has lines only if the schedule was traced.
  package var diagram: Diagram { Diagram(title: title, events: trace, processCount: processCount) }
}

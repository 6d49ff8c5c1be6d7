import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Documentation/session-engine.md shows what the code does: its diagrams, tables and bounds are made here, and compared.
///
/// `UPDATE_PAGES=1 swift test --filter EnginePageTests` writes them into the page.
@Suite("The engine's page", .serialized)
struct EnginePageTests {
  @Test("diagrams, tables and bounds on the page are those of the code", arguments: Part.allCases)
  func page(part: Part) throws {
    let path = Self.root.appending(path: "Documentation/session-engine.md").path
    let page = String(decoding: try #require(FileManager.default.contents(atPath: path)), as: UTF8.self)
    let (begin, end) = ("<!-- made from the code: \(part.rawValue) -->\n", "<!-- end -->")
    let head = try #require(page.firstRange(of: begin), "The page has no place for \(part.rawValue).")
    let tail = try #require(page[head.upperBound...].firstRange(of: end))
    let made = try part.text(Self.root)
    guard page[head.upperBound..<tail.lowerBound] != made else { return }
    if ProcessInfo.processInfo.environment["UPDATE_PAGES"] == "1" {
      let updated = page[..<head.upperBound] + made + page[tail.lowerBound...]
      try Data(updated.utf8).write(to: URL(filePath: path))
    } else {
      Issue.record(
        "The page differs from the code in \(part.rawValue). Remedy: UPDATE_PAGES=1 swift test --filter EnginePageTests"
      )
    }
  }

  @Test("no unbounded wait: every public call that waits has a documented bound")
  func bounds() throws {
    let calls = try Bounds.read(Self.root)
    #expect(calls.count > 25)
    for call in calls { #expect(call.bound != nil, "\(call.name) has no \"Bound:\" in its documentation.") }
  }

  @Test("a refresh that has spent its token ends with new tokens, a verdict or a second try, and never begins anew")
  func table() {
    let rows = EngineTable.refresh
    #expect(
      Set(rows.filter { $0.state == "send again" }.map(\.next)) == [
        "save", "save not-before", "end", "done: gone",
      ])
    #expect(rows.filter { $0.next == "send again" }.map(\.event) == ["passing, ambiguous"])
    #expect(!rows.contains { $0.next == "send" && $0.state != "look again" })
    // Passing or not: only the server's own refusal ends a session (S10).
    #expect(Set(rows.filter { $0.next == "end" }.map(\.event)) == ["refused", "begun, its token refused before"])
    for row in EngineTable.session where row.state == "signed in" && row.next == "signed out" {
      #expect(row.told.contains("signedOut"), "\(row)")
      #expect(
        ["read: nothing", "signed out", "flight: gone", "flight: refused", "flight: no refresh token"].contains(
          row.event),
        "\(row)")
    }
    // S21: no store error means signed out.
    #expect(
      !EngineTable.session.contains { $0.event == "unreadable" && $0.next == "signed out" && $0.state != "signed out" })
  }

  private static var root: URL {
    var root = URL(filePath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    return root
  }

  /// What on the page is made from the code.
  enum Part: String, CaseIterable, Sendable {
    case refreshDiagram = "the diagram of a refresh"
    case refreshTable = "the table of a refresh"
    case sessionDiagram = "the diagram of a session"
    case sessionTable = "the table of a session"
    case bounds = "the bounds"

    func text(_ root: URL) throws -> String {
      switch self {
      case .refreshDiagram: Mermaid.refresh(EngineTable.refresh)
      case .refreshTable:
        Self.table(["in", "what happens", "next"], EngineTable.refresh.map { [$0.state, $0.event, $0.next] })
      case .sessionDiagram: Mermaid.session(EngineTable.session)
      case .sessionTable:
        Self.table(
          ["in", "what happens", "then", "told"],
          EngineTable.session.filter { $0.state != $0.next || !$0.told.isEmpty }.map {
            [$0.state, $0.event, $0.next, $0.told.map { "`\($0)`" }.joined(separator: ", ")]
          })
      case .bounds:
        Self.table(["call", "bound"], try Bounds.read(root).map { ["`\($0.name)`", $0.bound ?? "none"] })
      }
    }

    private static func table(_ head: [String], _ rows: [[String]]) -> String {
      func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |\n" }
      var seen: Set<[String]> = []
      return line(head) + line(head.map { _ in "---" })
        + rows.filter { seen.insert($0).inserted }.map(line).joined()
    }
  }
}

/// Tables as diagrams that Markdown pages can show.
enum Mermaid {
  /// A flow from top to bottom; the ends of it stand together.
  static func refresh(_ rows: [EngineTable.Row]) -> String {
    var lines = ["flowchart TD"]
    for (from, to, events) in edges(rows) {
      lines.append("  \(id(from))[\"\(from)\"] -->\(label(events)) \(id(to))\(shape(to))")
    }
    return "```mermaid\n" + lines.joined(separator: "\n") + "\n```\n"
  }

  /// States, and what changes them or is told.
  static func session(_ rows: [EngineTable.Row]) -> String {
    var lines = ["stateDiagram-v2", "  [*] --> unknown"]
    for state in ["unavailable", "signed out", "signed in"] { lines.append("  state \"\(state)\" as \(id(state))") }
    for (from, to, events) in edges(rows.filter { $0.state != $0.next || !$0.told.isEmpty }) {
      lines.append("  \(id(from)) --> \(id(to)): \(events.joined(separator: "<br/>").replacing(":", with: "#58;"))")
    }
    return "```mermaid\n" + lines.joined(separator: "\n") + "\n```\n"
  }

  private static func edges(_ rows: [EngineTable.Row]) -> [(from: String, to: String, events: [String])] {
    var edges: [(from: String, to: String, events: [String])] = []
    for row in rows {
      if let index = edges.firstIndex(where: { $0.from == row.state && $0.to == row.next }) {
        if !edges[index].events.contains(row.event) { edges[index].events.append(row.event) }
      } else {
        edges.append((row.state, row.next, [row.event]))
      }
    }
    return edges
  }

  private static func id(_ name: String) -> String {
    String(name.map { $0.isLetter ? $0 : "_" })
  }

  private static func shape(_ name: String) -> String {
    name.hasPrefix("done: ") ? "([\"\(name.dropFirst(6))\"])" : "[\"\(name)\"]"
  }

  private static func label(_ events: [String]) -> String {
    let text = events.filter { !$0.isEmpty }.joined(separator: "<br/>")
    return text.isEmpty ? "" : "|\"\(text)\"|"
  }
}

/// What the documentation of public calls says about how long they take.
enum Bounds {
  struct Call {
    var name: String
    var bound: String?
  }

  /// Every public call of the engine, the app's layer and the backends' protocol that waits.
  static func read(_ root: URL) throws -> [Call] {
    let sources = root.appending(path: "Modules/AuthSession/Sources")
    var calls: [Call] = []
    for folder in ["Engine", "App", "Backends"] {
      let names = try FileManager.default.contentsOfDirectory(atPath: sources.appending(path: folder).path).sorted()
      for name in names where name.hasSuffix(".swift") {
        let path = sources.appending(path: "\(folder)/\(name)").path
        let text = String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
        calls += read(text, isProtocolAlone: folder == "Backends")
      }
    }
    return calls
  }

  private static func read(_ text: String, isProtocolAlone: Bool) -> [Call] {
    var (calls, type, isProtocol, comment): ([Call], String, Bool, [String]) = ([], "", false, [])
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    for (index, line) in lines.enumerated() {
      let words = line.trimmed
      if words.hasPrefix("///") {
        comment.append(String(words.dropFirst(3)).trimmed)
        continue
      }
      if words.hasPrefix("@") { continue }
      defer { comment = [] }
      if !line.hasPrefix(" "), let name = typeName(line) {
        type = name
        isProtocol = line.contains("protocol ")
      }
      guard let function = words.firstRange(of: "func "), isProtocol || words.hasPrefix("public ") else { continue }
      // What a protocol asks is documented there.
      if !isProtocol, comment.isEmpty || isProtocolAlone { continue }
      let signature = lines[index...].prefix(4).joined(separator: " ").prefix { $0 != "{" }
      guard signature.contains(" async") else { continue }
      let name = words[function.upperBound...].prefix { $0 != "(" }
      let parameters = signature.split(separator: "(", maxSplits: 1).dropFirst().first.map(String.init) ?? ""
      let labels = parameters.prefix { $0 != ")" }.split(separator: ",").compactMap {
        $0.split(separator: ":").first.map { String($0).trimmed.prefix { $0 != " " } }
      }
      calls.append(
        Call(name: "\(type).\(name)(\(labels.map { "\($0):" }.joined()))", bound: bound(in: comment)))
    }
    return calls
  }

  private static func typeName(_ line: String) -> String? {
    let words = line.split(separator: " ")
    guard let index = words.firstIndex(where: { ["class", "struct", "extension", "protocol", "enum"].contains($0) }),
      words.indices.contains(index + 1)
    else { return nil }
    return String(words[index + 1].prefix { $0.isLetter })
  }

  /// The sentence after "Bound:", to the end of its paragraph.
  private static func bound(in comment: [String]) -> String? {
    guard let first = comment.firstIndex(where: { $0.contains("Bound: ") }) else { return nil }
    let paragraph = comment[first...].prefix { !$0.isEmpty }.joined(separator: " ")
    guard let start = paragraph.firstRange(of: "Bound: ") else { return nil }
    let text = String(paragraph[start.upperBound...])
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }
}

extension String {
  fileprivate var trimmed: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}

internal import CheckedYAML
internal import Groundwork

/// What stands in a scenario file before it is one: shared parts, names for values, and rows.
enum Template {
  /// What may be shared by `include`.
  private static let shared = ["server", "users", "script", "vars"]

  /// The file with what it includes: its own values win, lists and mappings are joined.
  static func including(
    _ root: YAMLNode, file: String, included: (String) -> String?
  ) throws(Diagnostic) -> YAMLNode {
    guard let include = root["include"] else { return root }
    var root = root
    for node in include.text == nil ? include.elements : [include] {
      let name = node.text ?? ""
      guard let text = included(name) else {
        throw Diagnostic(file: file, mark: node.mark, message: "the file \"\(name)\" cannot be read")
      }
      let part = try YAMLReader.read(text, file: name)
      for entry in part.entries {
        guard shared.contains(entry.key) else {
          let hint = nearestName(to: entry.key, among: shared).map { "; did you mean \"\($0)\"?" } ?? ""
          throw Diagnostic(
            file: name, mark: entry.mark,
            message: "only \(shared.joined(separator: ", ")) can be included, found \"\(entry.key)\"\(hint)")
        }
        root = joined(root, with: entry)
      }
    }
    return root
  }

  private static func joined(_ root: YAMLNode, with entry: YAMLNode.Entry) -> YAMLNode {
    var entries = root.entries
    guard let index = entries.firstIndex(where: { $0.key == entry.key }) else {
      var root = root
      root.content = .mapping(entries + [entry])
      return root
    }
    let own = entries[index].value
    switch (entry.value.content, own.content) {
    case (.sequence(let theirs), .sequence(let mine)): entries[index].value.content = .sequence(theirs + mine)
    case (.mapping(let theirs), .mapping(let mine)):
      let keys = Set(mine.map(\.key))
      entries[index].value.content = .mapping(theirs.filter { !keys.contains($0.key) } + mine)
    default: break
    }
    var root = root
    root.content = .mapping(entries)
    return root
  }

  /// The file once for each row, every `${name}` replaced.
  static func rows(of root: YAMLNode, file: String) throws(Diagnostic) -> [(root: YAMLNode, label: String?)] {
    let variables = root["vars"]?.entries ?? []
    guard let table = root["rows"] else {
      return [(try filled(root, with: variables, file: file), nil)]
    }
    guard !table.elements.isEmpty else {
      throw Diagnostic(file: file, mark: table.mark, message: "rows needs a row at least")
    }
    var rows: [(YAMLNode, String?)] = []
    for row in table.elements {
      let own = Set(row.entries.map(\.key))
      let values = row.entries + variables.filter { !own.contains($0.key) }
      // A name that says which row it is needs no more.
      let isNamed = root["name"]?.text?.contains("${") == true
      let label = isNamed ? nil : row["case"]?.text ?? row.entries.compactMap(\.value.text).joined(separator: ", ")
      rows.append((try filled(root, with: values, file: file), label))
    }
    return rows
  }

  private static func filled(
    _ node: YAMLNode, with values: [YAMLNode.Entry], file: String
  ) throws(Diagnostic) -> YAMLNode {
    var node = node
    switch node.content {
    case .sequence(let elements):
      var filled: [YAMLNode] = []
      for element in elements { filled.append(try self.filled(element, with: values, file: file)) }
      node.content = .sequence(filled)
    case .mapping(let entries):
      var filled: [YAMLNode.Entry] = []
      for var entry in entries {
        if entry.key != "rows", entry.key != "vars" {
          entry.key = try replaced(entry.key, values, entry.mark, file)
          entry.value = try self.filled(entry.value, with: values, file: file)
        }
        filled.append(entry)
      }
      node.content = .mapping(filled)
    case .scalar(let text, let isPlain):
      guard text.contains("${") else { break }
      // A value alone keeps its kind: a number stays one.
      if let whole = text.wholeMatch(of: /\$\{([A-Za-z][A-Za-z0-9_-]*)\}/) {
        node.content = try value(String(whole.1), values, node.mark, file).content
      } else {
        node.content = .scalar(try replaced(text, values, node.mark, file), isPlain: isPlain)
      }
    }
    return node
  }

  private static func replaced(
    _ text: String, _ values: [YAMLNode.Entry], _ mark: Mark, _ file: String
  ) throws(Diagnostic) -> String {
    var result = ""
    var rest = text[...]
    while let match = rest.firstMatch(of: /\$\{([A-Za-z][A-Za-z0-9_-]*)\}/) {
      result += rest[..<match.range.lowerBound]
      result += try value(String(match.1), values, mark, file).text ?? ""
      rest = rest[match.range.upperBound...]
    }
    return result + rest
  }

  private static func value(
    _ name: String, _ values: [YAMLNode.Entry], _ mark: Mark, _ file: String
  ) throws(Diagnostic) -> YAMLNode {
    if let found = values.first(where: { $0.key == name }) { return found.value }
    let hint = nearestName(to: name, among: values.map(\.key)).map { "; did you mean \"\($0)\"?" } ?? ""
    throw Diagnostic(file: file, mark: mark, message: "there is no value \"\(name)\" in vars or rows\(hint)")
  }
}

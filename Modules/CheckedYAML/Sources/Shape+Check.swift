internal import Groundwork

extension Shape {
  /// Finds everything that is wrong with a node, each mistake once: below a wrong place nothing more is reported.
  public func check(_ node: YAMLNode, file: String) -> [Diagnostic] {
    var checker = ShapeChecker(file: file)
    checker.check(node, self)
    return checker.found
  }

  /// What may stand here, in words for a message.
  var phrase: String {
    switch self {
    case .text: "text"
    case .choice(let words): words.count == 1 ? "\"\(words[0])\"" : "one of \(words.joined(separator: ", "))"
    case .integer(let range):
      range.upperBound == .max
        ? "a whole number from \(range.lowerBound)" : "a whole number from \(range.lowerBound) to \(range.upperBound)"
    case .flag: "true or false"
    case .duration: "a duration like 250ms, 30s, 15m, 2h or 30d"
    case .signedDuration: "a duration with a sign, like +365d or -1h"
    case .nothing: "nothing"
    case .json: "any value"
    case .list(let element): "a list of \(element.phrase)"
    case .table: "a mapping of names"
    case .object(let object): object.noun
    case .either(let shapes): shapes.map(\.phrase).joined(separator: ", or ")
    }
  }

  /// Whether a node is of the kind that this shape is about, whatever is in it.
  fileprivate func fits(_ node: YAMLNode) -> Bool {
    switch (self, node.content) {
    case (.json, _): true
    case (.nothing, _): node.isNothing
    case (.text, .scalar), (.choice, .scalar), (.integer, .scalar), (.flag, .scalar), (.duration, .scalar),
      (.signedDuration, .scalar):
      !node.isNothing
    case (.list, .sequence), (.table, .mapping), (.object, .mapping): true
    case (.either(let shapes), _): shapes.contains { $0.fits(node) }
    default: false
    }
  }
}

private struct ShapeChecker {
  let file: String
  var found: [Diagnostic] = []

  mutating func fault(_ mark: Mark, _ message: String) {
    found.append(Diagnostic(file: file, mark: mark, message: message))
  }

  mutating func check(_ node: YAMLNode, _ shape: Shape) {
    switch shape {
    case .json: return
    case .either(let shapes):
      let fitting = shapes.filter { $0.fits(node) }
      guard let first = fitting.first else { return wrongKind(node, shape) }
      // Several scalars may stand at one place: it is enough that one of them takes it.
      let attempts = fitting.map { $0.check(node, file: file) }
      guard !attempts.contains(where: \.isEmpty) else { return }
      if fitting.count == 1 {
        check(node, first)
      } else {
        fault(node.mark, "expected \(Shape.either(fitting).phrase), found \(node.kindName)")
      }
    case _ where !shape.fits(node): wrongKind(node, shape)
    case .list(let element):
      for node in node.elements { check(node, element) }
    case .table(let value):
      for entry in node.entries { check(entry.value, value) }
    case .object(let object): check(node, object)
    default: checkScalar(node, shape)
    }
  }

  private mutating func wrongKind(_ node: YAMLNode, _ shape: Shape) {
    fault(node.mark, "expected \(shape.phrase), found \(node.kindName)")
  }

  private mutating func checkScalar(_ node: YAMLNode, _ shape: Shape) {
    let text = node.text ?? ""
    let isRight: Bool
    switch shape {
    case .choice(let words):
      guard !words.contains(text) else { return }
      let hint = nearestName(to: text, among: words).map { "; did you mean \"\($0)\"?" } ?? ""
      return fault(node.mark, "expected \(shape.phrase), found \"\(text)\"\(hint)")
    case .integer(let range): isRight = node.plainText.flatMap { Int($0) }.map(range.contains) ?? false
    case .flag: isRight = node.plainText == "true" || node.plainText == "false"
    case .duration: isRight = Duration(text: text) != nil
    case .signedDuration: isRight = "+-".contains(text.prefix(1)) && Duration(text: text.dropFirst()) != nil
    default: isRight = true
    }
    if !isRight { wrongKind(node, shape) }
  }

  private mutating func check(_ node: YAMLNode, _ object: ObjectShape) {
    let names = object.fields.map(\.name)
    var misspelt: Set<String> = []
    for entry in node.entries {
      guard let field = object.fields.first(where: { $0.name == entry.key }) else {
        let free = names.filter { node[$0] == nil }
        let meant = nearestName(to: entry.key, among: free)
        if let meant { misspelt.insert(meant) }
        let hint = meant.map { "; did you mean \"\($0)\"?" } ?? ". Known: \(names.joined(separator: ", "))"
        fault(entry.mark, "\(object.noun) has no \"\(entry.key)\"\(hint)")
        continue
      }
      check(entry.value, field.shape)
    }
    // Whoever misspelt a name has not left it out: one mistake, one message.
    for field in object.fields where field.isRequired && node[field.name] == nil && !misspelt.contains(field.name) {
      fault(node.mark, "\(object.noun) needs \"\(field.name)\": \(field.summary)")
    }
    let present = node.entries.filter { object.exclusive.contains($0.key) }
    if present.count > 1 {
      fault(present[1].mark, "\(object.noun) does one thing: \"\(present[0].key)\" or \"\(present[1].key)\", not both")
    }
    if present.isEmpty, object.needsOne, misspelt.isDisjoint(with: object.exclusive),
      found.isEmpty || node.entries.isEmpty
    {
      fault(node.mark, "\(object.noun) needs one of \(object.exclusive.joined(separator: ", "))")
    }
  }
}

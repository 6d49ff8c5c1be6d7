internal import CLibyaml

/// Reads one YAML document into nodes, and refuses the parts of YAML that make a file hard to trust.
///
/// Refused: anchors, aliases, merge keys (`<<`), tags, directives, a second document, a key that comes twice, keys that are not
/// scalars, more than 64 levels, more than 100,000 nodes. All of them with their place.
public enum YAMLReader: Sendable {
  /// Reads a whole file's text.
  ///
  /// - Parameter file: the name that messages carry.
  /// - Throws: the first thing that is wrong; a reader cannot see past it.
  public static func read(_ text: String, file: String) throws(Diagnostic) -> YAMLNode {
    let bytes = Array(text.utf8)
    let result = bytes.withUnsafeBufferPointer { buffer in
      Result { () throws(Diagnostic) -> YAMLNode in
        var parser = try EventSource(buffer, file: file)
        defer { parser.close() }
        return try parser.readDocument()
      }
    }
    return try result.get()
  }
}

/// libyaml's parser over bytes that stay where they are.
private struct EventSource {
  private static let maximumDepth = 64
  private static let maximumNodes = 100_000

  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let bytes: UnsafeBufferPointer<UInt8>
  private let file: String
  private var nodeCount = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>, file: String) throws(Diagnostic) {
    self.bytes = bytes
    self.file = file
    parser = .allocate(capacity: 1)
    guard yaml_parser_initialize(parser) == 1 else {
      parser.deallocate()
      throw Diagnostic(file: file, mark: Mark(line: 1, column: 1), message: "there is no memory to read the file")
    }
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
  }

  func close() {
    yaml_parser_delete(parser)
    parser.deallocate()
  }

  mutating func readDocument() throws(Diagnostic) -> YAMLNode {
    try expectStreamStart()
    let first = try next()
    if case .streamEnd = first.kind { throw fault(first.mark, "the file is empty") }
    guard case .documentStart(let hasDirectives) = first.kind else {
      throw fault(first.mark, "no document begins here")
    }
    if hasDirectives { throw fault(first.mark, "directives (%YAML, %TAG) are not taken") }
    let root = try readNode(from: try next(), depth: 1)
    _ = try next()
    let after = try next()
    guard case .streamEnd = after.kind else {
      throw fault(after.mark, "a second document begins here; a file holds one")
    }
    return root
  }

  private mutating func expectStreamStart() throws(Diagnostic) {
    let start = try next()
    guard case .streamStart = start.kind else { throw fault(start.mark, "no YAML stream begins here") }
  }

  private mutating func readNode(from event: Event, depth: Int) throws(Diagnostic) -> YAMLNode {
    guard depth <= Self.maximumDepth else {
      throw fault(event.mark, "more than \(Self.maximumDepth) levels deep")
    }
    nodeCount += 1
    guard nodeCount <= Self.maximumNodes else { throw fault(event.mark, "more than \(Self.maximumNodes) values") }
    switch event.kind {
    case .scalar(let text, let isPlain):
      return YAMLNode(content: .scalar(text, isPlain: isPlain), mark: event.mark)
    case .sequenceStart:
      var elements: [YAMLNode] = []
      while true {
        let element = try next()
        if case .sequenceEnd = element.kind {
          return YAMLNode(content: .sequence(elements), mark: event.mark)
        }
        elements.append(try readNode(from: element, depth: depth + 1))
      }
    case .mappingStart:
      return try readMapping(at: event.mark, depth: depth)
    default:
      throw fault(event.mark, "a value is missing here")
    }
  }

  private mutating func readMapping(at mark: Mark, depth: Int) throws(Diagnostic) -> YAMLNode {
    var entries: [YAMLNode.Entry] = []
    var seen: [String: Mark] = [:]
    while true {
      let key = try next()
      if case .mappingEnd = key.kind { return YAMLNode(content: .mapping(entries), mark: mark) }
      guard case .scalar(let name, let isPlain) = key.kind else {
        throw fault(key.mark, "a key has to be a plain word, not a list or a mapping")
      }
      if name == "<<", isPlain { throw fault(key.mark, "merge keys (<<) are not taken; write the values out") }
      if let first = seen[name] {
        throw fault(key.mark, "\"\(name)\" stands here a second time; the first is in line \(first.line)")
      }
      seen[name] = key.mark
      nodeCount += 1
      let value = try readNode(from: try next(), depth: depth + 1)
      entries.append(YAMLNode.Entry(key: name, mark: key.mark, value: value))
    }
  }

  private enum Kind {
    case streamStart, streamEnd, documentEnd, sequenceStart, sequenceEnd, mappingStart, mappingEnd, other
    case documentStart(hasDirectives: Bool)
    case scalar(String, isPlain: Bool)
  }

  private struct Event {
    var kind: Kind
    var mark: Mark
  }

  private mutating func next() throws(Diagnostic) -> Event {
    var event = yaml_event_t()
    guard yaml_parser_parse(parser, &event) == 1 else { throw parserFault() }
    defer { yaml_event_delete(&event) }
    let mark = Mark(event.start_mark)
    switch event.type {
    case YAML_STREAM_START_EVENT: return Event(kind: .streamStart, mark: mark)
    case YAML_STREAM_END_EVENT: return Event(kind: .streamEnd, mark: mark)
    case YAML_DOCUMENT_START_EVENT:
      let start = event.data.document_start
      let hasDirectives = start.version_directive != nil || start.tag_directives.start != start.tag_directives.end
      return Event(kind: .documentStart(hasDirectives: hasDirectives), mark: mark)
    case YAML_DOCUMENT_END_EVENT: return Event(kind: .documentEnd, mark: mark)
    case YAML_ALIAS_EVENT:
      throw fault(mark, "aliases (*name) are not taken; write the value out")
    case YAML_SCALAR_EVENT:
      let scalar = event.data.scalar
      try refuse(anchor: scalar.anchor, tag: scalar.tag, at: mark)
      let text = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
      return Event(kind: .scalar(text, isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE), mark: mark)
    case YAML_SEQUENCE_START_EVENT:
      try refuse(anchor: event.data.sequence_start.anchor, tag: event.data.sequence_start.tag, at: mark)
      return Event(kind: .sequenceStart, mark: mark)
    case YAML_SEQUENCE_END_EVENT: return Event(kind: .sequenceEnd, mark: mark)
    case YAML_MAPPING_START_EVENT:
      try refuse(anchor: event.data.mapping_start.anchor, tag: event.data.mapping_start.tag, at: mark)
      return Event(kind: .mappingStart, mark: mark)
    case YAML_MAPPING_END_EVENT: return Event(kind: .mappingEnd, mark: mark)
    default: return Event(kind: .other, mark: mark)
    }
  }

  private func refuse(
    anchor: UnsafeMutablePointer<yaml_char_t>?, tag: UnsafeMutablePointer<yaml_char_t>?, at mark: Mark
  ) throws(Diagnostic) {
    if anchor != nil { throw fault(mark, "anchors (&name) are not taken; write the value out") }
    if tag != nil { throw fault(mark, "tags (!name) are not taken; the format decides what a value is") }
  }

  private func fault(_ mark: Mark, _ message: String) -> Diagnostic {
    Diagnostic(file: file, mark: mark, message: message)
  }

  /// What libyaml could not read. Errors below the scanner have no mark, only an offset.
  private func parserFault() -> Diagnostic {
    let problem = parser.pointee.problem.map { String(cString: $0) } ?? "this is not YAML"
    if parser.pointee.error == YAML_READER_ERROR {
      return fault(mark(atOffset: Int(clamping: parser.pointee.problem_offset)), "\(problem); the file has to be UTF-8")
    }
    let mark = Mark(parser.pointee.problem_mark)
    let index = Int(clamping: parser.pointee.problem_mark.index)
    if isTab(nearScalarIndex: index, line: mark.line) {
      return fault(mark, "a tab stands here; YAML indents with spaces alone")
    }
    let context = parser.pointee.context.map { " \(String(cString: $0))" } ?? ""
    // By far the most frequent case, and libyaml's words for it help nobody.
    let remedy =
      problem.hasPrefix("mapping values are not allowed") ? "; put quotes around a value with \": \" in it" : ""
    return fault(mark, "this is not YAML:\(context) \(problem)\(remedy)")
  }

  /// Whether the white space around a place of the line holds a tab.
  private func isTab(nearScalarIndex index: Int, line: Int) -> Bool {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard lines.indices.contains(line - 1) else { return false }
    let indentation = lines[line - 1].prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    return indentation.contains(UInt8(ascii: "\t"))
  }

  private func mark(atOffset offset: Int) -> Mark {
    let before = bytes.prefix(offset)
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    let column = before[lineStart...].count { $0 & 0xC0 != 0x80 } + 1
    return Mark(line: line, column: column)
  }
}

extension Mark {
  fileprivate init(_ mark: yaml_mark_t) {
    self.init(line: Int(clamping: mark.line) + 1, column: Int(clamping: mark.column) + 1)
  }
}

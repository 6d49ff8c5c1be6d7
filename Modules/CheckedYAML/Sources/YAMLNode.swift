/// A piece of a YAML document that remembers where it stood.
///
/// Scalars stay text here: a schema decides whether `503` is a number, and a quoted `"503"` never is one.
public struct YAMLNode: Sendable {
  /// What a node is.
  public indirect enum Content: Sendable {
    /// A scalar, and whether it was written without quotes.
    case scalar(String, isPlain: Bool)
    /// A list.
    case sequence([YAMLNode])
    /// Keys and values in the order of the file; no key comes twice.
    case mapping([Entry])
  }

  /// A key with its value.
  public struct Entry: Sendable {
    /// The key.
    public var key: String
    /// Where the key stands.
    public var mark: Mark
    /// The value.
    public var value: YAMLNode
  }

  /// What it is.
  public var content: Content
  /// Where it begins.
  public var mark: Mark

  /// The value under a key, if this is a mapping that has it.
  public subscript(key: String) -> YAMLNode? {
    entries.first { $0.key == key }?.value
  }

  /// The entries of a mapping, else none.
  public var entries: [Entry] {
    guard case .mapping(let entries) = content else { return [] }
    return entries
  }

  /// The elements of a list, else none.
  public var elements: [YAMLNode] {
    guard case .sequence(let elements) = content else { return [] }
    return elements
  }

  /// The text of a scalar.
  public var text: String? {
    guard case .scalar(let text, _) = content else { return nil }
    return text
  }

  /// The text of a scalar written without quotes: only that can be a number, a truth value or nothing.
  public var plainText: String? {
    guard case .scalar(let text, isPlain: true) = content else { return nil }
    return text
  }

  /// Whether nothing is written here: an empty plain scalar, `~` or `null`.
  public var isNothing: Bool {
    guard let text = plainText else { return false }
    return ["", "~", "null"].contains(text)
  }

  /// What it is, in words for a message.
  public var kindName: String {
    switch content {
    case .scalar where isNothing: "nothing"
    case .scalar(let text, isPlain: false): "the text \"\(text.prefix(40))\" in quotes"
    case .scalar(let text, isPlain: true): "\"\(text.prefix(40))\""
    case .sequence: "a list"
    case .mapping: "a mapping"
    }
  }
}

public import Groundwork

/// Reading values out of nodes that their shape has already been checked on.
extension YAMLNode {
  /// The whole number that is written here without quotes.
  public var integer: Int? { plainText.flatMap { Int($0) } }

  /// `true` or `false`, written without quotes.
  public var flag: Bool? {
    switch plainText {
    case "true": true
    case "false": false
    default: nil
    }
  }

  /// A duration: `250ms`, `30s`; a bare number is seconds.
  public var duration: Duration? { text.flatMap { Duration(text: $0) } }

  /// A duration with a sign.
  public var signedDuration: Duration? {
    guard let text, let amount = Duration(text: text.dropFirst()) else { return nil }
    return text.hasPrefix("-") ? .zero - amount : amount
  }

  /// The texts of a list.
  public var texts: [String] { elements.compactMap(\.text) }

  /// The texts of a mapping.
  public var textTable: [String: String] {
    Dictionary(
      entries.compactMap { entry in entry.value.text.map { (entry.key, $0) } }, uniquingKeysWith: { first, _ in first })
  }

  /// The whole numbers of a mapping.
  public var countTable: [String: Int] {
    Dictionary(
      entries.compactMap { entry in entry.value.integer.map { (entry.key, $0) } },
      uniquingKeysWith: { first, _ in first })
  }

  /// The node as JSON: unquoted numbers, truth values and nothing are such, everything else is text.
  public var json: JSONValue {
    switch content {
    case .sequence(let elements): .array(elements.map(\.json))
    case .mapping(let entries):
      .object(Dictionary(entries.map { ($0.key, $0.value.json) }, uniquingKeysWith: { first, _ in first }))
    case .scalar(let text, isPlain: false): .string(text)
    case .scalar(let text, isPlain: true):
      if isNothing {
        .null
      } else if let flag {
        .bool(flag)
      } else if let number = Double(text), text.allSatisfy({ $0.isASCII && ($0.isNumber || "+-.eE".contains($0)) }) {
        .number(number)
      } else {
        .string(text)
      }
    }
  }
}

internal import Groundwork

/// Reading values out of nodes that their shape has already been checked on.
extension YAMLNode {
  var integer: Int? { plainText.flatMap { Int($0) } }

  var flag: Bool? {
    switch plainText {
    case "true": true
    case "false": false
    default: nil
    }
  }

  var duration: Duration? { text.flatMap { Duration(text: $0) } }

  var signedDuration: Duration? {
    guard let text, let amount = Duration(text: text.dropFirst()) else { return nil }
    return text.hasPrefix("-") ? .zero - amount : amount
  }

  var texts: [String] { elements.compactMap(\.text) }

  var textTable: [String: String] {
    Dictionary(
      entries.compactMap { entry in entry.value.text.map { (entry.key, $0) } }, uniquingKeysWith: { first, _ in first })
  }

  var countTable: [String: Int] {
    Dictionary(
      entries.compactMap { entry in entry.value.integer.map { (entry.key, $0) } },
      uniquingKeysWith: { first, _ in first })
  }

  /// The node as JSON: unquoted numbers, truth values and nothing are such, everything else is text.
  var json: JSONValue {
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

extension StringProtocol {
  /// Whether two texts are the same but for the case of ASCII letters, as header names compare (RFC 9110 §5.1).
  func equalsIgnoringCase(_ other: some StringProtocol) -> Bool {
    let (left, right) = (utf8, other.utf8)
    guard left.count == right.count else { return false }
    // Header names are compared many times a request, and are contiguous as good as always.
    let same = left.withContiguousStorageIfAvailable { left in
      right.withContiguousStorageIfAvailable { right in
        for index in left.indices {
          let (one, two) = (left[index], right[index])
          guard one == two || (one | 0x20 == two | 0x20 && 0x61...0x7A ~= one | 0x20) else { return false }
        }
        return true
      }
    }
    if let same, let same { return same }
    return zip(left, right).allSatisfy { one, two in
      one == two || (one | 0x20 == two | 0x20 && 0x61...0x7A ~= one | 0x20)
    }
  }

  /// The text without spaces and tabs at its ends.
  var trimmedOfSpaces: SubSequence {
    let bytes = utf8
    // Nearly every text has no space at its ends.
    let isTrimmed = bytes.withContiguousStorageIfAvailable { bytes in
      guard let first = bytes.first, let last = bytes.last else { return true }
      return first != 0x20 && first != 0x09 && last != 0x20 && last != 0x09
    }
    if isTrimmed == true { return self[startIndex...] }
    var (start, end) = (bytes.endIndex, bytes.endIndex)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      let next = bytes.index(after: index)
      if bytes[index] != 0x20, bytes[index] != 0x09 {
        if start == bytes.endIndex { start = index }
        end = next
      }
      index = next
    }
    return self[start..<end]
  }

  /// The text with `%41` and, as forms have it, `+` decoded; nil if that is malformed or no UTF-8.
  var percentDecoded: String? {
    guard utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else { return String(self) }
    var bytes: [UInt8] = []
    var rest = Array(utf8)[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"): bytes.append(0x20)
      case UInt8(ascii: "%"):
        guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16),
          rest.first != UInt8(ascii: "+"), rest.first != UInt8(ascii: "-")
        else { return nil }
        rest = rest.dropFirst(2)
        bytes.append(value)
      default: bytes.append(byte)
      }
    }
    let text = String(decoding: bytes, as: UTF8.self)
    return text.utf8.elementsEqual(bytes) ? text : nil
  }
}

/// A query string, decoded (`a=1&b=2`); a repeated name keeps its last value.
struct QueryItems {
  let items: [String: String]

  /// Nil if an escape in it is malformed.
  init?(_ query: Substring) {
    var items: [String: String] = [:]
    for pair in query.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = parts[0].percentDecoded else { return nil }
      guard parts.count == 2 else {
        items[name] = ""
        continue
      }
      guard let value = parts[1].percentDecoded else { return nil }
      items[name] = value
    }
    self.items = items
  }

  subscript(name: String) -> String? { items[name] }
}

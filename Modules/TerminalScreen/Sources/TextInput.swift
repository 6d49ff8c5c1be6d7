/// One line of text that is being edited, by the characters that a person sees: an accent or an emoji of seven scalars is one.
public struct TextInput: Sendable, Hashable {
  /// What stands there.
  public private(set) var value: String
  /// How many characters stand before the caret.
  public private(set) var caret: Int
  /// How many bytes of UTF-8 fit in; what is more is not taken.
  public static let limit = 1024

  /// Begins with a text, the caret behind it.
  public init(_ value: String = "") {
    self.value = value
    caret = value.count
  }

  /// Puts text where the caret is, the caret behind it; line breaks and other controls in it are left out.
  ///
  /// - Parameter keepsTabs: whether a tab is a character, as it may be in a password that somebody pastes.
  public mutating func insert(_ text: String, keepsTabs: Bool = false) {
    var clean = String.UnicodeScalarView()
    var room = Self.limit - value.utf8.count
    for scalar in text.unicodeScalars {
      if scalar.properties.generalCategory == .control, !(keepsTabs && scalar == "\t") { continue }
      if scalar.value == 0x2028 || scalar.value == 0x2029 { continue }
      room -= UTF8.width(scalar)
      guard room >= 0 else { break }
      clean.append(scalar)
    }
    guard !clean.isEmpty else { return }
    let before = value.prefix(caret)
    let end = before.utf8.count + String(clean).utf8.count
    value = String(before) + String(clean) + String(value.dropFirst(caret))
    // What was inserted may have joined what stands around it: the caret goes behind the character that it ends in.
    caret = 0
    var place = 0
    for character in value {
      guard place < end else { break }
      place += character.utf8.count
      caret += 1
    }
  }

  /// Takes a key that edits or moves.
  ///
  /// - Returns: whether it was one.
  @discardableResult
  public mutating func handle(_ key: Key, keepsTabs: Bool = false) -> Bool {
    switch key {
    case .text(let text), .paste(let text): insert(text, keepsTabs: keepsTabs)
    case .backspace: remove(from: max(caret - 1, 0), to: caret)
    case .delete: remove(from: caret, to: min(caret + 1, value.count))
    case .deleteWord: remove(from: wordStart, to: caret)
    case .deleteToStart: remove(from: 0, to: caret)
    case .deleteToEnd: remove(from: caret, to: value.count)
    case .left: caret = max(caret - 1, 0)
    case .right: caret = min(caret + 1, value.count)
    case .home: caret = 0
    case .end: caret = value.count
    case .wordLeft: caret = wordStart
    case .wordRight: caret = wordEnd
    case .enter, .tab, .backTab, .escape, .up, .down, .interrupt, .quit, .suspend, .redraw: return false
    }
    return true
  }

  /// Takes another text from elsewhere; the caret goes behind it, or stays if it is the same.
  public mutating func take(_ text: String) {
    guard text != value else { return }
    self = TextInput(text)
  }

  /// What is seen of it in a place of `width` cells, and in which of them the caret stands: the text scrolls so that it is seen.
  ///
  /// - Parameter mask: shown for each character in place of it: a password's dot.
  public func window(width: Int, mask: Character? = nil) -> (text: String, caret: Int) {
    guard width > 0 else { return ("", 0) }
    let shown = value.map { mask ?? CellWidth.visible($0) }
    let widths = shown.map { CellWidth.of($0) }
    let caretCell = widths.prefix(caret).reduce(0, +)
    // The caret needs a cell of its own, also at the end.
    let room = caret < value.count ? min(width * 2 / 3, width - 1) : width - 1
    var start = 0
    var hidden = 0
    while start < caret, caretCell - hidden > room {
      hidden += widths[start]
      start += 1
    }
    var text = ""
    var used = 0
    for index in start..<shown.count {
      used += widths[index]
      guard used <= width else { break }
      text.append(shown[index])
    }
    return (text, caretCell - hidden)
  }

  private mutating func remove(from start: Int, to end: Int) {
    guard start < end else { return }
    let rest = String(value.dropFirst(end))
    value = String(value.prefix(start)) + rest
    // What stood apart may be one character now.
    caret = min(start, value.count)
  }

  private var wordStart: Int {
    let before = Array(value.prefix(caret))
    var place = before.count
    while place > 0, !before[place - 1].isWordPart { place -= 1 }
    while place > 0, before[place - 1].isWordPart { place -= 1 }
    return place
  }

  private var wordEnd: Int {
    let all = Array(value)
    var place = caret
    while place < all.count, !all[place].isWordPart { place += 1 }
    while place < all.count, all[place].isWordPart { place += 1 }
    return place
  }
}

extension TextInput: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Tells how much stands there, not what: it may be a password.
  public var description: String { "TextInput(\(value.count) characters, caret \(caret))" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension Character {
  fileprivate var isWordPart: Bool { isLetter || isNumber }
}

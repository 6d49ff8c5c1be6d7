/// Turns the bytes that a terminal sends into keys.
///
/// Pure, and indifferent to how the bytes are cut: any split of the same bytes gives the same keys (pasted text may come in other parts).
/// What it does not know it swallows whole, so that no half of a sequence is ever taken for typed text. Nothing in it grows without
/// bound. Sequences are those of ECMA-48 and xterm, with the `CSI u` keys of the kitty protocol; pasted text is bracketed (xterm's mode 2004).
public struct KeyDecoder: Sendable {
  private enum Mode: Sendable {
    case ground
    case paste
    /// In a control string (a terminal's answer): everything up to its end is swallowed.
    case string
  }

  private var mode = Mode.ground
  private var pending: [UInt8] = []
  private var wasQuiet = false

  /// The longest sequence that is waited for, in bytes; a longer one is none.
  private static let longestSequence = 64
  private static let escape: UInt8 = 0x1B
  private static let pasteEnd = Array("\u{1B}[201~".utf8)

  /// A decoder that has seen nothing.
  public init() {}

  /// Takes bytes and returns the keys that are complete with them.
  public mutating func feed(_ bytes: some Sequence<UInt8>) -> [Key] {
    pending += bytes
    if mode == .paste, wasQuiet, pending == [0x03] {
      // A paste whose end never came must not lock the keyboard: a lone Ctrl-C after a pause ends it.
      pending = []
      mode = .ground
      wasQuiet = false
      return [.interrupt]
    }
    wasQuiet = false
    var keys: [Key] = []
    var position = 0
    while position < pending.count {
      let before = (position, mode)
      guard let next = step(at: position, into: &keys) else { break }
      position = next
      if position == before.0, mode == before.1 { break }
    }
    pending.removeFirst(min(position, pending.count))
    return keys
  }

  /// Says that no more bytes came for a while: a lone Esc is the key then, not the start of a sequence.
  public mutating func pause() -> [Key] {
    wasQuiet = true
    switch mode {
    case .paste: return []
    case .string:
      // Alt-] looks like the start of a terminal's answer; an answer comes in one piece.
      mode = .ground
      pending = []
      return []
    case .ground:
      guard pending == [Self.escape] else { return [] }
      pending = []
      return [.escape]
    }
  }

  /// Reads one key, or a part of a paste, at a position.
  ///
  /// - Returns: where to go on; nil if more bytes are needed.
  private mutating func step(at start: Int, into keys: inout [Key]) -> Int? {
    switch mode {
    case .paste: return pasted(at: start, into: &keys)
    case .string: return string(at: start)
    case .ground: break
    }
    let byte = pending[start]
    if byte == Self.escape { return sequence(at: start, into: &keys) }
    if byte < 0x20 || byte == 0x7F {
      if let key = Self.control(byte) { keys.append(key) }
      return start + 1
    }
    return text(at: start, into: &keys)
  }

  // MARK: Text

  private func text(at start: Int, into keys: inout [Key]) -> Int? {
    switch UTF8Reading.scalar(in: pending, at: start) {
    case .scalar(let scalar, let next):
      if scalar.properties.generalCategory != .control { keys.append(.text(String(Character(scalar)))) }
      return next
    case .malformed: return start + 1
    case .incomplete: return nil
    }
  }

  private mutating func pasted(at start: Int, into keys: inout [Key]) -> Int? {
    let rest = pending[start...]
    let end = Self.pasteEnd
    var cut = rest.endIndex
    var isDone = false
    var place = start
    while place < rest.endIndex {
      guard rest[place] == Self.escape else {
        place += 1
        continue
      }
      if rest[place...].starts(with: end) {
        (cut, isDone) = (place, true)
        break
      }
      if rest.endIndex - place < end.count, end.starts(with: rest[place...]) {
        cut = place
        break
      }
      place += 1
    }
    if !isDone { cut = UTF8Reading.completeEnd(of: pending, from: start, to: cut) }
    if cut > start { keys.append(.paste(String(decoding: pending[start..<cut], as: UTF8.self))) }
    if isDone {
      mode = .ground
      return cut + end.count
    }
    return cut == start ? nil : cut
  }

  // MARK: Sequences

  private mutating func string(at start: Int) -> Int? {
    var place = start
    while place < pending.count {
      let byte = pending[place]
      if byte == 0x07 || byte < 0x20 && byte != Self.escape {
        mode = .ground
        // BEL ends it; another control ends it too, and is a key.
        return byte == 0x07 ? place + 1 : place
      }
      if byte == Self.escape {
        guard place + 1 < pending.count else { return place == start ? nil : place }
        mode = .ground
        return pending[place + 1] == UInt8(ascii: "\\") ? place + 2 : place
      }
      place += 1
    }
    return place
  }

  private mutating func sequence(at start: Int, into keys: inout [Key]) -> Int? {
    guard start + 1 < pending.count else { return nil }
    let next = pending[start + 1]
    switch next {
    case UInt8(ascii: "["): return controlSequence(at: start, into: &keys)
    case UInt8(ascii: "O"):
      guard start + 2 < pending.count else { return nil }
      guard pending[start + 2] >= 0x20 else { return start + 2 }
      if let key = Self.cursorKey(pending[start + 2], modifiers: 1) { keys.append(key) }
      return start + 3
    case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "_"), UInt8(ascii: "^"), UInt8(ascii: "X"):
      mode = .string
      return start + 2
    case Self.escape:
      keys.append(.escape)
      return start + 1
    case UInt8(ascii: "b"): keys.append(.wordLeft)
    case UInt8(ascii: "f"): keys.append(.wordRight)
    case 0x7F, 0x08: keys.append(.deleteWord)
    case 0x00..<0x20:
      // Esc, and then a control typed so fast that no pause was between.
      keys.append(.escape)
      return start + 1
    case 0x80...: return altText(at: start)
    default: break
    }
    return start + 2
  }

  /// Alt and a letter beyond ASCII: swallowed whole.
  private func altText(at start: Int) -> Int? {
    switch UTF8Reading.scalar(in: pending, at: start + 1) {
    case .scalar(_, let next): next
    case .malformed: start + 2
    case .incomplete: nil
    }
  }

  private mutating func controlSequence(at start: Int, into keys: inout [Key]) -> Int? {
    var place = start + 2
    while place < pending.count {
      let byte = pending[place]
      switch byte {
      case 0x20..<0x40:
        place += 1
        // So long a sequence is none: what follows is read anew.
        if place - start > Self.longestSequence { return place }
      case 0x40..<0x7F:
        finish(pending[(start + 2)..<place], final: byte, into: &keys)
        return place + 1
      default:
        // Broken off: whatever broke it is read on its own.
        return place
      }
    }
    return nil
  }

  private mutating func finish(_ body: ArraySlice<UInt8>, final: UInt8, into keys: inout [Key]) {
    guard body.allSatisfy({ (0x30...0x3B).contains($0) }) else { return }
    let numbers = body.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map { part in
      // A sub-parameter (`:`) refines the number before it, and does not matter here.
      part.prefix { $0 != UInt8(ascii: ":") }.reduce(0) { min($0 * 10 + Int($1 & 0x0F), 0xFFFF_FFFF) }
    }
    let first = numbers.first ?? 0
    let modifiers = numbers.count > 1 ? max(numbers[1], 1) : 1
    switch final {
    case UInt8(ascii: "Z"): keys.append(.backTab)
    case UInt8(ascii: "~") where first == 200: mode = .paste
    case UInt8(ascii: "~") where first == 27 && numbers.count > 2:
      if let key = Self.key(code: numbers[2], modifiers: modifiers) { keys.append(key) }
    case UInt8(ascii: "~"):
      if let key = Self.editingKey(first) { keys.append(key) }
    case UInt8(ascii: "u"):
      // The kitty protocol's third field tells a release (3) from a press; it is never asked for here.
      if let key = Self.key(code: first, modifiers: modifiers) { keys.append(key) }
    default:
      if let key = Self.cursorKey(final, modifiers: modifiers) { keys.append(key) }
    }
  }
}

extension KeyDecoder {
  /// How many bytes wait for what follows them.
  var waiting: Int { pending.count }
}

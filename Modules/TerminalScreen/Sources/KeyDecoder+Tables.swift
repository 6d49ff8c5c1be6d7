/// Which bytes mean which key.
extension KeyDecoder {
  static func control(_ byte: UInt8) -> Key? {
    switch byte {
    case 0x01: .home
    case 0x02: .left
    case 0x03: .interrupt
    case 0x04: .delete
    case 0x05: .end
    case 0x06: .right
    case 0x08, 0x7F: .backspace
    case 0x09: .tab
    case 0x0A, 0x0D: .enter
    case 0x0B: .deleteToEnd
    case 0x0C: .redraw
    case 0x0E: .down
    case 0x10: .up
    case 0x15: .deleteToStart
    case 0x17: .deleteWord
    case 0x1A: .suspend
    case 0x1C: .quit
    default: nil
    }
  }

  /// The key of a sequence's last byte: arrows, Home and End.
  static func cursorKey(_ final: UInt8, modifiers: Int) -> Key? {
    // Alt, Ctrl or Meta make words of places; Shift, which would select, does not.
    let byWord = (modifiers - 1) & ~1 != 0
    switch final {
    case UInt8(ascii: "A"): return .up
    case UInt8(ascii: "B"): return .down
    case UInt8(ascii: "C"): return byWord ? .wordRight : .right
    case UInt8(ascii: "D"): return byWord ? .wordLeft : .left
    case UInt8(ascii: "H"): return .home
    case UInt8(ascii: "F"): return .end
    case UInt8(ascii: "M"): return .enter
    case UInt8(ascii: "I"): return .tab
    default: return nil
    }
  }

  /// The key of `CSI number ~`.
  static func editingKey(_ number: Int) -> Key? {
    switch number {
    case 1, 7: .home
    case 3: .delete
    case 4, 8: .end
    default: nil
    }
  }

  /// The key of a code point and its modifiers, as `CSI u` and xterm's modifyOtherKeys send it.
  static func key(code: Int, modifiers: Int) -> Key? {
    let bits = modifiers - 1
    let (shift, alt, control) = (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0)
    switch code {
    case 9: return shift ? .backTab : .tab
    case 13: return .enter
    case 27: return .escape
    case 8, 127: return alt || control ? .deleteWord : .backspace
    default: break
    }
    if control, !alt, (0x40...0x7F).contains(code) {
      return self.control(UInt8(truncatingIfNeeded: code & 0x1F))
    }
    guard !alt, !control, code >= 0x20, let scalar = UInt32(exactly: code).flatMap(Unicode.Scalar.init),
      scalar.properties.generalCategory != .control, scalar.properties.generalCategory != .privateUse
    else { return nil }
    return .text(String(Character(scalar)))
  }
}

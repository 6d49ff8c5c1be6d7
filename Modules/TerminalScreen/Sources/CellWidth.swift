/// How many cells of a terminal a text takes.
///
/// Wide characters take two (UAX #11: W and F), combining ones none, emoji two. Where terminals differ, as over emoji of several
/// scalars, this is what those with grapheme clusters (mode 2027) do; `isContested` tells, so that a drawing puts the cursor right again.
public enum CellWidth: Sendable {
  /// The cells of a text.
  public static func of(_ text: some StringProtocol) -> Int { text.reduce(0) { $0 + of($1) } }

  /// The cells of a character as a person sees it.
  public static func of(_ character: Character) -> Int {
    let scalars = character.unicodeScalars
    if scalars.count > 1, isEmojiSequence(character) { return 2 }
    return scalars.reduce(0) { $0 + of($1) }
  }

  /// The cells of a scalar on its own; a control has none.
  public static func of(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.value {
    case 0x20..<0x7F: return 1
    case ..<0xA0: return 0
    case 0xAD: return 1
    // Hangul vowels and final consonants stand in the block of the syllable's first.
    case 0x1160...0x11FF, 0xD7B0...0xD7FF: return 0
    default: break
    }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator, .paragraphSeparator: return 0
    default: return isWide(scalar.value) || isNewEmoji(scalar) ? 2 : 1
    }
  }

  /// Whether terminals do not agree on a character's width.
  public static func isContested(_ character: Character) -> Bool {
    character.unicodeScalars.count > 1 && (isEmojiSequence(character) || of(character) > 2)
  }

  /// What is drawn for a character: itself, or a sign that something is there which cannot be seen.
  public static func visible(_ character: Character) -> Character {
    let scalars = character.unicodeScalars
    guard of(character) > 0 else { return "\u{FFFD}" }
    // The order of writing, turned by a character that nobody sees, would show an address that is not the one that is sent.
    return scalars.contains(where: isHiddenFormat) ? "\u{FFFD}" : character
  }

  private static func isHiddenFormat(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x200C, 0x200D: false
    // Tags spell the flags of parts of countries.
    case 0xE0020...0xE007F: false
    default:
      scalar.properties.generalCategory == .format || scalar.properties.generalCategory == .control
    }
  }

  private static func isEmojiSequence(_ character: Character) -> Bool {
    guard let first = character.unicodeScalars.first else { return false }
    if character.unicodeScalars.contains("\u{FE0F}"), first.properties.isEmoji { return true }
    return first.properties.isEmojiPresentation
  }

  /// Emoji that are newer than the table; a lone half of a flag is no emoji yet.
  private static func isNewEmoji(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value > 0x2000 && scalar.properties.isEmojiPresentation && !(0x1F1E6...0x1F1FF).contains(scalar.value)
  }

  private static func isWide(_ value: UInt32) -> Bool {
    var (low, high) = (0, wide.count)
    while low < high {
      let middle = (low + high) / 2
      if wide[middle].upperBound < value { low = middle + 1 } else { high = middle }
    }
    return low < wide.count && wide[low].contains(value)
  }

  /// Unicode 14, EastAsianWidth W and F; gaps that are not assigned yet are closed.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0...0x23F0, 0x23F3...0x23F3,
    0x25FD...0x25FE, 0x2614...0x2615, 0x2648...0x2653, 0x267F...0x267F, 0x2693...0x2693, 0x26A1...0x26A1,
    0x26AA...0x26AB, 0x26BD...0x26BE, 0x26C4...0x26C5, 0x26CE...0x26CE, 0x26D4...0x26D4, 0x26EA...0x26EA,
    0x26F2...0x26F3, 0x26F5...0x26F5, 0x26FA...0x26FA, 0x26FD...0x26FD, 0x2705...0x2705, 0x270A...0x270B,
    0x2728...0x2728, 0x274C...0x274C, 0x274E...0x274E, 0x2753...0x2755, 0x2757...0x2757, 0x2795...0x2797,
    0x27B0...0x27B0, 0x27BF...0x27BF, 0x2B1B...0x2B1C, 0x2B50...0x2B50, 0x2B55...0x2B55, 0x2E80...0x303E,
    0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4C6, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
    0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18D08, 0x1AFF0...0x1B2FB,
    0x1F004...0x1F004, 0x1F0CF...0x1F0CF, 0x1F18E...0x1F18E, 0x1F191...0x1F19A, 0x1F200...0x1F265, 0x1F300...0x1F320,
    0x1F32D...0x1F335, 0x1F337...0x1F37C, 0x1F37E...0x1F393, 0x1F3A0...0x1F3CA, 0x1F3CF...0x1F3D3, 0x1F3E0...0x1F3F0,
    0x1F3F4...0x1F3F4, 0x1F3F8...0x1F43E, 0x1F440...0x1F440, 0x1F442...0x1F4FC, 0x1F4FF...0x1F53D, 0x1F54B...0x1F54E,
    0x1F550...0x1F567, 0x1F57A...0x1F57A, 0x1F595...0x1F596, 0x1F5A4...0x1F5A4, 0x1F5FB...0x1F64F, 0x1F680...0x1F6C5,
    0x1F6CC...0x1F6CC, 0x1F6D0...0x1F6D2, 0x1F6D5...0x1F6DF, 0x1F6EB...0x1F6EC, 0x1F6F4...0x1F6FC, 0x1F7E0...0x1F7F0,
    0x1F90C...0x1F93A, 0x1F93C...0x1F945, 0x1F947...0x1F9FF, 0x1FA70...0x1FAF6, 0x20000...0x3FFFD,
  ]
}

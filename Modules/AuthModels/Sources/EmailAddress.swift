/// An email address in the form `name@domain.tld` (D5.1).
///
/// The rule, stated once for this whole project:
/// - White space at both ends is trimmed; white space, control and invisible formatting characters inside are refused.
/// - At most 254 bytes of UTF-8 in all (RFC 5321 §4.5.3.1.3 without its angle brackets), 64 of them before the last `@`.
/// - The name is a dot-atom (RFC 5322 §3.2.3): letters, digits and `!#$%&'*+-/=?^_{|}~` and the backtick in parts with single dots
///   between; or a quoted string (`"john..doe"`), which may hold `@` and escaped quotes, but no space.
///   Characters beyond ASCII are taken in both (RFC 6531).
/// - The domain has two labels or more, each of 1 to 63 bytes of ASCII letters, digits, inner hyphens, and letters, marks and digits of
///   other scripts (RFC 5890; also the few joiners and middle dots that RFC 5892 allows inside a label). Its last label has at
///   least two characters and is not a number. Address literals (`[127.0.0.1]`), comments and a final dot are refused.
///
/// Whether the address exists, only a message to it tells.
public struct EmailAddress: Sendable, Hashable {
  /// The address as typed, trimmed; neither case nor spelling is changed.
  public let text: String
  /// What stands before the last `@`.
  public let name: String
  /// What stands after it.
  public let domain: String

  /// Reads what somebody typed.
  ///
  /// - Throws: `ValidationIssue`, its message as D5.1 has it.
  public init(_ typed: String) throws(ValidationIssue) {
    let text = Self.trimmed(typed)
    guard !text.isEmpty else { throw Self.issue(.empty) }
    guard text.utf8.count <= 254 else { throw Self.issue(.tooLong) }
    guard let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else { throw Self.issue(.malformed) }
    let name = text[..<at]
    let domain = text[text.utf8.index(after: at)...]
    guard name.utf8.count <= 64 else { throw Self.issue(.tooLong) }
    guard Self.isName(name), Self.isDomain(domain) else { throw Self.issue(.malformed) }
    self.text = text
    self.name = String(name)
    self.domain = String(domain)
  }

  /// The text without white space at its ends, as every email field hands it on (D5.1).
  public static func trimmed(_ typed: String) -> String {
    let scalars = typed.unicodeScalars
    guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
      let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
    else { return "" }
    return String(scalars[first...last])
  }

  private static func issue(_ reason: ValidationIssue.Reason) -> ValidationIssue {
    ValidationIssue(.email, reason, message: "Enter a valid email, like name@example.com.")
  }
}

extension EmailAddress: CustomStringConvertible {
  public var description: String { text }
}

extension EmailAddress {
  private static func isName(_ name: Substring) -> Bool {
    if name.utf8.first == UInt8(ascii: "\"") { return isQuoted(name) }
    return name.unicodeScalars.split(separator: ".", omittingEmptySubsequences: false)
      .allSatisfy { !$0.isEmpty && $0.allSatisfy(isAtomCharacter) }
  }

  private static func isQuoted(_ name: Substring) -> Bool {
    let scalars = Array(name.unicodeScalars)
    guard scalars.count >= 3, scalars.last == "\"" else { return false }
    var isEscaped = false
    for scalar in scalars[1..<scalars.count - 1] {
      guard isVisible(scalar) else { return false }
      if isEscaped {
        isEscaped = false
      } else if scalar == "\\" {
        isEscaped = true
      } else if scalar == "\"" {
        return false
      }
    }
    return !isEscaped
  }

  private static func isDomain(_ domain: Substring) -> Bool {
    let labels = domain.unicodeScalars.split(separator: ".", omittingEmptySubsequences: false)
    guard labels.count >= 2, labels.allSatisfy(isLabel), let last = labels.last else { return false }
    return last.count >= 2 && !last.allSatisfy { "0"..."9" ~= $0 }
  }

  private static func isLabel(_ label: Substring.UnicodeScalarView) -> Bool {
    guard let first = label.first, let last = label.last, 1...63 ~= Substring(label).utf8.count else { return false }
    return isLetterOrDigit(first) && (isLetterOrDigit(last) || isMark(last))
      && label.allSatisfy { isLetterOrDigit($0) || isMark($0) || $0 == "-" || isContextual($0) }
  }

  private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return "a"..."z" ~= scalar || "A"..."Z" ~= scalar || "0"..."9" ~= scalar }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber:
      return true
    default: return false
    }
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark: true
    default: false
    }
  }

  /// What RFC 5892 appendix A allows beside letters, marks and digits: joiners and middle dots.
  private static func isContextual(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x200C, 0x200D, 0x00B7, 0x0375, 0x05F3, 0x05F4, 0x30FB: true
    default: false
    }
  }

  private static func isAtomCharacter(_ scalar: Unicode.Scalar) -> Bool {
    guard scalar.isASCII else { return isVisible(scalar) }
    return isLetterOrDigit(scalar) || "!#$%&'*+-/=?^_`{|}~".unicodeScalars.contains(scalar)
  }

  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .spaceSeparator, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate: false
    default: true
    }
  }
}

/// What the server checks of a registration; it is the authority, whatever a client has checked (D1.7).
enum Validation {
  /// Why an address is none; nil if it is one: `name@domain.tld`, no space inside (D5.1).
  ///
  /// The name is a dot-atom of up to 64 bytes or a quoted text; the domain has two labels or more of letters (of any
  /// alphabet), digits and inner hyphens, each up to 63 bytes; 254 bytes in all.
  static func problem(email: String) -> String? {
    isEmail(email) ? nil : "must be an address like name@example.com"
  }

  static func problem(username: String) -> String? {
    let ok =
      (3...32).contains(username.utf8.count)
      && username.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"): true
        default: false
        }
      }
    return ok ? nil : "must be 3 to 32 letters, digits or underscores"
  }

  static func problem(password: String) -> String? {
    // Scalars, not characters: a character may have any number of combining marks.
    (8...128).contains(password.unicodeScalars.count) ? nil : "must be 8 to 128 characters long"
  }

  private static func isEmail(_ email: String) -> Bool {
    guard email.utf8.count <= 254, let at = email.lastIndex(of: "@") else { return false }
    return isLocalPart(email[..<at]) && isDomain(email[email.index(after: at)...])
  }

  private static func isLocalPart(_ name: Substring) -> Bool {
    guard (1...64).contains(name.utf8.count), !name.unicodeScalars.contains(where: isSpaceOrControl) else {
      return false
    }
    if name.hasPrefix("\""), name.hasSuffix("\""), name.utf8.count > 2 {
      return !name.dropFirst().dropLast().contains("\"")
    }
    return !name.hasPrefix(".") && !name.hasSuffix(".") && !name.contains("..")
      && !name.contains { "\"(),:;<>@[\\]".contains($0) }
  }

  private static func isDomain(_ domain: Substring) -> Bool {
    let labels = domain.split(separator: ".", omittingEmptySubsequences: false)
    return labels.count >= 2
      && labels.allSatisfy { label in
        (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
          && label.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D: true
            case ..<0x80: false
            default:
              scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                || scalar.value > 0x300
                  && scalar.properties.generalCategory == .nonspacingMark
            }
          }
      }
  }

  private static func isSpaceOrControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isWhitespace || scalar.properties.generalCategory == .control
  }
}

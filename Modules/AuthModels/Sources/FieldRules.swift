/// What counts as an email in a form: each profile says which (D1.5, D5.1).
public enum EmailRule: String, Sendable, Hashable, CaseIterable {
  /// `name@domain.tld`, as `EmailAddress` reads it (D5.1).
  case address
  /// Anything with an `@` in it (D1.5).
  case containsAt

  /// Checks what was typed.
  ///
  /// - Returns: the trimmed text, or what is wrong with it.
  public func validate(_ typed: String) -> Result<String, ValidationIssue> {
    do throws(ValidationIssue) {
      switch self {
      case .address: return .success(try EmailAddress(typed).text)
      case .containsAt:
        let text = EmailAddress.trimmed(typed)
        guard text.utf8.contains(UInt8(ascii: "@")) else {
          throw ValidationIssue(
            .email, text.isEmpty ? .empty : .malformed, message: "Enter a valid email, like name@example.com.")
        }
        return .success(text)
      }
    } catch {
      return .failure(error)
    }
  }

  /// Whether the text is an address (D5.1).
  public static func accepts(_ typed: String) -> Bool {
    switch EmailRule.address.validate(typed) {
    case .success: true
    case .failure: false
    }
  }
}

/// How long a password has to be.
///
/// Characters are Unicode scalars (code points), as NIST SP 800-63B §5.1.1.2 counts them: the count does not change with the
/// Unicode version of whoever counts. A password is neither trimmed nor normalized: spaces count.
public struct PasswordRule: Sendable, Hashable {
  /// The fewest characters.
  public var minimum: Int
  /// The most characters; nil for no bound.
  public var maximum: Int?

  /// Makes a rule.
  public init(minimum: Int, maximum: Int? = nil) {
    self.minimum = minimum
    self.maximum = maximum
  }

  /// 8 to 128 characters, what the server takes for a new account.
  public static let account = PasswordRule(minimum: 8, maximum: 128)
  /// 8 characters or more, what a login form asks for (D1.5, D5.1).
  public static let login = PasswordRule(minimum: 8)

  /// Checks what was typed.
  ///
  /// - Returns: the password as it is, or what is wrong with it.
  public func validate(_ typed: String) -> Result<String, ValidationIssue> {
    let count = typed.unicodeScalars.count
    if count < minimum {
      return .failure(
        ValidationIssue(
          .password, typed.isEmpty ? .empty : .tooShort, message: "Use at least \(minimum) characters."))
    }
    if let maximum, count > maximum {
      return .failure(ValidationIssue(.password, .tooLong, message: "Use at most \(maximum) characters."))
    }
    return .success(typed)
  }

  /// Whether the password keeps the rule.
  public func accepts(_ typed: String) -> Bool {
    switch validate(typed) {
    case .success: true
    case .failure: false
    }
  }
}

/// A username: 3 to 32 of `[A-Za-z0-9_]`.
public enum UsernameRule: Sendable {
  /// How many characters a username may have.
  public static let length = 3...32

  /// Checks what was typed; white space at the ends is trimmed.
  ///
  /// - Returns: the trimmed name, or what is wrong with it.
  public static func validate(_ typed: String) -> Result<String, ValidationIssue> {
    let text = EmailAddress.trimmed(typed)
    let reason: ValidationIssue.Reason
    if text.isEmpty {
      reason = .empty
    } else if !text.utf8.allSatisfy(isNameByte) {
      reason = .malformed
    } else if text.utf8.count < length.lowerBound {
      reason = .tooShort
    } else if text.utf8.count > length.upperBound {
      reason = .tooLong
    } else {
      return .success(text)
    }
    return .failure(
      ValidationIssue(
        .username, reason, message: "Use 3 to 32 letters, digits or underscores."))
  }

  /// Whether the text is a username.
  public static func accepts(_ typed: String) -> Bool {
    switch validate(typed) {
    case .success: true
    case .failure: false
    }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}

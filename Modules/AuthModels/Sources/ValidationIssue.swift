#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What is wrong with a value that somebody typed, found before anything is sent (D1.7: a courtesy; the server checks again).
public struct ValidationIssue: Error, Sendable, Hashable {
  /// Which value.
  public enum Field: String, Sendable, Hashable, CaseIterable {
    case email
    case username
    case password
  }

  /// What is wrong with it.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// Nothing was typed.
    case empty
    /// It has not the form that the field asks for.
    case malformed
    /// Too few characters.
    case tooShort
    /// Too many characters.
    case tooLong
  }

  /// Which value.
  public var field: Field
  /// What is wrong with it.
  public var reason: Reason
  /// One sentence for the person who typed it (D5.1). Never holds the value.
  public var message: String

  /// Makes an issue from its parts.
  public init(_ field: Field, _ reason: Reason, message: String) {
    self.field = field
    self.reason = reason
    self.message = message
  }
}

extension ValidationIssue: CustomStringConvertible, LocalizedError {
  public var description: String { message }
  public var errorDescription: String? { message }
}

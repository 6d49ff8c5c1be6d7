/// How a server speaks, open: a program may bring a dialect of its own.
public struct AuthDialect: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral {
  /// The dialect's name, as flags and records have it.
  public var rawValue: String

  /// Takes any name.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// Takes any name.
  public init(stringLiteral value: String) { rawValue = value }

  /// D1, D3: email and password, `/auth/…`.
  public static let chirp: AuthDialect = "chirp"
  /// D2: username and password, `/envelope/…`, no lifetimes.
  public static let envelope: AuthDialect = "envelope"
}

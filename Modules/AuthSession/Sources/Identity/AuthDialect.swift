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
  /// D4: the Supabase auth API, `/auth/v1/…`.
  public static let supabase: AuthDialect = "supabase"
  /// RFC 6749 and its family: an authorization server, with or without OpenID Connect.
  public static let oauth2: AuthDialect = "oauth2"
  /// A server that a program describes by a `RESTDescription`.
  public static let rest: AuthDialect = "rest"
}

/// In which shape a server tells an error, open: other dialects add theirs.
public struct ServerErrorShape: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral {
  /// The shape's name.
  public var rawValue: String

  /// Takes any name.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// Takes any name.
  public init(stringLiteral value: String) { rawValue = value }

  /// `{"error":true,"reason":…,"code":…,"fields":…}`, the bare form without a code included.
  public static let chirp: ServerErrorShape = "chirp"
  /// `{"error":{"message":…}}`.
  public static let envelope: ServerErrorShape = "envelope"
  /// `{"error":CODE,"error_description":…}` (RFC 6749 §5.2).
  public static let oauth2: ServerErrorShape = "oauth2"
  /// `{"code":HTTP,"error_code":CODE,"msg":…}`, `{"code":CODE,"message":…}`, or a gateway's bare `{"message":…}` (D4).
  public static let supabase: ServerErrorShape = "supabase"
  /// The shape of a server that a program has described itself (`RESTBackend`).
  public static let custom: ServerErrorShape = "custom"
}

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
}

/// What a server answers to a sign-in or a refresh (D1.1; RFC 6749 §5.1).
///
/// The lifetime is whatever the server wrote, held within reason: see `init(from:)`.
public struct TokenResponse: Sendable, Hashable {
  /// The new access token.
  public var accessToken: String
  /// The new refresh token; absent where the server keeps the old one (RFC 6749 §6).
  public var refreshToken: String?
  /// Seconds the access token lives from now; absent, or not a number, means unknown (S3).
  public var expiresIn: Double?
  /// How the token is sent, nearly always `Bearer`.
  public var tokenType: String
  /// What the token may do, where the server tells.
  public var scope: String?

  /// Makes a response from its parts.
  public init(
    accessToken: String, refreshToken: String?, expiresIn: Double?, tokenType: String = "Bearer", scope: String? = nil
  ) {
    self.accessToken = accessToken
    self.refreshToken = refreshToken
    self.expiresIn = expiresIn
    self.tokenType = tokenType
    self.scope = scope
  }
}

extension TokenResponse: Codable {
  private enum CodingKeys: String, CodingKey {
    case accessToken, refreshToken, expiresIn, tokenType, scope
  }

  /// Reads the chirp shape. An unusable lifetime (null, text that is no number, a list, not finite) is unknown, never an error: the
  /// tokens next to it are good, and dropping them would sign the user out (S3). The same goes for the token type and the scope.
  ///
  /// - Throws: `DecodingError` if there is no access token or an empty one, or if a token is no text.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    accessToken = try container.decode(String.self, forKey: .accessToken)
    guard Self.fitsHeaderField(accessToken) else {
      throw DecodingError.dataCorruptedError(
        forKey: .accessToken, in: container,
        debugDescription: "the access token is empty or no header field can carry it")
    }
    let refresh = try container.decodeIfPresent(String.self, forKey: .refreshToken)
    refreshToken = refresh?.isEmpty == true ? nil : refresh
    let type = Self.lenient(String.self, .tokenType, container)
    tokenType = type.flatMap { Self.fitsHeaderField($0) ? $0 : nil } ?? "Bearer"
    scope = Self.lenient(String.self, .scope, container)
    let seconds =
      Self.lenient(Double.self, .expiresIn, container)
      ?? Self.lenient(String.self, .expiresIn, container).flatMap { Double($0) }
    expiresIn = seconds.flatMap { $0.isFinite ? $0 : nil }
  }

  /// Visible ASCII alone (RFC 6749 appendix A.12, RFC 6750 §2.1): a token with anything else could never be sent, and would be found out
  /// only after it was saved in place of a good one.
  private static func fitsHeaderField(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
  }

  /// A member that may be absent or of any type.
  private static func lenient<Value: Decodable>(
    _ type: Value.Type, _ key: CodingKeys, _ container: KeyedDecodingContainer<CodingKeys>
  ) -> Value? {
    do {
      return try container.decodeIfPresent(type, forKey: key)
    } catch {
      return nil
    }
  }
}

extension TokenResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Tells what is there without a secret.
  public var description: String {
    "TokenResponse(accessToken: ●●●, refreshToken: \(refreshToken == nil ? "none" : "●●●"), expiresIn: \(expiresIn.map { "\($0)" } ?? "unknown"))"
  }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

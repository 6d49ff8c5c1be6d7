public import AuthModels
package import Groundwork

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Where a server's answer has its tokens: the names of the members, and a dot between nested ones (`data.accessToken`).
///
/// What `TokenResponse` promises of the chirp shape holds for every shape: an unusable lifetime is unknown, never an error (S3).
public struct TokenFields: Sendable, Hashable, Codable {
  /// The access token; the answer is undecodable without it.
  public var accessToken: String
  /// The refresh token.
  public var refreshToken: String?
  /// Seconds that the access token lives.
  public var expiresIn: String?
  /// The instant at which it stops working: Unix seconds, or ISO 8601.
  public var expiresAt: String?
  /// How the token is sent.
  public var tokenType: String?
  /// What the token may do.
  public var scope: String?

  /// Names the members.
  public init(
    accessToken: String, refreshToken: String?, expiresIn: String? = nil, expiresAt: String? = nil,
    tokenType: String? = nil, scope: String? = nil
  ) {
    self.accessToken = accessToken
    self.refreshToken = refreshToken
    self.expiresIn = expiresIn
    self.expiresAt = expiresAt
    self.tokenType = tokenType
    self.scope = scope
  }

  /// The names of RFC 6749 §5.1, and Supabase's `expires_at`.
  public static let oauth2 = TokenFields(
    accessToken: "access_token", refreshToken: "refresh_token", expiresIn: "expires_in", expiresAt: "expires_at",
    tokenType: "token_type", scope: "scope")

  /// Reads the tokens of an answer.
  ///
  /// The lifetime is, in this order: the seconds that the answer gives; its instant, seen from the server's clock (`Date`) or else
  /// `now`; the span between `iat` and `exp` of an access token that is a JWT; else unknown (S3).
  ///
  /// - Throws: `DecodingError` if there is no access token, or one that no header field can carry.
  public func read(_ response: HTTPResponse, now: Date) throws -> TokenResponse {
    let body = try JSONDecoder().decode(JSONValue.self, from: response.body)
    return try read(body, serverDate: response.headers["Date"].flatMap { HTTPDate.parse($0) } ?? now)
  }

  /// Reads the tokens of a body.
  package func read(_ body: JSONValue, serverDate: Date) throws -> TokenResponse {
    let token = try text(accessToken, in: body)
    guard let token else {
      throw DecodingError.keyNotFound(MemberName(accessToken), .init(codingPath: [], debugDescription: "no token"))
    }
    guard !token.isEmpty, token.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [MemberName(accessToken)], debugDescription: "no header field can carry the access token"))
    }
    let refresh = try refreshToken.flatMap { try text($0, in: body) }
    var type = "Bearer"
    if let tokenType, let given = body.member(at: tokenType)?.string, !given.isEmpty,
      given.utf8.allSatisfy({ 0x21...0x7E ~= $0 }), given.lowercased() != "bearer"
    {
      type = given
    }
    return TokenResponse(
      accessToken: token, refreshToken: refresh?.isEmpty == true ? nil : refresh,
      expiresIn: lifetime(in: body, token: token, serverDate: serverDate), tokenType: type,
      scope: scope.flatMap { body.member(at: $0)?.string })
  }

  private func lifetime(in body: JSONValue, token: String, serverDate: Date) -> Double? {
    if let expiresIn, let seconds = body.member(at: expiresIn).flatMap(Self.number) { return seconds }
    if let expiresAt, let value = body.member(at: expiresAt) {
      if let instant = Self.number(value) { return instant - serverDate.timeIntervalSince1970 }
      if let date = value.string.flatMap({ InternetDate.parse($0) }) { return date.timeIntervalSince(serverDate) }
    }
    guard let claims = UnverifiedClaims(token), let expiry = claims["exp"].flatMap(Self.number) else { return nil }
    return expiry - (claims["iat"].flatMap(Self.number) ?? serverDate.timeIntervalSince1970)
  }

  private static func number(_ value: JSONValue) -> Double? {
    (value.number ?? value.string.flatMap { Double($0) }).flatMap { $0.isFinite ? $0 : nil }
  }

  /// A text, or nothing; anything else there is no token.
  private func text(_ path: String, in body: JSONValue) throws -> String? {
    switch body.member(at: path) {
    case nil, .null: return nil
    case .string(let text): return text
    default:
      throw DecodingError.typeMismatch(
        String.self, .init(codingPath: [MemberName(path)], debugDescription: "the token is no text"))
    }
  }
}

extension JSONValue {
  /// The member that a path of names leads to.
  package func member(at path: String) -> JSONValue? {
    var value: JSONValue? = self
    for name in path.split(separator: ".", omittingEmptySubsequences: false) { value = value?[String(name)] }
    return value
  }
}

/// The name of a member, for errors.
struct MemberName: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

/// The claims of a JSON Web Token, read and not checked: good for a lifetime or a hint, never for a decision about trust.
package struct UnverifiedClaims: Sendable {
  private let claims: JSONValue

  /// Reads the middle part; nil if the text is no JWT.
  package init?(_ token: String) {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, token.utf8.count <= 65_536, let bytes = Base64URL.decode(parts[1]) else { return nil }
    do {
      claims = try JSONDecoder().decode(JSONValue.self, from: Data(bytes))
    } catch {
      return nil
    }
    guard claims.object != nil else { return nil }
  }

  /// A claim.
  package subscript(name: String) -> JSONValue? { claims[name] }
}

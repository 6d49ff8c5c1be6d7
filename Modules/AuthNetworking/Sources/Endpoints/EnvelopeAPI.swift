public import AuthModels

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The calls of the envelope dialect (D2.2): every answer stands in `{"data":…}`, tokens come without a lifetime.
public enum EnvelopeAPI: Sendable {
  /// Signs in by username.
  public static func login(username: String, password: String) -> Endpoint<TokenResponse> {
    tokens(path: "/envelope/login", body: ["username": username, "password": password], isSignIn: true)
  }

  /// Buys the next token pair (S14).
  public static func refresh(refreshToken: String) -> Endpoint<TokenResponse> {
    tokens(path: "/envelope/refresh", body: ["refreshToken": refreshToken], isSignIn: false)
  }

  /// The signed-in user, with or without the envelope around it.
  public static func me() -> Endpoint<SessionUser> {
    Endpoint(method: .get, path: "/envelope/me", headers: ["Accept": "application/json"]) { response in
      let decoder = InternetDate.makeDecoder()
      do {
        return try decoder.decode(Envelope<EnvelopeUser>.self, from: response.body).data.user
      } catch DecodingError.keyNotFound(let key, _) where key.stringValue == "data" {
        return try decoder.decode(EnvelopeUser.self, from: response.body).user
      }
    }
  }

  private static func tokens(
    path: String, body: KeyValuePairs<String, String?>, isSignIn: Bool
  ) -> Endpoint<TokenResponse> {
    Endpoint(
      method: .post, path: path, headers: ["Accept": "application/json", "Content-Type": "application/json"],
      body: JSONBody.object(body), requiresAuth: false, hasCredentialBody: true, isSignIn: isSignIn
    ) { response in
      try InternetDate.makeDecoder().decode(Envelope<TokenResponse>.self, from: response.body).data
    }
  }
}

/// `{"data":…}` around an answer.
private struct Envelope<Content: Decodable & Sendable>: Decodable, Sendable {
  let data: Content
}

/// A user as this dialect writes one: an id of text or a number, and what else it tells.
private struct EnvelopeUser: Decodable {
  let user: SessionUser

  private enum CodingKeys: String, CodingKey {
    case id, username, email
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let id: String
    do {
      id = try container.decode(String.self, forKey: .id)
    } catch DecodingError.typeMismatch {
      id = String(try container.decode(Int64.self, forKey: .id))
    }
    user = SessionUser(
      id: id, email: try container.decodeIfPresent(String.self, forKey: .email),
      username: try container.decodeIfPresent(String.self, forKey: .username))
  }
}

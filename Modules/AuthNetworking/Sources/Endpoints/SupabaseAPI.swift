public import AuthModels
public import Groundwork

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The calls of the Supabase auth API (D4), under a project's URL.
public enum SupabaseAPI: Sendable {
  /// Where the auth API stands in a project.
  public static let root = "/auth/v1"

  /// Makes an account: a session where the project confirms by itself, else the user alone; 422 `user_already_exists` and
  /// `weak_password`.
  ///
  /// - Parameter metadata: what the app wants to know of the user (`user_metadata`).
  public static func signUp(
    email: String, password: String, metadata: [String: JSONValue] = [:], now: Date
  ) throws -> Endpoint<SupabaseSignUp> {
    var body: [String: JSONValue] = ["password": .string(password)]
    body[name(of: email)] = .string(email)
    if !metadata.isEmpty { body["data"] = .object(metadata) }
    return try call(.post, "/signup", body: .object(body)) { response in
      let value = try JSONDecoder().decode(JSONValue.self, from: response.body)
      if value["access_token"]?.string != nil { return .session(try session(value, response, now: now)) }
      return .user(try user(value["user"]?.object == nil ? value : value["user"] ?? value))
    }
  }

  /// Signs in by email, or by phone: 400 `invalid_credentials`, `email_not_confirmed`, `user_banned`.
  public static func signIn(identifier: String, password: String, now: Date) throws -> Endpoint<SupabaseSession> {
    try call(
      .post, "/token", query: [("grant_type", "password")],
      body: .object([name(of: identifier): .string(identifier), "password": .string(password)]), isSignIn: true
    ) { try session(JSONDecoder().decode(JSONValue.self, from: $0.body), $0, now: now) }
  }

  /// Buys the next session (S14).
  public static func refresh(refreshToken: String, now: Date) throws -> Endpoint<SupabaseSession> {
    try call(
      .post, "/token", query: [("grant_type", "refresh_token")],
      body: .object(["refresh_token": .string(refreshToken)])
    ) { try session(JSONDecoder().decode(JSONValue.self, from: $0.body), $0, now: now) }
  }

  /// The signed-in user.
  public static func user() -> Endpoint<SessionUser> {
    Endpoint(method: .get, path: root + "/user", headers: ["Accept": "application/json"]) {
      try user(JSONDecoder().decode(JSONValue.self, from: $0.body))
    }
  }

  /// Changes the signed-in user: members that are given, and no others (`email`, `password`, `data`, `nonce`).
  public static func updateUser(_ change: [String: JSONValue]) throws -> Endpoint<SessionUser> {
    Endpoint(
      method: .put, path: root + "/user",
      headers: ["Accept": "application/json", "Content-Type": "application/json"],
      body: try JSONBody.encoded(JSONValue.object(change)), isIdempotent: false, hasCredentialBody: true
    ) { try user(JSONDecoder().decode(JSONValue.self, from: $0.body)) }
  }

  /// Ends sessions of the user: 204.
  ///
  /// - Parameters:
  ///   - scope: `local`, `global` or `others`.
  ///   - accessToken: for a sign-out that the engine has done with already; nil to have the session's own sent.
  public static func signOut(scope: String, accessToken: String? = nil) -> Endpoint<Void> {
    var headers: HTTPFields = [:]
    headers["Authorization"] = accessToken.map { "Bearer \($0)" }
    return Endpoint(
      method: .post, path: root + "/logout", query: [("scope", scope)], headers: headers,
      requiresAuth: accessToken == nil)
  }

  // MARK: Reading

  private static func call<Answer: Sendable>(
    _ method: HTTPMethod, _ path: String, query: [(name: String, value: String)] = [], body: JSONValue,
    isSignIn: Bool = false, decode: @escaping @Sendable (HTTPResponse) throws -> Answer
  ) throws -> Endpoint<Answer> {
    Endpoint(
      method: method, path: root + path, query: query,
      headers: ["Accept": "application/json", "Content-Type": "application/json"], body: try JSONBody.encoded(body),
      requiresAuth: false, hasCredentialBody: true, isSignIn: isSignIn, decode: decode)
  }

  /// A number is a phone; everything else is for the server to judge as an address.
  private static func name(of identifier: String) -> String {
    let digits = identifier.utf8.filter { 0x30...0x39 ~= $0 }.count
    let isNumber = identifier.utf8.allSatisfy { 0x30...0x39 ~= $0 || "+ -()".utf8.contains($0) }
    return isNumber && digits >= 6 ? "phone" : "email"
  }

  private static func session(_ value: JSONValue, _ response: HTTPResponse, now: Date) throws -> SupabaseSession {
    let serverDate = response.headers["Date"].flatMap { HTTPDate.parse($0) }
    // A session without its user, or with one that cannot be read, is a session all the same: `GET /user` tells later.
    var owner: SessionUser?
    if let member = value["user"], member.object != nil {
      do { owner = try user(member) } catch is DecodingError { owner = nil }
    }
    return SupabaseSession(
      tokens: try TokenFields.oauth2.read(value, serverDate: serverDate ?? now), user: owner, serverDate: serverDate)
  }

  private static func user(_ value: JSONValue) throws -> SessionUser {
    guard let id = value["id"]?.string, !id.isEmpty else {
      throw DecodingError.keyNotFound(MemberName("id"), .init(codingPath: [], debugDescription: "no user"))
    }
    func text(_ value: JSONValue?) -> String? { value?.string.flatMap { $0.isEmpty ? nil : $0 } }
    let metadata = value["user_metadata"]
    let name = ["username", "user_name", "preferred_username"].lazy.compactMap { text(metadata?[$0]) }.first
    return SessionUser(id: id, email: text(value["email"]) ?? text(value["phone"]), username: name)
  }
}

/// Tokens, and what Supabase sends along.
public struct SupabaseSession: Sendable, Hashable {
  /// The tokens.
  public var tokens: TokenResponse
  /// The user, where it was readable.
  public var user: SessionUser?
  /// The server's clock (S4).
  public var serverDate: Date?
}

/// What a sign-up bought: it depends on the project's "confirm email" setting.
public enum SupabaseSignUp: Sendable, Hashable {
  /// Signed in at once.
  case session(SupabaseSession)
  /// A message is on its way to the address. For a taken one the server answers the same, so that nobody learns who has an account.
  case user(SessionUser)
}

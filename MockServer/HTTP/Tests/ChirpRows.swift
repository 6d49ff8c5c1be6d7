import Groundwork
import MockServerCore
import Testing

/// The answers of the chirp (D1, D3) and envelope (D2) dialects.
enum ChirpRows {
  static let all = sessionRows + registerRows + resourceRows + envelopeRows

  private static func row(
    _ name: String, _ method: String, _ path: String, _ body: String? = nil, headers: [String: String] = [:],
    dialect: MockDialect = .chirp, status: Int, _ golden: String?, expecting expected: [String: String] = [:],
    _ outcome: MockOutcome, prepare: @escaping DialectRow.Preparation = { _, _ in }
  ) -> DialectRow {
    var headers = headers
    if body != nil, headers["Content-Type"] == nil { headers["Content-Type"] = "application/json" }
    return DialectRow(
      name: name, dialect: dialect, method: method, target: path, headers: headers, body: body, prepare: prepare,
      status: status, golden: golden, expected: expected, outcome: outcome)
  }

  private static func refusal(
    _ name: String, _ method: String, _ path: String, _ body: String? = nil, headers: [String: String] = [:],
    _ status: Int, _ code: String, _ reason: String, detail: String? = nil,
    expecting expected: [String: String] = [:], _ outcome: MockOutcome,
    prepare: @escaping DialectRow.Preparation = { _, _ in }
  ) -> DialectRow {
    let more = detail.map { #","detail":"\#($0)""# } ?? ""
    return row(
      name, method, path, body, headers: headers, status: status,
      #"{"error":true,"reason":"\#(reason)","code":"\#(code)"\#(more)}"#, expecting: expected, outcome, prepare: prepare
    )
  }

  private static let bearer = ["Authorization": "Bearer {access}"]
  private static let login = #"{"email":"anna@example.com","password":"correct horse"}"#
  private static let refreshBody = #"{"refreshToken":"{refresh}"}"#
  private static let tokens = #"{"accessToken":"$any","refreshToken":"$any","expiresIn":900,"tokenType":"Bearer"}"#

  private static func challenge(_ description: String) -> [String: String] {
    ["WWW-Authenticate": "Bearer error=\"invalid_token\", error_description=\"\(description)\""]
  }

  private static let sessionRows = [
    row("login", "POST", "/auth/login", login, status: 200, tokens, expecting: ["Cache-Control": "no-store"], .issued),
    refusal(
      "wrong password", "POST", "/auth/login", #"{"email":"anna@example.com","password":"wrong horse"}"#, 401,
      "invalid_credentials", "Invalid email or password.", .invalidCredentials),
    refusal(
      "login too often", "POST", "/auth/login", login, 429, "rate_limited", "Too many tries. Try again later.",
      expecting: ["Retry-After": "60"], .rateLimited
    ) { realm, _ in realm.policy.rateLimit = MockRateLimit(limit: 0, per: .seconds(60)) },
    refusal("banned", "POST", "/auth/login", login, 403, "user_banned", "This account is banned.", .banned) {
      realm, _ in
      try realm.ban(user: "anna@example.com", for: .seconds(60))
    },
    refusal(
      "unconfirmed", "POST", "/auth/login", #"{"email":"eve@example.com","password":"correct horse"}"#, 403,
      "email_not_confirmed", "The address has not been confirmed yet.", .unconfirmed
    ) { realm, _ in
      realm.policy.autoconfirm = false
      let body = #"{"username":"eve","email":"eve@example.com","password":"correct horse"}"#
      #expect(RowClient.send(realm, "POST", "/auth/register", body)?.status == 201)
    },
    row(
      "refresh", "POST", "/auth/refresh", refreshBody, status: 200, tokens, expecting: ["Cache-Control": "no-store"],
      .rotated),
    refusal(
      "an unknown refresh token", "POST", "/auth/refresh", #"{"refreshToken":"x"}"#, 401, "invalid_grant",
      "The refresh token is not valid.", detail: "unknown", .unknownGrant),
    refusal(
      "a revoked refresh token", "POST", "/auth/refresh", refreshBody, 401, "invalid_grant",
      "The refresh token is not valid.", detail: "revoked", .revokedGrant
    ) { realm, variables in realm.revoke(.session(variables["session"] ?? "")) },
    refusal(
      "an expired refresh token", "POST", "/auth/refresh", refreshBody, 401, "invalid_grant",
      "The refresh token is not valid.", detail: "expired", .expiredGrant
    ) { realm, _ in realm.advance(by: .seconds(30 * 86400)) },
    refusal(
      "a reused refresh token", "POST", "/auth/refresh", refreshBody, 401, "invalid_grant",
      "The refresh token is not valid.", detail: "reused", .reuseDetected
    ) { realm, variables in
      let body = DialectRow.filled(refreshBody, variables)
      #expect(RowClient.send(realm, "POST", "/auth/refresh", body)?.status == 200)
    },
    refusal(
      "a banned user's refresh token", "POST", "/auth/refresh", refreshBody, 401, "invalid_grant",
      "The refresh token is not valid.", detail: "banned", .banned
    ) { realm, _ in try realm.ban(user: "anna@example.com", for: .seconds(60)) },
    row("logout", "POST", "/auth/logout", refreshBody, status: 204, nil, .signedOut),
    row("logout of nobody", "POST", "/auth/logout", #"{"refreshToken":"x"}"#, status: 204, nil, .nothingToRevoke),
  ]

  private static let registerRows = [
    row(
      "register", "POST", "/auth/register", #"{"username":"eve","email":"eve@example.com","password":"correct horse"}"#,
      status: 201,
      #"{"id":"$uuid","username":"eve","email":"eve@example.com","createdAt":"2030-01-01T00:00:00Z"}"#, .registered),
    refusal(
      "a taken email", "POST", "/auth/register",
      #"{"username":"eve","email":"bob@example.com","password":"correct horse"}"#, 409, "email_taken",
      "This email has an account already.", .emailTaken),
    refusal(
      "a taken username", "POST", "/auth/register",
      #"{"username":"bob","email":"eve@example.com","password":"correct horse"}"#, 409, "username_taken",
      "This username is taken.", .usernameTaken),
    row(
      "bad fields", "POST", "/auth/register", #"{"username":"e","email":"eve@","password":"short"}"#, status: 422,
      """
      {"error":true,"reason":"Some fields are not valid.","code":"validation_failed",
      "fields":{"username":"must be 3 to 32 letters, digits or underscores",
      "email":"must be an address like name@example.com","password":"must be 8 to 128 characters long"}}
      """, .validationFailed),
    refusal(
      "a body that is not said to be JSON", "POST", "/auth/register", "{}", headers: ["Content-Type": "text/plain"],
      415,
      "unsupported_media_type", "The body's content type must be application/json.", .unsupportedMediaType),
    refusal(
      "a body that does not parse", "POST", "/auth/register", "{", 400, "invalid_json",
      "The body is not JSON: a member's name is missing (byte 1).", .badRequest),
    refusal(
      "a body of more than 1 MiB", "POST", "/auth/register", #""\#(String(repeating: "a", count: 1 << 20))""#, 413,
      "payload_too_large", "The body is larger than 1 MiB.", .tooLarge),
    refusal(
      "another method", "GET", "/auth/register", nil, 405, "method_not_allowed", "This endpoint answers POST only.",
      expecting: ["Allow": "POST"], .methodNotAllowed),
  ]

  private static let me =
    #"{"id":"$anna","username":"anna","email":"anna@example.com","createdAt":"2030-01-01T00:00:00Z"}"#

  private static let resourceRows = [
    row("me", "GET", "/me", headers: bearer, status: 200, me, .ok),
    refusal(
      "me without a token", "GET", "/me", nil, 401, "missing_token", "This needs a bearer token.",
      expecting: ["WWW-Authenticate": "Bearer"], .noToken),
    refusal(
      "me with an unknown token", "GET", "/me", headers: ["Authorization": "Bearer x"], 401, "invalid_token",
      "The access token is unknown.", expecting: challenge("The access token is unknown"), .unknownToken),
    refusal(
      "me with an expired token", "GET", "/me", headers: bearer, 401, "invalid_token", "The access token expired.",
      expecting: challenge("The access token expired"), .expiredToken
    ) { realm, _ in realm.advance(by: .seconds(900)) },
    refusal(
      "me with a revoked token", "GET", "/me", headers: bearer, 401, "invalid_token", "The access token was revoked.",
      expecting: challenge("The access token was revoked"), .revokedToken
    ) { realm, variables in realm.revoke(.access(variables["access"] ?? "")) },
    refusal(
      "me with a banned user's token", "GET", "/me", headers: bearer, 401, "invalid_token", "The user is banned.",
      expecting: challenge("The user is banned"), .banned
    ) { realm, _ in try realm.ban(user: "anna@example.com", for: .seconds(60)) },
    row(
      "feed", "GET", "/feed?limit=1", headers: bearer, status: 200,
      """
      {"items":[{"id":"post-25","author":"ada","text":"Still here? Good.","createdAt":"2029-12-31T23:59:00Z"}],
      "nextCursor":"before-25"}
      """.replacing("Still here? Good.", with: "$any"), .ok),
    row(
      "post", "POST", "/posts", #"{"text":"hello"}"#, headers: bearer, status: 201,
      #"{"id":"post-26","author":"anna","text":"hello","createdAt":"2030-01-01T00:00:00Z"}"#, .ok),
  ]

  private static func envelope(
    _ name: String, _ method: String, _ path: String, _ body: String? = nil, headers: [String: String] = [:],
    status: Int, _ golden: String, _ outcome: MockOutcome, prepare: @escaping DialectRow.Preparation = { _, _ in }
  ) -> DialectRow {
    row(
      name, method, "/envelope/\(path)", body, headers: headers, dialect: .envelope, status: status, golden, outcome,
      prepare: prepare)
  }

  private static let envelopeTokens = #"{"data":{"accessToken":"$any","refreshToken":"$any"}}"#
  private static let envelopeLogin = #"{"username":"anna","password":"correct horse"}"#

  private static let envelopeRows = [
    envelope("login", "POST", "login", envelopeLogin, status: 200, envelopeTokens, .issued),
    envelope(
      "wrong password", "POST", "login", #"{"username":"anna","password":"wrong horse"}"#, status: 401,
      #"{"error":{"message":"Invalid username or password."}}"#, .invalidCredentials),
    envelope(
      "banned", "POST", "login", envelopeLogin, status: 403, #"{"error":{"message":"This account is banned."}}"#,
      .banned
    ) { realm, _ in try realm.ban(user: "anna@example.com", for: .seconds(60)) },
    envelope(
      "no fields", "POST", "login", "{}", status: 422,
      #"{"error":{"message":"username is missing; password is missing."}}"#, .validationFailed),
    envelope("refresh", "POST", "refresh", refreshBody, status: 200, envelopeTokens, .rotated),
    envelope(
      "refresh refused", "POST", "refresh", #"{"refreshToken":"x"}"#, status: 401,
      #"{"error":{"message":"The refresh token is not valid: unknown."}}"#, .unknownGrant),
    envelope("me", "GET", "me", headers: bearer, status: 200, #"{"data":\#(me)}"#, .ok),
    envelope(
      "me refused", "GET", "me", headers: ["Authorization": "Bearer x"], status: 401,
      #"{"error":{"message":"The access token is unknown."}}"#, .unknownToken),
    envelope(
      "another method", "GET", "login", status: 405, #"{"error":{"message":"This endpoint answers POST only."}}"#,
      .methodNotAllowed),
    envelope(
      "not JSON", "POST", "login", "{", status: 400,
      #"{"error":{"message":"The body is not JSON: a member's name is missing (byte 1)."}}"#, .badRequest),
  ]
}

import Groundwork
import MockServerCore
import Testing

/// The answers of the Supabase dialect (D4).
enum SupabaseRows {
  static let all = tokenRows + signUpRows + userRows + logoutRows + mailRows + adminRows + gatewayRows + shapeRows

  private static func row(
    _ name: String, _ method: String, _ path: String, _ body: String? = nil, headers: [String: String] = [:],
    key: String? = "{anon}", status: Int, _ golden: String?, expecting expected: [String: String] = [:],
    _ outcome: MockOutcome, prepare: @escaping DialectRow.Preparation = { _, _ in }
  ) -> DialectRow {
    var headers = headers
    if let key { headers["apikey"] = key }
    if body != nil { headers["Content-Type"] = "application/json;charset=UTF-8" }
    return DialectRow(
      name: name, dialect: .supabase, method: method, target: "/auth/v1/\(path)", headers: headers, body: body,
      prepare: prepare, status: status, golden: golden, expected: expected, outcome: outcome)
  }

  /// A refusal in the shape that clients without a version get, with its header.
  private static func refusal(
    _ name: String, _ method: String, _ path: String, _ body: String? = nil, headers: [String: String] = [:],
    _ status: Int, _ code: String, _ message: String, expecting expected: [String: String] = [:],
    _ outcome: MockOutcome, prepare: @escaping DialectRow.Preparation = { _, _ in }
  ) -> DialectRow {
    let id = status >= 500 ? #","error_id":"$any""# : ""
    return row(
      name, method, path, body, headers: headers, status: status,
      #"{"code":\#(status),"error_code":"\#(code)","msg":"\#(message)"\#(id)}"#,
      expecting: expected.merging(["x-sb-error-code": code, "X-Supabase-Api-Version": ""]) { one, _ in one }, outcome,
      prepare: prepare)
  }

  private static let bearer = ["Authorization": "Bearer {access}"]
  private static let service = ["Authorization": "Bearer {service}"]

  private static func user(
    _ id: String, email: String, metadata: String = "{}", signedIn: Bool = true, extra: String = ""
  ) -> String {
    let last = signedIn ? #""last_sign_in_at":"2030-01-01T00:00:00.000Z","# : ""
    return """
      {"id":"\(id)","aud":"authenticated","role":"authenticated","email":"\(email)",
      "email_confirmed_at":"2030-01-01T00:00:00.000Z","phone":"","confirmed_at":"2030-01-01T00:00:00.000Z",\(last)
      "app_metadata":{"provider":"email","providers":["email"]},"user_metadata":\(metadata),
      "identities":[{"identity_id":"$uuid","id":"\(id)","user_id":"\(id)",
      "identity_data":{"email":"\(email)","email_verified":true,"phone_verified":false,"sub":"\(id)"},
      "provider":"email","last_sign_in_at":"2030-01-01T00:00:00.000Z","created_at":"2030-01-01T00:00:00.000Z",
      "updated_at":"2030-01-01T00:00:00.000Z","email":"\(email)"}],
      "created_at":"2030-01-01T00:00:00.000Z","updated_at":"2030-01-01T00:00:00.000Z",\(extra)"is_anonymous":false}
      """
  }

  private static func session(_ user: String) -> String {
    """
    {"access_token":"$jwt","token_type":"bearer","expires_in":900,"expires_at":1893456900,"refresh_token":"$short",
    "user":\(user)}
    """
  }

  private static let anna = user("$anna", email: "anna@example.com")
  private static let noCache = ["Cache-Control": "no-store", "x-sb-error-code": ""]
  private static let login = #"{"email":"anna@example.com","password":"correct horse"}"#

  // MARK: The token endpoint

  private static let tokenRows = [
    row(
      "password", "POST", "token?grant_type=password", login, status: 200, session(anna), expecting: noCache, .issued),
    row(
      "refresh_token", "POST", "token?grant_type=refresh_token", #"{"refresh_token":"{refresh}"}"#, status: 200,
      session(anna), expecting: noCache, .rotated),
    refusal(
      "unknown grant", "POST", "token?grant_type=magic", "{}", 400, "invalid_credentials", "unsupported_grant_type",
      .unsupportedGrant),
    refusal(
      "no grant", "POST", "token", "{}", 400, "invalid_credentials", "unsupported_grant_type", .unsupportedGrant),
    refusal(
      "wrong password", "POST", "token?grant_type=password", #"{"email":"anna@example.com","password":"wrong horse"}"#,
      400, "invalid_credentials", "Invalid login credentials", .invalidCredentials),
    refusal(
      "unknown email", "POST", "token?grant_type=password",
      #"{"email":"nobody@example.com","password":"correct horse"}"#,
      400, "invalid_credentials", "Invalid login credentials", .invalidCredentials),
    refusal(
      "unconfirmed email", "POST", "token?grant_type=password",
      #"{"email":"eve@example.com","password":"correct horse"}"#,
      400, "email_not_confirmed", "Email not confirmed", .unconfirmed
    ) { realm, _ in
      realm.policy.autoconfirm = false
      signUp(realm, #"{"email":"eve@example.com","password":"correct horse"}"#)
    },
    refusal(
      "banned at login", "POST", "token?grant_type=password", login, 400, "user_banned", "User is banned", .banned
    ) { realm, _ in try realm.ban(user: "anna@example.com", for: .seconds(60)) },
    refusal(
      "login without a name", "POST", "token?grant_type=password", #"{"password":"correct horse"}"#, 400,
      "validation_failed", "missing email or phone", .validationFailed),
    refusal(
      "login with two names", "POST", "token?grant_type=password",
      #"{"email":"anna@example.com","phone":"+491701","password":"correct horse"}"#, 400, "validation_failed",
      "Only an email address or phone number should be provided on login.", .validationFailed),
    refusal(
      "login with a body that is no JSON", "POST", "token?grant_type=password", "{", 400, "bad_json",
      "Could not parse request body as JSON: a member's name is missing (byte 1)", .badRequest),
    refusal(
      "login with a number for a text", "POST", "token?grant_type=password", #"{"email":7}"#, 400, "bad_json",
      #"Could not parse request body as JSON: \"email\" is no text"#, .badRequest),
    refusal(
      "refresh without a token", "POST", "token?grant_type=refresh_token", "{}", 400, "validation_failed",
      "Refresh token is not valid", .validationFailed),
    refusal(
      "refresh with what is none", "POST", "token?grant_type=refresh_token", #"{"refresh_token":"not a token"}"#, 400,
      "validation_failed", "Refresh token is not valid", .validationFailed),
    refusal(
      "refresh with an unknown token", "POST", "token?grant_type=refresh_token", #"{"refresh_token":"abcdefghij01"}"#,
      400, "refresh_token_not_found", "Invalid Refresh Token: Refresh Token Not Found", .unknownGrant),
    refusal(
      "refresh with a spent token", "POST", "token?grant_type=refresh_token", #"{"refresh_token":"{refresh}"}"#, 400,
      "refresh_token_already_used", "Invalid Refresh Token: Already Used", .reuseDetected
    ) { realm, variables in
      #expect(refresh(realm, variables["refresh"]) == 200)
    },
    refusal(
      "refresh after sign-out", "POST", "token?grant_type=refresh_token", #"{"refresh_token":"{refresh}"}"#, 400,
      "refresh_token_not_found", "Invalid Refresh Token: Refresh Token Not Found", .revokedGrant
    ) { realm, variables in
      #expect(send(realm, "POST", "logout?scope=local", bearer: variables["access"]) == 204)
    },
    refusal(
      "refresh of a session that is gone", "POST", "token?grant_type=refresh_token", #"{"refresh_token":"{refresh}"}"#,
      400, "session_not_found", "Invalid Refresh Token: No Valid Session Found", .revokedGrant
    ) { realm, variables in realm.revoke(.session(variables["session"] ?? "")) },
    refusal(
      "refresh of a session that is too old", "POST", "token?grant_type=refresh_token",
      #"{"refresh_token":"{refresh}"}"#, 400, "session_expired", "Invalid Refresh Token: Session Expired", .expiredGrant
    ) { realm, _ in realm.advance(by: .seconds(31 * 86400)) },
    refusal(
      "refresh by a banned user", "POST", "token?grant_type=refresh_token", #"{"refresh_token":"{refresh}"}"#, 400,
      "user_banned", "Invalid Refresh Token: User Banned", .banned
    ) { realm, _ in try realm.ban(user: "anna@example.com", for: .seconds(60)) },
    refusal(
      "too many at once", "POST", "token?grant_type=refresh_token", #"{"refresh_token":"{refresh}"}"#, 409, "conflict",
      "Too many concurrent token refresh requests on the same session or refresh token", .scripted
    ) { realm, _ in realm.script(.refresh, .status(409)) },
    refusal(
      "too often", "POST", "token?grant_type=refresh_token", #"{"refresh_token":"{refresh}"}"#, 429,
      "over_request_rate_limit", "Request rate limit reached", expecting: ["Retry-After": "60"], .rateLimited
    ) { realm, variables in
      realm.policy.rateLimit = MockRateLimit(limit: 1, per: .seconds(60), operations: [.refresh])
      #expect(refresh(realm, variables["refresh"]) == 200)
    },
    refusal(
      "a time-out of the server", "POST", "token?grant_type=refresh_token", #"{"refresh_token":"{refresh}"}"#, 504,
      "request_timeout", "Processing this request timed out, please retry after a moment.", .scripted
    ) { realm, _ in realm.script(.refresh, .status(504)) },
    refusal(
      "a failure of the server", "POST", "token?grant_type=refresh_token", #"{"refresh_token":"{refresh}"}"#, 500,
      "unexpected_failure", "Unexpected failure, please check server logs for more information", .scripted
    ) { realm, _ in realm.script(.refresh, .status(500)) },
    refusal(
      "a body of more than 1 MiB", "POST", "token?grant_type=password",
      #"{"email":"\#(String(repeating: "a", count: 1 << 20))"}"#, 413, "request_entity_too_large",
      "Request body exceeds maximum allowed size of 1048576 bytes", .tooLarge),
    refusal(
      "another method", "GET", "token?grant_type=password", nil, 405, "method_not_allowed",
      "This endpoint answers POST only.", expecting: ["Allow": "POST"], .methodNotAllowed),
    refusal(
      "pkce without a code", "POST", "token?grant_type=pkce", #"{"code_verifier":"x"}"#, 400, "validation_failed",
      "invalid request: both auth code and code verifier should be non-empty", .validationFailed),
    refusal(
      "pkce with an unknown code", "POST", "token?grant_type=pkce", #"{"auth_code":"x","code_verifier":"x"}"#, 404,
      "flow_state_not_found", "invalid flow state, no valid flow state found", .unknownGrant),
  ]

  // MARK: Sign-up

  private static let newUser = #"{"email":"Eve@Example.com","password":"correct horse","data":{"name":"Eve"}}"#

  private static let signUpRows = [
    row(
      "sign-up with autoconfirm", "POST", "signup", newUser, status: 200,
      session(user("$uuid", email: "eve@example.com", metadata: #"{"name":"Eve"}"#)), expecting: noCache, .registered),
    row(
      "sign-up without autoconfirm", "POST", "signup", newUser, status: 200,
      """
      {"id":"$uuid","aud":"authenticated","role":"authenticated","email":"eve@example.com","phone":"",
      "confirmation_sent_at":"2030-01-01T00:00:00.000Z","app_metadata":{"provider":"email","providers":["email"]},
      "user_metadata":{"name":"Eve"},"identities":[{"identity_id":"$uuid","id":"$uuid","user_id":"$uuid",
      "identity_data":{"email":"eve@example.com","email_verified":false,"phone_verified":false,"sub":"$uuid"},
      "provider":"email","last_sign_in_at":"2030-01-01T00:00:00.000Z","created_at":"2030-01-01T00:00:00.000Z",
      "updated_at":"2030-01-01T00:00:00.000Z","email":"eve@example.com"}],"created_at":"2030-01-01T00:00:00.000Z",
      "updated_at":"2030-01-01T00:00:00.000Z","is_anonymous":false}
      """, .registered
    ) { realm, _ in realm.policy.autoconfirm = false },
    refusal(
      "a taken email", "POST", "signup", #"{"email":"ANNA@example.com","password":"correct horse"}"#, 422,
      "user_already_exists", "User already registered", .emailTaken),
    row(
      "a taken email without autoconfirm", "POST", "signup", login, status: 200,
      """
      {"id":"$uuid","aud":"authenticated","role":"","email":"anna@example.com","phone":"",
      "confirmation_sent_at":"2030-01-01T00:00:00.000Z","app_metadata":{"provider":"email","providers":["email"]},
      "user_metadata":{},"identities":[],"created_at":"2030-01-01T00:00:00.000Z",
      "updated_at":"2030-01-01T00:00:00.000Z","is_anonymous":false}
      """, .emailTaken
    ) { realm, _ in realm.policy.autoconfirm = false },
    row(
      "a weak password", "POST", "signup", #"{"email":"eve@example.com","password":"1234567"}"#, status: 422,
      """
      {"code":422,"error_code":"weak_password","msg":"Password should be at least 8 characters.",
      "weak_password":{"reasons":["length"]}}
      """, expecting: ["x-sb-error-code": "weak_password"], .weakPassword),
    refusal(
      "no password", "POST", "signup", #"{"email":"eve@example.com"}"#, 400, "validation_failed",
      "Signup requires a valid password", .validationFailed),
    refusal(
      "a password that is too long", "POST", "signup",
      #"{"email":"eve@example.com","password":"\#(String(repeating: "p", count: 73))"}"#, 400, "validation_failed",
      "Password cannot be longer than 72 characters", .validationFailed),
    refusal(
      "an email that is none", "POST", "signup", #"{"email":"eve@","password":"correct horse"}"#, 400,
      "validation_failed", "Unable to validate email address: invalid format", .validationFailed),
    refusal(
      "a phone that is none", "POST", "signup", #"{"phone":"12 34a","password":"correct horse"}"#, 400,
      "validation_failed", "Invalid phone number format (E.164 required)", .validationFailed),
    refusal(
      "anonymously", "POST", "signup", "{}", 422, "anonymous_provider_disabled", "Anonymous sign-ins are disabled",
      .validationFailed),
  ]

  // MARK: The user

  private static let userRows = [
    row("the user", "GET", "user", headers: bearer, status: 200, anna, .ok),
    row(
      "a change", "PUT", "user", #"{"data":{"nick":"an","gone":null}}"#, headers: bearer, status: 200,
      user("$anna", email: "anna@example.com", metadata: #"{"nick":"an"}"#), .ok),
    row(
      "another email, without autoconfirm", "PUT", "user", #"{"email":"a2@example.com"}"#, headers: bearer, status: 200,
      user(
        "$anna", email: "anna@example.com",
        extra: #""new_email":"a2@example.com","email_change_sent_at":"2030-01-01T00:00:00.000Z","#), .ok
    ) { realm, _ in realm.policy.autoconfirm = false },
    refusal(
      "no bearer", "GET", "user", nil, 401, "no_authorization", "This endpoint requires a valid Bearer token", .noToken),
    refusal(
      "a bearer with two spaces", "GET", "user", headers: ["Authorization": "Bearer  {access}"], 401,
      "no_authorization", "This endpoint requires a valid Bearer token", .noToken),
    row(
      "a bearer in lower case", "GET", "user", headers: ["Authorization": "bearer {access}"], status: 200, anna, .ok),
    refusal(
      "a bearer that is no JWT", "GET", "user", headers: ["Authorization": "Bearer nonsense"], 403, "bad_jwt",
      "invalid JWT: unable to parse or verify signature, token is malformed: token contains an invalid number of segments",
      .unknownToken),
    refusal(
      "the anon key for a bearer", "GET", "user", headers: ["Authorization": "Bearer {anon}"], 403, "bad_jwt",
      "invalid claim: missing sub claim", .unknownToken),
    refusal(
      "an expired token", "GET", "user", headers: bearer, 403, "bad_jwt",
      "invalid JWT: unable to parse or verify signature, token has invalid claims: token is expired", .expiredToken
    ) { realm, _ in realm.advance(by: .seconds(900)) },
    refusal(
      "a changed signature", "GET", "user", headers: ["Authorization": "Bearer {forged}"], 403, "bad_jwt",
      "invalid JWT: unable to parse or verify signature, token signature is invalid: signature is invalid",
      .unknownToken
    ) { _, variables in
      let token = variables["access"] ?? ""
      variables["forged"] = token.dropLast(4) + (token.hasSuffix("AAAA") ? "BBBA" : "AAAA")
    },
    refusal(
      "a session that has ended", "GET", "user", headers: bearer, 403, "session_not_found",
      "Session from session_id claim in JWT does not exist", .revokedToken
    ) { realm, variables in realm.revoke(.session(variables["session"] ?? "")) },
    refusal(
      "a user who was deleted", "GET", "user", headers: bearer, 403, "user_not_found",
      "User from sub claim in JWT does not exist", .revokedToken
    ) { realm, variables in
      #expect(send(realm, "DELETE", "admin/users/\(variables["anna"] ?? "")", bearer: realm.keys.serviceRoleKey) == 200)
    },
    refusal("a banned user", "GET", "user", headers: bearer, 403, "user_banned", "User is banned", .banned) {
      realm, _ in
      try realm.ban(user: "anna@example.com", for: .seconds(60))
    },
    refusal(
      "the old password once more", "PUT", "user", #"{"password":"correct horse"}"#, headers: bearer, 422,
      "same_password", "New password should be different from the old password.", .validationFailed),
    row(
      "a weak new password", "PUT", "user", #"{"password":"short"}"#, headers: bearer, status: 422,
      """
      {"code":422,"error_code":"weak_password","msg":"Password should be at least 8 characters.",
      "weak_password":{"reasons":["length"]}}
      """, expecting: ["x-sb-error-code": "weak_password"], .weakPassword),
    refusal(
      "somebody else's email", "PUT", "user", #"{"email":"bob@example.com"}"#, headers: bearer, 422, "email_exists",
      "A user with this email address has already been registered", .emailTaken),
    refusal(
      "another method for the user", "PATCH", "user", "{}", headers: bearer, 405, "method_not_allowed",
      "This endpoint answers GET, HEAD, PUT only.", expecting: ["Allow": "GET, HEAD, PUT"], .methodNotAllowed),
  ]

  // MARK: Sign-out

  private static let logoutRows =
    ["", "?scope=global", "?scope=local"].map { scope in
      row("sign-out \(scope)", "POST", "logout\(scope)", headers: bearer, status: 204, nil, .signedOut)
    } + [
      row("sign-out of none", "POST", "logout?scope=others", headers: bearer, status: 204, nil, .nothingToRevoke),
      row("sign-out of others", "POST", "logout?scope=others", headers: bearer, status: 204, nil, .signedOut) {
        realm, _ in
        _ = try realm.mintSession(user: "anna@example.com", dialect: .supabase)
      },
      refusal(
        "sign-out of who knows whom", "POST", "logout?scope=all", headers: bearer, 400, "validation_failed",
        #"Unsupported logout scope \"all\""#, .validationFailed),
      refusal(
        "sign-out without a bearer", "POST", "logout", nil, 401, "no_authorization",
        "This endpoint requires a valid Bearer token", .noToken),
      refusal(
        "sign-out twice", "POST", "logout", headers: bearer, 403, "session_not_found",
        "Session from session_id claim in JWT does not exist", .revokedToken
      ) { realm, variables in #expect(send(realm, "POST", "logout", bearer: variables["access"]) == 204) },
    ]

  // MARK: Messages

  private static let mailRows = [
    row("otp", "POST", "otp", #"{"email":"anna@example.com"}"#, status: 200, "{}", .ok),
    row("recover", "POST", "recover", #"{"email":"anna@example.com"}"#, status: 200, "{}", .ok),
    row("recover for nobody", "POST", "recover", #"{"email":"nobody@example.com"}"#, status: 200, "{}", .ok),
    row("resend", "POST", "resend", #"{"type":"signup","email":"anna@example.com"}"#, status: 200, "{}", .ok),
    refusal(
      "resend of nothing", "POST", "resend", #"{"email":"anna@example.com"}"#, 400, "validation_failed",
      "Missing one of these types: signup, email_change, sms, phone_change", .validationFailed),
    refusal(
      "otp without sign-up", "POST", "otp", #"{"email":"nobody@example.com","create_user":false}"#, 422,
      "otp_disabled", "Signups not allowed for otp", .validationFailed),
    refusal(
      "a code that is none", "POST", "verify", #"{"type":"email","email":"anna@example.com","token":"000000"}"#, 403,
      "otp_expired", "Token has expired or is invalid", .expiredGrant),
    row(
      "a code", "POST", "verify", #"{"type":"email","email":"anna@example.com","token":"{code}"}"#, status: 200,
      session(anna), expecting: noCache, .issued
    ) { realm, variables in
      #expect(send(realm, "POST", "otp", #"{"email":"anna@example.com"}"#) == 200)
      variables["code"] = realm.mails.last?.code
    },
  ]

  // MARK: Admin calls

  private static let adminRows = [
    row(
      "list users", "GET", "admin/users", headers: service, status: 200,
      #"{"users":[\#(user("$bob", email: "bob@example.com", signedIn: false)),\#(anna)],"aud":"authenticated"}"#,
      expecting: ["X-Total-Count": "2"], .ok),
    row(
      "list users, second page", "GET", "admin/users?page=2&per_page=1", headers: service, status: 200,
      #"{"users":[\#(anna)],"aud":"authenticated"}"#, .ok),
    row("a user by id", "GET", "admin/users/{anna}", headers: service, status: 200, anna, .ok),
    row("delete a user", "DELETE", "admin/users/{bob}", headers: service, status: 200, "{}", .ok),
    row(
      "ban a user", "PUT", "admin/users/{bob}", #"{"ban_duration":"1h"}"#, headers: service, status: 200,
      user(
        "$bob", email: "bob@example.com", signedIn: false, extra: #""banned_until":"2030-01-01T01:00:00.000Z","#), .ok),
    row(
      "add a user", "POST", "admin/users",
      #"{"email":"eve@example.com","password":"correct horse","email_confirm":true,"user_metadata":{"a":1}}"#,
      headers: service, status: 200,
      user("$uuid", email: "eve@example.com", metadata: #"{"a":1}"#, signedIn: false), .registered),
    refusal(
      "add a user who is there", "POST", "admin/users", #"{"email":"bob@example.com"}"#, headers: service, 422,
      "email_exists", "A user with this email address has already been registered", .emailTaken),
    refusal(
      "a user who is not there", "GET", "admin/users/00000000-0000-4000-8000-000000000000", headers: service, 404,
      "user_not_found", "User not found", .notFound),
    refusal(
      "a user by what is no id", "GET", "admin/users/anna", headers: service, 404, "validation_failed",
      "user_id must be an UUID", .validationFailed),
    refusal(
      "admin without a bearer", "GET", "admin/users", nil, 401, "no_authorization",
      "This endpoint requires a valid Bearer token", .noToken),
    refusal(
      "admin with the anon key", "GET", "admin/users", headers: ["Authorization": "Bearer {anon}"], 403, "not_admin",
      "User not allowed", .notAllowed),
    refusal(
      "admin with a publishable key", "GET", "admin/users", headers: ["Authorization": "Bearer sb_publishable_x"], 403,
      "not_admin", "User not allowed", .notAllowed),
    refusal(
      "admin with a user's token", "GET", "admin/users", headers: bearer, 403, "not_admin", "User not allowed",
      .notAllowed),
    row(
      "admin by a secret key alone", "GET", "admin/users/{anna}", key: "sb_secret_0123456789", status: 200, anna, .ok),
  ]

  // MARK: The gateway

  private static let gatewayRows = [
    row(
      "no API key", "POST", "token?grant_type=password", login, key: nil, status: 401,
      #"{"message":"No API key found in request"}"#, expecting: ["x-sb-error-code": ""], .badAPIKey),
    row(
      "an API key of another project", "POST", "token?grant_type=password", login, key: "eyJhbGciOiJIUzI1NiJ9.e30.AAAA",
      status: 401,
      """
      {"message":"Invalid API key",
      "hint":"Double check your Supabase `anon` or `service_role` API key."}
      """, .badAPIKey),
    row(
      "a publishable key", "POST", "token?grant_type=password", login, key: "sb_publishable_abc", status: 200,
      session(anna), .issued),
    row(
      "health", "GET", "health", key: nil, status: 200,
      """
      {"version":"mock","name":"GoTrue",
      "description":"GoTrue is a user registration and authentication API"}
      """, .ok),
    row(
      "settings", "GET", "settings", status: 200,
      """
      {"external":{"anonymous_users":false,"apple":false,"azure":false,"github":false,"google":false,"email":true,
      "phone":true},"disable_signup":false,"mailer_autoconfirm":true,"phone_autoconfirm":true,"sms_provider":"",
      "saml_enabled":false}
      """, .ok),
    row(
      "keys", "GET", ".well-known/jwks.json", key: nil, status: 200,
      """
      {"keys":[{"kty":"EC","crv":"P-256","x":"$any","y":"$any","kid":"$any","alg":"ES256","use":"sig"}]}
      """, .ok),
  ]

  // MARK: Shapes

  private static let newShape = ["X-Supabase-Api-Version": "2024-01-01"]
  private static let wrong = #"{"email":"anna@example.com","password":"wrong horse"}"#
  private static let olderErrors: DialectRow.Preparation = { realm, _ in realm.policy.supabaseErrors = .oauth }

  private static let shapeRows = [
    row(
      "the newer shape", "POST", "token?grant_type=password", wrong, headers: newShape, status: 400,
      #"{"code":"invalid_credentials","message":"Invalid login credentials"}"#,
      expecting: ["x-sb-error-code": "invalid_credentials", "X-Supabase-Api-Version": "2024-01-01"],
      .invalidCredentials),
    row(
      "the newer shape of a weak password", "POST", "signup", #"{"email":"eve@example.com","password":"1"}"#,
      headers: ["X-Supabase-Api-Version": "2025-05-05"], status: 422,
      """
      {"code":"weak_password","message":"Password should be at least 8 characters.",
      "weak_password":{"reasons":["length"]}}
      """, expecting: ["X-Supabase-Api-Version": "2024-01-01"], .weakPassword),
    row(
      "the newer shape of a failure", "GET", "user", headers: newShape.merging(bearer) { one, _ in one }, status: 500,
      """
      {"code":"unexpected_failure",
      "message":"Unexpected failure, please check server logs for more information"}
      """, .scripted
    ) { realm, _ in realm.script(.me, .status(500)) },
    refusal(
      "an older version", "POST", "token?grant_type=password", wrong,
      headers: ["X-Supabase-Api-Version": "2023-12-31"], 400, "invalid_credentials", "Invalid login credentials",
      .invalidCredentials),
    refusal(
      "a version that is none", "POST", "token?grant_type=password", wrong, headers: ["X-Supabase-Api-Version": "new"],
      400, "invalid_credentials", "Invalid login credentials", .invalidCredentials),
    row(
      "the OAuth shape", "POST", "token?grant_type=password", wrong, status: 400,
      #"{"error":"invalid_grant","error_description":"Invalid login credentials"}"#,
      expecting: ["x-sb-error-code": ""], .invalidCredentials, prepare: olderErrors),
    row(
      "the OAuth shape of a refresh", "POST", "token?grant_type=refresh_token", #"{"refresh_token":"abcdefghij01"}"#,
      status: 400,
      #"{"error":"invalid_grant","error_description":"Invalid Refresh Token: Refresh Token Not Found"}"#, .unknownGrant,
      prepare: olderErrors),
    row(
      "the OAuth shape of an unknown grant", "POST", "token?grant_type=x", "{}", status: 400,
      #"{"error":"unsupported_grant_type","error_description":"unsupported_grant_type"}"#, .unsupportedGrant,
      prepare: olderErrors),
    row(
      "an older server's user endpoint", "GET", "user", status: 401,
      #"{"code":401,"msg":"This endpoint requires a valid Bearer token"}"#, .noToken, prepare: olderErrors),
  ]

  // MARK: Preparing

  /// Sends a request of its own to the realm, and tells the status.
  private static func send(
    _ realm: MockRealm, _ method: String, _ path: String, _ body: String? = nil, bearer: String? = nil
  ) -> Int? {
    RowClient.send(
      realm, method, "/auth/v1/\(path)", body,
      headers: ["apikey": realm.keys.anonKey, "Authorization": bearer.map { "Bearer \($0)" } ?? ""])?.status
  }

  private static func refresh(_ realm: MockRealm, _ token: String?) -> Int? {
    send(realm, "POST", "token?grant_type=refresh_token", #"{"refresh_token":"\#(token ?? "")"}"#)
  }

  private static func signUp(_ realm: MockRealm, _ body: String) {
    #expect(send(realm, "POST", "signup", body) == 200)
  }
}

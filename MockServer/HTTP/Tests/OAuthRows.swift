import Groundwork
import MockServerCore
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The answers of the OAuth 2 dialect (RFC 6749, 6750, 7009, 7636, 7662, 8414, 8628).
enum OAuthRows {
  static let all =
    passwordRows + refreshRows + codeRows + clientRows + deviceRows + authorizeRows + revocationRows + userInfoRows
    + otherRows

  private static func row(
    _ name: String, _ method: String, _ path: String, _ form: String? = nil, headers: [String: String] = [:],
    status: Int, _ golden: String?, expecting expected: [String: String] = [:], _ outcome: MockOutcome,
    prepare: @escaping DialectRow.Preparation = { _, _ in }
  ) -> DialectRow {
    var headers = headers
    if form != nil, headers["Content-Type"] == nil { headers["Content-Type"] = "application/x-www-form-urlencoded" }
    return DialectRow(
      name: name, dialect: .oauth2, method: method, target: path, headers: headers, body: form, prepare: prepare,
      status: status, golden: golden, expected: expected, outcome: outcome)
  }

  private static let noStore = ["Cache-Control": "no-store", "Pragma": "no-cache"]

  /// A request of the token endpoint that is refused.
  private static func refusal(
    _ name: String, _ form: String, headers: [String: String] = [:], path: String = "/oauth2/token", status: Int = 400,
    _ code: String, _ description: String, expecting expected: [String: String] = [:], _ outcome: MockOutcome,
    prepare: @escaping DialectRow.Preparation = { _, _ in }
  ) -> DialectRow {
    row(
      name, "POST", path, form, headers: headers, status: status,
      #"{"error":"\#(code)","error_description":"\#(description)"}"#,
      expecting: expected.merging(noStore) { one, _ in one }, outcome, prepare: prepare)
  }

  private static func basic(_ id: String, _ secret: String) -> [String: String] {
    ["Authorization": "Basic \(Data("\(id):\(secret)".utf8).base64EncodedString())"]
  }

  private static let service = basic("chirp-service", "chirp-service-secret")
  private static let everything = "openid profile email offline_access"

  private static func tokens(scope: String, refresh: String? = "$any", idToken: Bool = true) -> String {
    let members =
      [#""access_token":"$any","token_type":"Bearer","expires_in":900,"scope":"\#(scope)""#]
      + (refresh.map { [#""refresh_token":"\#($0)""#] } ?? []) + (idToken ? [#""id_token":"$jwt""#] : [])
    return "{\(members.joined(separator: ","))}"
  }

  // MARK: Password

  private static let anna = "grant_type=password&client_id=chirp&username=anna&password=correct+horse"

  private static let passwordRows = [
    row(
      "password", "POST", "/oauth2/token", anna, status: 200, tokens(scope: everything), expecting: noStore, .issued),
    row(
      "password by email, with a scope", "POST", "/oauth2/token",
      "grant_type=password&client_id=chirp&username=anna%40example.com&password=correct%20horse&scope=email",
      status: 200,
      tokens(scope: "email", idToken: false), expecting: noStore, .issued),
    row(
      "password by a confidential client", "POST", "/oauth2/token",
      "grant_type=password&username=anna&password=correct+horse&scope=email", headers: service, status: 200,
      tokens(scope: "email", idToken: false), expecting: noStore, .issued),
    refusal(
      "wrong password", "grant_type=password&client_id=chirp&username=anna&password=wrong", "invalid_grant",
      "Invalid username or password.", .invalidCredentials),
    refusal(
      "no password", "grant_type=password&client_id=chirp&username=anna&password=", "invalid_request",
      "The parameter password is missing.", .badRequest),
    refusal("a banned user", anna, "invalid_grant", "This account is banned.", .banned) { realm, _ in
      try realm.ban(user: "anna@example.com", for: .seconds(60))
    },
    refusal(
      "a scope that nobody has", "\(anna)&scope=email+root", "invalid_scope",
      "This client cannot have the scope root.", .invalidScope),
    refusal(
      "a parameter that comes twice", "\(anna)&username=bob", "invalid_request",
      "The parameter username comes more than once.", .badRequest),
    refusal("no grant", "client_id=chirp", "invalid_request", "The parameter grant_type is missing.", .badRequest),
    refusal(
      "a grant that nobody knows", "grant_type=tea&client_id=chirp", "unsupported_grant_type",
      "There is no grant tea.", .unsupportedGrant),
    refusal(
      "a body that is no form", #"{"grant_type":"password"}"#, headers: ["Content-Type": "application/json"],
      "invalid_request", "The body must be a form: application/x-www-form-urlencoded, in UTF-8.", .badRequest),
    refusal(
      "a form that does not parse", "grant_type=%zz", "invalid_request",
      "The body must be a form: application/x-www-form-urlencoded, in UTF-8.", .badRequest),
    refusal(
      "a body of more than 1 MiB", "grant_type=\(String(repeating: "a", count: 1 << 20))", status: 413,
      "invalid_request", "The body is larger than 1 MiB.", .tooLarge),
    refusal(
      "too often", anna, status: 429, "temporarily_unavailable", "Too many tries. Try again later.",
      expecting: ["Retry-After": "60"], .rateLimited
    ) { realm, _ in realm.policy.rateLimit = MockRateLimit(limit: 0, per: .seconds(60)) },
    row(
      "another method", "GET", "/oauth2/token", status: 405,
      #"{"error":"invalid_request","error_description":"This endpoint answers POST only."}"#,
      expecting: ["Allow": "POST"], .methodNotAllowed),
  ]

  // MARK: Refresh

  private static let refreshForm = "grant_type=refresh_token&client_id=chirp&refresh_token={refresh}"

  private static func refresh(_ realm: MockRealm, _ token: String?) -> Int? {
    send(realm, "/oauth2/token", "grant_type=refresh_token&client_id=chirp&refresh_token=\(token ?? "")")?.status
  }

  private static let refreshRows = [
    row(
      "refresh", "POST", "/oauth2/token", refreshForm, status: 200, tokens(scope: everything), expecting: noStore,
      .rotated),
    row(
      "refresh without rotation keeps the token", "POST", "/oauth2/token", refreshForm, status: 200,
      tokens(scope: everything, refresh: nil), .refreshed
    ) { realm, _ in realm.policy.rotation = .none },
    row(
      "refresh with less scope", "POST", "/oauth2/token", "\(refreshForm)&scope=email", status: 200,
      tokens(scope: "email", idToken: false), .rotated),
    refusal(
      "refresh with more scope", "\(refreshForm)&scope=email+root", "invalid_scope",
      "A refresh cannot widen the scope.", .invalidScope),
    refusal(
      "an unknown refresh token", "grant_type=refresh_token&client_id=chirp&refresh_token=nonsense",
      "invalid_grant", "The refresh token is unknown.", .unknownGrant),
    refusal(
      "no refresh token", "grant_type=refresh_token&client_id=chirp", "invalid_request",
      "The parameter refresh_token is missing.", .badRequest),
    refusal(
      "a spent refresh token", refreshForm, "invalid_grant", "The refresh token was used before.",
      .reuseDetected
    ) { realm, variables in #expect(refresh(realm, variables["refresh"]) == 200) },
    refusal("a revoked refresh token", refreshForm, "invalid_grant", "The refresh token was revoked.", .revokedGrant) {
      realm, variables in
      realm.revoke(.session(variables["session"] ?? ""))
    },
    refusal("an expired refresh token", refreshForm, "invalid_grant", "The refresh token has expired.", .expiredGrant) {
      realm, _ in
      realm.advance(by: .seconds(31 * 86400))
    },
    refusal(
      "another client's refresh token", "grant_type=refresh_token&refresh_token={refresh}", headers: service,
      "invalid_grant", "The refresh token belongs to another client.", .unknownGrant),
    refusal("a banned user's refresh token", refreshForm, "invalid_grant", "The user is banned.", .banned) { realm, _ in
      try realm.ban(user: "anna@example.com", for: .seconds(60))
    },
    refusal(
      "a refresh that a script refuses", refreshForm, "invalid_grant", "The refresh token is not valid.",
      .scripted
    ) { realm, _ in realm.script(.refresh, .status(400)) },
    refusal(
      "a failure of the server", refreshForm, status: 503, "temporarily_unavailable",
      "The server is not available. Try again later.", .scripted
    ) { realm, _ in realm.script(.refresh, .status(503)) },
  ]

  // MARK: Authorization codes

  /// RFC 7636, appendix B.
  private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
  private static let pkce = "code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
  private static let redirect = "http%3A%2F%2F127.0.0.1%3A4711%2Fcallback"
  private static let request = "/oauth2/authorize?response_type=code&client_id=chirp&redirect_uri=\(redirect)"
  private static let codeForm =
    "grant_type=authorization_code&client_id=chirp&code={code}&redirect_uri=\(redirect)&code_verifier=\(verifier)"

  private static let withCode: DialectRow.Preparation = { realm, variables in
    variables["code"] = code(realm, "\(request)&\(pkce)&user=anna")
  }

  private static func code(_ realm: MockRealm, _ request: String) -> String? {
    let location = RowClient.send(realm, "GET", request)?.headers.first { $0.name == "Location" }?.value
    return location?.split(separator: "code=").last?.split(separator: "&").first.map(String.init)
  }

  private static let codeRows = [
    row(
      "a code", "POST", "/oauth2/token", codeForm, status: 200, tokens(scope: everything), expecting: noStore, .issued,
      prepare: withCode),
    refusal(
      "a code once more", codeForm, "invalid_grant",
      "The authorization code was used before; what it was exchanged for is revoked.", .reuseDetected
    ) { realm, variables in
      try withCode(realm, &variables)
      #expect(send(realm, "/oauth2/token", DialectRow.filled(codeForm, variables))?.status == 200)
    },
    refusal(
      "a code that is none", "grant_type=authorization_code&client_id=chirp&code=nonsense", "invalid_grant",
      "The authorization code is unknown.", .unknownGrant),
    refusal(
      "another client's code",
      "grant_type=authorization_code&code={code}&redirect_uri=\(redirect)&code_verifier=\(verifier)", headers: service,
      "invalid_grant", "The authorization code is unknown.", .unknownGrant, prepare: withCode),
    refusal("a code too late", codeForm, "invalid_grant", "The authorization code has expired.", .expiredGrant) {
      realm, variables in
      try withCode(realm, &variables)
      realm.advance(by: .seconds(600))
    },
    refusal(
      "another verifier", codeForm.replacing("dBjf", with: "dBjg"), "invalid_grant",
      "The code_verifier does not belong to the code_challenge.", .pkceFailed, prepare: withCode),
    refusal(
      "no verifier", codeForm.replacing("&code_verifier=\(verifier)", with: ""), "invalid_grant",
      "The code_verifier does not belong to the code_challenge.", .pkceFailed, prepare: withCode),
    refusal(
      "a verifier without a challenge",
      "grant_type=authorization_code&code={code}&redirect_uri=\(redirect)&code_verifier=\(verifier)", headers: service,
      "invalid_grant", "There is a code_verifier, but there was no code_challenge.", .pkceFailed
    ) { realm, variables in
      variables["code"] = code(
        realm, "\(request.replacing("client_id=chirp", with: "client_id=chirp-service"))&user=anna")
    },
    refusal(
      "a redirect to another port", codeForm.replacing("4711", with: "4712"), "invalid_grant",
      "The redirect_uri is not that of the authorization request.", .redirectMismatch, prepare: withCode),
    refusal(
      "no redirect where there was one", codeForm.replacing("&redirect_uri=\(redirect)", with: ""),
      "invalid_grant", "The redirect_uri is not that of the authorization request.", .redirectMismatch,
      prepare: withCode),
  ]

  // MARK: Clients

  private static let clientRows = [
    row(
      "client credentials", "POST", "/oauth2/token", "grant_type=client_credentials&scope=profile", headers: service,
      status: 200, tokens(scope: "profile", refresh: nil, idToken: false), expecting: noStore, .issued),
    row(
      "client credentials by post", "POST", "/oauth2/token",
      "grant_type=client_credentials&client_id=chirp-service&client_secret=chirp-service-secret&scope=email",
      status: 200,
      tokens(scope: "email", refresh: nil, idToken: false), .issued),
    refusal(
      "client credentials of a public client", "grant_type=client_credentials&client_id=chirp",
      "unauthorized_client", "This client may not use the grant client_credentials.", .unauthorizedClient),
    refusal(
      "no client", "grant_type=client_credentials", "invalid_client", "The client does not say who it is.",
      .invalidClient),
    refusal(
      "an unknown client", "grant_type=password&client_id=nobody", "invalid_client", "There is no such client.",
      .invalidClient),
    refusal(
      "a wrong secret by post", "grant_type=client_credentials&client_id=chirp-service&client_secret=x",
      "invalid_client", "The client's secret is wrong.", .invalidClient),
    refusal(
      "no secret where there is one", "grant_type=client_credentials&client_id=chirp-service",
      "invalid_client", "This client has a secret and must use it.", .invalidClient),
    refusal(
      "a wrong secret by Basic", "grant_type=client_credentials", headers: basic("chirp-service", "x"),
      status: 401, "invalid_client", "The client's secret is wrong.",
      expecting: ["WWW-Authenticate": #"Basic realm="mock-server", charset="UTF-8""#], .invalidClient),
    refusal(
      "a scheme that is not Basic", "grant_type=client_credentials", headers: ["Authorization": "Digest x"],
      status: 401, "invalid_client", "A client proves itself by Basic here (RFC 6749 2.3.1).",
      expecting: ["WWW-Authenticate": #"Basic realm="mock-server", charset="UTF-8""#], .invalidClient),
    refusal(
      "Basic and post at once",
      "grant_type=client_credentials&client_id=chirp-service&client_secret=chirp-service-secret", headers: service,
      "invalid_request", "The client proves itself in two ways at once.", .badRequest),
    refusal(
      "two client ids", "grant_type=client_credentials&client_id=chirp", headers: service, "invalid_request",
      "The client has two ids.", .badRequest),
  ]

  // MARK: Devices

  private static let deviceForm =
    "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&client_id=chirp&device_code={device}"

  private static let withDevice: DialectRow.Preparation = { realm, variables in
    let reply = send(realm, "/oauth2/device_authorization", "client_id=chirp&scope=email")
    let json = try JSONDecoder().decode(JSONValue.self, from: reply?.body ?? Data())
    variables["device"] = json["device_code"]?.string
    variables["userCode"] = json["user_code"]?.string
  }

  private static let deviceRows = [
    row(
      "a device begins", "POST", "/oauth2/device_authorization", "client_id=chirp&scope=openid", status: 200,
      """
      {"device_code":"$any","user_code":"$any","verification_uri":"$address","verification_uri_complete":"$any",
      "expires_in":600,"interval":5}
      """, expecting: noStore, .ok
    ) { realm, variables in variables["address"] = "http://localhost/r/\(realm.name)/oauth2/device" },
    refusal(
      "a device polls", deviceForm, "authorization_pending", "The user has not decided yet.",
      .authorizationPending, prepare: withDevice),
    refusal("a device polls too soon", deviceForm, "slow_down", "Wait 10 s between polls.", .slowDown) {
      realm, variables in
      try withDevice(realm, &variables)
      #expect(send(realm, "/oauth2/token", DialectRow.filled(deviceForm, variables))?.status == 400)
      realm.advance(by: .milliseconds(4999))
    },
    refusal(
      "a device polls in time", deviceForm, "authorization_pending", "The user has not decided yet.",
      .authorizationPending
    ) { realm, variables in
      try withDevice(realm, &variables)
      #expect(send(realm, "/oauth2/token", DialectRow.filled(deviceForm, variables))?.status == 400)
      realm.advance(by: .seconds(5))
    },
    row(
      "a device that was let in", "POST", "/oauth2/token", deviceForm, status: 200,
      tokens(scope: "email", idToken: false), .issued
    ) { realm, variables in
      try withDevice(realm, &variables)
      let code = (variables["userCode"] ?? "").lowercased()
      #expect(RowClient.send(realm, "GET", "/oauth2/device?user_code=\(code)&user=anna")?.status == 200)
    },
    refusal("a device that was denied", deviceForm, "access_denied", "The user has denied it.", .denied) {
      realm, variables in
      try withDevice(realm, &variables)
      #expect(
        send(realm, "/oauth2/device", "user_code=\(variables["userCode"] ?? "")&decision=deny")?.status == 200)
    },
    refusal("a device code too late", deviceForm, "expired_token", "The device code has expired.", .expiredGrant) {
      realm, variables in
      try withDevice(realm, &variables)
      realm.advance(by: .seconds(600))
    },
    refusal(
      "a device code that is none", deviceForm.replacing("{device}", with: "x"), "invalid_grant",
      "The device code is unknown.", .unknownGrant),
  ]

  // MARK: The authorization endpoint

  /// A request that is sent back to the client.
  private static func redirected(
    _ name: String, _ request: String, to answer: String, _ outcome: MockOutcome,
    prepare: @escaping DialectRow.Preparation = { _, _ in }
  ) -> DialectRow {
    row(
      name, "GET", request, status: 302, nil,
      expecting: ["Location": "http://127.0.0.1:4711/callback?\(answer)", "Cache-Control": "no-store"], outcome
    ) { realm, variables in
      variables["iss"] = "http%3A%2F%2Flocalhost%2Fr%2F\(realm.name)"
      try prepare(realm, &variables)
    }
  }

  private static func sentBack(_ error: String, _ words: String) -> String {
    "error=\(error)&error_description=\(words)&state=a%20b&iss={iss}"
  }

  private static let full = "\(request)&state=a+b&\(pkce)"

  private static let authorizeRows = [
    redirected("agreed by user", "\(full)&user=anna", to: "code=…", .ok),
    redirected("agreed by hint", "\(full)&login_hint=anna%40example.com", to: "code=…", .ok),
    redirected(
      "denied", "\(full)&decision=deny", to: sentBack("access_denied", "The%20user%20has%20denied%20it."), .denied),
    redirected(
      "nobody there", "\(full)&prompt=none", to: sentBack("login_required", "Nobody%20is%20signed%20in."),
      .denied),
    redirected(
      "another response type", full.replacing("type=code", with: "type=token") + "&user=anna",
      to: sentBack("unsupported_response_type", "There%20is%20only%20response_type%20code."), .badRequest),
    redirected(
      "no response type", full.replacing("response_type=code&", with: ""),
      to: sentBack("invalid_request", "The%20parameter%20response_type%20is%20missing."), .badRequest),
    redirected(
      "a code for a scope that nobody has", "\(full)&scope=root",
      to: sentBack("invalid_scope", "This%20client%20cannot%20have%20the%20scope%20root."), .invalidScope),
    redirected(
      "scope twice", "\(full)&scope=email&scope=openid",
      to: sentBack("invalid_request", "The%20parameter%20scope%20comes%20more%20than%20once."), .badRequest),
    redirected(
      "no PKCE", "\(request)&state=a+b&user=anna",
      to: sentBack(
        "invalid_request", "A%20client%20without%20a%20secret%20sends%20a%20code_challenge%20%28PKCE%29."),
      .badRequest),
    redirected(
      "plain PKCE", full.replacing("S256", with: "plain"),
      to: sentBack("invalid_request", "There%20is%20only%20code_challenge_method%20S256."), .badRequest),
  ]

  // MARK: Revocation and introspection

  private static let revocationRows = [
    row(
      "revoke a refresh token", "POST", "/oauth2/revoke", "client_id=chirp&token={refresh}", status: 200, nil,
      .signedOut),
    row(
      "revoke an access token, with a wrong hint", "POST", "/oauth2/revoke",
      "client_id=chirp&token={access}&token_type_hint=refresh_token", status: 200, nil, .signedOut),
    row(
      "revoke what nobody knows", "POST", "/oauth2/revoke", "client_id=chirp&token=x&token_type_hint=pet", status: 200,
      nil, .nothingToRevoke),
    refusal(
      "revoke nothing", "client_id=chirp", path: "/oauth2/revoke", "invalid_request",
      "The parameter token is missing.", .badRequest),
    refusal(
      "revoke another client's token", "token={refresh}", headers: service, path: "/oauth2/revoke",
      "unauthorized_client", "The token belongs to another client.", .notAllowed),
    refusal(
      "revoke an ID token", "client_id=chirp&token={idToken}", path: "/oauth2/revoke", "unsupported_token_type",
      "An ID token cannot be revoked.", .badRequest
    ) { realm, variables in
      let reply = send(realm, "/oauth2/token", anna)
      variables["idToken"] = try JSONDecoder().decode(JSONValue.self, from: reply?.body ?? Data())["id_token"]?.string
    },
    refusal(
      "revoke, and the server is down", "client_id=chirp&token={refresh}", path: "/oauth2/revoke", status: 503,
      "temporarily_unavailable", "The server is not available. Try again later.", .scripted
    ) { realm, _ in realm.script(.logout, .status(503)) },
    row(
      "introspect an access token", "POST", "/oauth2/introspect", "token={access}", headers: service, status: 200,
      """
      {"active":true,"scope":"\(everything)","client_id":"chirp","sub":"$anna","username":"anna",
      "token_type":"Bearer","iat":1893456000,"exp":1893456900,"aud":"$issuer","iss":"$issuer"}
      """, .ok
    ) { realm, variables in variables["issuer"] = "http://localhost/r/\(realm.name)" },
    row(
      "introspect a refresh token", "POST", "/oauth2/introspect", "token={refresh}", headers: service, status: 200,
      """
      {"active":true,"scope":"\(everything)","client_id":"chirp","sub":"$anna","username":"anna",
      "exp":1896048000,"aud":"$any","iss":"$any"}
      """, .ok),
    row(
      "introspect an expired token", "POST", "/oauth2/introspect", "token={access}", headers: service, status: 200,
      #"{"active":false}"#, .ok
    ) { realm, _ in realm.advance(by: .seconds(900)) },
    row(
      "introspect what nobody knows", "POST", "/oauth2/introspect", "token=x", headers: service, status: 200,
      #"{"active":false}"#, .ok),
    refusal(
      "introspect without a secret", "client_id=chirp&token={access}", path: "/oauth2/introspect",
      "invalid_client", "Introspection is for clients with a secret.", .invalidClient),
  ]

  // MARK: Userinfo

  private static let bearer = ["Authorization": "Bearer {access}"]
  private static let userInfo = """
    {"sub":"$anna","preferred_username":"anna","name":"anna","updated_at":1893456000,"email":"anna@example.com",
    "email_verified":true}
    """

  private static let userInfoRows = [
    row("userinfo", "GET", "/oauth2/userinfo", headers: bearer, status: 200, userInfo, .ok),
    row("userinfo by post", "POST", "/oauth2/userinfo", "access_token={access}", status: 200, userInfo, .ok),
    row(
      "userinfo without a token", "GET", "/oauth2/userinfo", status: 401,
      #"{"error":"invalid_token","error_description":"This needs a bearer token."}"#,
      expecting: ["WWW-Authenticate": "Bearer"], .noToken),
    row(
      "userinfo with an expired token", "GET", "/oauth2/userinfo", headers: bearer, status: 401,
      #"{"error":"invalid_token","error_description":"The access token expired."}"#,
      expecting: ["WWW-Authenticate": #"Bearer error="invalid_token", error_description="The access token expired""#],
      .expiredToken
    ) { realm, _ in realm.advance(by: .seconds(900)) },
    row(
      "userinfo with a token in two places", "POST", "/oauth2/userinfo", "access_token={access}", headers: bearer,
      status: 400,
      #"{"error":"invalid_request","error_description":"The access token comes in two ways at once."}"#, .badRequest),
    row(
      "userinfo without the scope", "GET", "/oauth2/userinfo", headers: ["Authorization": "Bearer {narrow}"],
      status: 403,
      #"{"error":"insufficient_scope","error_description":"This needs the scope openid."}"#,
      expecting: [
        "WWW-Authenticate":
          #"Bearer error="insufficient_scope", error_description="This needs the scope openid.", scope="openid""#
      ], .notAllowed
    ) { realm, variables in
      variables["narrow"] = try accessToken(send(realm, "/oauth2/token", "\(anna)&scope=email"))
    },
    row(
      "userinfo with a client's own token", "GET", "/oauth2/userinfo", headers: ["Authorization": "Bearer {own}"],
      status: 403,
      #"{"error":"insufficient_scope","error_description":"The access token is a client's, and this needs a user's."}"#,
      .notAllowed
    ) { realm, variables in
      variables["own"] = try accessToken(
        RowClient.send(
          realm, "POST", "/oauth2/token", "grant_type=client_credentials",
          headers: service.merging(["Content-Type": "application/x-www-form-urlencoded"]) { one, _ in one }))
    },
  ]

  private static let otherRows = [
    row(
      "keys", "GET", "/oauth2/jwks", status: 200,
      #"{"keys":[{"kty":"EC","crv":"P-256","x":"$any","y":"$any","kid":"$any","alg":"ES256","use":"sig"}]}"#, .ok),
    row(
      "no such endpoint", "GET", "/oauth2/nothing", status: 404,
      #"{"error":"invalid_request","error_description":"There is no such endpoint."}"#, .notFound),
    row(
      "metadata", "GET", "/.well-known/oauth-authorization-server", status: 200,
      """
      {"issuer":"$issuer","authorization_endpoint":"$authorize","token_endpoint":"$token","jwks_uri":"$any",
      "userinfo_endpoint":"$any","revocation_endpoint":"$any","introspection_endpoint":"$any",
      "device_authorization_endpoint":"$any","scopes_supported":["email","offline_access","openid","profile"],
      "response_types_supported":["code"],"response_modes_supported":["query"],
      "grant_types_supported":["authorization_code","password","refresh_token","client_credentials",
      "urn:ietf:params:oauth:grant-type:device_code"],
      "token_endpoint_auth_methods_supported":["none","client_secret_basic","client_secret_post"],
      "revocation_endpoint_auth_methods_supported":["none","client_secret_basic","client_secret_post"],
      "introspection_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post"],
      "code_challenge_methods_supported":["S256"],"subject_types_supported":["public"],
      "id_token_signing_alg_values_supported":["ES256","RS256"],
      "claims_supported":["sub","iss","aud","exp","iat","auth_time","nonce","name","preferred_username","email",
      "email_verified"],"prompt_values_supported":["none","login"],
      "authorization_response_iss_parameter_supported":true}
      """, .ok
    ) { realm, variables in
      let issuer = "http://localhost/r/\(realm.name)"
      variables["issuer"] = issuer
      variables["authorize"] = "\(issuer)/oauth2/authorize"
      variables["token"] = "\(issuer)/oauth2/token"
    },
  ]

  // MARK: Preparing

  private static func send(_ realm: MockRealm, _ path: String, _ form: String) -> MockReply? {
    RowClient.send(
      realm, "POST", path, form, headers: ["Content-Type": "application/x-www-form-urlencoded"])
  }

  private static func accessToken(_ reply: MockReply?) throws -> String? {
    try JSONDecoder().decode(JSONValue.self, from: reply?.body ?? Data())["access_token"]?.string
  }
}

import Groundwork

// What is known about the endpoints of the dialects.
extension OpenAPI {
  static func dialect(_ route: Route, _ path: String) -> Operation {
    var operation =
      switch route.dialect {
      case .chirp: chirp(route)
      case .envelope: envelope(route)
      case .supabase: supabase(route)
      case .oauth2: oauth(route)
      default: other(route)
      }
    // Pages for people fail as pages.
    if route.endpoint != .authorize, route.endpoint != .devicePage { operation.failure = failure(of: route.dialect) }
    return operation
  }

  private static func failure(of dialect: MockDialect) -> JSONValue {
    if dialect == .envelope { return reference("EnvelopeError") }
    if dialect == .supabase { return reference("SupabaseError") }
    return dialect == .chirp || dialect == .none ? reference("ChirpError") : reference("OAuthError")
  }

  private static let bearer: [JSONValue] = [["bearer": []]]
  private static let json = "application/json"

  private static func chirp(_ route: Route) -> Operation {
    switch route.operation {
    case .register:
      Operation(
        summary: "Makes an account",
        body: (
          object(["username": text, "email": text, "password": text], required: ["username", "email", "password"]), json
        ),
        answers: [(201, reference("User"))])
    case .login:
      Operation(
        summary: "Begins a session",
        body: (object(["email": text, "password": text], required: ["email", "password"]), json),
        answers: [(200, reference("Tokens"))])
    case .refresh:
      Operation(
        summary: "Exchanges a refresh token for a new pair, as the policy says",
        body: (object(["refreshToken": text], required: ["refreshToken"]), json), answers: [(200, reference("Tokens"))])
    case .logout:
      Operation(
        summary: "Ends the session of a refresh token; an unknown one is answered the same",
        body: (object(["refreshToken": text], required: ["refreshToken"]), json), answers: [(204, nil)])
    case .me:
      Operation(summary: "Who the token's owner is", answers: [(200, reference("User"))], security: bearer)
    case .feed:
      Operation(
        summary: "Posts, newest first",
        parameters: [
          query("limit", integer(1...100), "how many"), query("cursor", text, "the nextCursor of the page before"),
        ],
        answers: [
          (
            200,
            answer([
              "items": list(answer(["id": text, "author": text, "text": text, "createdAt": text])),
              "nextCursor": orNull(text),
            ])
          )
        ], security: bearer)
    case .post:
      Operation(
        summary: "Posts a text", body: (object(["text": text], required: ["text"]), json),
        answers: [(201, answer(["id": text, "author": text, "text": text, "createdAt": text]))], security: bearer)
    default: other(route)
    }
  }

  private static func envelope(_ route: Route) -> Operation {
    let tokens = answer(["data": answer(["accessToken": text, "refreshToken": text])])
    return switch route.operation {
    case .login:
      Operation(
        summary: "Begins a session",
        body: (object(["username": text, "password": text], required: ["username", "password"]), json),
        answers: [(200, tokens)])
    case .refresh:
      Operation(
        summary: "Exchanges a refresh token for a new pair, as the policy says",
        body: (object(["refreshToken": text], required: ["refreshToken"]), json), answers: [(200, tokens)])
    case .me:
      Operation(
        summary: "Who the token's owner is", answers: [(200, answer(["data": reference("User")]))], security: bearer)
    default: other(route)
    }
  }

  private static func supabase(_ route: Route) -> Operation {
    let key: JSONValue = ["apikey": []]
    let signedIn: JSONValue = ["apikey": [], "bearer": []]
    let any: JSONValue = ["type": "object"]
    var operation: Operation
    switch route.endpoint {
    case .keys:
      return Operation(summary: "The keys that tokens are verified by", answers: [(200, answer(["keys": list(any)]))])
    case .health:
      return Operation(
        summary: "Whether it is there", answers: [(200, answer(["version": text, "name": text, "description": text]))])
    case .verifyLink:
      return Operation(
        summary: "The link of a message: redirects to the app, with a session or with an error",
        parameters: [
          query("token", text, "what the message has"), query("type", text, "signup, recovery, magiclink …"),
          query("redirect_to", text, "the app"),
        ], answers: [(303, nil)])
    case .settings: operation = Operation(summary: "What sign-in is offered", answers: [(200, any)])
    case .signUp:
      operation = Operation(
        summary: "Makes an account: a session with autoconfirm, else the bare user", body: (any, json),
        answers: [(200, any)])
    case .token:
      operation = Operation(
        summary: "Begins a session, or goes on with one",
        parameters: [query("grant_type", text, "password, refresh_token or pkce")], body: (any, json),
        answers: [(200, reference("SupabaseSession"))])
    case .verify:
      operation = Operation(
        summary: "Takes the code of a message", body: (any, json), answers: [(200, reference("SupabaseSession"))])
    case .otp, .recover, .resend:
      operation = Operation(
        summary: "Sends a message, whoever has the address", body: (any, json), answers: [(200, any)])
    case .user:
      operation = Operation(summary: "Who the token's owner is", answers: [(200, reference("SupabaseUser"))])
    case .updateUser:
      operation = Operation(
        summary: "Changes the token's owner", body: (any, json), answers: [(200, reference("SupabaseUser"))])
    case .logout:
      operation = Operation(
        summary: "Ends sessions", parameters: [query("scope", words(["global", "local", "others"]), "which")],
        answers: [(204, nil)])
    default: operation = Operation(summary: "For a service-role key alone", answers: [(200, any)])
    }
    // As servers of this dialect do, it takes no body for an empty object.
    operation.needsBody = false
    switch route.endpoint {
    case .user, .updateUser, .logout, .adminUsers, .addUser, .adminUser, .changeUser, .deleteUser:
      operation.security = [signedIn]
    default: operation.security = [key]
    }
    return operation
  }

  private static func oauth(_ route: Route) -> Operation {
    let any: JSONValue = ["type": "object"]
    let form = "application/x-www-form-urlencoded"
    func posted(_ summary: String, _ fields: [String], _ answers: [(status: Int, schema: JSONValue?)]) -> Operation {
      let properties = Dictionary(fields.map { ($0, text) }, uniquingKeysWith: { first, _ in first })
      return Operation(summary: summary, body: (object(properties), form), needsBody: false, answers: answers)
    }
    return switch route.endpoint {
    case .oauthToken:
      posted(
        "Begins a session, or goes on with one (RFC 6749)",
        ["grant_type", "client_id", "client_secret", "username", "password", "refresh_token", "code", "scope"],
        [
          (
            200,
            object(
              ["access_token": text, "token_type": text, "refresh_token": text],
              required: ["access_token", "token_type"])
          )
        ])
    case .revoke:
      posted("Revokes a token (RFC 7009)", ["token", "token_type_hint", "client_id", "client_secret"], [(200, nil)])
    case .introspect:
      posted(
        "What a token is worth (RFC 7662)", ["token", "token_type_hint", "client_id", "client_secret"],
        [(200, object(["active": flag], required: ["active"]))])
    case .deviceAuthorization:
      posted("Begins a sign-in on another device (RFC 8628)", ["client_id", "scope"], [(200, any)])
    case .userInfo: Operation(summary: "Who the token's owner is", answers: [(200, any)], security: bearer)
    case .keys:
      Operation(summary: "The keys that tokens are verified by", answers: [(200, answer(["keys": list(any)]))])
    case .metadata: Operation(summary: "What the server can do (RFC 8414)", answers: [(200, any)])
    case .authorize: Operation(summary: "The page of a sign-in with a code")
    case .devicePage: Operation(summary: "The page on which a device is let in")
    default: other(route)
    }
  }

  /// An endpoint of which the document says that it is there, in which dialect, and how it fails; the page on wire formats says the rest.
  private static func other(_ route: Route) -> Operation {
    Operation(summary: "\(route.operation.rawValue), as the dialect \(route.dialect.rawValue) has it")
  }
}

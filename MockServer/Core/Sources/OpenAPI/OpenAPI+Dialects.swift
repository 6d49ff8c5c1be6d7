import Groundwork

// What is known about the endpoints of the dialects.
extension OpenAPI {
  static func dialect(_ route: Route, _ path: String) -> Operation {
    var operation =
      switch route.dialect {
      case .chirp: chirp(route)
      case .envelope: envelope(route)
      default: other(route)
      }
    operation.failure = failure(of: route.dialect)
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

  /// An endpoint of which the document says that it is there, in which dialect, and how it fails; the page on wire formats says the rest.
  private static func other(_ route: Route) -> Operation {
    Operation(summary: "\(route.operation.rawValue), as the dialect \(route.dialect.rawValue) has it")
  }
}

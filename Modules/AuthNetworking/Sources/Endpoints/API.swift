public import AuthModels

/// The calls of the chirp dialect (D1.2, D3.2).
public enum API: Sendable {
  /// Signs in: 401 `invalid_credentials`, 429 `rate_limited`.
  public static func login(email: String, password: String) -> Endpoint<TokenResponse> {
    Endpoint(
      method: .post, path: "/auth/login", jsonBody: JSONBody.object(["email": email, "password": password]),
      requiresAuth: false, hasCredentialBody: true, isSignIn: true)
  }

  /// Makes an account: 409 `email_taken` or `username_taken`, 422 `validation_failed` with fields (D1.7).
  public static func register(username: String, email: String, password: String) -> Endpoint<PublicUser> {
    Endpoint(
      method: .post, path: "/auth/register",
      jsonBody: JSONBody.object(["username": username, "email": email, "password": password]),
      requiresAuth: false, hasCredentialBody: true)
  }

  /// Buys the next token pair: 401 `invalid_grant`. Never authed, never refreshed, never retried here (S14).
  public static func refresh(refreshToken: String) -> Endpoint<TokenResponse> {
    Endpoint(
      method: .post, path: "/auth/refresh", jsonBody: JSONBody.object(["refreshToken": refreshToken]),
      requiresAuth: false, hasCredentialBody: true)
  }

  /// Ends the session at the server: 204, also for an unknown token (S20).
  public static func logout(refreshToken: String) -> Endpoint<Void> {
    Endpoint(
      method: .post, path: "/auth/logout", jsonBody: JSONBody.object(["refreshToken": refreshToken]),
      requiresAuth: false, hasCredentialBody: true)
  }

  /// The signed-in user.
  public static func me() -> Endpoint<PublicUser> {
    Endpoint(method: .get, path: "/me")
  }

  /// A page of the feed.
  ///
  /// - Parameters:
  ///   - limit: the most posts a page may have; nil for the server's own number.
  ///   - cursor: `nextCursor` of the page before; nil for the first page.
  public static func feed(limit: Int? = nil, cursor: String? = nil) -> Endpoint<FeedPage> {
    var query: [(name: String, value: String)] = []
    if let limit { query.append((name: "limit", value: String(limit))) }
    if let cursor { query.append((name: "cursor", value: cursor)) }
    return Endpoint(method: .get, path: "/feed", query: query)
  }

  /// Writes a post.
  ///
  /// - Parameter idempotencyKey: a fresh text for each post; with it the call may be retried, since the server knows a repeat.
  public static func createPost(text: String, idempotencyKey: String? = nil) -> Endpoint<Post> {
    var headers: HTTPFields = [:]
    headers["Idempotency-Key"] = idempotencyKey
    return Endpoint(
      method: .post, path: "/posts", headers: headers, jsonBody: JSONBody.object(["text": text]),
      isIdempotent: idempotencyKey != nil)
  }
}

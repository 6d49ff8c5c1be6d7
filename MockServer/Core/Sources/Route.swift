/// An endpoint of a dialect, under one method.
struct Route: Sendable {
  /// Which handler it is, where an operation's name does not tell.
  enum Endpoint: Sendable, Hashable {
    case byOperation
    case signUp, token, user, updateUser, logout, otp, recover, resend, verify, verifyLink, health, settings, keys
    case adminUsers, addUser
    case adminUser(String)
    case changeUser(String)
    case deleteUser(String)
    case oauthToken, authorize, revoke, introspect, deviceAuthorization, devicePage, userInfo, metadata
  }

  let dialect: MockDialect
  var operation: MockOperation
  let method: String
  let endpoint: Endpoint
  /// The `Allow` header: the methods of all routes of this path.
  var allow = ""
  /// What can be asked for at its path, whatever the method and the grant.
  var operations: [MockOperation] = []

  init(_ dialect: MockDialect, _ operation: MockOperation, _ method: String, _ endpoint: Endpoint = .byOperation) {
    self.dialect = dialect
    self.operation = operation
    self.method = method
    self.endpoint = endpoint
  }

  /// The routes by their path, as the page on wire formats has them.
  private static let table: [String: [Route]] = listed.mapValues(withAllow)

  private static let listed: [String: [Route]] = [
    "/auth/register": [Route(.chirp, .register, "POST")],
    "/auth/login": [Route(.chirp, .login, "POST")],
    "/auth/refresh": [Route(.chirp, .refresh, "POST")],
    "/auth/logout": [Route(.chirp, .logout, "POST")],
    "/me": [Route(.chirp, .me, "GET")],
    "/feed": [Route(.chirp, .feed, "GET")],
    "/posts": [Route(.chirp, .post, "POST")],
    "/envelope/login": [Route(.envelope, .login, "POST")],
    "/envelope/refresh": [Route(.envelope, .refresh, "POST")],
    "/envelope/me": [Route(.envelope, .me, "GET")],
    "/auth/v1/signup": [Route(.supabase, .register, "POST", .signUp)],
    "/auth/v1/token": [Route(.supabase, .login, "POST", .token)],
    "/auth/v1/user": [Route(.supabase, .me, "GET", .user), Route(.supabase, .updateUser, "PUT", .updateUser)],
    "/auth/v1/logout": [Route(.supabase, .logout, "POST", .logout)],
    "/auth/v1/otp": [Route(.supabase, .otp, "POST", .otp)],
    "/auth/v1/recover": [Route(.supabase, .recover, "POST", .recover)],
    "/auth/v1/resend": [Route(.supabase, .resend, "POST", .resend)],
    "/auth/v1/verify": [
      Route(.supabase, .verify, "POST", .verify), Route(.supabase, .verify, "GET", .verifyLink),
    ],
    "/auth/v1/health": [Route(.supabase, .health, "GET", .health)],
    "/auth/v1/settings": [Route(.supabase, .settings, "GET", .settings)],
    "/auth/v1/.well-known/jwks.json": [Route(.supabase, .keys, "GET", .keys)],
    "/auth/v1/admin/users": [
      Route(.supabase, .adminUsers, "GET", .adminUsers), Route(.supabase, .adminUsers, "POST", .addUser),
    ],
    "/oauth2/token": [Route(.oauth2, .login, "POST", .oauthToken)],
    "/oauth2/authorize": [
      Route(.oauth2, .authorize, "GET", .authorize), Route(.oauth2, .authorize, "POST", .authorize),
    ],
    "/oauth2/revoke": [Route(.oauth2, .logout, "POST", .revoke)],
    "/oauth2/introspect": [Route(.oauth2, .introspect, "POST", .introspect)],
    "/oauth2/device_authorization": [Route(.oauth2, .device, "POST", .deviceAuthorization)],
    "/oauth2/device": [Route(.oauth2, .device, "GET", .devicePage), Route(.oauth2, .device, "POST", .devicePage)],
    "/oauth2/userinfo": [Route(.oauth2, .me, "GET", .userInfo), Route(.oauth2, .me, "POST", .userInfo)],
    "/oauth2/jwks": [Route(.oauth2, .keys, "GET", .keys)],
    "/.well-known/oauth-authorization-server": [Route(.oauth2, .metadata, "GET", .metadata)],
    "/.well-known/openid-configuration": [Route(.oauth2, .metadata, "GET", .metadata)],
  ]

  private static func withAllow(_ routes: [Route]) -> [Route] {
    var operations = routes.map(\.operation)
    if routes.contains(where: { $0.endpoint == .token || $0.endpoint == .oauthToken }) { operations.append(.refresh) }
    let methods = routes.map { $0.method == "GET" ? "GET, HEAD" : $0.method }.joined(separator: ", ")
    return routes.map { route in
      var route = route
      route.allow = methods
      route.operations = operations
      return route
    }
  }

  /// The route of a request; one of another method if the path has none for this one.
  static func find(_ request: MockRequest, path: String, query: Substring) -> Route? {
    let routes = at(path)
    guard var route = routes.first(where: { $0.allows(request.method) }) ?? routes.first else { return nil }
    if route.endpoint == .token, query.contains("refresh_token"),
      QueryItems(query)?["grant_type"] == "refresh_token"
    {
      route.operation = .refresh
    }
    if route.endpoint == .oauthToken, FormItems(request)?["grant_type"] == "refresh_token" {
      route.operation = .refresh
    }
    return route
  }

  /// Every path with a name in it, in braces, and its routes.
  static var withNames: [(path: String, routes: [Route])] {
    [(path: "/auth/v1/admin/users/{id}", routes: at("/auth/v1/admin/users/id"))]
  }

  /// The routes of one user in Supabase's admin calls: the only path with a name in it.
  private static func ofUser(_ path: String) -> [Route]? {
    let prefix = "/auth/v1/admin/users/"
    guard path.hasPrefix(prefix) else { return nil }
    let id = String(path.dropFirst(prefix.count))
    guard !id.isEmpty, !id.contains("/") else { return nil }
    return withAllow([
      Route(.supabase, .adminUsers, "GET", .adminUser(id)), Route(.supabase, .adminUsers, "PUT", .changeUser(id)),
      Route(.supabase, .adminUsers, "DELETE", .deleteUser(id)),
    ])
  }

  /// Every path with its route, in the order of the paths.
  static var all: [(path: String, route: Route)] {
    table.sorted { $0.key < $1.key }.flatMap { path, routes in routes.map { (path: path, route: $0) } }
  }

  /// The paths at which an operation can be asked for, in order.
  static func paths(of operation: MockOperation) -> [String] {
    table.filter { $0.value.contains { $0.operations.contains(operation) } }.map(\.key).sorted()
  }

  /// The routes of a path; none for a path that no endpoint has.
  static func at(_ path: String) -> [Route] { table[path] ?? ofUser(path) ?? [] }

  /// Whether the method is the route's; `HEAD` counts as `GET` (RFC 9110 §9.3.2), the front leaves the body out.
  func allows(_ other: String) -> Bool { other == method || other == "HEAD" && method == "GET" }
}

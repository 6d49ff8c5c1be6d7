/// An endpoint of a dialect.
struct Route: Sendable {
  let dialect: MockDialect
  let operation: MockOperation
  let method: String

  /// The routes by their path, as the page on wire formats has them.
  private static let table: [String: Route] = [
    "/auth/register": Route(dialect: .chirp, operation: .register, method: "POST"),
    "/auth/login": Route(dialect: .chirp, operation: .login, method: "POST"),
    "/auth/refresh": Route(dialect: .chirp, operation: .refresh, method: "POST"),
    "/auth/logout": Route(dialect: .chirp, operation: .logout, method: "POST"),
    "/me": Route(dialect: .chirp, operation: .me, method: "GET"),
    "/feed": Route(dialect: .chirp, operation: .feed, method: "GET"),
    "/posts": Route(dialect: .chirp, operation: .post, method: "POST"),
    "/envelope/login": Route(dialect: .envelope, operation: .login, method: "POST"),
    "/envelope/refresh": Route(dialect: .envelope, operation: .refresh, method: "POST"),
    "/envelope/me": Route(dialect: .envelope, operation: .me, method: "GET"),
  ]

  static func find(_ path: String) -> Route? { table[path] }

  /// Every path with its route, in the order of the paths.
  static var all: [(path: String, route: Route)] {
    table.sorted { $0.key < $1.key }.map { (path: $0.key, route: $0.value) }
  }

  /// The paths at which an operation can be asked for, in order.
  static func paths(of operation: MockOperation) -> [String] {
    all.filter { $0.route.operations.contains(operation) }.map(\.path)
  }

  /// What can be asked for at the endpoint, whatever the method.
  var operations: [MockOperation] { [operation] }

  /// Whether the method is the route's; `HEAD` counts as `GET` (RFC 9110 §9.3.2), the front leaves the body out.
  func allows(_ other: String) -> Bool { other == method || other == "HEAD" && method == "GET" }

  /// The `Allow` header.
  var allow: String { method == "GET" ? "GET, HEAD" : method }
}

/// Where in the server a request target points.
struct TargetPath {
  /// The realm's name.
  let realm: String
  /// The path without the realm's prefix; begins with `/`.
  let path: String
  /// The query without its question mark.
  let query: Substring

  /// Nil for a target that has no path, or whose realm has no proper name.
  init?(_ target: String) {
    var rest = target[...]
    if !rest.hasPrefix("/") {
      // The absolute form (RFC 9112 §3.2.2).
      guard let scheme = rest.firstRange(of: "://") else { return nil }
      rest = rest[scheme.upperBound...]
      rest = rest.firstIndex(of: "/").map { rest[$0...] } ?? "/"
    }
    if let fragment = rest.firstIndex(of: "#") { rest = rest[..<fragment] }
    if let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) {
      query = rest[rest.index(after: mark)...]
      rest = rest[..<mark]
    } else {
      query = ""
    }
    guard rest.hasPrefix("/r/") else {
      realm = "default"
      path = String(rest)
      return
    }
    let named = rest.dropFirst(3)
    let slash = named.firstIndex(of: "/") ?? named.endIndex
    let name = String(named[..<slash])
    guard Self.isRealmName(name) else { return nil }
    realm = name
    path = slash == named.endIndex ? "/" : String(named[slash...])
  }

  /// 1 to 64 of letters, digits, `-`, `_` and `.`, neither `.` nor `..`.
  static func isRealmName(_ name: String) -> Bool {
    guard (1...64).contains(name.utf8.count), name != ".", name != ".." else { return false }
    return name.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
      default: false
      }
    }
  }
}

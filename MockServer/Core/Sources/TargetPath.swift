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
    // Nearly every target is a plain path of the root realm, and is taken as it is; `/.well-known/…` may name another.
    let isPlain = target.utf8.withContiguousStorageIfAvailable { bytes in
      bytes.first == UInt8(ascii: "/") && bytes.dropFirst().first != UInt8(ascii: ".")
        && !bytes.dropFirst().starts(with: [UInt8(ascii: "r"), UInt8(ascii: "/")])
        && !bytes.contains { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
    }
    if isPlain == true {
      realm = "default"
      path = target
      query = ""
      return
    }
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
    // An issuer with a path has its documents between host and path (RFC 8414 §3.1).
    for document in ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]
    where rest.hasPrefix("\(document)/r/") {
      let name = String(rest.dropFirst(document.utf8.count + 3))
      guard Self.isRealmName(name) else { return nil }
      realm = name
      path = document
      return
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

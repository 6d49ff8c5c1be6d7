#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A server in its one canonical spelling: scheme, lower-case host, effective port, base path.
///
/// Two spellings of the same server are the same slot; two servers are never mixed up. `http://LOCALHOST:8080/api/` is
/// `http://localhost:8080/api`, and `https://example.com:443` is `https://example.com`.
public struct ServerIdentity: Sendable, Hashable {
  /// The canonical spelling.
  public let text: String
  /// The same as a URL: the base of every endpoint.
  public let baseURL: URL
  private let host: String

  /// Reads a server's URL; without a scheme, `https` is taken, or `http` for a loopback host.
  ///
  /// - Throws: `ServerIdentityError` for anything that is no `http` or `https` URL with a host, or that has a user, a query or a fragment.
  public init(_ text: String) throws(ServerIdentityError) {
    let trimmed = text.trimmingPrefix { $0.isWhitespace }
    var candidate = String(trimmed.reversed().trimmingPrefix { $0.isWhitespace }.reversed())
    guard !candidate.isEmpty else { throw ServerIdentityError("The server's URL is empty.") }
    if !candidate.contains("://") {
      let authority = candidate.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
      let isLocal = Self.isLoopback(Self.hostPart(of: authority))
      candidate = (isLocal ? "http://" : "https://") + candidate
    }
    guard let parts = URLComponents(string: candidate), let scheme = parts.scheme?.lowercased(),
      scheme == "http" || scheme == "https"
    else {
      throw ServerIdentityError("\"\(Self.shown(text))\" is no http or https URL.")
    }
    guard parts.user == nil, parts.password == nil else {
      throw ServerIdentityError("The server's URL must not hold a user or password.")
    }
    guard parts.query == nil, parts.fragment == nil else {
      throw ServerIdentityError("The server's URL must not have a query or a fragment.")
    }
    guard let rawHost = parts.percentEncodedHost, !rawHost.isEmpty else {
      throw ServerIdentityError("\"\(Self.shown(text))\" names no host.")
    }
    var host = rawHost.lowercased()
    if host.hasSuffix("."), host.count > 1 { host.removeLast() }
    let portText = Self.portPart(of: candidate)
    if !portText.isEmpty {
      // By the text: a number that is too large for the system's own reading is nil there, and would mean the default port.
      guard let port = Int(portText), (1...65535).contains(port), port == parts.port else {
        throw ServerIdentityError("\"\(portText.prefix(24))\" is no port: 1 to 65535 are.")
      }
    }
    let defaultPort = scheme == "https" ? 443 : 80
    let port = parts.port.flatMap { $0 == defaultPort ? nil : ":\($0)" } ?? ""
    var path = parts.percentEncodedPath
    while path.hasSuffix("/") { path.removeLast() }
    guard
      !path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().contains(where: {
        $0.isEmpty || $0 == "." || $0 == ".."
      })
    else {
      throw ServerIdentityError("The path of the server's URL has an empty, \".\" or \"..\" segment.")
    }
    let canonical = "\(scheme)://\(host)\(port)\(path)"
    guard let url = URL(string: canonical), url.host() != nil else {
      throw ServerIdentityError("\"\(Self.shown(text))\" is no URL.")
    }
    self.text = canonical
    self.host = host
    baseURL = url
  }

  /// Whether the host is this machine: `localhost`, `127.0.0.0/8` or `::1`.
  public var isLoopback: Bool { Self.isLoopback(host) }

  private static func isLoopback(_ host: some StringProtocol) -> Bool {
    let name = host.lowercased()
    if name == "localhost" || name.hasSuffix(".localhost") || name == "[::1]" || name == "::1" { return true }
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }

  private static func hostPart(of authority: some StringProtocol) -> String {
    if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") { return String(authority[...end]) }
    return String(authority.prefix { $0 != ":" })
  }

  /// What stands behind the host's colon; empty if nothing does.
  private static func portPart(of url: String) -> Substring {
    guard let scheme = url.firstRange(of: "://") else { return "" }
    let authority = url[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let host = authority.hasPrefix("[") ? authority.prefix { $0 != "]" } : authority.prefix { $0 != ":" }
    guard let colon = authority[host.endIndex...].firstIndex(of: ":") else { return "" }
    return authority[authority.index(after: colon)...]
  }

  private static func shown(_ text: String) -> String {
    // A password may stand before the @.
    text.contains("@") ? "…@" + (text.split(separator: "@").last ?? "").prefix(60) : String(text.prefix(80))
  }
}

/// Why a text names no server.
public struct ServerIdentityError: Error, Sendable, Hashable, CustomStringConvertible {
  /// One sentence for a person.
  public var message: String

  init(_ message: String) { self.message = message }

  public var description: String { message }
}

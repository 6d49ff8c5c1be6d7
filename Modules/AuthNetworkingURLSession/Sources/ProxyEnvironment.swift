internal import AuthNetworking
internal import Foundation

/// The proxy that the environment names: on Linux libcurl obeys it without being asked, also for loopback.
struct ProxyEnvironment: Sendable, Hashable {
  private let hasProxyForHTTP: Bool
  private let exceptions: [String]

  init(_ environment: [String: String]) {
    hasProxyForHTTP = ["http_proxy", "all_proxy", "ALL_PROXY"].contains { environment[$0]?.isEmpty == false }
    let list = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
    exceptions = list.lowercased().split { $0 == "," || $0 == " " }.map(String.init)
  }

  /// Whether a plain request to this machine would leave it, by way of a proxy: a credential must not (S24).
  func divertsLoopback(_ url: URL) -> Bool {
    guard hasProxyForHTTP, url.scheme?.lowercased() == "http", let host = url.host()?.lowercased(),
      ConnectionSecurity.isLoopback(host: host)
    else { return false }
    return !exceptions.contains { exception in
      let name = exception.hasPrefix(".") ? String(exception.dropFirst()) : exception
      return name == "*" || name == host || name == "[\(host)]" || host.hasSuffix("." + name)
        || name == "127.0.0.0/8" && host.hasPrefix("127.")
    }
  }
}

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The token pair as an app keeps it (D1.2).
///
/// Every `TokenStore` saves and loads this value as a whole: an access token and the refresh token that came with it are never apart.
public struct TokenBundle: Sendable, Hashable, Codable {
  /// What goes into the `Authorization` header.
  public var accessToken: String
  /// What buys the next pair; absent where the server gave none.
  public var refreshToken: String?
  /// The instant at which the access token stops working; absent where the server does not tell (D2.2, S3).
  public var accessTokenExpiry: Date?

  /// Makes a bundle from its parts.
  public init(accessToken: String, refreshToken: String?, accessTokenExpiry: Date?) {
    self.accessToken = accessToken
    self.refreshToken = refreshToken
    self.accessTokenExpiry = accessTokenExpiry
  }
}

extension TokenBundle: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Tells what is there without a secret.
  public var description: String {
    "TokenBundle(accessToken: ●●●, refreshToken: \(refreshToken == nil ? "none" : "●●●"), accessTokenExpiry: \(accessTokenExpiry.map { "\($0)" } ?? "unknown"))"
  }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

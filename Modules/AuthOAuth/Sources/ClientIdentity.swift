/// A client's own secret, as a server gave it out with the client's id. Shown by nothing.
public struct ClientSecret: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// The secret.
  public let text: String

  /// Takes a secret as it is.
  public init(_ text: String) { self.text = text }

  public var description: String { "●●●" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// How a client proves itself at the token endpoint (RFC 6749 §2.3.1).
public enum ClientAuthentication: String, Sendable, Hashable, Codable, CaseIterable {
  /// Not at all: a program that everybody has can keep no secret. It names itself, and PKCE protects its codes.
  case none
  /// By an `Authorization: Basic` header; every server has to take this one.
  case basic
  /// By its secret in the form.
  case post
}

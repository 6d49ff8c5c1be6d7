/// Why a request got no answer: the one error of every transport.
///
/// `description` names no header, no body and no query: it is safe to log.
public struct TransportError: Error, Sendable, Hashable {
  /// What went wrong.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// No connection came about: refused, unreachable, no such host, no network.
    case cannotConnect
    /// The time-out ran out.
    case timedOut
    /// The TLS handshake or the certificate check failed.
    case tlsFailure
    /// The connection broke before the whole answer was there.
    case connectionLost
    /// What came back is not HTTP.
    case malformedResponse
    /// The answer is larger than the limit.
    case responseTooLarge
    /// The answer is a redirect that may not be followed (S24).
    case redirectRefused
    /// A credential would have gone over plain HTTP (S24); nothing was sent.
    case insecureConnection
    /// The request itself cannot be sent, say a URL without a host; nothing was sent.
    case invalidRequest
    /// The caller gave up.
    case cancelled
  }

  /// What went wrong.
  public var code: Code
  /// Whether the server may have received the request: decides what a refresh may do next (S12). When in doubt, true.
  public var mayHaveBeenSent: Bool
  /// One sentence for a person: which host, what the system said. Holds no secret.
  public var message: String

  /// Makes an error from its parts.
  public init(_ code: Code, mayHaveBeenSent: Bool, message: String) {
    self.code = code
    self.mayHaveBeenSent = mayHaveBeenSent
    self.message = message
  }
}

extension TransportError: CustomStringConvertible {
  public var description: String { message }
}

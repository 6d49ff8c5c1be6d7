public import AuthModels

/// Why a sign-in by OAuth 2 came to nothing: each way of going wrong has its own code. Holds no token, code or secret.
public struct OAuthError: Error, Sendable, Hashable {
  /// What went wrong.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    // The server's metadata (RFC 8414).

    /// There is no metadata at the places where they belong.
    case noMetadata
    /// The metadata cannot be used: a member is missing, or an endpoint is no URL or not https.
    case badMetadata
    /// The metadata, the redirect or the token names another issuer than the one that was asked (RFC 8414 §3.3, RFC 9207 §2.4).
    case wrongIssuer
    /// The server has no endpoint for what is asked.
    case notSupported

    // The redirect (RFC 6749 §4.1.2).

    /// The redirect went to another address than the one that was given out: scheme, host, port or path.
    case wrongRedirect
    /// A parameter stands there twice (RFC 6749 §3.1).
    case duplicateParameter
    /// The state is missing or not the one that was sent: the answer is to somebody else's request (RFC 6749 §10.12).
    case wrongState
    /// There is no authorization code.
    case missingCode
    /// The user, or the server, said no.
    case denied
    /// Nobody answered in time.
    case timedOut
    /// No listener for the redirect could be opened.
    case noListener

    // The token endpoint (RFC 6749 §5.2).

    /// The server does not take the authorization code: used before, expired, or given to another client.
    case codeRefused
    /// The server does not know the client, or its secret is wrong.
    case clientRefused
    /// This client may not sign in in this way.
    case grantNotAllowed
    /// The server does not have this way of signing in.
    case grantNotSupported
    /// The server does not give this scope.
    case scopeRefused
    /// The device code ran out before anybody entered it (RFC 8628 §3.5).
    case deviceCodeExpired
    /// The token is of a type that this client cannot send (RFC 6749 §7.1).
    case tokenTypeNotSupported

    // The ID token (OpenID Connect Core §3.1.3.7).

    /// It is no JSON Web Token, or a claim that has to be there is not.
    case malformedToken
    /// It is not signed at all (`alg: none`), which proves nothing.
    case unsignedToken
    /// It is signed in a way that this client does not take.
    case algorithmNotAllowed
    /// The server does not publish the key that it names.
    case unknownKey
    /// The signature is not by that key.
    case badSignature
    /// It is for another client.
    case wrongAudience
    /// It is not valid any more.
    case expired
    /// It is not valid yet.
    case notYetValid
    /// It answers another request (`nonce`).
    case wrongNonce
    /// It was made for another access token (`at_hash`).
    case wrongTokenHash
    /// The user that the server tells of is not the one who signed in.
    case wrongSubject
  }

  /// What went wrong.
  public var code: Code
  /// One or two sentences: what happened, and what to do about it.
  public var message: String
  /// The server's own code, where it gave one.
  public var serverCode: ServerErrorCode?
  /// The request's id, for the server's logs.
  public var requestID: String?

  /// Makes an error.
  public init(_ code: Code, _ message: String, serverCode: ServerErrorCode? = nil, requestID: String? = nil) {
    self.code = code
    self.message = message
    self.serverCode = serverCode
    self.requestID = requestID
  }
}

extension OAuthError: CustomStringConvertible {
  public var description: String {
    "OAuthError \(code.rawValue)\(serverCode.map { ", code \($0.rawValue)" } ?? ""): \(message)"
  }
}

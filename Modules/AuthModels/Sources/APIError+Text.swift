#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension APIError {
  /// One sentence or two for the person in front of the screen: what happened, and what to do about it.
  ///
  /// A refused sign-in says "Invalid email or password." (D1.5); a profile with words of its own (D5.4) puts them in its place.
  /// The server's own words are shown where they are about what was typed (D1.7, D4.6). Holds no secret.
  public var userMessage: String {
    switch kind {
    case .transport: transport?.userMessage ?? "The server could not be reached. Check the connection and try again."
    case .invalidCredentials: "Invalid email or password."
    case .unauthorized: "Sign in again to go on."
    case .forbidden: "This account is not allowed to do that."
    case .notFound: "The server does not have what was asked for."
    case .conflict: conflictMessage
    case .validation: inputMessage ?? "The server did not accept what was entered."
    case .rateLimited: "Too many attempts. \(whenToRetry)"
    case .clientError: "The server refused the request (status \(status ?? 0))."
    case .serverError: "The server has a problem (status \(status ?? 0)). \(whenToRetry)"
    case .undecodable: "The server sent an answer that this app does not understand. Try again later."
    }
  }

  private var conflictMessage: String {
    switch serverCode {
    case .some(.emailTaken), .some(.userAlreadyExists), .some(.emailExists):
      "An account with this email already exists."
    case .some(.usernameTaken): "This username is taken."
    default: inputMessage ?? "This already exists."
    }
  }

  /// What the server says of the fields, else its message.
  private var inputMessage: String? {
    let texts = fields.keys.sorted().compactMap { fields[$0] }.filter { !$0.isEmpty }
    if !texts.isEmpty { return texts.joined(separator: " ") }
    return serverMessage.flatMap { $0.isEmpty ? nil : $0 }
  }

  private var whenToRetry: String {
    guard let seconds = retryAfter.map({ $0.components.seconds + ($0.components.attoseconds > 0 ? 1 : 0) }), seconds > 0
    else { return "Try again later." }
    if seconds == 1 { return "Try again in 1 second." }
    if seconds < 120 { return "Try again in \(seconds) seconds." }
    return "Try again in \((seconds + 59) / 60) minutes."
  }
}

extension TransportError {
  /// One sentence or two for the person in front of the screen.
  public var userMessage: String {
    switch code {
    case .cannotConnect: "The server could not be reached. Check the connection and try again."
    case .timedOut: "The server took too long to answer. Try again."
    case .tlsFailure: "A secure connection to the server could not be made."
    case .connectionLost: "The connection to the server was lost. Try again."
    case .malformedResponse, .responseTooLarge:
      "The server sent an answer that this app does not understand. Try again later."
    case .redirectRefused: "The server sent the request elsewhere, where it may not go."
    case .insecureConnection: "The connection is not secure, so nothing was sent. Use an https address."
    case .invalidRequest: "The request could not be made. Check the server's address."
    case .cancelled: "Cancelled."
    }
  }
}

extension APIError: CustomStringConvertible {
  /// For logs: kind, status, code and ids, then the server's or the transport's words. Holds no secret.
  public var description: String {
    var text = "APIError \(kind.rawValue)"
    if let status { text += ", status \(status)" }
    if let serverCode { text += ", code \(serverCode.rawValue)" }
    if let requestID { text += ", request \(requestID)" }
    if let retryAfter { text += ", retry after \(retryAfter)" }
    if !fields.isEmpty { text += ", fields \(fields.keys.sorted().joined(separator: ", "))" }
    if let words = transport?.message ?? serverMessage { text += ": \(words)" }
    if let detail { text += " [\(detail)]" }
    return text
  }
}

extension APIError: LocalizedError {
  public var errorDescription: String? { userMessage }
}

extension TransportError: LocalizedError {
  public var errorDescription: String? { userMessage }
}

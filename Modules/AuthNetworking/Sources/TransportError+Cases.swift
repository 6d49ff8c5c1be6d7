package import AuthModels

/// The failures that every transport tells in the same words. Nothing of the URL but its host gets into a message.
extension TransportError {
  /// The caller gave up.
  package static func cancelled(mayHaveBeenSent: Bool) -> TransportError {
    TransportError(.cancelled, mayHaveBeenSent: mayHaveBeenSent, message: "The request was cancelled.")
  }

  /// The time for the whole exchange is over.
  package static func timedOut(host: String, mayHaveBeenSent: Bool = true) -> TransportError {
    TransportError(
      .timedOut, mayHaveBeenSent: mayHaveBeenSent, message: "No answer from \(host) within the time-out.")
  }

  /// The connection broke.
  package static func lost(host: String, mayHaveBeenSent: Bool = true) -> TransportError {
    TransportError(
      .connectionLost, mayHaveBeenSent: mayHaveBeenSent,
      message: "The connection to \(host) broke before the whole answer came.")
  }

  /// What came back is not HTTP.
  package static func malformed(host: String) -> TransportError {
    TransportError(
      .malformedResponse, mayHaveBeenSent: true, message: "\(host) answered with something that is not HTTP.")
  }

  /// The answer is larger than the limit, in bytes.
  package static func tooLarge(host: String, limit: Int) -> TransportError {
    TransportError(
      .responseTooLarge, mayHaveBeenSent: true, message: "The answer of \(host) is larger than \(limit) bytes.")
  }
}

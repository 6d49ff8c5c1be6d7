public import AuthModels

/// The seam to a networking library: one request out, one whole answer back.
///
/// A transport keeps rule S24 by itself: it follows no redirect with `Authorization`, cookies or a credential body to another scheme,
/// host or port (such an answer is returned as it is), and none at all for `hasCredentialBody`. It neither retries nor refreshes: that
/// is the interceptors' work. It is called from any number of tasks at once.
public protocol HTTPTransport: Sendable {
  /// Sends a request and waits for the whole answer, of any status.
  ///
  /// - Throws: `TransportError` when no whole answer came; code `cancelled` as soon as the task is cancelled.
  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse
}

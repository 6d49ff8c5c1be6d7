import AuthModels
import AuthNetworking
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A transport whose refreshes take a while, as over a network, so that a storm of callers meets one on its way.
final class DelayedTransport: HTTPTransport {
  private let inner: any HTTPTransport
  private let delay = Guarded(Duration.zero)

  init(_ inner: any HTTPTransport) { self.inner = inner }

  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    let delay = delay.withLock { $0 }
    if delay > .zero, request.url.path().hasSuffix("/refresh") {
      do {
        try await clock.sleep(for: delay)
      } catch {
        throw .cancelled(mayHaveBeenSent: false)
      }
    }
    return try await inner.send(request)
  }

  /// From now on a refresh takes so much longer.
  func delayRefreshes(by duration: Duration) { delay.withLock { $0 = duration } }
}

import AuthModels
import AuthNetworking
import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A transport that keeps refreshes waiting until all callers are there: a storm in which nobody comes late.
final class GatedTransport: HTTPTransport {
  private struct Gate {
    var isOpen = true
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let inner: any HTTPTransport
  private let gate = Guarded(Gate())

  init(_ inner: any HTTPTransport) { self.inner = inner }

  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    if request.url.path.hasSuffix("/refresh") {
      await withCheckedContinuation { continuation in
        let mustWait = gate.withLock { gate in
          if !gate.isOpen { gate.waiting.append(continuation) }
          return !gate.isOpen
        }
        if !mustWait { continuation.resume() }
      }
    }
    return try await inner.send(request)
  }

  func close() { gate.withLock { $0.isOpen = false } }

  func open() {
    let waiting = gate.withLock { gate in
      gate.isOpen = true
      defer { gate.waiting = [] }
      return gate.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}

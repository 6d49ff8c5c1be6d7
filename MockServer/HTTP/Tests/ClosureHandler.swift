import Groundwork
import MockServerCore

@testable import MockServerHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

typealias Deliver = @Sendable (MockDelivery) -> Void

/// Answers by a closure and keeps what it was asked.
final class ClosureHandler: MockRequestHandler {
  private let requests = Guarded([MockRequest]())
  private let closure: @Sendable (MockRequest, @escaping Deliver) -> Void

  init(_ closure: @escaping @Sendable (MockRequest, @escaping Deliver) -> Void) {
    self.closure = closure
  }

  /// Answers every request with its path, and a malformed one with its own status.
  static func echo() -> ClosureHandler {
    ClosureHandler { request, deliver in deliver(.echo(of: request)) }
  }

  func receive(_ request: MockRequest, deliver: @escaping Deliver) {
    requests.withLock { $0.append(request) }
    closure(request, deliver)
  }

  var seen: [MockRequest] { requests.withLock { $0 } }
}

extension MockDelivery {
  /// The request's own malformation, or its path and the length of its body.
  static func echo(of request: MockRequest) -> MockDelivery {
    if let malformation = request.malformation {
      return MockDelivery(reply: MockReply(status: malformation.status, body: Data(malformation.reason.utf8)))
    }
    return .text("\(request.method) \(request.target) \(request.body.count)")
  }

  static func text(_ text: String, status: Int = 200, fault: WireFault? = nil) -> MockDelivery {
    MockDelivery(
      reply: MockReply(status: status, headers: [.init("Content-Type", "text/plain")], body: Data(text.utf8)),
      fault: fault)
  }
}

/// Answers kept back until a test lets them go.
final class Holder: Sendable {
  private struct State {
    var held: [Deliver] = []
    var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Guarded(State())

  func hold(_ deliver: @escaping Deliver) {
    let ready = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.held.append(deliver)
      let count = state.held.count
      let ready = state.waiters.filter { $0.count <= count }.map(\.continuation)
      state.waiters.removeAll { $0.count <= count }
      return ready
    }
    for continuation in ready { continuation.resume() }
  }

  /// Returns when so many answers are held.
  func wait(for count: Int) async {
    await withCheckedContinuation { continuation in
      let isReady = state.withLock { state in
        if state.held.count >= count { return true }
        state.waiters.append((count, continuation))
        return false
      }
      if isReady { continuation.resume() }
    }
  }

  func takeAll() -> [Deliver] {
    state.withLock { state in
      defer { state.held = [] }
      return state.held
    }
  }
}

/// Runs a test against a front that is stopped afterwards, whatever the test does.
func withFront<Success: Sendable>(
  _ handler: any MockRequestHandler, options: HTTPFront.Options = .init(),
  _ body: (UInt16) async throws -> Success
) async throws -> Success {
  let front = HTTPFront(handler: handler, options: options)
  let address = try front.start()
  do {
    let success = try await body(address.port)
    await front.stop()
    return success
  } catch {
    await front.stop()
    throw error
  }
}

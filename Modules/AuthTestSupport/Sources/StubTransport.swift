public import AuthModels
public import AuthNetworking
internal import Groundwork

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A transport that gives scripted answers and remembers what it was asked.
///
/// Answers come from a list, in the order in which requests arrive, and after the list from a closure. An answer can be held: the request
/// then waits until the test releases it, or its task is cancelled. A request for which there is no answer fails as `cannotConnect`
/// with a message that says so: no test hangs on a forgotten answer.
public final class StubTransport: HTTPTransport {
  /// What a request gets.
  public enum Answer: Sendable {
    /// An answer of the server.
    case response(HTTPResponse)
    /// No answer.
    case failure(TransportError)
    /// Waits for `release(_:)` of that name, then gives the other one.
    indirect case held(String, Answer)

    /// An answer with a JSON body.
    public static func json(_ status: Int, _ body: String, headers: HTTPFields = [:]) -> Answer {
      var headers = headers
      if headers["Content-Type"] == nil { headers["Content-Type"] = "application/json" }
      return .response(HTTPResponse(status: status, headers: headers, body: .init(body.utf8)))
    }
  }

  private struct Waiter {
    var id: Int
    var name: String
    var continuation: CheckedContinuation<Bool, Never>
  }

  private struct Watcher {
    var count: Int
    var continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var answers: [Answer]
    var requests: [HTTPRequest] = []
    var released: [String: Int] = [:]
    var openNames: Set<String> = []
    var waiters: [Waiter] = []
    var cancelled: Set<Int> = []
    var watchers: [Watcher] = []
    var nextID = 0
  }

  private let state: Guarded<State>
  private let otherwise: (@Sendable (HTTPRequest) async -> Answer)?

  /// Makes a transport.
  ///
  /// - Parameters:
  ///   - answers: what the first requests get, in order of arrival.
  ///   - otherwise: what all further ones get.
  public init(_ answers: [Answer] = [], otherwise: (@Sendable (HTTPRequest) async -> Answer)? = nil) {
    state = Guarded(State(answers: answers))
    self.otherwise = otherwise
  }

  /// What was asked so far, in order of arrival.
  public var requests: [HTTPRequest] { state.withLock { $0.requests } }

  /// Adds an answer at the end of the list.
  public func append(_ answer: Answer) {
    state.withLock { $0.answers.append(answer) }
  }

  /// Waits until at least so many requests have arrived.
  public func requests(atLeast count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.requests.count >= count { return true }
        state.watchers.append(Watcher(count: count, continuation: continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  /// Lets held requests of that name go on.
  ///
  /// - Parameter count: how many, in order of arrival, those that come later included; nil for all, now and later.
  public func release(_ name: String, count: Int? = nil) {
    let due = state.withLock { state -> [Waiter] in
      let waiting = state.waiters.filter { $0.name == name }
      guard let count else {
        state.openNames.insert(name)
        state.waiters.removeAll { $0.name == name }
        return waiting
      }
      let due = Array(waiting.prefix(max(count, 0)))
      state.waiters.removeAll { waiter in due.contains { $0.id == waiter.id } }
      state.released[name, default: 0] += max(count, 0) - due.count
      return due
    }
    for waiter in due { waiter.continuation.resume(returning: true) }
  }

  public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    let (scripted, reached) = state.withLock { state -> (Answer?, [Watcher]) in
      state.requests.append(request)
      let count = state.requests.count
      let reached = state.watchers.filter { $0.count <= count }
      state.watchers.removeAll { $0.count <= count }
      return (state.answers.isEmpty ? nil : state.answers.removeFirst(), reached)
    }
    for watcher in reached { watcher.continuation.resume() }
    var answer: Answer
    if let scripted {
      answer = scripted
    } else if let otherwise {
      answer = await otherwise(request)
    } else {
      throw TransportError(
        .cannotConnect, mayHaveBeenSent: false,
        message: "StubTransport has no answer for \(request.method.rawValue) \(request.url.path())")
    }
    while case .held(let name, let inner) = answer {
      guard await isReleased(name) else { throw Self.cancellation }
      answer = inner
    }
    if Task.isCancelled { throw Self.cancellation }
    switch answer {
    case .response(let response): return response
    case .failure(let error): throw error
    case .held: throw Self.cancellation
    }
  }

  private static var cancellation: TransportError {
    TransportError(.cancelled, mayHaveBeenSent: true, message: "The request was cancelled.")
  }

  /// Waits for the release; false if the task was cancelled first.
  private func isReleased(_ name: String) async -> Bool {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    defer { state.withLock { _ = $0.cancelled.remove(id) } }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let now = state.withLock { state -> Bool? in
          if state.cancelled.remove(id) != nil { return false }
          if state.openNames.contains(name) { return true }
          if let count = state.released[name], count > 0 {
            state.released[name] = count - 1
            return true
          }
          state.waiters.append(Waiter(id: id, name: name, continuation: continuation))
          return nil
        }
        if let now { continuation.resume(returning: now) }
      }
    } onCancel: {
      let waiter = state.withLock { state -> Waiter? in
        guard let index = state.waiters.firstIndex(where: { $0.id == id }) else {
          state.cancelled.insert(id)
          return nil
        }
        return state.waiters.remove(at: index)
      }
      waiter?.continuation.resume(returning: false)
    }
  }
}

internal import AuthModels
internal import AuthNetworking
internal import Groundwork

#if canImport(FoundationNetworking)
  internal import Foundation
  internal import FoundationNetworking
#else
  internal import Foundation
#endif

/// One request on its way: collects the answer, and answers its waiter exactly once, whoever is first: the answer, a failure, the
/// time-out or the cancellation.
final class Exchange: Sendable {
  typealias Outcome = Result<HTTPResponse, TransportError>

  private struct State {
    var continuation: CheckedContinuation<Outcome, Never>?
    var outcome: Outcome?
    var head: HTTPResponse?
    var body = Data()
    var isAbandoned = false
  }

  private let host: String
  private let limit: Int
  private let state = Guarded(State())

  init(host: String, limit: Int) {
    self.host = host
    self.limit = limit
  }

  /// Takes the waiter, or answers it at once.
  ///
  /// - Returns: whether the request is still wanted.
  func wait(_ continuation: CheckedContinuation<Outcome, Never>) -> Bool {
    let outcome = state.withLock { state -> Outcome? in
      guard let outcome = state.outcome else {
        state.continuation = continuation
        return nil
      }
      return outcome
    }
    guard let outcome else { return true }
    continuation.resume(returning: outcome)
    return false
  }

  /// Ends the exchange, unless it has ended.
  func finish(_ outcome: Outcome) {
    let continuation = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
      guard state.outcome == nil else { return nil }
      state.outcome = outcome
      state.body = Data()
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume(returning: outcome)
  }

  /// Cancels the task of this exchange; every cancellation goes through here.
  func abandon(_ task: URLSessionTask) {
    state.withLock { $0.isAbandoned = true }
    task.cancel()
  }

  /// Answers the platform's question about a redirect, unless the task has been cancelled.
  ///
  /// On Linux the platform traps on an answer to a task that is cancelled already. Answer and cancellation go through one queue of
  /// its own; the lock sees to it that no cancellation gets in before the answer.
  func answerRedirect(_ answer: () -> Void) {
    state.withLock { state in
      if !state.isAbandoned { answer() }
    }
  }

  /// The head has come.
  ///
  /// - Returns: whether to go on: not if the body is announced as too large.
  func received(_ response: URLResponse) -> Bool {
    guard let head = HTTPResponse(response) else {
      finish(.failure(.malformed(host: host)))
      return false
    }
    if response.expectedContentLength > Int64(limit) {
      finish(.failure(.tooLarge(host: host, limit: limit)))
      return false
    }
    return state.withLock { state in
      state.head = head
      state.body = Data()
      return state.outcome == nil
    }
  }

  /// A part of the body has come.
  ///
  /// - Returns: whether to go on: not once the body is too large, or nobody waits.
  func received(_ part: Data) -> Bool {
    let (isWanted, isTooLarge) = state.withLock { state -> (Bool, Bool) in
      guard state.outcome == nil else { return (false, false) }
      guard part.count <= limit - state.body.count else { return (false, true) }
      state.body.append(part)
      return (true, false)
    }
    if isTooLarge { finish(.failure(.tooLarge(host: host, limit: limit))) }
    return isWanted
  }

  /// The exchange is over: with the answer, if there is a whole one.
  func completed(with error: (any Error)?, response: URLResponse?) {
    if let error {
      finish(.failure(TransportError(error, host: host)))
      return
    }
    let answer = state.withLock { state -> HTTPResponse? in
      guard var answer = state.head ?? response.flatMap(HTTPResponse.init) else { return nil }
      answer.body = state.body
      return answer
    }
    finish(answer.map { .success($0) } ?? .failure(.malformed(host: host)))
  }
}

/// A URL session and the exchanges that run on it.
final class ExchangeSession: Sendable {
  private let session: URLSession
  private let delegate: ExchangeDelegate

  init(connectionsPerHost: Int) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = max(connectionsPerHost, 1)
    configuration.httpCookieStorage = nil
    configuration.httpCookieAcceptPolicy = .never
    configuration.httpShouldSetCookies = false
    configuration.urlCache = nil
    configuration.urlCredentialStorage = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    delegate = ExchangeDelegate()
    session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
  }

  func task(for request: URLRequest, exchange: Exchange) -> URLSessionDataTask {
    let task = session.dataTask(with: request)
    delegate.exchanges.withLock { $0[task.taskIdentifier] = exchange }
    return task
  }

  /// Lets the running exchanges end and takes no further ones.
  func finish() {
    session.finishTasksAndInvalidate()
  }
}

/// Hands what the URL session tells to the exchange that it is about.
final class ExchangeDelegate: NSObject, URLSessionDataDelegate, Sendable {
  let exchanges = Guarded<[Int: Exchange]>([:])

  private func exchange(of task: URLSessionTask) -> Exchange? {
    exchanges.withLock { $0[task.taskIdentifier] }
  }

  /// No redirect is followed by the URL session: on Linux it would take `Authorization` along to any host.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    // Without an exchange the task is over, and nobody waits for this answer either.
    guard let exchange = exchange(of: task) else { return }
    if !exchange.received(response) { exchange.abandon(task) }
    exchange.answerRedirect { completionHandler(nil) }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    completionHandler(exchange(of: dataTask)?.received(response) == true ? .allow : .cancel)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    guard let exchange = exchange(of: dataTask) else { return dataTask.cancel() }
    if !exchange.received(data) { exchange.abandon(dataTask) }
  }

  #if canImport(FoundationNetworking)
    /// A 401 with a challenge is an answer like any other. On Linux the default handling never ends, and declining cancels the task:
    /// so the exchange ends here, with what has come.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      let exchange = exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
      exchange?.completed(with: nil, response: challenge.failureResponse)
      completionHandler(.cancelAuthenticationChallenge, nil)
    }
  #endif

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let exchange = exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
    exchange?.completed(with: error, response: task.response)
  }
}

public import AuthModels
public import AuthNetworking
public import Groundwork
public import MockServerCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A transport whose other end is a mock server in the same process: no sockets, and virtual time if the clock is a virtual one.
///
/// To the client it behaves as a network does: faults become the errors that a real transport would throw, with the same
/// `mayHaveBeenSent`; a cancelled or timed-out request is over for the client at once, while the server completes it. Redirects
/// are returned as they are. Host and port of the URL are not looked at: its path chooses the realm (`/r/NAME/…`).
/// Each request counts as a connection for the server's connection faults. `GET /__mock/events` never ends and is therefore
/// refused: follow `MockRealm.events()`.
public final class InProcessTransport: HTTPTransport {
  private let server: any MockRequestHandler
  private let time: any TimeSource
  private let tasks: TaskStarter
  private let timeout: Duration
  private let maximumBodySize: Int
  private let gate: MessageGate?
  private let offline: Guarded<Bool>

  /// Makes a transport.
  ///
  /// - Parameters:
  ///   - server: usually a `MockAuthServer`.
  ///   - time: what time-outs and dripping answers are measured by: the client's clock.
  ///   - tasks: how the tasks are started that outlive their caller.
  ///   - timeout: for requests that bring none.
  ///   - maximumBodySize: larger answers are refused with `responseTooLarge`.
  ///   - gate: stands between client and server; nil for none, which also saves the tasks.
  ///   - isOffline: whether there is no network at first.
  public init(
    server: any MockRequestHandler, time: any TimeSource = SystemClock(), tasks: TaskStarter = TaskStarter(),
    timeout: Duration = .seconds(60), maximumBodySize: Int = 16 << 20, gate: MessageGate? = nil, isOffline: Bool = false
  ) {
    self.server = server
    self.time = time
    self.tasks = tasks
    self.timeout = timeout
    self.maximumBodySize = maximumBodySize
    self.gate = gate
    offline = Guarded(isOffline)
  }

  /// Whether there is no network: requests fail with `cannotConnect`, and answers on their way are lost.
  public var isOffline: Bool {
    get { offline.withLock { $0 } }
    set { offline.withLock { $0 = newValue } }
  }

  public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    if Task.isCancelled {
      throw TransportError(.cancelled, mayHaveBeenSent: false, message: "The request was cancelled before it was sent.")
    }
    let mockRequest = try MockRequest(request)
    try connect(request)
    let exchange = Exchange()
    if let gate {
      tasks.start { [self] in
        guard await gate.request(request) == .arrives else {
          return exchange.end(.failure(.lost("The connection was lost on the way to the server.")))
        }
        pass(mockRequest, request, exchange)
      }
    } else {
      pass(mockRequest, request, exchange)
    }
    if !exchange.isOver { startTimer(for: exchange, after: request.timeout ?? timeout) }
    return try await exchange.value().get()
  }

  /// Fails as a connection does that does not come about.
  private func connect(_ request: HTTPRequest) throws(TransportError) {
    if isOffline {
      throw TransportError(.cannotConnect, mayHaveBeenSent: false, message: "There is no network.")
    }
    switch (server as? MockAuthServer)?.takeConnectionFault() {
    case nil: return
    case .refuse?:
      throw TransportError(.cannotConnect, mayHaveBeenSent: false, message: "The server refused the connection.")
    case .failHandshake? where request.url.scheme?.lowercased() == "https":
      throw TransportError(.tlsFailure, mayHaveBeenSent: false, message: "The TLS handshake failed.")
    case .failHandshake?:
      throw TransportError(
        .connectionLost, mayHaveBeenSent: true, message: "The server closed the connection without an answer.")
    }
  }

  private func startTimer(for exchange: Exchange, after timeout: Duration) {
    let timer = tasks.start { [time] in
      do {
        try await time.sleep(for: timeout)
      } catch {
        // The exchange has ended first, or the clock has: nobody waits for this time-out.
        return
      }
      exchange.end(
        .failure(
          TransportError(.timedOut, mayHaveBeenSent: true, message: "No answer came within \(timeout.text).")))
    }
    exchange.keep(timer: timer)
  }

  private func pass(_ mockRequest: MockRequest, _ request: HTTPRequest, _ exchange: Exchange) {
    server.receive(mockRequest) { [self] delivery in
      let outcome = outcome(of: delivery, for: request)
      if case .drip(let interval)? = delivery.fault {
        later(interval * max(delivery.reply.body.count, 1), outcome, request, exchange)
      } else if gate != nil {
        later(.zero, outcome, request, exchange)
      } else {
        arrive(outcome, exchange)
      }
    }
  }

  /// Lets an answer take its time, and pass the gate.
  private func later(
    _ duration: Duration, _ outcome: Exchange.Outcome, _ request: HTTPRequest, _ exchange: Exchange
  ) {
    tasks.start { [self] in
      if duration > .zero {
        do {
          try await time.sleep(for: duration)
        } catch {
          return exchange.end(.failure(.lost("The clock has ended before the answer was there.")))
        }
      }
      if let gate, case .success(let response) = outcome, await gate.answer(request, response) == .lost {
        return exchange.end(.failure(.lost("The connection was lost on the way back.")))
      }
      arrive(outcome, exchange)
    }
  }

  private func arrive(_ outcome: Exchange.Outcome, _ exchange: Exchange) {
    exchange.end(isOffline ? .failure(.lost("The network went away.")) : outcome)
  }

  /// What a real transport would make of what comes over the wire.
  private func outcome(of delivery: MockDelivery, for request: HTTPRequest) -> Exchange.Outcome {
    guard delivery.stream == nil else {
      return .failure(
        TransportError(
          .malformedResponse, mayHaveBeenSent: true, message: "The answer is a stream without an end."))
    }
    let count = request.method == "HEAD" ? 0 : delivery.reply.body.count
    switch delivery.fault {
    case nil, .drip: break
    case .close(let arrived), .truncate(let arrived as Int?):
      // What has a length and arrives whole is whole, whatever happens to the connection then.
      guard let arrived, arrived >= count else {
        return .failure(.lost("The server closed the connection before the whole answer was there."))
      }
    case .reset: return .failure(.lost("The server reset the connection."))
    case .tls where request.url.scheme?.lowercased() == "https":
      return .failure(
        TransportError(.tlsFailure, mayHaveBeenSent: true, message: "What came over TLS was no TLS."))
    case .garbage, .tls:
      return .failure(
        TransportError(.malformedResponse, mayHaveBeenSent: true, message: "What came back is not HTTP."))
    }
    guard count <= maximumBodySize else {
      return .failure(
        TransportError(
          .responseTooLarge, mayHaveBeenSent: true,
          message: "The answer has \(count) bytes, more than the \(maximumBodySize) that are allowed."))
    }
    return .success(HTTPResponse(delivery.reply, isHead: request.method == "HEAD"))
  }
}

extension TransportError {
  static func lost(_ message: String) -> TransportError {
    TransportError(.connectionLost, mayHaveBeenSent: true, message: message)
  }
}

extension MockRequest {
  /// The request as it would arrive.
  package init(_ request: HTTPRequest) throws(TransportError) {
    let url = request.url
    guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https", let host = url.host(),
      !host.isEmpty
    else {
      throw TransportError(
        .invalidRequest, mayHaveBeenSent: false, message: "The request's URL has no http scheme or no host.")
    }
    let path = url.path(percentEncoded: true)
    var target = path.isEmpty ? "/" : path
    if let query = url.query(percentEncoded: true) { target += "?\(query)" }
    let authority = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    var fields = [Field("Host", url.port.map { "\(authority):\($0)" } ?? authority)]
    fields += request.headers.fields.map { Field($0.name, $0.value) }
    if let body = request.body { fields.append(Field("Content-Length", String(body.count))) }
    self.init(
      method: request.method.rawValue, target: target, headers: fields, body: request.body ?? Data(),
      isSecure: scheme == "https")
  }
}

extension HTTPResponse {
  /// The answer as a transport would give it.
  package init(_ reply: MockReply, isHead: Bool) {
    var fields = reply.headers.map { HTTPField($0.name, $0.value) }
    if reply.status != 204, reply.status != 304 {
      fields.append(HTTPField("Content-Length", String(reply.body.count)))
    }
    self.init(status: reply.status, headers: HTTPFields(fields), body: isHead ? Data() : reply.body)
  }
}

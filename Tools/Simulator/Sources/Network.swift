import AuthModels
import AuthNetworking
import Groundwork
import MockServerCore
import MockServerInProcess

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The line between one process and the server: every message may be delayed, lost, doubled, or answered by something in between.
struct ProcessTransport: HTTPTransport {
  static let callField = "X-Call"
  private static let timeout = Duration.seconds(30)

  let world: World
  let process: SimulatedProcess

  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    guard process.isAlive else { throw Self.killed }
    if Task.isCancelled {
      throw TransportError(.cancelled, mayHaveBeenSent: false, message: "Cancelled before it was sent.")
    }
    let mockRequest = try MockRequest(request)
    let sending = Sending(request)
    // What the process believes may have changed in this very step.
    if let subject = process.subject { world.monitor.look(at: process, subject.sight) }
    world.monitor.sends(process, sending)
    let fate = world.faults.requestFate()
    if case .noConnection = fate {
      world.monitor.failed(sending, of: process, mayHaveBeenSent: false)
      world.trace.add(.message(.process(process.column), .server, arrives: false), "no connection")
      throw TransportError(.cannotConnect, mayHaveBeenSent: false, message: "There is no network.")
    }
    let isRefresh = sending.operation == "refresh"
    let point = Guarded(isRefresh ? KillPoint.refreshSent : .requestSent)
    process.enter(isRefresh ? .refreshSent : .requestSent)
    world.reached(isRefresh ? .refreshSent : .requestSent, by: process)
    let exchange = Exchange()
    let message = Message(
      request: mockRequest, sending: sending, process: process, askedAt: world.scheduler.now, boot: process.boot,
      exchange: exchange, point: point)
    dispatch(message, fate)
    let bound = request.timeout ?? Self.timeout
    let timer = world.scheduler.after(bound) {
      exchange.end(.failure(TransportError(.timedOut, mayHaveBeenSent: true, message: "No answer in \(bound.text).")))
    }
    let outcome = await exchange.value()
    world.scheduler.cancel(timer)
    process.leave(point.withLock { $0 })
    guard process.isAlive else { throw Self.killed }
    if case .failure(let error) = outcome {
      world.monitor.failed(sending, of: process, mayHaveBeenSent: error.mayHaveBeenSent)
      world.trace.add(.note(.process(process.column)), "\(world.monitor.name(of: sending)): \(error.code.rawValue)")
    }
    return try outcome.get()
  }

  static let killed = TransportError(.cancelled, mayHaveBeenSent: true, message: "The process was killed.")

  /// A request on its way, and all that follows from it.
  private struct Message: Sendable {
    let request: MockRequest
    let sending: Sending
    let process: SimulatedProcess
    let askedAt: Duration
    let boot: Int
    let exchange: Exchange
    let point: Guarded<KillPoint>
  }

  private func dispatch(_ message: Message, _ fate: Faults.RequestFate) {
    let delay = world.faults.delay()
    let copies = world.faults.isDuplicated() ? [delay, delay + world.faults.delay()] : [delay]
    for (index, delay) in copies.enumerated() {
      world.scheduler.after(delay) { arrive(message, fate, isCopy: index > 0) }
    }
  }

  private func arrive(_ message: Message, _ fate: Faults.RequestFate, isCopy: Bool) {
    let (trace, column) = (world.trace, message.process.column)
    switch fate {
    case .arrives, .noConnection: break
    case .lost:
      trace.add(.message(.process(column), .server, arrives: false), "\(world.monitor.name(of: message.sending)): lost")
      if !isCopy { answer(message, nil) }
      return
    case .endpointRefuses where message.sending.bearer == nil: break
    case .unavailable, .tooMany, .portal, .redirect, .forbidden, .invalidClient, .endpointRefuses:
      if !isCopy { answer(message, (Self.interposed(fate), false)) }
      return
    }
    trace.add(
      .message(.process(column), .server, arrives: true),
      world.monitor.name(of: message.sending) + (isCopy ? " again" : ""))
    if world.refusesSpentOnly, message.sending.operation == "refresh",
      world.monitor.isSpent(message.sending.refreshToken)
    {
      let refusal = HTTPResponse(
        status: 401, headers: ["Content-Type": "application/json"],
        body: Data(#"{"error":true,"reason":"The refresh token is not valid.","code":"invalid_grant"}"#.utf8))
      if !isCopy { answer(message, (refusal, true)) }
      return
    }
    world.server.receive(message.request) { delivery in
      world.monitor.served(
        message.sending, askedAt: message.askedAt, boot: message.boot, user: message.request.body.field("email"),
        delivery.reply.body, status: delivery.reply.status)
      let response = mangled(HTTPResponse(delivery.reply, isHead: false))
      guard !isCopy else { return }
      move(message, to: .refreshCommitted)
      switch world.faults.answerFate() {
      case .arrives: answer(message, (response, true))
      case .lost:
        trace.add(.message(.server, .process(column), arrives: false), "\(response.status): answer lost")
        answer(message, nil)
      case .badGateway: answer(message, (Self.plain(502, "<html>Bad gateway</html>"), false))
      case .cut:
        var cut = response
        cut.body = Data(response.body.prefix(response.body.count / 2))
        answer(message, (cut, false))
      }
    }
  }

  /// Lets the answer take its time; nil: the connection breaks.
  private func answer(_ message: Message, _ answer: (response: HTTPResponse, isServers: Bool)?) {
    world.scheduler.after(world.faults.delay()) {
      guard message.process.isAlive else {
        message.exchange.end(.failure(Self.killed))
        return
      }
      guard let answer else {
        message.exchange.end(
          .failure(TransportError(.connectionLost, mayHaveBeenSent: true, message: "The connection broke.")))
        return
      }
      guard message.exchange.end(.success(answer.response)) else { return }
      world.monitor.delivered(
        message.sending, to: message.process, status: answer.response.status, isServers: answer.isServers,
        answer.response.body)
      if answer.response.status == 302 { world.coverage.note(.redirected) }
      move(message, to: .refreshAnswered)
    }
  }

  private func move(_ message: Message, to next: KillPoint) {
    guard message.sending.operation == "refresh", !message.exchange.isTaken else { return }
    let old = message.point.withLock { point in
      defer { point = next }
      return point
    }
    message.process.leave(old)
    message.process.enter(next)
    world.reached(next, by: message.process)
  }

  /// A lifetime as some servers send it (S3).
  private func mangled(_ response: HTTPResponse) -> HTTPResponse {
    guard let lifetime = world.strangeLifetime, response.status == 200, response.body.field("accessToken") != nil else {
      return response
    }
    world.coverage.note(.unknownLifetime)
    var text = String(decoding: response.body, as: UTF8.self)
    guard let key = text.firstRange(of: "\"expiresIn\":") else { return response }
    let value = text[key.upperBound...].prefix { $0 != "," && $0 != "}" }
    text.replaceSubrange(value.startIndex..<value.endIndex, with: lifetime)
    var response = response
    response.body = Data(text.utf8)
    return response
  }

  private static func interposed(_ fate: Faults.RequestFate) -> HTTPResponse {
    switch fate {
    case .tooMany:
      HTTPResponse(
        status: 429, headers: ["Retry-After": "3", "Content-Type": "text/plain"], body: Data("Slow down".utf8))
    case .portal: plain(200, "<html>Please accept our terms</html>")
    case .redirect:
      HTTPResponse(status: 302, headers: ["Location": "http://elsewhere.example/login", "Content-Type": "text/html"])
    case .forbidden: plain(403, "<html>Forbidden</html>")
    case .invalidClient:
      HTTPResponse(
        status: 401, headers: ["Content-Type": "application/json"], body: Data(#"{"error":"invalid_client"}"#.utf8))
    case .endpointRefuses:
      HTTPResponse(
        status: 401, headers: ["Content-Type": "application/json"],
        body: Data(#"{"error":true,"reason":"No.","code":"invalid_token"}"#.utf8))
    case .arrives, .noConnection, .lost, .unavailable: plain(503, "<html>Unavailable</html>")
    }
  }

  private static func plain(_ status: Int, _ body: String) -> HTTPResponse {
    HTTPResponse(status: status, headers: ["Content-Type": "text/html"], body: Data(body.utf8))
  }
}

extension Sending {
  /// What a request is about.
  fileprivate init(_ request: HTTPRequest) {
    operation = request.url.lastPathComponent
    let authorization = request.headers["Authorization"]
    bearer = authorization.map { String($0.dropFirst("Bearer ".count)) }
    refreshToken = request.body?.field("refreshToken")
    call = request.headers[ProcessTransport.callField].flatMap { Int($0) }
  }
}

/// One request of a living process: ends once, by an answer, an error or cancellation.
private final class Exchange: Sendable {
  typealias Outcome = Result<HTTPResponse, TransportError>

  private struct State: Sendable {
    var outcome: Outcome?
    var continuation: CheckedContinuation<Outcome, Never>?
    var isTaken = false
  }

  private let state = Guarded(State())

  /// Whether its sender has taken note of its end.
  var isTaken: Bool { state.withLock { $0.isTaken } }

  /// Ends it; false if it had ended.
  @discardableResult
  func end(_ outcome: Outcome) -> Bool {
    let (isFirst, continuation) = state.withLock { state -> (Bool, CheckedContinuation<Outcome, Never>?) in
      guard state.outcome == nil else { return (false, nil) }
      state.outcome = outcome
      defer { state.continuation = nil }
      return (true, state.continuation)
    }
    continuation?.resume(returning: outcome)
    return isFirst
  }

  func value() async -> Outcome {
    defer { state.withLock { $0.isTaken = true } }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let outcome = state.withLock { state in
          if state.outcome == nil { state.continuation = continuation }
          return state.outcome
        }
        if let outcome { continuation.resume(returning: outcome) }
      }
    } onCancel: {
      end(.failure(TransportError(.cancelled, mayHaveBeenSent: true, message: "The request was cancelled.")))
    }
  }
}

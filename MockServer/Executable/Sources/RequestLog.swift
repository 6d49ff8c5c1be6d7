import Groundwork
import MockServerCore

/// Logs each request with its answer on standard error: one line, no query, no header, no body, so no secret.
///
/// A log never holds up the server: while nobody reads standard error, lines are left out; their number is told later.
struct RequestLog: MockRequestHandler {
  private let handler: any MockRequestHandler
  private let time: any TimeSource
  private let leftOut = Guarded(0)

  init(_ handler: any MockRequestHandler, time: any TimeSource) {
    self.handler = handler
    self.time = time
  }

  func receive(_ request: MockRequest, deliver: @escaping @Sendable (MockDelivery) -> Void) {
    let start = time.sinceBoot
    handler.receive(request) { [self] delivery in
      write(Self.line(for: request, delivery, took: time.sinceBoot - start))
      deliver(delivery)
    }
  }

  static func line(for request: MockRequest, _ delivery: MockDelivery, took: Duration) -> String {
    let method = request.method.isEmpty ? "-" : request.method
    let path = request.target.isEmpty ? "-" : String(request.target.prefix { $0 != "?" }.prefix(200))
    let milliseconds = took.components.seconds * 1000 + took.components.attoseconds / 1_000_000_000_000_000
    var line = "\(method) \(path) \(delivery.reply.status) \(milliseconds) ms"
    if let malformation = request.malformation { line += ", malformed: \(malformation.reason)" }
    if delivery.stream != nil { line += ", streams" }
    if let fault = delivery.fault { line += ", \(name(of: fault))" }
    return line
  }

  private static func name(of fault: WireFault) -> String {
    switch fault {
    case .close: "close"
    case .reset: "reset"
    case .truncate: "truncate"
    case .garbage: "garbage"
    case .drip: "drip"
    case .tls: "tls"
    }
  }

  private func write(_ line: String) {
    guard Terminal.canComplainAtOnce else { return leftOut.withLock { $0 += 1 } }
    let missed = leftOut.withLock { count in
      defer { count = 0 }
      return count
    }
    if missed > 0 { Terminal.complain("(\(missed) lines left out: nobody was reading)") }
    Terminal.complain(line)
  }
}

import CLibevent
import CLibssl
import MockServerCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// One connection: requests in, answers and faults out. Lives on the loop's thread.
final class Connection {
  /// What happens when everything written has gone out.
  enum Next {
    /// The next request.
    case read
    /// FIN.
    case finish
    /// RST.
    case reset
  }

  enum Phase {
    /// Between two requests, or inside one.
    case reading
    /// The handler has the request.
    case handling
    /// The answer is going out.
    case sending(Next)
    /// The body goes out a byte at a time.
    case dripping
    /// Events go out as they come.
    case streaming
    /// All is written; the last bytes are on their way to the peer before the connection is reset.
    case resetting
    /// Our side has ended; the peer's bytes are thrown away, so that it sees the answer and no reset.
    case lingering
    case closed
  }

  let id: UInt64
  let front: FrontState
  let descriptor: Int32
  let events: OpaquePointer
  /// The TLS session, which `events` owns; nil without TLS.
  private let session: OpaquePointer?
  private let isLoopback: Bool
  var phase = Phase.reading
  /// Counts the requests, so that an answer that comes late meets nobody else's request.
  private(set) var serial: UInt64 = 0
  /// The tick at which patience ends; nil while it is the handler's turn.
  private var deadline: UInt64?
  /// How much was waiting to go out at the last tick: a peer that reads nothing is given up.
  private var waitingBefore = 0
  var streamTask: Task<Void, Never>?
  var request: RequestParser.Parsed?
  private var parser: RequestParser
  private var isProcessing = false
  var peerHasEnded = false

  init(
    id: UInt64, front: FrontState, events: OpaquePointer, descriptor: Int32, session: OpaquePointer?, isLoopback: Bool
  ) {
    self.id = id
    self.front = front
    self.events = events
    self.descriptor = descriptor
    self.session = session
    self.isLoopback = isLoopback
    parser = RequestParser(limits: front.options.limits)
    deadline = front.tick(in: front.options.idleTimeout)
  }

  /// Begins to listen to the socket.
  func start() {
    bufferevent_setcb(
      events, { _, context in Connection.from(context)?.process() },
      { _, context in Connection.from(context)?.hasWritten() },
      { _, what, context in Connection.from(context)?.happened(what) }, Unmanaged.passUnretained(self).toOpaque())
    // Bounds what a peer can make us keep while its request is being handled.
    bufferevent_setwatermark(events, Int16(EV_READ), 0, 64 * 1024)
    // A peer that leaves without a close_notify has left all the same.
    if session != nil { bufferevent_openssl_set_allow_dirty_shutdown(events, 1) }
    bufferevent_enable(events, Int16(EV_READ | EV_WRITE))
  }

  private static let interimAnswer = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

  private static func from(_ context: UnsafeMutableRawPointer?) -> Connection? {
    context.map { Unmanaged<Connection>.fromOpaque($0).takeUnretainedValue() }
  }

  // MARK: Reading

  /// Reads requests out of what has arrived, until one is with the handler or nothing more is complete.
  func process() {
    guard !isProcessing else { return }
    isProcessing = true
    defer { isProcessing = false }
    while case .reading = phase {
      guard let parsed = nextRequest() else { break }
      hand(over: parsed)
    }
    if case .lingering = phase { dropInput() }
  }

  /// The next request, if it is complete; otherwise sets the patience with which the rest is awaited.
  private func nextRequest() -> RequestParser.Parsed? {
    let input = bufferevent_get_input(events)
    let wasInside = parser.isInside
    while true {
      let length = evbuffer_get_length(input)
      guard length > 0, let bytes = evbuffer_pullup(input, -1) else { break }
      let (used, outcome) = parser.consume(UnsafeRawBufferPointer(start: bytes, count: length))
      evbuffer_drain(input, used)
      switch outcome {
      case .request(let parsed): return parsed
      case .wantsContinue: write(Self.interimAnswer)
      case .needsMore:
        if parser.isInside, !wasInside { deadline = front.tick(in: front.options.requestTimeout) }
        return peerHasEnded ? lastRequest() : nil
      }
      if case .closed = phase { return nil }
    }
    return peerHasEnded ? lastRequest() : nil
  }

  /// What there is when nothing more will come: half a request is malformed, none ends the connection.
  private func lastRequest() -> RequestParser.Parsed? {
    guard !parser.isInside else { return parser.endedEarly() }
    close()
    return nil
  }

  private func hand(over parsed: RequestParser.Parsed) {
    serial += 1
    request = parsed
    phase = .handling
    deadline = nil
    var message = parsed.request
    message.isLoopback = isLoopback
    message.isSecure = session != nil
    front.handler?.receive(message) { [front, id, serial] delivery in
      front.deliver(delivery, to: id, serial: serial)
    }
  }

  private func dropInput() {
    let input = bufferevent_get_input(events)
    evbuffer_drain(input, evbuffer_get_length(input))
  }

  // MARK: Writing

  /// Writes now what the socket takes, and the rest when it can.
  func write(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { write($0) }
  }

  /// Writes now what the socket takes, and the rest when it can.
  func write(_ bytes: UnsafeRawBufferPointer) {
    guard !bytes.isEmpty else { return }
    var sent = 0
    if session == nil, evbuffer_get_length(bufferevent_get_output(events)) == 0 {
      let count = send(descriptor, bytes.baseAddress, bytes.count, Self.sendFlags)
      if count >= 0 {
        sent = count
      } else if errno != EAGAIN, errno != EWOULDBLOCK, errno != EINTR {
        return close()
      }
    }
    guard sent < bytes.count else { return }
    let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
    if bufferevent_write(events, rest.baseAddress, rest.count) != 0 { close() }
  }

  /// Writes below TLS, if there is TLS: what no peer expects there.
  func writePlain(_ bytes: [UInt8]) {
    guard session != nil else { return write(bytes) }
    // Whatever of it the socket does not take at once is no loss to garbage.
    let count = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Self.sendFlags) }
    if count < 0 { close() }
  }

  /// How many bytes wait to go out.
  var waiting: Int { evbuffer_get_length(bufferevent_get_output(events)) }

  /// Does what comes after the answer, at once if it is out already.
  func whenSent(_ next: Next) {
    if case .closed = phase { return }
    phase = .sending(next)
    deadline = front.tick(in: front.options.idleTimeout)
    waitingBefore = waiting
    if waitingBefore == 0 { hasWritten() }
  }

  private func hasWritten() {
    guard case .sending(let next) = phase, waiting == 0 else { return }
    switch next {
    case .read where !front.isStopping:
      phase = .reading
      request = nil
      deadline = front.tick(in: front.options.idleTimeout)
      resume()
    case .read, .finish: finish()
    case .reset: reset()
    }
  }

  /// Reads on, but never inside a call of the handler: it may hold its lock while it delivers.
  private func resume() {
    guard !isProcessing, peerHasEnded || evbuffer_get_length(bufferevent_get_input(events)) > 0 else { return }
    front.loop.post { [front, id] in front.connection(id)?.process() }
  }

  // MARK: Ending

  /// Ends our side with FIN, and waits a little for the peer's, so that nothing it sends turns the end into a reset.
  ///
  /// - Parameter saysSo: whether TLS tells the peer that this is the end (close_notify), so that it is no truncation.
  func finish(saysSo: Bool = true) {
    guard !peerHasEnded, !front.isStopping else {
      if saysSo { endSession() }
      return close()
    }
    phase = .lingering
    deadline = front.tick(in: front.options.lingerTimeout)
    request = nil
    dropInput()
    if saysSo { endSession() }
    if shutdown(descriptor, Int32(SHUT_WR)) != 0 { close() }
  }

  /// Tells the peer by TLS that nothing more comes.
  private func endSession() {
    guard let session, SSL_is_init_finished(session) == 1 else { return }
    SSL_shutdown(session)
    ERR_clear_error()
  }

  /// Ends the connection with RST, once the peer's kernel has what was written before.
  func reset(attempt: Int = 0) {
    if Self.unsentBytes(of: descriptor) > 0, attempt < 1000 {
      phase = .resetting
      deadline = nil
      return front.loop.schedule(after: .milliseconds(5)) { [front, id] in
        front.connection(id)?.reset(attempt: attempt + 1)
      }
    }
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    #if !canImport(Darwin)
      // Sends the RST now, whatever else still holds the descriptor.
      var nowhere = sockaddr()
      nowhere.sa_family = sa_family_t(AF_UNSPEC)
      connect(descriptor, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
    #endif
    close()
  }

  /// Frees everything.
  func close() {
    if case .closed = phase { return }
    phase = .closed
    streamTask?.cancel()
    streamTask = nil
    request = nil
    bufferevent_setcb(events, nil, nil, nil, nil)
    bufferevent_free(events)
    front.ended(self)
  }

  private func happened(_ what: Int16) {
    let what = Int32(what)
    if what & BEV_EVENT_ERROR != 0 { return close() }
    guard what & BEV_EVENT_EOF != 0 else { return }
    peerHasEnded = true
    switch phase {
    case .reading: process()
    case .handling, .sending, .dripping, .resetting: break
    case .streaming, .lingering: close()
    case .closed: break
    }
  }

  /// Loses patience if it is time to.
  func tick(_ now: UInt64) {
    guard let deadline, now >= deadline else { return }
    switch phase {
    case .reading where parser.isInside:
      hand(over: parser.timedOut())
    case .sending, .dripping, .streaming:
      let waiting = waiting
      guard waiting >= waitingBefore, waiting > 0 else {
        waitingBefore = waiting
        self.deadline = front.tick(in: front.options.idleTimeout)
        return
      }
      reset()
    default:
      close()
    }
  }

  #if canImport(Darwin)
    private static let sendFlags: Int32 = 0
    private static func unsentBytes(of descriptor: Int32) -> Int32 {
      var count: Int32 = 0
      var size = socklen_t(MemoryLayout<Int32>.size)
      return getsockopt(descriptor, SOL_SOCKET, SO_NWRITE, &count, &size) == 0 ? count : 0
    }
  #else
    private static let sendFlags = Int32(MSG_NOSIGNAL)
    private static func unsentBytes(of descriptor: Int32) -> Int32 {
      var count: Int32 = 0
      return ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? count : 0
    }
  #endif
}

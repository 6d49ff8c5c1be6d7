import CLibevent
import Groundwork
import MockServerCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Everything that a front has on its loop: the listener and the connections.
// Safe to share because every member is touched on the loop's thread alone, or before that thread is started; other
// threads only carry the reference into `loop.post`.
final class FrontState: @unchecked Sendable {
  let loop: EventLoop
  /// What answers; nil after the end, since answers that it still holds hold this state.
  private(set) var handler: (any MockRequestHandler)?
  private(set) var options: HTTPFront.Options
  let tasks = TaskStarter()
  private(set) var isStopping = false
  private var listener: OpaquePointer?
  private var sweep: OpaquePointer?
  private var connections: [UInt64: Connection] = [:]
  private var lastConnection: UInt64 = 0
  private var scratch: [UInt8] = []
  private var now: UInt64 = 0
  private let tickLength: Duration

  init(loop: EventLoop, handler: any MockRequestHandler, options: HTTPFront.Options) {
    self.loop = loop
    self.handler = handler
    self.options = options
    let shortest = min(options.requestTimeout, options.idleTimeout, options.lingerTimeout)
    tickLength = min(max(shortest / 4, .milliseconds(5)), .seconds(1))
  }

  // MARK: Listening

  /// Listens on a socket that is bound and listening already; it belongs to the state from now on.
  func listen(on descriptor: Int32) throws(FrontError) {
    let context = Unmanaged.passUnretained(self).toOpaque()
    listener = evconnlistener_new(
      loop.base,
      { _, descriptor, address, _, context in
        guard let context else { return }
        Unmanaged<FrontState>.fromOpaque(context).takeUnretainedValue().accept(descriptor, from: address)
      }, context, UInt32(LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC), 0, descriptor)
    sweep = event_new(
      loop.base, -1, Int16(EV_PERSIST),
      { _, _, context in
        guard let context else { return }
        Unmanaged<FrontState>.fromOpaque(context).takeUnretainedValue().sweepConnections()
      }, context)
    guard let listener, sweep != nil else {
      if listener == nil { evutil_closesocket(descriptor) }
      free()
      throw FrontError(.exhausted, "There is no memory to listen with.")
    }
    evconnlistener_set_error_cb(listener) { _, context in
      guard let context else { return }
      Unmanaged<FrontState>.fromOpaque(context).takeUnretainedValue().pauseAccepting()
    }
  }

  /// Out of descriptors, most likely: waits a little instead of trying again at once, for ever.
  private func pauseAccepting() {
    guard let listener else { return }
    evconnlistener_disable(listener)
    loop.schedule(after: .milliseconds(50)) { [self] in
      guard let listener = self.listener else { return }
      evconnlistener_enable(listener)
    }
  }

  private func accept(_ descriptor: Int32, from address: UnsafeMutablePointer<sockaddr>?) {
    let fault = options.connectionFault()
    // Without TLS there is no handshake to fail: both end the connection before a byte of it is read.
    if fault == .refuse || (fault == .failHandshake && options.tls == nil) { return refuse(descriptor) }
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    var session: OpaquePointer?
    if let tls = options.tls {
      session = tls.makeSession(failing: fault == .failHandshake)
      guard session != nil else { return refuse(descriptor) }
    }
    let flags = Int32(BEV_OPT_CLOSE_ON_FREE.rawValue)
    guard
      let events = session.map({
        bufferevent_openssl_socket_new(loop.base, descriptor, $0, BUFFEREVENT_SSL_ACCEPTING, flags)
      }) ?? bufferevent_socket_new(loop.base, descriptor, flags)
    else { return refuse(descriptor) }
    lastConnection += 1
    let connection = Connection(
      id: lastConnection, front: self, events: events, descriptor: descriptor, session: session,
      isLoopback: SocketAddress.isLoopback(address))
    if connections.isEmpty, let sweep {
      var interval = timeval(tickLength)
      event_add(sweep, &interval)
    }
    connections[connection.id] = connection
    connection.start()
  }

  private func refuse(_ descriptor: Int32) {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    evutil_closesocket(descriptor)
  }

  // MARK: Connections

  /// The connection of that number, if it still lives.
  func connection(_ id: UInt64) -> Connection? {
    connections[id]
  }

  /// Takes an answer on any thread and brings it to its connection.
  func deliver(_ delivery: MockDelivery, to id: UInt64, serial: UInt64) {
    guard loop.isCurrent else {
      loop.post { [self] in deliver(delivery, to: id, serial: serial) }
      return
    }
    guard let connection = connections[id], connection.serial == serial else { return }
    connection.answer(delivery)
  }

  /// Strikes a connection off; it has freed itself.
  func ended(_ connection: Connection) {
    connections[connection.id] = nil
    guard connections.isEmpty else { return }
    if let sweep { event_del(sweep) }
    if isStopping { loop.end() }
  }

  /// A buffer that is used again and again, empty.
  func withScratch(_ body: (inout [UInt8]) -> Void) {
    var buffer: [UInt8] = []
    swap(&buffer, &scratch)
    buffer.removeAll(keepingCapacity: true)
    body(&buffer)
    // What one large answer needed is not kept for ever.
    if buffer.capacity <= 256 * 1024 { swap(&buffer, &scratch) }
  }

  // MARK: Patience

  /// The tick that is at least `duration` away.
  func tick(in duration: Duration) -> UInt64 {
    now + UInt64(min(max(1, (duration / tickLength).rounded(.up)), 1e15)) + 1
  }

  private func sweepConnections() {
    now += 1
    for connection in Array(connections.values) {
      connection.tick(now)
    }
  }

  // MARK: Ending

  /// Stops listening, lets the answers that are going out go out, closes the rest, and ends the loop.
  func stop() {
    guard !isStopping else { return }
    isStopping = true
    if let listener { evconnlistener_free(listener) }
    listener = nil
    for connection in Array(connections.values) {
      if case .sending = connection.phase { continue }
      connection.close()
    }
    guard !connections.isEmpty else { return loop.end() }
    loop.schedule(after: options.stopTimeout) { [self] in
      for connection in Array(connections.values) { connection.close() }
    }
  }

  /// Frees what the loop's objects are, on its thread after its end, or before its start.
  func free() {
    if let listener { evconnlistener_free(listener) }
    if let sweep { event_free(sweep) }
    listener = nil
    sweep = nil
    handler = nil
    options = HTTPFront.Options()
  }
}

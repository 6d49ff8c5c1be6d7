import Groundwork
public import MockServerCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The sockets in front of a mock server: HTTP/1.1 by our own strict parser, on one libevent loop.
///
/// ```swift
/// let loop = try EventLoop()
/// let front = HTTPFront(handler: server, port: 0, loop: loop)
/// let address = try front.start()
/// …
/// await front.stop()
/// ```
/// The handler is called on the loop's thread and may deliver on any. Two fronts in one process share nothing.
public final class HTTPFront: Sendable {
  /// Limits and time-outs.
  public struct Options: Sendable {
    /// How long a request may take from its first byte to its last: then 408.
    public var requestTimeout: Duration = .seconds(20)
    /// How long a connection may stand idle between requests, and how long a peer may read nothing of an answer.
    public var idleTimeout: Duration = .seconds(75)
    /// How long the end of the peer's side is awaited after ours has ended.
    public var lingerTimeout: Duration = .seconds(2)
    /// How long `stop` waits for answers that are going out.
    public var stopTimeout: Duration = .seconds(1)
    /// The largest body that is read, in bytes: above it 413 without reading on. The core has a lower limit of its own.
    public var bodyLimit: Int = 2 * 1024 * 1024
    /// How many bytes of events are kept for a reader that is slow before it is let go.
    public var streamBacklog: Int = 1024 * 1024
    /// Asked at each new connection what goes wrong with it: `MockAuthServer.takeConnectionFault()`.
    public var connectionFault: @Sendable () -> ConnectionFault? = { nil }
    /// What the front proves to be, if it is to speak TLS.
    public var tls: TLSIdentity?

    /// Makes the options with their defaults.
    public init() {}

    var limits: RequestParser.Limits {
      var limits = RequestParser.Limits()
      limits.body = bodyLimit
      return limits
    }
  }

  /// Where a front listens.
  public struct Address: Sendable, Hashable {
    /// The host as it was given.
    public let host: String
    /// The port: the one that was asked for, or the one that the system has chosen.
    public let port: UInt16
    /// Whether it speaks TLS.
    public let isTLS: Bool

    init(host: String, port: UInt16, isTLS: Bool = false) {
      self.host = host
      self.port = port
      self.isTLS = isTLS
    }

    /// The base URL for a client on this machine, without a slash at its end: `http://127.0.0.1:8080`.
    public var url: String {
      let name =
        switch host {
        case "0.0.0.0", "": "127.0.0.1"
        case "::": "[::1]"
        default: host.contains(":") ? "[\(host)]" : host
        }
      return "\(isTLS ? "https" : "http")://\(name):\(port)"
    }
  }

  private enum Phase {
    case made
    case running(FrontState)
    case stopping([CheckedContinuation<Void, Never>])
    case stopped
  }

  private let handler: any MockRequestHandler
  private let host: String
  private let port: UInt16
  private let options: Options
  private let loop: EventLoop?
  private let life: Life

  /// The part that outlives the front until its thread has ended.
  private final class Life: Sendable {
    let phase = Guarded(Phase.made)
  }

  /// Makes a front that does not listen yet.
  ///
  /// - Parameters:
  ///   - handler: what answers the requests.
  ///   - host: the address to listen on, `127.0.0.1` unless others are to reach it.
  ///   - port: the port; 0 takes any free one.
  ///   - options: limits and time-outs.
  ///   - loop: the loop that the handler's timers are on, if it has one; nil makes one.
  public init(
    handler: any MockRequestHandler, host: String = "127.0.0.1", port: UInt16 = 0, options: Options = Options(),
    loop: EventLoop? = nil
  ) {
    self.handler = handler
    self.host = host
    self.port = port
    self.options = options
    self.loop = loop
    life = Life()
  }

  deinit {
    if case .running(let state) = life.phase.withLock({ $0 }) {
      state.loop.post { state.stop() }
    }
  }

  /// Begins to listen; the first request may come before this returns.
  ///
  /// - Returns: where it listens.
  /// - Throws: `FrontError`: port in use, not permitted, bad host, started before, or out of descriptors.
  @discardableResult
  public func start() throws(FrontError) -> Address {
    guard case .made = life.phase.withLock({ $0 }) else {
      throw FrontError(.alreadyStarted, "This front has been started before: make a new one.")
    }
    let loop = if let loop = self.loop { loop } else { try EventLoop() }
    let state = FrontState(loop: loop, handler: handler, options: options)
    let (descriptor, port) = try SocketAddress.listen(host: host, port: self.port)
    try state.listen(on: descriptor)
    life.phase.withLock { $0 = .running(state) }
    do throws(FrontError) {
      try loop.start(
        freeing: { state.free() },
        finally: { [life] in
          let waiters = life.phase.withLock { phase -> [CheckedContinuation<Void, Never>] in
            defer { phase = .stopped }
            guard case .stopping(let waiters) = phase else { return [] }
            return waiters
          }
          for waiter in waiters { waiter.resume() }
        })
    } catch {
      state.free()
      life.phase.withLock { $0 = .stopped }
      throw error
    }
    return Address(host: host, port: port, isTLS: options.tls != nil)
  }

  /// Stops listening and closes every connection: answers that are going out go out first, within `stopTimeout`;
  /// requests that the handler still has are not answered.
  ///
  /// Returns when the thread has given everything back. A front that does not run is left as it is.
  public func stop() async {
    await withCheckedContinuation { continuation in
      let next = life.phase.withLock { phase -> NextStep in
        switch phase {
        case .running(let state):
          phase = .stopping([continuation])
          return .begin(state)
        case .stopping(let waiters):
          phase = .stopping(waiters + [continuation])
          return .wait
        case .made, .stopped:
          return .done
        }
      }
      switch next {
      case .begin(let state): state.loop.post { state.stop() }
      case .wait: break
      case .done: continuation.resume()
      }
    }
  }

  private enum NextStep {
    case begin(FrontState)
    case wait
    case done
  }
}

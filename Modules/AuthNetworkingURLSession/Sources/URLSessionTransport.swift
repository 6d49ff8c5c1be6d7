public import AuthModels
public import AuthNetworking
public import Groundwork

#if canImport(FoundationNetworking)
  internal import Foundation
  internal import FoundationNetworking
#else
  internal import Foundation
#endif

/// Sends requests through the system's URL loading: the transport that is there on every platform.
///
/// Nothing is kept between requests but open connections: no cookies, no cache, no stored credentials. Redirects are decided here (S24):
/// one to the same scheme, host and port is followed, at most `Options.maximumRedirects` times, unless the body holds a credential;
/// every other one is returned as the 3xx answer that it is, with nothing sent to its target. Called from any number of tasks at once.
///
/// A request that is not idempotent, has a body or holds a credential gets a connection of its own: on a kept one that turns out to
/// be dead the platform would silently send it again, or, with a body, hang until the time-out (both measured on Linux); and a refresh
/// token that is spent twice may cost the session (S12).
///
/// What differs from the wire, on Linux (Swift 6.3): repeated header fields arrive joined by commas, and their order is lost (they are
/// sorted by name); a compressed body arrives unpacked, its `Content-Length` as it was; a GET cannot carry a body; an answer without a
/// reason phrase or the space before it, with bare line feeds, with header bytes that are not UTF-8, or after an interim one (103)
/// counts as broken.
///
/// On Linux the environment's `http_proxy` and `all_proxy` are obeyed, also for loopback: a credential for a plain loopback server is
/// refused then (S24), unless `no_proxy` names its host.
///
/// - Warning: The Linux implementation of `URLSession` itself traps on three kinds of answer, before any code of ours sees them: a
///   connection that ends inside the header section, trailer fields after a chunked body, and a `Content-Length` of 2^63 - 512 or more. Where a
///   hostile or broken server must not be able to end the process, use `CurlTransport`.
public final class URLSessionTransport: HTTPTransport {
  /// Limits of every exchange.
  public struct Options: Sendable, Hashable {
    /// The largest body that is taken, in bytes, after unpacking; more ends the exchange with `responseTooLarge` while it comes in.
    ///
    /// The caller hears of it at once; the platform needs a moment to hang up, and drops what still comes in.
    public var maximumResponseBytes: Int
    /// How long a whole exchange may take, connecting and redirects included, where the request says nothing.
    public var timeout: Duration
    /// The most connections to one host; further requests wait for one.
    public var connectionsPerHost: Int
    /// The most redirects that are followed.
    public var maximumRedirects: Int

    /// Makes options: 16 MiB, 30 s, 6 connections, 5 redirects unless given.
    public init(
      maximumResponseBytes: Int = 16 << 20, timeout: Duration = .seconds(30), connectionsPerHost: Int = 6,
      maximumRedirects: Int = 5
    ) {
      self.maximumResponseBytes = maximumResponseBytes
      self.timeout = timeout
      self.connectionsPerHost = connectionsPerHost
      self.maximumRedirects = maximumRedirects
    }
  }

  private let options: Options
  private let time: any TimeSource
  private let tasks: TaskStarter
  private let shared: ExchangeSession
  private let proxies: ProxyEnvironment

  /// Makes a transport with connections of its own.
  ///
  /// - Parameters:
  ///   - options: the limits.
  ///   - time: the clock of the time-outs.
  ///   - tasks: starts the task that waits for a time-out.
  public convenience init(
    options: Options = Options(), time: any TimeSource = SystemClock(), tasks: TaskStarter = TaskStarter()
  ) {
    self.init(options: options, time: time, tasks: tasks, environment: ProcessInfo.processInfo.environment)
  }

  /// As the public one, with an environment to look for proxies in.
  init(options: Options, time: any TimeSource, tasks: TaskStarter, environment: [String: String]) {
    self.options = options
    self.time = time
    self.tasks = tasks
    #if canImport(FoundationNetworking)
      proxies = ProxyEnvironment(environment)
    #else
      proxies = ProxyEnvironment([:])
    #endif
    shared = ExchangeSession(connectionsPerHost: options.connectionsPerHost)
  }

  deinit {
    shared.finish()
  }

  public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    let deadline = time.sinceBoot + (request.timeout ?? options.timeout)
    return try await request.followingRedirects(atMost: options.maximumRedirects) { request throws(TransportError) in
      try await exchange(request, deadline: deadline)
    }
  }

  /// One request, one answer, no redirects.
  private func exchange(_ request: HTTPRequest, deadline: Duration) async throws(TransportError) -> HTTPResponse {
    let urlRequest = try URLRequest(request)
    let host = request.url.host() ?? ""
    guard !request.carriesCredential || !proxies.divertsLoopback(request.url) else {
      throw TransportError(
        .insecureConnection, mayHaveBeenSent: false,
        message: "Refused to send a credential for \(host) over a proxy in plain HTTP. Add \(host) to no_proxy.")
    }
    guard !Task.isCancelled else { throw .cancelled(mayHaveBeenSent: false) }
    let remaining = deadline - time.sinceBoot
    guard remaining > .zero else { throw .timedOut(host: host) }

    let needsOwnConnection = request.hasCredentialBody || !request.method.isIdempotent || urlRequest.httpBody != nil
    let session = needsOwnConnection ? ExchangeSession(connectionsPerHost: 1) : shared
    let exchange = Exchange(host: host, limit: options.maximumResponseBytes)
    let task = session.task(for: urlRequest, exchange: exchange)
    let timer = tasks.start { [time] in
      do {
        try await time.sleep(for: remaining)
      } catch {
        return
      }
      exchange.finish(.failure(.timedOut(host: host)))
      exchange.abandon(task)
    }
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if exchange.wait(continuation) { task.resume() }
        if needsOwnConnection { session.finish() }
      }
    } onCancel: {
      exchange.finish(.failure(.cancelled(mayHaveBeenSent: true)))
      exchange.abandon(task)
    }
    timer.cancel()
    return try outcome.get()
  }
}

public import AuthModels
public import AuthNetworking
public import Groundwork

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Sends requests through libcurl: the transport of `chirp` on Linux.
///
/// One thread drives all connections of a transport; callers wait without blocking, from any number of tasks at once, and hear of a
/// cancellation at once. A caller who finds nothing on its way sends over a kept connection himself, and looks for the answer for at
/// most some 100 µs, which spares two changes of threads with a server on the same machine. Nothing is kept between requests but open connections: no cookies, no cache, no stored credentials, no
/// `.netrc`. HTTP/2 is spoken where TLS agrees on it, but for requests with a body, and answers are unpacked (gzip, brotli, zstd, as far as libcurl was built with
/// them); their `Content-Encoding` and `Content-Length` stay as they came. Header fields arrive in their order, repeated ones one by
/// one; trailer fields are dropped.
///
/// Redirects are decided here (S24): one to the same scheme, host and port is followed, at most `Options.maximumRedirects` times, unless
/// the body holds a credential; every other one is returned as the 3xx answer that it is, with nothing sent to its target.
///
/// A request that is not idempotent, has a body or holds a credential gets a connection of its own: on a kept one that turns out to be
/// dead libcurl would silently send it again, and a refresh token that is spent twice may cost the session (S12).
///
/// The environment's proxies (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`) are used as by `curl`, but never for this machine:
/// what is for loopback does not leave it (S24).
///
/// libcurl itself is opened at the first request (`libcurl.so.4`); if it is not there, requests fail with `cannotConnect`.
public final class CurlTransport: HTTPTransport {
  /// A certificate with which the client makes itself known (RFC 8446 §4.4.2).
  public struct ClientCertificate: Sendable, Hashable {
    /// The path of the certificate, PEM.
    public var certificateFile: String
    /// The path of its private key, PEM, without a passphrase.
    public var keyFile: String

    /// Makes it from its files.
    public init(certificateFile: String, keyFile: String) {
      self.certificateFile = certificateFile
      self.keyFile = keyFile
    }
  }

  /// Limits of every exchange, and whom to trust.
  public struct Options: Sendable, Hashable {
    /// The largest body that is taken, in bytes, after unpacking; more ends the exchange with `responseTooLarge` while it comes in.
    public var maximumResponseBytes: Int
    /// How long a whole exchange may take, connecting and redirects included, where the request says nothing.
    public var timeout: Duration
    /// How long connecting may take, the TLS handshake included.
    public var connectTimeout: Duration
    /// The most connections to one host; further requests wait for one.
    public var connectionsPerHost: Int
    /// The most redirects that are followed.
    public var maximumRedirects: Int
    /// The path of a file of certificate authorities, PEM, which are trusted instead of the system's; nil for the system's.
    public var certificateAuthorities: String?
    /// The certificate that servers which ask for one get; nil for none.
    public var clientCertificate: ClientCertificate?

    /// Makes options: 16 MiB, 30 s, 10 s to connect, 6 connections, 5 redirects, the system's authorities unless given.
    public init(
      maximumResponseBytes: Int = 16 << 20, timeout: Duration = .seconds(30), connectTimeout: Duration = .seconds(10),
      connectionsPerHost: Int = 6, maximumRedirects: Int = 5, certificateAuthorities: String? = nil,
      clientCertificate: ClientCertificate? = nil
    ) {
      self.maximumResponseBytes = maximumResponseBytes
      self.timeout = timeout
      self.connectTimeout = connectTimeout
      self.connectionsPerHost = connectionsPerHost
      self.maximumRedirects = maximumRedirects
      self.certificateAuthorities = certificateAuthorities
      self.clientCertificate = clientCertificate
    }
  }

  private let options: Options
  private let time: any TimeSource
  private let driver: CurlDriver

  /// Makes a transport with connections and a thread of its own; the thread starts with the first request.
  ///
  /// - Parameters:
  ///   - options: the limits, and whom to trust.
  ///   - time: the clock that bounds redirects and the wait for a connection; libcurl measures the rest itself.
  public init(options: Options = Options(), time: any TimeSource = SystemClock()) {
    self.options = options
    self.time = time
    driver = CurlDriver(options: options, time: time)
  }

  deinit {
    driver.stop()
  }

  public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    let deadline = time.sinceBoot + (request.timeout ?? options.timeout)
    return try await request.followingRedirects(atMost: options.maximumRedirects) { request throws(TransportError) in
      try await exchange(request, deadline: deadline)
    }
  }

  /// One request, one answer, no redirects.
  private func exchange(_ request: HTTPRequest, deadline: Duration) async throws(TransportError) -> HTTPResponse {
    let remaining = deadline - time.sinceBoot
    let job = try CurlJob(request, timeout: remaining, deadline: deadline)
    guard !Task.isCancelled else { throw .cancelled(mayHaveBeenSent: false) }
    guard remaining > .zero else { throw .timedOut(host: job.host) }
    let waiter = CurlWaiter()
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if waiter.wait(continuation) { driver.send(job, waiter) }
      }
    } onCancel: {
      waiter.finish(.failure(.cancelled(mayHaveBeenSent: true)))
      driver.cancel(waiter)
    }
    return try outcome.get()
  }
}

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A request as the front read it from its socket, or as a test made it.
public struct MockRequest: Sendable {
  /// A header field as it came.
  public struct Field: Sendable, Hashable {
    /// The name, in the sender's spelling.
    public var name: String
    /// The value, without the white space around it.
    public var value: String
    /// Makes a field.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// A request that is not HTTP/1.1 as RFC 9112 has it: it enters the core as such, so that the journal has it.
  public struct Malformation: Sendable, Hashable {
    /// The status of the refusal: 400, 408, 411, 413, 414, 417, 431, 501, 505.
    public var status: Int
    /// What is wrong, in words.
    public var reason: String
    /// Makes a malformation.
    public init(status: Int, reason: String) {
      self.status = status
      self.reason = reason
    }
  }

  /// The method as it came.
  public var method: String
  /// The request target: path and query as they came.
  public var target: String
  /// The header fields in order.
  public var headers: [Field]
  /// The body, de-chunked.
  public var body: Data
  /// Whether the peer's address is a loopback one: the admin API answers only those, unless told otherwise.
  public var isLoopback: Bool
  /// Whether it came over TLS: what the server calls itself begins with `https` then.
  public var isSecure: Bool
  /// What is wrong with it, if it is no proper request; the other members then hold what could be read.
  public var malformation: Malformation?

  /// Makes a request.
  public init(
    method: String, target: String, headers: [Field] = [], body: Data = Data(), isLoopback: Bool = true,
    isSecure: Bool = false, malformation: Malformation? = nil
  ) {
    self.method = method
    self.target = target
    self.headers = headers
    self.body = body
    self.isLoopback = isLoopback
    self.isSecure = isSecure
    self.malformation = malformation
  }

  /// The first value under a name, compared without case.
  public func header(_ name: String) -> String? {
    headers.first { $0.name.equalsIgnoringCase(name) }?.value
  }
}

/// An answer, whole; the front adds `Content-Length`, `Connection` and, if the core has not set it, nothing else.
public struct MockReply: Sendable {
  /// The status.
  public var status: Int
  /// The header fields in order.
  public var headers: [MockRequest.Field]
  /// The body.
  public var body: Data

  /// Makes an answer.
  public init(status: Int, headers: [MockRequest.Field] = [], body: Data = Data()) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// How an answer breaks on the wire (`break` in an ACTION).
public enum WireFault: Sendable, Hashable {
  /// FIN, after so many bytes of the body; nil: before anything was sent.
  case close(afterBodyBytes: Int?)
  /// RST, after so many bytes of the body; nil: before anything was sent.
  case reset(afterBodyBytes: Int?)
  /// `Content-Length` promises the whole body, FIN comes after so many bytes of it.
  case truncate(afterBodyBytes: Int)
  /// Bytes that are no HTTP, then FIN.
  case garbage
  /// The body comes a byte at a time, so long apart.
  case drip(interval: Duration)
  /// Plaintext into the TLS stream, then FIN; without TLS like `garbage`.
  case tls
}

/// What the front does about a request, when its time has come.
public struct MockDelivery: Sendable {
  /// The answer.
  public var reply: MockReply
  /// How it breaks on the wire, if it does.
  public var fault: WireFault?
  /// An endless stream of chunks instead of the reply's body (server-sent events), if it is one.
  public var stream: AsyncStream<Data>?

  /// Makes a delivery.
  public init(reply: MockReply, fault: WireFault? = nil, stream: AsyncStream<Data>? = nil) {
    self.reply = reply
    self.fault = fault
    self.stream = stream
  }
}

/// What answers requests: `MockAuthServer`, or a closure in a test of the front.
public protocol MockRequestHandler: Sendable {
  /// Takes a request; state changes at once, and `deliver` is called exactly once, on any thread: at once, or when delay and hold are over.
  func receive(_ request: MockRequest, deliver: @escaping @Sendable (MockDelivery) -> Void)
}

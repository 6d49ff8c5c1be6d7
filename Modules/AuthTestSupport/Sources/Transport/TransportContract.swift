internal import AuthModels
public import AuthNetworking
internal import Groundwork

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What every ``HTTPTransport`` promises, as checks that any test library can run, over real sockets on loopback.
///
/// ```swift
/// @Test(arguments: TransportContract.checks)
/// func holds(check: ContractCheck<TransportContract.Subject>) async throws {
///   try await check.run(.init { limits in MyTransport(limits) })
/// }
/// ```
public enum TransportContract: Sendable {
  /// What a check asks of the transport that it makes.
  public struct Limits: Sendable, Hashable {
    /// The largest body, in bytes.
    public var maximumResponseBytes = 16 << 20
    /// The bound of an exchange.
    public var timeout: Duration = .seconds(30)
    /// The most connections to one host.
    public var connectionsPerHost = 6
    /// The most redirects that are followed.
    public var maximumRedirects = 5
  }

  /// A transport under test.
  public struct Subject: Sendable {
    /// Makes a transport that keeps to the limits.
    public var make: @Sendable (Limits) -> any HTTPTransport

    /// Takes what makes transports.
    public init(_ make: @escaping @Sendable (Limits) -> any HTTPTransport) {
      self.make = make
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
      try await make(Limits()).send(request)
    }

    /// The error with which a request has to fail.
    func failure(_ request: HTTPRequest, _ place: String, limits: Limits = Limits()) async throws -> TransportError {
      do throws(TransportError) {
        let response = try await make(limits).send(request)
        throw TransportError(.cancelled, mayHaveBeenSent: true, message: "\(Self.answered)\(response.status)")
      } catch {
        if error.message.hasPrefix(Self.answered) { throw ContractFailure("\(place): \(error.message)") }
        return error
      }
    }

    private static let answered = "an error was due, and the answer was "
  }

  /// All checks.
  public static var checks: [ContractCheck<Subject>] { exchangeChecks + failureChecks + redirectChecks + stormChecks }

  /// Checks that `URLSession` on Linux (Swift 6.3) does not stand: it takes an interim answer for a broken one, and traps inside
  /// Foundation on each of the others.
  public static var checksBeyondURLSession: [ContractCheck<Subject>] { strictChecks }

  /// Runs `body` against a server, and stops it afterwards.
  static func withServer<Success>(
    _ server: RawServer, _ body: (RawServer) async throws -> Success
  ) async throws -> Success {
    defer { server.stop() }
    return try await body(server)
  }

  static func requireText(_ response: HTTPResponse, _ text: String, _ place: String) throws {
    let found = String(decoding: response.body, as: UTF8.self)
    try require(found == text, "\(place): the body is \"\(found.prefix(80))\", not \"\(text)\"")
  }
}

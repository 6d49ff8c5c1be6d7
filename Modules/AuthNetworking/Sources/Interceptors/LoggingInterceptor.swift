internal import AuthModels
public import Groundwork

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Tells of every request and answer, a line each, without secrets (`Redaction`).
///
/// Standing last it sees each attempt as it leaves, retries and the resend after a 401 included; standing first, each call once.
public struct LoggingInterceptor: HTTPInterceptor {
  /// How much is told.
  public enum Detail: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// Method, URL, status, size and duration.
    case lines
    /// The header fields, too.
    case headers
    /// JSON bodies, too: those of calls without a credential, their secret members hidden.
    case bodies

    public static func < (left: Detail, right: Detail) -> Bool { left.rawValue < right.rawValue }
  }

  private let detail: Detail
  private let time: any TimeSource
  private let mask: @Sendable (String) -> String
  private let log: @Sendable (String) -> Void

  /// Makes the interceptor.
  ///
  /// - Parameters:
  ///   - detail: how much is told.
  ///   - time: measures how long an answer took.
  ///   - mask: hides more than `Redaction` does, in a URL, a field's value or a body, before it is cut to its length.
  ///   - log: takes a line without its line break; called on any thread.
  public init(
    detail: Detail = .lines, time: any TimeSource = SystemClock(),
    masking mask: @escaping @Sendable (String) -> String = { $0 }, log: @escaping @Sendable (String) -> Void
  ) {
    self.detail = detail
    self.time = time
    self.mask = mask
    self.log = log
  }

  public func intercept(
    _ request: HTTPRequest, context: RequestContext,
    next: @Sendable (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    let name = "\(request.method.rawValue) \(mask(Redaction.url(request.url.absoluteString)))"
    log("> \(name)")
    tell(request.headers, body: request.body, sign: ">", hidesBody: context.hasCredentialBody)
    let start = time.sinceBoot
    do {
      let response = try await next(request)
      log("< \(response.status) \(name) \(milliseconds(since: start)) (\(response.body.count) bytes)")
      tell(response.headers, body: response.body, sign: "<", hidesBody: context.hasCredentialBody)
      return response
    } catch {
      log("! \(name) \(milliseconds(since: start)) \(mask(Self.words(for: error)))")
      throw error
    }
  }

  private func tell(_ headers: HTTPFields, body: Data?, sign: String, hidesBody: Bool) {
    guard detail >= .headers else { return }
    for field in headers.fields {
      log("\(sign)   \(field.name): \(ServerText.cleaned(mask(Redaction.value(of: field)), limit: 1000))")
    }
    guard detail >= .bodies, let body, !body.isEmpty else { return }
    if hidesBody {
      log("\(sign)   (\(body.count) bytes, not shown: a credential)")
    } else {
      let text = mask(Redaction.body(body, contentType: headers["Content-Type"]))
      log("\(sign)   \(ServerText.cleaned(text, limit: 16_384))")
    }
  }

  /// Errors of this project describe themselves without secrets; of others, only the type is told.
  private static func words(for error: any Error) -> String {
    switch error {
    case let error as TransportError: "\(error.code.rawValue): \(error.message)"
    case let error as APIError: error.description
    case is CancellationError: "cancelled"
    default: "\(type(of: error))"
    }
  }

  private func milliseconds(since start: Duration) -> String {
    let elapsed = time.sinceBoot - start
    return "\(elapsed.components.seconds * 1000 + elapsed.components.attoseconds / 1_000_000_000_000_000) ms"
  }
}

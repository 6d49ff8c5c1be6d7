internal import AuthModels
public import Groundwork

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// How often and how long a request is tried.
public struct RetryPolicy: Sendable, Hashable {
  /// The most attempts, the first one included.
  public var maximumAttempts: Int
  /// The upper bound of the first wait; it doubles with each attempt.
  public var baseDelay: Duration
  /// The most any back-off may be; `Retry-After` is not held to it.
  public var maximumDelay: Duration
  /// No wait begins that would end later than this after the first attempt began.
  public var totalTime: Duration
  /// The statuses that are worth another attempt.
  public var statuses: Set<Int>

  /// Makes a policy.
  public init(
    maximumAttempts: Int = 3, baseDelay: Duration = .milliseconds(200), maximumDelay: Duration = .seconds(10),
    totalTime: Duration = .seconds(30), statuses: Set<Int> = [408, 425, 429, 502, 503, 504]
  ) {
    self.maximumAttempts = maximumAttempts
    self.baseDelay = baseDelay
    self.maximumDelay = maximumDelay
    self.totalTime = totalTime
    self.statuses = statuses
  }

  /// The upper bound of the wait after so many attempts: the base, doubled each time, held at the maximum.
  public func ceiling(afterAttempts attempts: Int) -> Duration {
    guard baseDelay > .zero else { return .zero }
    var delay = baseDelay
    var doublings = 1
    while doublings < attempts, delay < maximumDelay {
      delay += delay
      doublings += 1
    }
    return min(delay, maximumDelay)
  }
}

/// Sends an idempotent request again after a passing failure: exponential back-off with full jitter, at least `Retry-After`.
///
/// Never retried: a call that is not idempotent or carries a credential body (a refresh has rules of its own, S12), cancellation, TLS
/// failures, what was refused before it was sent, and errors that are no `TransportError`, the session engine's for one. When the
/// attempts or the time run out, the last answer or error is reported as it is.
public struct RetryInterceptor: HTTPInterceptor {
  private let policy: RetryPolicy
  private let time: any TimeSource
  private let random: @Sendable () -> Double

  /// Makes the interceptor.
  ///
  /// - Parameters:
  ///   - policy: how often and how long.
  ///   - time: the clock that waits.
  ///   - random: the jitter's source: a number from 0 up to 1.
  public init(
    policy: RetryPolicy = RetryPolicy(), time: any TimeSource = SystemClock(),
    random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
  ) {
    self.policy = policy
    self.time = time
    self.random = random
  }

  public func intercept(
    _ request: HTTPRequest, context: RequestContext,
    next: @Sendable (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    guard context.isIdempotent, !context.hasCredentialBody else { return try await next(request) }
    let start = time.sinceBoot
    var attempts = 1
    while true {
      let outcome: Result<HTTPResponse, TransportError>
      do {
        outcome = .success(try await next(request))
      } catch let error as TransportError {
        outcome = .failure(error)
      }
      guard attempts < policy.maximumAttempts, let delay = delay(before: outcome, attempts: attempts),
        time.sinceBoot - start + delay <= policy.totalTime
      else { return try outcome.get() }
      try await time.sleep(for: delay)
      attempts += 1
    }
  }

  /// How long to wait after this outcome; nil if it is final.
  private func delay(before outcome: Result<HTTPResponse, TransportError>, attempts: Int) -> Duration? {
    // Not-a-number compares false, and so is no wait rather than a trap in the multiplication.
    let number = random()
    let jitter = number > 0 ? min(number, 1) : 0
    let backOff = policy.ceiling(afterAttempts: attempts) * jitter
    switch outcome {
    case .success(let response):
      guard policy.statuses.contains(response.status) else { return nil }
      return max(backOff, RetryAfter.delay(in: response, now: time.wallClock) ?? .zero)
    case .failure(let error):
      switch error.code {
      case .cannotConnect, .timedOut, .connectionLost, .malformedResponse: return backOff
      case .tlsFailure, .responseTooLarge, .redirectRefused, .insecureConnection, .invalidRequest, .cancelled:
        return nil
      }
    }
  }
}

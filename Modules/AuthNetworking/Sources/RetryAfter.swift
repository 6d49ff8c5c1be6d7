internal import Groundwork

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// The `Retry-After` field (RFC 9110 §10.2.3): seconds, or a date.
package enum RetryAfter {
  /// More than this is held to this: no server may put a client to sleep for a year.
  package static let longest: Duration = .seconds(86_400)

  /// How long the answer asks to wait; nil if it says nothing or nothing readable. A date in the past is no wait at all.
  ///
  /// A date is compared with the answer's own `Date`, so that a wrong clock here does no harm, and with `now` if there is none.
  package static func delay(in response: HTTPResponse, now: Date) -> Duration? {
    guard let text = response.headers["Retry-After"]?.trimmingPrefix(while: { $0 == " " }), !text.isEmpty else {
      return nil
    }
    if text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) {
      guard let seconds = Int64(text) else { return longest }
      return min(.seconds(min(seconds, 1_000_000)), longest)
    }
    guard let date = HTTPDate.parse(String(text)) else { return nil }
    let reference = response.headers["Date"].flatMap(HTTPDate.parse) ?? now
    return min(max(.clamped(seconds: date.timeIntervalSince(reference)), .zero), longest)
  }
}

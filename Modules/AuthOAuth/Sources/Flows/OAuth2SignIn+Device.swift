import AuthModels
import AuthNetworking
public import Groundwork

/// What a person needs to sign a machine in that has no browser (RFC 8628 §3.2).
public struct DeviceAuthorization: Sendable, Hashable {
  /// The code to type there.
  public var userCode: String
  /// The page to open on any other machine.
  public var verificationURI: String
  /// The same with the code in it, where the server has one.
  public var completeURI: String?
  /// How long the code is good for.
  public var lifetime: Duration
}

extension OAuth2SignIn {
  /// Signs in by a code that a person types on another machine (RFC 8628).
  ///
  /// It asks the server no more often than the server allows, waits longer after each `slow_down` and each failure to reach it, and gives up
  /// when the code runs out.
  ///
  /// - Parameters:
  ///   - time: the clocks.
  ///   - show: shows the code and the page.
  /// - Throws: `OAuthError`: `notSupported`, `denied`, `deviceCodeExpired`; `APIError`; `CancellationError`.
  public func device(
    time: any TimeSource, show: (DeviceAuthorization) async throws -> Void
  ) async throws -> Outcome {
    let answer: JSONValue
    do {
      answer = try await endpoint.deviceAuthorization()
    } catch let error as APIError {
      if let refusal = OAuthError(refusing: error, of: Self.deviceGrant) { throw refusal }
      throw error
    }
    let pages = ["verification_uri", "verification_url"].lazy.compactMap { answer[$0]?.string }
    guard let deviceCode = answer["device_code"]?.string, !deviceCode.isEmpty,
      let userCode = answer["user_code"]?.string, let page = pages.first, Self.isPage(page)
    else {
      throw APIError(.undecodable, status: 200, detail: "no device code, user code or page")
    }
    let lifetime = Duration.clamped(seconds: min(max(answer["expires_in"]?.number ?? 600, 1), 86_400))
    let complete = answer["verification_uri_complete"]?.string.flatMap { Self.isPage($0) ? $0 : nil }
    try await show(
      DeviceAuthorization(
        userCode: String(userCode.prefix(64)), verificationURI: page, completeURI: complete, lifetime: lifetime))
    return try await poll(
      deviceCode, interval: .clamped(seconds: min(max(answer["interval"]?.number ?? 5, 1), 300)),
      until: time.sinceBoot + lifetime, time: time)
  }

  private func poll(
    _ deviceCode: String, interval: Duration, until end: Duration, time: any TimeSource
  ) async throws -> Outcome {
    var interval = interval
    while true {
      guard time.sinceBoot + interval < end else { break }
      try await time.sleep(for: interval)
      do {
        return try await buy(Self.deviceGrant, [("device_code", deviceCode)], nonce: nil)
      } catch let error as APIError {
        switch error.serverCode {
        case "authorization_pending": continue
        case "slow_down": interval += .seconds(5)
        case "access_denied":
          throw OAuthError(.denied, "The sign-in was refused on the other machine.", serverCode: "access_denied")
        case "expired_token": throw Self.expired
        default:
          // RFC 8628 §3.5: no answer, or a busy server, asks for longer pauses and not for an end.
          guard [.transport, .serverError, .rateLimited].contains(error.kind) else { throw error }
          interval = min(interval * 2, .seconds(300))
        }
      }
    }
    throw Self.expired
  }

  private static var expired: OAuthError {
    OAuthError(.deviceCodeExpired, "Nobody typed the code in time. Start again.", serverCode: "expired_token")
  }

  private static var deviceGrant: String { "urn:ietf:params:oauth:grant-type:device_code" }

  /// What a person may be sent to: a page on the web, and nothing that drives a terminal.
  private static func isPage(_ text: String) -> Bool {
    (text.hasPrefix("https://") || text.hasPrefix("http://")) && text.utf8.count <= 2048
      && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
  }
}

package import AuthModels

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Rule S24 for redirects, decided once for every transport.
extension HTTPRequest {
  /// Sends the request by `exchange`, and again wherever its answer leads, as far as that is allowed.
  ///
  /// - Parameters:
  ///   - limit: the most redirects that are followed.
  ///   - exchange: one request, one answer, without redirects.
  /// - Throws: what `exchange` throws; `redirectRefused` beyond the limit.
  package func followingRedirects(
    atMost limit: Int, _ exchange: (HTTPRequest) async throws(TransportError) -> HTTPResponse
  ) async throws(TransportError) -> HTTPResponse {
    var request = self
    var redirects = 0
    while true {
      let response = try await exchange(request)
      guard let target = request.redirected(by: response) else { return response }
      guard redirects < limit else {
        throw TransportError(
          .redirectRefused, mayHaveBeenSent: true,
          message: "\(request.url.host() ?? "The server") redirected more than \(limit) times.")
      }
      redirects += 1
      request = target
    }
  }

  /// The request to which a redirect leads; nil if the answer is none, or is not to be followed (S24).
  package func redirected(by response: HTTPResponse) -> HTTPRequest? {
    guard [301, 302, 303, 307, 308].contains(response.status), !hasCredentialBody,
      let location = response.headers["Location"],
      let target = URL(string: location, relativeTo: url)?.absoluteURL, target.hasOrigin(of: url)
    else { return nil }
    var request = self
    request.url = target
    let becomesGet = response.status == 303 ? method != .head : response.status < 303 && method == .post
    if becomesGet {
      request.method = .get
      request.body = nil
      request.headers = HTTPFields(headers.fields.filter { !$0.name.lowercased().hasPrefix("content-") })
    }
    return request
  }
}

extension URL {
  /// Whether scheme, host and port are those of the other URL, and no user is named.
  fileprivate func hasOrigin(of other: URL) -> Bool {
    func port(_ url: URL) -> Int? { url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80) }
    return scheme?.lowercased() == other.scheme?.lowercased() && host()?.lowercased() == other.host()?.lowercased()
      && port(self) == port(other) && user() == nil && password() == nil
  }
}

internal import Groundwork

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension APIClient {
  /// The same client, with the session's token on every authed call (D3.9).
  ///
  /// The bearer stands after all interceptors that are there, so that an attempt after a long wait asks for a token anew.
  ///
  /// - Parameter refusal: which answers say that the token is not taken any more.
  public func authorized(by authorizer: any RequestAuthorizer, refusal: TokenRefusal = .unauthorized) -> APIClient {
    adding(BearerInterceptor(authorizer: authorizer, refusal: refusal))
  }

  /// The same client with one more interceptor, the innermost.
  public func adding(_ interceptor: any HTTPInterceptor) -> APIClient {
    APIClient(
      baseURL: baseURL, transport: transport, interceptors: interceptors + [interceptor], errorDecoder: errorDecoder,
      timeout: timeout, allowInsecureHTTP: allowsInsecureHTTP, time: time)
  }

  /// The same client reading error bodies in another way.
  public func with(errorDecoder: any ErrorDecoder) -> APIClient {
    APIClient(
      baseURL: baseURL, transport: transport, interceptors: interceptors, errorDecoder: errorDecoder, timeout: timeout,
      allowInsecureHTTP: allowsInsecureHTTP, time: time)
  }

  /// The same client for another server: an authorization server often has its endpoints on several hosts (RFC 8414 §2).
  public func with(baseURL: URL) -> APIClient {
    APIClient(
      baseURL: baseURL, transport: transport, interceptors: interceptors, errorDecoder: errorDecoder, timeout: timeout,
      allowInsecureHTTP: allowsInsecureHTTP, time: time)
  }

  /// The wall clock of this client's time source.
  package var today: Date { time.wallClock }
}

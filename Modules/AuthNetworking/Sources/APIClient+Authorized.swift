extension APIClient {
  /// The same client, with the session's token on every authed call (D3.9).
  ///
  /// The bearer stands after all interceptors that are there, so that an attempt after a long wait asks for a token anew.
  public func authorized(by authorizer: any RequestAuthorizer) -> APIClient {
    APIClient(
      baseURL: baseURL, transport: transport, interceptors: interceptors + [BearerInterceptor(authorizer: authorizer)],
      errorDecoder: errorDecoder, timeout: timeout, allowInsecureHTTP: allowsInsecureHTTP, time: time)
  }
}

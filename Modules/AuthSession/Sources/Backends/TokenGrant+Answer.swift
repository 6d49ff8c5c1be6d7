import AuthModels
import AuthNetworking

extension TokenGrant {
  /// The tokens of an answer, with the server's clock from its `Date` (S4).
  init(_ exchange: (value: TokenResponse, response: HTTPResponse)) {
    self.init(
      response: exchange.value,
      serverDate: exchange.response.headers["Date"].flatMap { HTTPDate.parse($0) })
  }
}

extension RevocationOutcome {
  /// Calls a revocation endpoint and reads what became of the tokens (S20).
  ///
  /// For a server whose 401, 404 or 410 means that it does not know the token any more.
  public init(calling call: () async throws -> Void) async {
    do {
      try await call()
      self = .revoked
    } catch let error as APIError {
      switch error.status {
      // The server does not know them (any more), which is what was wanted.
      case 401, 404, 410: self = .revoked
      case nil, 408, 425, 429: self = .failed(error)
      case .some(let status): self = status < 400 || status >= 500 ? .failed(error) : .rejected(error)
      }
    } catch {
      let cancelled = TransportError(.cancelled, mayHaveBeenSent: true, message: "The sign-out was cut short.")
      self = .failed(APIError(cancelled))
    }
  }
}

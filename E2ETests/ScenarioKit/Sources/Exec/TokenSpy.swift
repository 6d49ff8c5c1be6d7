internal import MockServerCore

/// Stands before a server and notes the tokens that it gives away: what must not be said, and what a step may revoke.
struct TokenSpy: MockRequestHandler {
  let server: MockAuthServer
  let tokens: TokenLog

  func receive(_ request: MockRequest, deliver: @escaping @Sendable (MockDelivery) -> Void) {
    server.receive(request) { delivery in
      tokens.note(delivery.reply.body, process: "any")
      deliver(delivery)
    }
  }
}

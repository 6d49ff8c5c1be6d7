public import AuthNetworking

/// What becomes of one message between client and server.
public enum MessageFate: Sendable, Hashable {
  /// It arrives.
  case arrives
  /// It is lost, and the connection with it.
  case lost
}

/// Stands on the line between a client and the server in process: delays, drops or just sees every message.
///
/// A delay is an await in here; the simulator decides each one. A request is a message that is on its way to the server, an
/// answer one that is on its way back: losing the answer leaves the operation done.
public struct MessageGate: Sendable {
  /// Asked before a request reaches the server.
  public var request: @Sendable (HTTPRequest) async -> MessageFate
  /// Asked before an answer reaches the client.
  public var answer: @Sendable (HTTPRequest, HTTPResponse) async -> MessageFate

  /// Makes a gate; by default everything arrives.
  public init(
    request: @escaping @Sendable (HTTPRequest) async -> MessageFate = { _ in .arrives },
    answer: @escaping @Sendable (HTTPRequest, HTTPResponse) async -> MessageFate = { _, _ in .arrives }
  ) {
    self.request = request
    self.answer = answer
  }
}

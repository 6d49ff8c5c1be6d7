/// How a client and an authorization server know each other: everything that is kept beside a session, and no secret.
public struct OAuth2Connection: Sendable, Hashable, Codable {
  /// The server, as its metadata had it at the sign-in: a refresh asks for no metadata again.
  public var metadata: ServerMetadata
  /// The client's id there.
  public var clientID: String
  /// How the client proves itself.
  public var authentication: ClientAuthentication
  /// What is asked for at a sign-in, words separated by spaces.
  public var scope: String?
  /// The user who signed in, where an ID token said so: nobody else may be told of as the user later.
  public var subject: String?

  /// Makes a connection.
  public init(
    metadata: ServerMetadata, clientID: String, authentication: ClientAuthentication = .none, scope: String? = nil,
    subject: String? = nil
  ) {
    self.metadata = metadata
    self.clientID = clientID
    self.authentication = authentication
    self.scope = scope
    self.subject = subject
  }
}

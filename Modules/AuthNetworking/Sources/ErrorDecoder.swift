public import AuthModels

/// What an error body says, whatever its shape.
public struct ServerErrorBody: Sendable, Hashable {
  /// The shape it came in.
  public var shape: ServerErrorShape
  /// The server's own code, if it gave one.
  public var code: ServerErrorCode?
  /// The server's own words.
  public var message: String?
  /// What it says of single fields.
  public var fields: [String: String]

  /// Makes a body from its parts.
  public init(
    shape: ServerErrorShape, code: ServerErrorCode? = nil, message: String? = nil, fields: [String: String] = [:]
  ) {
    self.shape = shape
    self.code = code
    self.message = message
    self.fields = fields
  }
}

/// Reads the error body of a dialect: one conformance a dialect, and `AnyErrorDecoder` over several.
public protocol ErrorDecoder: Sendable {
  /// Reads the body of an answer that is no success.
  ///
  /// - Returns: nil if the body is not in this decoder's shape. Any bytes may come; nothing traps or throws.
  func decode(_ response: HTTPResponse) -> ServerErrorBody?
}

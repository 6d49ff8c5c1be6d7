package import AuthModels
package import Groundwork

/// What decoders outside this module need of `ErrorBodyReader`: the same limits for every dialect.
package enum ServerErrorText {
  /// The body as a JSON object; nil if it is none.
  package static func object(in response: HTTPResponse) -> JSONValue? { ErrorBodyReader.object(in: response) }

  /// A code: a short word without spaces.
  package static func code(_ value: JSONValue?) -> ServerErrorCode? { ErrorBodyReader.code(value) }

  /// Words that are safe to show.
  package static func message(_ text: String) -> String { ErrorBodyReader.message(text) }
}

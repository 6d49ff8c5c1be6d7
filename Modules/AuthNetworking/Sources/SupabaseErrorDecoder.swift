internal import AuthModels
internal import Groundwork

/// Reads the shapes of the Supabase auth API (D4): `{"code":HTTP,"error_code":CODE,"msg":TEXT}`, the newer
/// `{"code":CODE,"message":TEXT}`, and the gateway's `{"message":TEXT}`. Its third, the OAuth shape, is `OAuthErrorDecoder`'s.
///
/// Where the body has no code of its own, the header `x-sb-error-code` gives it.
public struct SupabaseErrorDecoder: ErrorDecoder {
  /// Makes the decoder.
  public init() {}

  public func decode(_ response: HTTPResponse) -> ServerErrorBody? {
    guard let body = ErrorBodyReader.object(in: response), body["error"] == nil,
      let message = (body["msg"] ?? body["message"])?.string
    else { return nil }
    let header = response.headers["x-sb-error-code"].map { JSONValue.string($0) }
    let code =
      ErrorBodyReader.code(body["error_code"]) ?? ErrorBodyReader.code(body["code"]) ?? ErrorBodyReader.code(header)
    let words = ErrorBodyReader.message(message)
    // The one code that is about a single field (D1.7).
    let fields: [String: String] = code == .weakPassword ? ["password": words] : [:]
    return ServerErrorBody(shape: .supabase, code: code, message: words, fields: fields)
  }
}

internal import AuthModels
internal import Groundwork

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Reads the chirp shape, `{"error":true,"reason":TEXT,"code":CODE?,"fields":{…}?}`: the bare form without a code, too.
public struct ChirpErrorDecoder: ErrorDecoder {
  /// Makes the decoder.
  public init() {}

  public func decode(_ response: HTTPResponse) -> ServerErrorBody? {
    guard let body = ErrorBodyReader.object(in: response), body["error"] == .bool(true),
      let reason = body["reason"]?.string
    else { return nil }
    return ServerErrorBody(
      shape: .chirp, code: ErrorBodyReader.code(body["code"]), message: ErrorBodyReader.message(reason),
      fields: ErrorBodyReader.fields(body["fields"]))
  }
}

/// Reads the envelope shape, `{"error":{"message":TEXT}}`.
public struct EnvelopeErrorDecoder: ErrorDecoder {
  /// Makes the decoder.
  public init() {}

  public func decode(_ response: HTTPResponse) -> ServerErrorBody? {
    guard let error = ErrorBodyReader.object(in: response)?["error"], let message = error["message"]?.string else {
      return nil
    }
    return ServerErrorBody(
      shape: .envelope, code: ErrorBodyReader.code(error["code"]), message: ErrorBodyReader.message(message),
      fields: ErrorBodyReader.fields(error["fields"]))
  }
}

/// Reads the shape of RFC 6749 §5.2, `{"error":CODE,"error_description":TEXT?}`.
public struct OAuthErrorDecoder: ErrorDecoder {
  /// Makes the decoder.
  public init() {}

  public func decode(_ response: HTTPResponse) -> ServerErrorBody? {
    guard let body = ErrorBodyReader.object(in: response), let code = ErrorBodyReader.code(body["error"]) else {
      return nil
    }
    return ServerErrorBody(
      shape: .oauth2, code: code, message: body["error_description"]?.string.map(ErrorBodyReader.message))
  }
}

/// Tries several decoders; the first that knows the shape wins.
public struct AnyErrorDecoder: ErrorDecoder {
  private let decoders: [any ErrorDecoder]

  /// Every shape of this module; no body fits two of them.
  public static let all = AnyErrorDecoder([ChirpErrorDecoder(), EnvelopeErrorDecoder(), OAuthErrorDecoder()])

  /// Tries `decoders` in order.
  public init(_ decoders: [any ErrorDecoder]) {
    self.decoders = decoders
  }

  public func decode(_ response: HTTPResponse) -> ServerErrorBody? {
    for decoder in decoders {
      if let body = decoder.decode(response) { return body }
    }
    return nil
  }
}

/// What the decoders share: limits, and text that is safe to show.
enum ErrorBodyReader {
  /// A larger error body is not read: no server needs it, and it would cost memory.
  static let sizeLimit = 65_536

  /// The body as a JSON object; nil if it is none, whatever it is.
  static func object(in response: HTTPResponse) -> JSONValue? {
    guard 2...sizeLimit ~= response.body.count else { return nil }
    do {
      let value = try JSONDecoder().decode(JSONValue.self, from: response.body)
      return value.object == nil ? nil : value
    } catch {
      return nil
    }
  }

  /// A code is a short word without spaces.
  static func code(_ value: JSONValue?) -> ServerErrorCode? {
    guard let text = value?.string, 1...64 ~= text.utf8.count, text.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
      return nil
    }
    return ServerErrorCode(rawValue: text)
  }

  static func message(_ text: String) -> String {
    ServerText.cleaned(text, limit: 300)
  }

  /// At most 32 fields, in whatever order.
  static func fields(_ value: JSONValue?) -> [String: String] {
    var fields: [String: String] = [:]
    for name in (value?.object ?? [:]).keys.sorted().prefix(32) {
      if let text = value?[name]?.string { fields[ServerText.cleaned(name, limit: 64)] = message(text) }
    }
    return fields
  }
}

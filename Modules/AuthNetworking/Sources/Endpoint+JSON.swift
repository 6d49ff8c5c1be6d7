internal import AuthModels
package import Groundwork

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Endpoint where Response: Decodable {
  /// Makes an endpoint whose answer is JSON; dates in it are ISO 8601 with or without fractions.
  ///
  /// - Parameter body: JSON text, from `JSONBody` or an encoder; nil for a call without a body.
  public init(
    method: HTTPMethod, path: String, query: [(name: String, value: String)] = [], headers: HTTPFields = [:],
    jsonBody body: Data? = nil, requiresAuth: Bool = true, isIdempotent: Bool? = nil, hasCredentialBody: Bool = false,
    isSignIn: Bool = false, timeout: Duration? = nil
  ) {
    self.init(
      method: method, path: path, query: query, headers: headers.forJSON(hasBody: body != nil), body: body,
      requiresAuth: requiresAuth, isIdempotent: isIdempotent, hasCredentialBody: hasCredentialBody, isSignIn: isSignIn,
      timeout: timeout
    ) { response in
      try InternetDate.makeDecoder().decode(Response.self, from: response.body)
    }
  }

  /// Makes an endpoint whose body and answer are JSON.
  ///
  /// - Throws: `EncodingError` if the body cannot be JSON, say for a number that is not finite.
  public init(
    method: HTTPMethod, path: String, query: [(name: String, value: String)] = [], headers: HTTPFields = [:],
    json body: some Encodable, requiresAuth: Bool = true, isIdempotent: Bool? = nil, hasCredentialBody: Bool = false,
    isSignIn: Bool = false, timeout: Duration? = nil
  ) throws {
    self.init(
      method: method, path: path, query: query, headers: headers, jsonBody: try JSONBody.encoded(body),
      requiresAuth: requiresAuth, isIdempotent: isIdempotent, hasCredentialBody: hasCredentialBody, isSignIn: isSignIn,
      timeout: timeout)
  }
}

extension Endpoint where Response == Void {
  /// Makes an endpoint whose answer is empty (204), or whose answer's body does not matter.
  public init(
    method: HTTPMethod, path: String, query: [(name: String, value: String)] = [], headers: HTTPFields = [:],
    jsonBody body: Data? = nil, requiresAuth: Bool = true, isIdempotent: Bool? = nil, hasCredentialBody: Bool = false,
    isSignIn: Bool = false, timeout: Duration? = nil
  ) {
    self.init(
      method: method, path: path, query: query, headers: headers.forJSON(hasBody: body != nil), body: body,
      requiresAuth: requiresAuth, isIdempotent: isIdempotent, hasCredentialBody: hasCredentialBody, isSignIn: isSignIn,
      timeout: timeout
    ) { _ in }
  }
}

/// JSON texts for request bodies.
public enum JSONBody: Sendable {
  /// An object of texts, its members in the order given; nil values are left out. Any text can be written, so nothing throws.
  public static func object(_ members: KeyValuePairs<String, String?>) -> Data {
    var bytes: [UInt8] = [UInt8(ascii: "{")]
    for (name, value) in members {
      guard let value else { continue }
      if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
      append(name, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      append(value, to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
    return Data(bytes)
  }

  /// Any value as JSON; dates as ISO 8601.
  ///
  /// - Throws: `EncodingError`.
  public static func encoded(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(value)
  }

  /// Reads JSON of any shape.
  package static func decoded(_ text: String) throws -> JSONValue {
    try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
  }

  /// A JSON string (RFC 8259 §7).
  private static func append(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0..<0x20, 0x7F:
        let digits = Array("0123456789abcdef".utf8)
        bytes.append(contentsOf: "\\u00".utf8)
        bytes.append(digits[Int(byte >> 4)])
        bytes.append(digits[Int(byte & 15)])
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}

extension HTTPFields {
  /// Adds `Accept`, and `Content-Type` if there is a body, unless they are set.
  fileprivate func forJSON(hasBody: Bool) -> HTTPFields {
    var fields = self
    if fields["Accept"] == nil { fields["Accept"] = "application/json" }
    if hasBody, fields["Content-Type"] == nil { fields["Content-Type"] = "application/json" }
    return fields
  }
}

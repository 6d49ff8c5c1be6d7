package import AuthModels

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension HTTPRequest {
  /// Whether the request carries something that S24 guards: a token, cookies, a key, or a credential in its body.
  package var carriesCredential: Bool {
    hasCredentialBody
      || headers.fields.contains { field in
        field.hasName("authorization") || field.hasName("cookie") || field.hasName("proxy-authorization")
      }
  }

  /// Refuses what would change the request's framing or let a value become a field of its own (RFC 9110 §5.5, RFC 9112 §11.1).
  ///
  /// The message names the field, never its value.
  package func checkFields() throws(TransportError) {
    guard !method.rawValue.isEmpty, method.rawValue.utf8.allSatisfy(Self.isTokenByte) else {
      throw .invalidRequest("The method is no HTTP method.")
    }
    for field in headers.fields {
      guard !field.name.isEmpty, field.name.utf8.allSatisfy(Self.isTokenByte) else {
        throw .invalidRequest("A header field has a name that is not allowed.")
      }
      guard field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
        throw .invalidRequest("The header field \(field.name) has a control character, such as a line break.")
      }
      if field.hasName("host") || field.hasName("connection") || field.hasName("content-length")
        || field.hasName("transfer-encoding")
      {
        throw .invalidRequest("The header field \(field.name) is set by the transport alone.")
      }
    }
  }

  /// Refuses what no transport can send: another scheme, no host, a user in the URL, a body where HTTP gives it no meaning.
  package func checkTarget() throws(TransportError) {
    guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https", url.host()?.isEmpty == false
    else { throw .invalidRequest("The URL must be http:// or https:// with a host.") }
    guard url.user() == nil, url.password() == nil else {
      throw .invalidRequest("The URL must not name a user or a password.")
    }
    if body?.isEmpty == false, [.get, .head, "TRACE"].contains(method) {
      throw .invalidRequest("A \(method.rawValue) request cannot carry a body.")
    }
  }

  /// Whether a byte may stand in a method or a field's name (RFC 9110 §5.6.2).
  package static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5E...0x60, 0x23...0x27: true  // digits, letters, ^_`, #$%&'
    case 0x21, 0x2A, 0x2B, 0x2D, 0x2E, 0x7C, 0x7E: true  // ! * + - . | ~
    default: false
    }
  }
}

package import AuthModels

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Rule S24 for connections: credentials go over TLS, or to this machine.
package enum ConnectionSecurity {
  /// Asserts that the request's credentials, if it carries any, are safe on its connection.
  ///
  /// - Throws: `insecureConnection`; nothing has been sent then.
  package static func check(_ request: HTTPRequest, carriesCredential: Bool) throws(TransportError) {
    guard carriesCredential, request.url.scheme?.lowercased() != "https" else { return }
    let host = request.url.host() ?? ""
    guard !isLoopback(host: host) else { return }
    throw TransportError(
      .insecureConnection, mayHaveBeenSent: false,
      message: "Refused to send a credential to \(host) over plain HTTP. Use https, or allow insecure HTTP by name.")
  }

  /// Whether a host is this machine: `localhost`, a name under it (RFC 6761 §6.3), 127.0.0.0/8 in four decimal parts, or ::1.
  ///
  /// Other spellings of a loopback address (`127.1`, `0x7f000001`) count as foreign: not every resolver reads them alike.
  package static func isLoopback(host: String) -> Bool {
    var name = host.lowercased()
    if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
    if name == "::1" || name == "0:0:0:0:0:0:0:1" { return true }
    if name.hasSuffix(".") { name.removeLast() }
    if name == "localhost" || name.hasSuffix(".localhost") { return true }
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy(isOctet)
  }

  private static func isOctet(_ part: Substring) -> Bool {
    (1...3).contains(part.utf8.count) && part.utf8.allSatisfy { 0x30...0x39 ~= $0 } && UInt8(part) != nil
      && (part.utf8.count == 1 || part.utf8.first != 0x30)
  }
}

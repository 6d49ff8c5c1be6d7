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
    var host = host
    return host.withUTF8 { isLoopback($0) }
  }

  private static func isLoopback(_ host: UnsafeBufferPointer<UInt8>) -> Bool {
    var name = host[...]
    if name.first == UInt8(ascii: "["), name.last == UInt8(ascii: "]") { name = name.dropFirst().dropLast() }
    if name.elementsEqual("::1".utf8) || name.elementsEqual("0:0:0:0:0:0:0:1".utf8) { return true }
    if name.last == UInt8(ascii: ".") { name = name.dropLast() }
    if name.first == UInt8(ascii: "1") { return isLoopbackAddress(name) }
    let label = name.suffix(9)
    guard label.lazy.map({ $0 | 0x20 }).elementsEqual("localhost".utf8) else { return false }
    return label.count == name.count || name.dropLast(9).last == UInt8(ascii: ".")
  }

  /// `127.` and three parts of one to three digits, none above 255, none with a leading zero.
  private static func isLoopbackAddress(_ name: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    guard name.starts(with: "127.".utf8) else { return false }
    var parts = 0
    var digits = 0
    var value = 0
    for byte in name.dropFirst(4) {
      if byte == UInt8(ascii: ".") {
        guard digits > 0 else { return false }
        parts += 1
        digits = 0
        value = 0
      } else {
        guard 0x30...0x39 ~= byte, digits == 0 || value > 0 else { return false }
        value = value * 10 + Int(byte - 0x30)
        digits += 1
        guard value < 256 else { return false }
      }
    }
    return parts == 2 && digits > 0
  }
}

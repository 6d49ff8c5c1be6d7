/// A host with or without a port, as `Host` and the absolute form of a target have it (RFC 9112, 3.2; RFC 3986, 3.2).
enum Authority {
  /// Whether the bytes are a name, an IPv4 address or a bracketed IPv6 address, with at most one port of digits after it.
  ///
  /// Every request comes through here: one pass over the bytes, and no collection behind an existential.
  static func isSound(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var end = 0
    if bytes.first == UInt8(ascii: "[") {
      // IPv6 by its characters; which address it is decides nothing here.
      var colons = 0
      end = 1
      while end < bytes.count, bytes[end] != UInt8(ascii: "]") {
        let byte = bytes[end]
        if byte == Byte.colon {
          colons += 1
        } else if Byte.hexDigit(byte) == nil, byte != UInt8(ascii: ".") {
          return false
        }
        end += 1
      }
      guard end < bytes.count, colons >= 2 else { return false }
      end += 1
    } else {
      while end < bytes.count, bytes[end] != Byte.colon {
        let byte = bytes[end]
        guard Byte.isHost(byte), byte != UInt8(ascii: "["), byte != UInt8(ascii: "]") else { return false }
        end += 1
      }
      guard end > 0 else { return false }
    }
    return isPort(UnsafeRawBufferPointer(rebasing: bytes[end...]))
  }

  /// Whether it is nothing, or a colon with the digits of a port, which may be missing.
  private static func isPort(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let first = bytes.first else { return true }
    guard first == Byte.colon, bytes.count <= 6 else { return false }
    var port = 0
    for byte in bytes.dropFirst() {
      guard Byte.isDigit(byte) else { return false }
      port = port * 10 + Int(byte & 15)
    }
    return port <= 65535
  }
}

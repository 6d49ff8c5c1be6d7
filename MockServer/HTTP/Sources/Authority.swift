/// A host with or without a port, as `Host` and the absolute form of a target have it (RFC 9112, 3.2; RFC 3986, 3.2).
enum Authority {
  /// Whether the bytes are a name, an IPv4 address or a bracketed IPv6 address, with at most one port of digits after it.
  static func isSound(_ bytes: some BidirectionalCollection<UInt8>) -> Bool {
    guard bytes.allSatisfy(Byte.isHost) else { return false }
    let port: any BidirectionalCollection<UInt8>
    if bytes.first == UInt8(ascii: "[") {
      guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return false }
      let address = bytes[bytes.index(after: bytes.startIndex)..<end]
      guard isAddress(address) else { return false }
      port = bytes[bytes.index(after: end)...]
    } else {
      let name = bytes.prefix { $0 != Byte.colon }
      guard !name.isEmpty, !name.contains(UInt8(ascii: "[")), !name.contains(UInt8(ascii: "]")) else { return false }
      port = bytes[name.endIndex...]
    }
    return isPort(port)
  }

  /// Whether it is IPv6 by its characters; which address it is decides nothing here.
  private static func isAddress(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.count { $0 == Byte.colon } >= 2
      && bytes.allSatisfy { Byte.hexDigit($0) != nil || $0 == Byte.colon || $0 == UInt8(ascii: ".") }
  }

  /// Whether it is nothing, or a colon with the digits of a port, which may be missing.
  private static func isPort(_ bytes: some Collection<UInt8>) -> Bool {
    guard let first = bytes.first else { return true }
    let digits = bytes.dropFirst()
    guard first == Byte.colon, digits.allSatisfy(Byte.isDigit), digits.count <= 5 else { return false }
    return digits.reduce(0) { $0 * 10 + Int($1 & 15) } <= 65535
  }
}

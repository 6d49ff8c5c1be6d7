/// Base64 with the URL alphabet and without padding (RFC 4648 §5), as JOSE has it.
enum Base64URL {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 0xFF, count: 256)
    for (value, letter) in alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
    return values
  }()

  static func append(_ bytes: some Collection<UInt8>, to output: inout [UInt8]) {
    var bits: UInt32 = 0
    var count = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 6 {
        count -= 6
        output.append(alphabet[Int(bits >> UInt32(count) & 63)])
      }
    }
    if count > 0 { output.append(alphabet[Int(bits << UInt32(6 - count) & 63)]) }
  }

  static func encode(_ bytes: some Collection<UInt8>) -> String {
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count * 4 / 3 + 2)
    append(bytes, to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  /// Nil for a letter of another alphabet, padding, a length that cannot be, or bits that are left over and not zero.
  static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    for letter in text.utf8 {
      let value = values[Int(letter)]
      guard value != 0xFF else { return nil }
      bits = bits << 6 | UInt32(value)
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        bits &= (1 << UInt32(count)) - 1
      }
    }
    return count < 6 && bits == 0 ? bytes : nil
  }
}

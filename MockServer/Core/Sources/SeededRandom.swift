#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// SplitMix64: the same seed gives the same tokens, ids and delays in every run and on every machine.
///
/// These numbers are guessable by design; nothing outside a test may rely on a mock server's tokens.
struct SeededRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
  private static let hexDigits = Array("0123456789abcdef".utf8)

  /// A token: the prefix and 40 letters of the base64url alphabet, 240 bits.
  mutating func token(prefix: String) -> String {
    var bytes = Array(prefix.utf8)
    bytes.reserveCapacity(bytes.count + 40)
    for _ in 0..<4 {
      var bits = next()
      for _ in 0..<10 {
        bytes.append(Self.alphabet[Int(bits & 63)])
        bits >>= 6
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// So many of `a` to `z` and `0` to `9`.
  mutating func letters(_ count: Int) -> String {
    let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789".utf8)
    return String(decoding: (0..<count).map { _ in letters[Int(next() % 36)] }, as: UTF8.self)
  }

  /// A version 4 UUID (RFC 9562 §5.4), lower case.
  mutating func uuid() -> String { Self.uuid(next(), next()) }

  /// A version 4 UUID of 122 given bits.
  static func uuid(_ first: UInt64, _ second: UInt64) -> String {
    let high = first & ~0xF000 | 0x4000
    let low = second & ~0xC000_0000_0000_0000 | 0x8000_0000_0000_0000
    var bytes: [UInt8] = []
    bytes.reserveCapacity(36)
    for index in 0..<32 {
      if index == 8 || index == 12 || index == 16 || index == 20 { bytes.append(UInt8(ascii: "-")) }
      let word = index < 16 ? high : low
      bytes.append(hexDigits[Int((word >> UInt64(60 - 4 * (index % 16))) & 15)])
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A number from 0 up to but not including 1.
  mutating func unit() -> Double {
    Double(next() >> 11) * 0x1p-53
  }

  /// A number of the standard normal distribution (Box–Muller).
  mutating func normal() -> Double {
    let radius = (-2 * log(1 - unit())).squareRoot()
    return radius * cos(2 * .pi * unit())
  }

  /// `e` to the power of `exponent`.
  static func exponential(_ exponent: Double) -> Double { exp(exponent) }
}

import Groundwork

/// Finds what may be a token in texts that a client chose: the journal must not have it.
enum Secrets {
  /// The prefixes of the tokens and keys that this server gives out, and of every JWT.
  private static let prefixes = ["at_", "rt_", "sb_secret_", "sb_publishable_", "eyJ"].map { Array($0.utf8) }
  /// So many bytes behind a prefix make a token.
  private static let leastBehindPrefix = 16
  private static let leastLength = 3 + leastBehindPrefix

  /// Whether a text may hold a token: one of this server's by its prefix, a JWT, or anything as long and as random as one.
  static func isSuspicious(_ text: some StringProtocol) -> Bool {
    // Nearly every text is too short: every request comes through here.
    guard text.utf8.count >= leastLength else { return false }
    return hasTokenPrefix(Array(text.utf8)) || isRandom(text)
  }

  private static func hasTokenPrefix(_ bytes: [UInt8]) -> Bool {
    for start in bytes.indices {
      for prefix in prefixes where bytes[start] == prefix[0] {
        let end = start + prefix.count
        if bytes.count - end >= leastBehindPrefix, bytes[start..<end].elementsEqual(prefix) { return true }
      }
    }
    return false
  }

  /// Letters and digits without a word in them: 24 bytes or more, digits among letters, and no UUID, which is an id.
  private static func isRandom(_ text: some StringProtocol) -> Bool {
    let bytes = text.utf8
    guard bytes.count >= 24 else { return false }
    var digits = 0
    var letters = 0
    var run = 0
    var longestRun = 0
    for byte in bytes {
      switch byte {
      case 0x30...0x39: digits += 1
      case 0x41...0x5A, 0x61...0x7A: letters += 1
      case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "="), UInt8(ascii: "+"),
        UInt8(ascii: "~"), UInt8(ascii: " "):
        run = 0
        continue
      default: return false
      }
      run += 1
      longestRun = max(longestRun, run)
    }
    return digits >= 2 && letters >= 2 && longestRun >= 20
  }

  /// A path, or another text, with `***` in place of each part that may be a token; parts are what stands between slashes.
  static func masked(_ text: String) -> String {
    guard isSuspicious(text) || text.contains("%") || text.utf8.count >= 24 else { return text }
    return text.split(separator: "/", omittingEmptySubsequences: false)
      .map { isSuspicious($0.percentDecoded ?? String($0)) ? "***" : String($0) }.joined(separator: "/")
  }
}

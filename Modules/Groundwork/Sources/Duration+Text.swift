extension Duration {
  /// Reads a duration as it is written everywhere in this project: `250ms`, `30s`, `15m`, `2h`, `30d`; a bare number is seconds.
  ///
  /// Fractions (`1.5s`) are taken; signs, spaces, other units, and anything over 10^12 s give nil.
  public init?(text: some StringProtocol) {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit = text[digits.endIndex...]
    guard !digits.isEmpty, digits.first != ".", digits.last != ".", let number = Double(digits) else { return nil }
    let scale: Double
    switch unit {
    case "ms": scale = 0.001
    case "s", "": scale = 1
    case "m": scale = 60
    case "h": scale = 3600
    case "d": scale = 86400
    default: return nil
    }
    let seconds = number * scale
    guard seconds.isFinite, seconds <= 1e12 else { return nil }
    self = .milliseconds(Int64((seconds * 1000).rounded()))
  }

  /// The duration as `init(text:)` reads it, in the largest unit that needs no fraction.
  public var text: String {
    guard components.seconds.magnitude < 1_000_000_000_000_000 else { return "\(components.seconds)s" }
    let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    guard milliseconds % 1000 == 0, milliseconds != 0 else { return milliseconds == 0 ? "0s" : "\(milliseconds)ms" }
    let seconds = milliseconds / 1000
    for (unit, size) in [("d", 86400), ("h", 3600), ("m", 60)] as [(String, Int64)] where seconds % size == 0 {
      return "\(seconds / size)\(unit)"
    }
    return "\(seconds)s"
  }
}

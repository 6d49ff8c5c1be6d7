#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Dates as JSON bodies write them: ISO 8601 in the profile of RFC 3339, with or without fractions of a second.
public enum InternetDate: Sendable {
  /// Reads `2026-11-30T19:17:02Z`, `2026-11-30T19:17:02.123456+01:00` and the like.
  ///
  /// - Returns: nil for anything else: another form, a day that does not exist, an hour of 24. Digits beyond the nanosecond are dropped.
  public static func parse(_ text: String) -> Date? {
    let bytes = Array(text.utf8)
    guard 20...64 ~= bytes.count, let year = number(bytes, 0, 4), bytes[4] == UInt8(ascii: "-"),
      let month = number(bytes, 5, 2), bytes[7] == UInt8(ascii: "-"), let day = number(bytes, 8, 2),
      bytes[10] | 0x20 == UInt8(ascii: "t") || bytes[10] == UInt8(ascii: " "), let hour = number(bytes, 11, 2),
      bytes[13] == UInt8(ascii: ":"), let minute = number(bytes, 14, 2), bytes[16] == UInt8(ascii: ":"),
      let second = number(bytes, 17, 2),
      let date = CivilDate(year: year, month: month, day: day).at(hour: hour, minute: minute, second: second)
    else { return nil }
    var index = 19
    var fraction = 0.0
    if bytes[index] == UInt8(ascii: ".") || bytes[index] == UInt8(ascii: ",") {
      index += 1
      let start = index
      var scale = 0.1
      while index < bytes.count, 0x30...0x39 ~= bytes[index] {
        if index - start < 9 { fraction += Double(bytes[index] - 0x30) * scale }
        scale /= 10
        index += 1
      }
      guard index > start else { return nil }
    }
    guard let offset = offset(Array(bytes[index...])) else { return nil }
    return date.addingTimeInterval(fraction - Double(offset))
  }

  /// A JSON decoder that reads such dates, and numbers as seconds since 1970.
  public static func makeDecoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      let container = try decoder.singleValueContainer()
      let text: String
      do {
        text = try container.decode(String.self)
      } catch DecodingError.typeMismatch {
        return Date(timeIntervalSince1970: try container.decode(Double.self))
      }
      guard let date = parse(text) else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an ISO 8601 date")
      }
      return date
    }
    return decoder
  }

  /// Seconds east of UTC.
  private static func offset(_ zone: [UInt8]) -> Int? {
    if zone.count == 1, zone[0] | 0x20 == UInt8(ascii: "z") { return 0 }
    guard zone.count == 6 || zone.count == 5, zone[0] == UInt8(ascii: "+") || zone[0] == UInt8(ascii: "-"),
      zone.count == 5 || zone[3] == UInt8(ascii: ":"), let hours = number(zone, 1, 2), hours < 24,
      let minutes = number(zone, zone.count - 2, 2), minutes < 60
    else { return nil }
    return (zone[0] == UInt8(ascii: "-") ? -1 : 1) * (hours * 3600 + minutes * 60)
  }

  private static func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> Int? {
    var value = 0
    for byte in bytes[start..<start + count] {
      guard 0x30...0x39 ~= byte else { return nil }
      value = value * 10 + Int(byte - 0x30)
    }
    return value
  }
}

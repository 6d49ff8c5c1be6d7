#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Dates as HTTP header fields write them (RFC 9110 §5.6.7).
public enum HTTPDate: Sendable {
  /// Reads a date in any of the three forms a recipient has to take: `Sun, 06 Nov 1994 08:49:37 GMT`, the RFC 850 and the asctime form.
  ///
  /// - Returns: nil for anything else. A two-digit year is taken as 1970 to 2069.
  public static func parse(_ text: String) -> Date? {
    guard text.utf8.count <= 64 else { return nil }
    var words = text.split { $0 == " " || $0 == "," || $0 == "-" }.map(String.init)
    guard words.count >= 5 else { return nil }
    words.removeFirst()
    if months.contains(words[0].lowercased()) {
      // asctime: Nov  6 08:49:37 1994
      guard words.count == 4 else { return nil }
      return date(day: words[1], month: words[0], year: words[3], time: words[2])
    }
    guard words.count == 5, words[4] == "GMT" || words[4] == "UTC" else { return nil }
    return date(day: words[0], month: words[1], year: words[2], time: words[3])
  }

  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  private static func date(day: String, month: String, year: String, time: String) -> Date? {
    let clock = time.split(separator: ":", omittingEmptySubsequences: false).map { number(String($0), digits: 2...2) }
    guard let month = months.firstIndex(of: month.lowercased()), let day = number(day, digits: 1...2),
      var fullYear = number(year, digits: 2...4), year.utf8.count != 3, clock.count == 3, let hour = clock[0],
      let minute = clock[1], let second = clock[2]
    else { return nil }
    if year.utf8.count == 2 { fullYear += fullYear < 70 ? 2000 : 1900 }
    return CivilDate(year: fullYear, month: month + 1, day: day).at(hour: hour, minute: minute, second: second)
  }

  private static func number(_ text: String, digits: ClosedRange<Int>) -> Int? {
    guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
    return Int(text)
  }
}

/// A day of the Gregorian calendar, years 0 to 9999.
struct CivilDate {
  var year: Int
  var month: Int
  var day: Int

  /// The instant at a time of that day in UTC; a leap second counts as the next one; nil if there is no such day or time.
  func at(hour: Int, minute: Int, second: Int) -> Date? {
    guard 0...9999 ~= year, 1...12 ~= month, 1...Self.days(of: month, in: year) ~= day, 0...23 ~= hour,
      0...59 ~= minute, 0...60 ~= second
    else { return nil }
    return Date(timeIntervalSince1970: Double(daysSince1970 * 86400 + hour * 3600 + minute * 60 + second))
  }

  /// Counted in years that begin in March, so that the leap day comes last.
  private var daysSince1970: Int {
    let shiftedYear = (month <= 2 ? year - 1 : year) + 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return shiftedYear * 365 + shiftedYear / 4 - shiftedYear / 100 + shiftedYear / 400 + dayOfYear - 719468 - 146097
  }

  private static func days(of month: Int, in year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A point in a realm's time: whole microseconds since 1970, held between 1970 and the end of 9999.
struct MockInstant: Comparable, Hashable, Sendable {
  let microseconds: Int64

  static let latestMicroseconds: Int64 = 253_402_300_799_000_000

  init(microseconds: Int64) {
    self.microseconds = min(max(microseconds, 0), Self.latestMicroseconds)
  }

  init(_ date: Date) {
    let value = date.timeIntervalSince1970 * 1_000_000
    guard value > 0 else {
      self.init(microseconds: 0)
      return
    }
    self.init(microseconds: value < 2.5e17 ? Int64(value.rounded()) : Self.latestMicroseconds)
  }

  static func < (left: MockInstant, right: MockInstant) -> Bool { left.microseconds < right.microseconds }

  func adding(_ duration: Duration) -> MockInstant {
    let (sum, overflow) = microseconds.addingReportingOverflow(duration.saturatedMicroseconds)
    guard !overflow else { return MockInstant(microseconds: duration < .zero ? 0 : Self.latestMicroseconds) }
    return MockInstant(microseconds: sum)
  }

  func duration(since earlier: MockInstant) -> Duration {
    .microseconds(microseconds - earlier.microseconds)
  }

  var date: Date { Date(timeIntervalSince1970: Double(microseconds) / 1_000_000) }

  /// Whole seconds since 1970, rounded down.
  var seconds: Int64 { microseconds / 1_000_000 }

  /// `2030-01-31T23:59:59Z`: what the dialects send, since many clients read no fraction.
  var wholeSecondText: String { civil.dateText + "T" + civil.timeText + "Z" }

  /// `2030-01-31T23:59:59.123Z`: what the admin API sends.
  var text: String {
    let milliseconds = Int(microseconds / 1000 % 1000)
    return civil.dateText + "T" + civil.timeText + "." + padded(milliseconds, 3) + "Z"
  }

  /// `Thu, 31 Jan 2030 23:59:59 GMT` (RFC 9110 §5.6.7).
  var httpDate: String {
    let parts = civil
    let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][Int(seconds / 86400 % 7)]
    let month = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ][parts.month - 1]
    return "\(weekday), \(padded(parts.day, 2)) \(month) \(padded(parts.year, 4)) \(parts.timeText) GMT"
  }

  /// Reads an RFC 3339 time: `2030-01-31T23:59:59Z`, with a fraction or an offset if need be.
  init?(text: String) {
    var bytes = Array(text.utf8)[...]
    func number(_ digits: Int, then separator: UInt8? = nil) -> Int? {
      guard bytes.count >= digits + (separator == nil ? 0 : 1) else { return nil }
      var value = 0
      for byte in bytes.prefix(digits) {
        guard 0x30...0x39 ~= byte else { return nil }
        value = value * 10 + Int(byte - 0x30)
      }
      bytes = bytes.dropFirst(digits)
      if let separator {
        guard let found = bytes.popFirst(), found == separator || found | 0x20 == separator | 0x20 && separator > 0x40
        else { return nil }
      }
      return value
    }
    guard let year = number(4, then: 0x2D), let month = number(2, then: 0x2D), let day = number(2, then: 0x54),
      let hour = number(2, then: 0x3A), let minute = number(2, then: 0x3A), let second = number(2),
      (1970...9999).contains(year), (1...12).contains(month), (1...Self.days(inMonth: month, of: year)).contains(day),
      hour < 24, minute < 60, second < 60
    else { return nil }
    var micros: Int64 = 0
    if bytes.first == UInt8(ascii: ".") {
      bytes.removeFirst()
      let digits = bytes.prefix { 0x30...0x39 ~= $0 }
      guard (1...9).contains(digits.count) else { return nil }
      bytes = bytes.dropFirst(digits.count)
      var weight: Int64 = 100_000
      for digit in digits.prefix(6) {
        micros += Int64(digit - 0x30) * weight
        weight /= 10
      }
    }
    var offset = 0
    let zone = bytes.popFirst()
    switch zone {
    case UInt8(ascii: "Z"), UInt8(ascii: "z"): break
    case UInt8(ascii: "+"), UInt8(ascii: "-"):
      guard let hours = number(2, then: 0x3A), let minutes = number(2), hours < 24, minutes < 60 else { return nil }
      offset = (zone == UInt8(ascii: "-") ? -1 : 1) * (hours * 3600 + minutes * 60)
    default: return nil
    }
    guard bytes.isEmpty else { return nil }
    let days = Self.days(toYear: year, month: month, day: day)
    let total = Int64(days * 86400 + hour * 3600 + minute * 60 + second - offset) * 1_000_000 + micros
    guard (0...Self.latestMicroseconds).contains(total) else { return nil }
    self.init(microseconds: total)
  }

  private struct Civil {
    var year: Int
    var month: Int
    var day: Int
    var secondOfDay: Int
    var dateText: String { "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))" }
    var timeText: String {
      "\(padded(secondOfDay / 3600, 2)):\(padded(secondOfDay / 60 % 60, 2)):\(padded(secondOfDay % 60, 2))"
    }
  }

  /// The proleptic Gregorian date, by the usual era arithmetic (400 years are 146,097 days).
  private var civil: Civil {
    let days = Int(seconds / 86400) + 719_468
    let era = days / 146_097
    let dayOfEra = days % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    return Civil(
      year: era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month: month,
      day: dayOfYear - (153 * shifted + 2) / 5 + 1, secondOfDay: Int(seconds % 86400))
  }

  private static func days(toYear year: Int, month: Int, day: Int) -> Int {
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = shiftedYear / 400
    let yearOfEra = shiftedYear % 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func days(inMonth month: Int, of year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

private func padded(_ number: Int, _ width: Int) -> String {
  let digits = String(number)
  return digits.count >= width ? digits : String(repeating: "0", count: width - digits.count) + digits
}

extension Duration {
  /// Whole microseconds, held at the ends of Int64.
  var saturatedMicroseconds: Int64 {
    let (seconds, attoseconds) = components
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    guard !overflow else { return seconds < 0 ? .min : .max }
    let (sum, carried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000_000)
    return carried ? (seconds < 0 ? .min : .max) : sum
  }
}

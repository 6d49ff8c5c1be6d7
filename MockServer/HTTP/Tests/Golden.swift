import Groundwork

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Bodies written by hand from the page on wire formats, compared as JSON.
///
/// A text that begins with `$` stands for a value that differs from run to run: `$uuid`, `$time`, `$jwt`, `$any`, or the name
/// of a variable. Every member must be there, and no other.
enum Golden {
  /// What differs, in words; nil if nothing does.
  static func difference(
    _ body: String, from golden: String, variables: [String: String] = [:]
  ) throws -> String? {
    let expected = try JSONDecoder().decode(JSONValue.self, from: Data(golden.utf8))
    guard let actual = try? JSONDecoder().decode(JSONValue.self, from: Data(body.utf8)) else {
      return "no JSON: \(body.debugDescription)"
    }
    return difference(actual, expected, at: "$", variables)
  }

  private static func difference(
    _ actual: JSONValue, _ expected: JSONValue, at place: String, _ variables: [String: String]
  ) -> String? {
    switch (expected, actual) {
    case (.string(let pattern), _) where pattern.hasPrefix("$"):
      return matches(actual, pattern, variables) ? nil : "\(place): \(actual) is no \(pattern)"
    case (.object(let wanted), .object(let found)):
      for name in Set(wanted.keys).symmetricDifference(found.keys).sorted() {
        return wanted[name] == nil ? "\(place).\(name) is too much" : "\(place).\(name) is missing"
      }
      for (name, value) in wanted.sorted(by: { $0.key < $1.key }) {
        if let difference = difference(found[name] ?? .null, value, at: "\(place).\(name)", variables) {
          return difference
        }
      }
      return nil
    case (.array(let wanted), .array(let found)):
      guard wanted.count == found.count else { return "\(place) has \(found.count) elements, not \(wanted.count)" }
      for (index, value) in wanted.enumerated() {
        if let difference = difference(found[index], value, at: "\(place)[\(index)]", variables) { return difference }
      }
      return nil
    default:
      return actual == expected ? nil : "\(place): \(actual), not \(expected)"
    }
  }

  private static func matches(_ value: JSONValue, _ pattern: String, _ variables: [String: String]) -> Bool {
    guard let text = value.string else { return pattern == "$any" && value != .null }
    switch pattern {
    case "$any": return !text.isEmpty
    case "$uuid": return UUID(uuidString: text) != nil && text == text.lowercased()
    case "$time": return text.hasPrefix("2030-01-01T") && text.hasSuffix("Z")
    case "$jwt": return text.hasPrefix("eyJ") && text.split(separator: ".").count == 3
    case "$short": return text.count == 12 && text.allSatisfy { $0.isLowercase || $0.isNumber }
    default: return variables[String(pattern.dropFirst())] == text
    }
  }
}

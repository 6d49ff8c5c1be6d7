import Groundwork

/// Reads the members of one JSON object by name, and refuses what it does not know: by the key's name, with the nearest known one.
struct FieldReader {
  private let members: [String: JSONValue]
  private let place: String

  /// Reads an object; `null` is no value but for the keys that are `nullable`.
  init(
    _ value: JSONValue, at place: String, knows known: [String], nullable: [String] = []
  ) throws(MockServerError) {
    guard case .object(let members) = value else {
      throw MockServerError(.invalidRequest, "\(place): a JSON object is needed")
    }
    self.members = members
    self.place = place
    for name in members.keys.sorted() where !known.contains(name) {
      throw MockServerError(.invalidRequest, "\(place): \(Self.unknown("key", name, among: known))")
    }
    for name in members.keys.sorted() where members[name] == .null && !nullable.contains(name) {
      throw failure("\"\(name)\" is null, which says nothing: leave it out")
    }
  }

  /// `unknown key "acessTTL"; did you mean "accessTTL"?`
  static func unknown(_ what: String, _ name: String, among known: [String]) -> String {
    let shown = String(name.prefix(80))
    if let nearest = nearestName(to: name, among: known) {
      return "unknown \(what) \"\(shown)\"; did you mean \"\(nearest)\"?"
    }
    return "unknown \(what) \"\(shown)\"; known: \(known.joined(separator: ", "))"
  }

  /// The member, unless it is missing or null.
  subscript(name: String) -> JSONValue? {
    guard let value = members[name], value != .null else { return nil }
    return value
  }

  /// Whether the member is there and null.
  func isNull(_ name: String) -> Bool { members[name] == .null }

  func failure(_ message: String) -> MockServerError { MockServerError(.invalidRequest, "\(place): \(message)") }

  func text(_ name: String) throws(MockServerError) -> String? {
    guard let value = self[name] else { return nil }
    guard let text = value.string else { throw failure("\"\(name)\" is a text") }
    return text
  }

  func requiredText(_ name: String) throws(MockServerError) -> String {
    guard let text = try text(name) else { throw failure("\"\(name)\" is missing") }
    return text
  }

  func array(_ name: String) throws(MockServerError) -> [JSONValue]? {
    guard let value = self[name] else { return nil }
    guard let elements = value.array else { throw failure("\"\(name)\" is an array") }
    return elements
  }

  func number(_ name: String) throws(MockServerError) -> Double? {
    guard let value = self[name] else { return nil }
    guard let number = value.number else { throw failure("\"\(name)\" is a number") }
    return number
  }

  func integer(_ name: String, in range: ClosedRange<Int>) throws(MockServerError) -> Int? {
    guard let value = self[name] else { return nil }
    guard let number = value.integer, range.contains(number) else {
      throw failure("\"\(name)\" is a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func bool(_ name: String) throws(MockServerError) -> Bool? {
    guard let value = self[name] else { return nil }
    guard let flag = value.bool else { throw failure("\"\(name)\" is true or false") }
    return flag
  }

  /// A duration; with `signed`, also one with a minus before it.
  func duration(_ name: String, signed: Bool = false) throws(MockServerError) -> Duration? {
    guard let value = self[name] else { return nil }
    guard let duration = Self.duration(value, signed: signed) else {
      throw failure("\"\(name)\" is a duration, say 250ms, 30s, 15m, 2h or 30d")
    }
    return duration
  }

  func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, of type: Choice.Type
  ) throws(MockServerError) -> Choice? where Choice.RawValue == String {
    guard let text = try text(name) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      throw failure(Self.unknown(name, text, among: Choice.allCases.map(\.rawValue)))
    }
    return choice
  }

  static func duration(_ value: JSONValue, signed: Bool = false) -> Duration? {
    if let number = value.number {
      guard number >= 0 || signed, number.magnitude <= 1e12 else { return nil }
      return .clamped(seconds: number)
    }
    guard let text = value.string else { return nil }
    if signed, text.hasPrefix("-") { return Duration(text: text.dropFirst()).map { .zero - $0 } }
    return Duration(text: text)
  }
}

import Groundwork

/// Reads a query as `FieldReader` reads an object: what it does not know is refused by name.
struct QueryReader {
  private let items: QueryItems

  init(_ query: Substring, knows known: [String]) throws(MockServerError) {
    guard let items = QueryItems(query) else {
      throw MockServerError(.invalidRequest, "The query has a malformed escape.")
    }
    for name in items.items.keys.sorted() where !known.contains(name) {
      throw MockServerError(.invalidRequest, FieldReader.unknown("query parameter", name, among: known))
    }
    self.items = items
  }

  subscript(name: String) -> String? { items[name] }

  func integer(_ name: String, in range: ClosedRange<Int>) throws(MockServerError) -> Int? {
    guard let text = items[name] else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw MockServerError(.invalidRequest, "\"\(name)\" is a whole number, \(range.lowerBound) or more")
    }
    return number
  }

  func duration(_ name: String) throws(MockServerError) -> Duration? {
    guard let text = items[name] else { return nil }
    guard let duration = Duration(text: text) else {
      throw MockServerError(.invalidRequest, "\"\(name)\" is a duration, say 250ms or 30s")
    }
    return duration
  }

  func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, of type: Choice.Type
  ) throws(MockServerError) -> Choice? where Choice.RawValue == String {
    guard let text = items[name] else { return nil }
    guard let choice = Choice(rawValue: text) else {
      throw MockServerError(
        .invalidRequest, FieldReader.unknown(name, text, among: Choice.allCases.map(\.rawValue)))
    }
    return choice
  }
}

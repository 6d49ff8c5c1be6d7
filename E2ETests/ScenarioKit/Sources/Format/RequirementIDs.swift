/// The ids that scenarios cover: the documents' requirements and the session engine's rules (Documentation/requirements.md).
package enum RequirementIDs {
  /// How many requirements each document has.
  private static let documents = [("D1", 7), ("D2", 7), ("D3", 9), ("D4", 8), ("D5", 11)]

  /// All ids in order.
  package static let all: [String] =
    documents.flatMap { name, count in (1...count).map { "\(name).\($0)" } } + (1...24).map { "S\($0)" }
}

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The user-visible texts of a profile (D2.4): they stand in `Strings/*.json`, never in code.
///
/// A profile's file overrides `common.json`. The files are compiled into the module, so that no bundle has to be found at run time.
public struct StringsTable: Sendable, Hashable {
  private let texts: [String: String]

  /// Takes texts by key.
  public init(_ texts: [String: String]) {
    self.texts = texts
  }

  /// Reads this module's own files in the order given; a later file's text replaces an earlier one's.
  ///
  /// A file that is not one JSON object of strings contributes nothing; a test holds every file to that shape.
  init(embedded files: [[UInt8]]) {
    var texts: [String: String] = [:]
    for file in files {
      let more = Result { try JSONDecoder().decode([String: String].self, from: Data(file)) }
      if case .success(let more) = more { texts.merge(more, uniquingKeysWith: { _, last in last }) }
    }
    self.init(texts)
  }

  /// The text under a key; the key's own name where the table has none, so that a gap is seen and nothing breaks.
  public subscript(key: StringKey) -> String { texts[key.rawValue] ?? key.rawValue }

  /// The text under a key with its `{placeholders}` filled in.
  public subscript(key: StringKey, filling placeholders: [String: String]) -> String {
    placeholders.reduce(self[key]) { text, placeholder in
      text.split(separator: "{\(placeholder.key)}", omittingEmptySubsequences: false).joined(
        separator: placeholder.value)
    }
  }

  /// The keys that have a text, sorted.
  public var keys: [StringKey] { texts.keys.sorted().map { StringKey(rawValue: $0) } }
}
